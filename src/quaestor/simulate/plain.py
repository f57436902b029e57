"""Plain tests, for as many students as there are, on any library that speaks the array API: numpy, PyTorch, CuPy.

A test is plain where the rules only say which score counts and when to stop, each question is on one skill, and what is known of the skills
are numbers of a fixed shape: the joint table of exact ones (`joint_states`), or intervals of log-odds of two levels (`log_odds`). Then a
step is a few operations on whole arrays: what the answers of all paths tell, the gain of every question, the best one, the answers. On a
processor students who have answered the same are one path; on a graphics card each is a path, since there the merging would take longer
than the steps. Rules may draw for each student which of the best questions it is (`drawn`), on a processor.

`run.take` does the same for all other tests, by the steps of a session.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import TIED
from quaestor.credal.vectors import parts
from quaestor.errors import QuaestorError
from quaestor.inference.engine import Ends
from quaestor.inference.evidence import MISSING
from quaestor.inference.layout import Layout, layout_of
from quaestor.lazy import lazy
from quaestor.model.table import Array
from quaestor.selection.narrowing import is_extended
from quaestor.selection.ranking import second_score
from quaestor.selection.rules import MISSING as SKIPS_MISSING
from quaestor.selection.rules import WRONG, Rules, plain
from quaestor.selection.scores import two_levels
from quaestor.selection.scores.kernels import TOLD
from quaestor.selection.seen import Priors
from quaestor.selection.step import NO_QUESTION
from quaestor.selection.stopping.classification import SameDecisionAbove
from quaestor.selection.stopping.criteria import MaxQuestions
from quaestor.selection.stopping.criterion import ManyBounds, Situation
from quaestor.simulate import joint_states, log_odds
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Students
from quaestor.simulate.drawn import Drawn
from quaestor.simulate.library import CPU, Library, fetched
from quaestor.simulate.run import Record, merged

_RULES = {"score", "then", "bound", "stop", "skips", "may_skip", "only_next", "least_answers", "among", "first_among", "exposure"}


def is_plain(bank: Bank, rules: Rules, behaviour: Behaviour, device: str = CPU) -> bool:
    """Whether a test can be taken here, on a device."""
    layout = layout_of(bank)
    second = second_score(rules.score, rules.then)
    return (
        (device == CPU or not rules.is_random)
        and all(len(batch.scope) == 1 for batch in layout.batches)
        and (joint_states.fits(layout) or log_odds.fits(layout))
        and set(rules.document) <= _RULES
        and set(plain(rules.exposure)) <= {"chances"}
        and not is_extended()
        and all(score is None or _is_quick(layout, score, rules.bound) for score in (rules.score, second))
        and rules.skips in (SKIPS_MISSING, WRONG)
        and not any(isinstance(criterion, SameDecisionAbove) for criterion in (rules.stop.simple() if rules.stop is not None else ()))
        and not behaviour.reveals
        and not behaviour.own
        and bool(layout.is_scored.all())
    )


def _is_quick(layout: Layout, score: str, bound: str) -> bool:
    """Whether the gains of a score are plain array operations."""
    return score in TOLD if layout.is_precise else (score, bound) in two_levels.TOLD


class Known(Protocol):
    """What is known of many paths, as arrays of one library with a row a path: their evidence, where they stand by it, what follows."""

    @property
    def width(self) -> int:
        """How many numbers the evidence of a path has."""

    def told(self, questions: Any, classes: Any) -> Any:
        """What answers add to the evidence, (paths, width)."""

    def standing(self, evidence: Any, asked: int) -> Any:
        """Where paths stand after so many questions, (paths, numbers)."""

    def bounds(self, standing: Any) -> list[Ends]:
        """Lower and upper P(level) of each skill of the bank, (paths, levels) each; one array where they are the same."""

    def gains(self, standing: Any, score: str, bound: str) -> Any:
        """The gains of all questions, (paths, questions)."""

    def uncertainty(self, standing: Any, index: str) -> Array:
        """An index of uncertainty of all skills together, (paths,), as an array of numpy."""


@dataclass(frozen=True, eq=False)
class _Bank:
    """A bank as arrays of one library. Of each question: `on_skill`, its skill as a row of 0 and 1, `classes`, `minutes`."""

    known: Known
    on_skill: Any
    classes: Any
    minutes: Any
    compiled: dict[tuple[str, str, str | None, str], Callable[..., Any]] = field(default_factory=dict)

    @staticmethod
    def of(layout: Layout, library: Library) -> "_Bank":
        """A bank in a library."""
        put = library.put
        known: Known = joint_states.JointStates(layout, library) if layout.is_precise else log_odds.LogOdds(layout, library)
        return _Bank(known, put(layout.of_skill.astype(np.int64)), put(layout.classes.astype(np.int64)), put(layout.minutes))


@dataclass(frozen=True, eq=False)
class _Paths:
    """Paths through a test: the `evidence` of the answers, (paths, numbers); which questions are `closed`, (paths, questions).

    `of_skill`: how many questions were asked on each skill of the bank, (paths, skills); `right`, `minutes`: (paths,).
    """

    evidence: Any
    closed: Any
    of_skill: Any
    right: Any
    minutes: Any

    @property
    def count(self) -> int:
        """How many they are."""
        return int(self.closed.shape[0])


def take(bank: Bank, rules: Rules, students: Students, behaviour: Behaviour, library: Library) -> Record:
    """Let students take a plain test."""
    layout = layout_of(bank)
    if ("plain", library.name) not in layout.kept:
        layout.kept["plain", library.name] = _Bank.of(layout, library)
    return _Test(layout, rules, layout.kept["plain", library.name], library).taken(students, behaviour)


class _Test:
    """One test of many students."""

    def __init__(self, layout: Layout, rules: Rules, bank: _Bank, library: Library) -> None:
        self._layout, self._rules, self._bank, self._library, self._xp = layout, rules, bank, library, library.xp
        self._known = bank.known
        most = rules.stop.most_questions() if rules.stop is not None else None
        self._length = most if most is not None and rules.stop == MaxQuestions(most) else None  # of a test that ends by its length alone
        self._second = second_score(rules.score, rules.then)
        self._columns = library.put(np.arange(len(layout.questions)))

    def taken(self, students: Students, behaviour: Behaviour) -> Record:
        """Every step of every student."""
        xp, library, count = self._xp, self._library, len(students.numbers)
        assert students.asking is not None
        asking = library.moved(students.asking)
        running = library.put(np.arange(count))
        path = library.put(np.zeros(count, dtype=np.int64)) if library.is_numpy else running
        paths = self._begun(1 if library.is_numpy else count)
        drawn = Drawn(self._layout, self._rules, students.seeds) if self._rules.is_random else None
        rule = np.full(count, "", dtype=object)
        asked: list[Any] = []
        answers: list[Any] = []
        node: list[Any] = []
        nodes: list[list[Ends]] = []
        while True:
            standing = self._known.standing(paths.evidence, len(asked))
            bounds = self._known.bounds(standing)
            node.append(self._column(path + sum(one[0][0].shape[0] for one in nodes), running, count, node[-1] if node else None))
            nodes.append(bounds)
            choice = _Choice(partial(self._best, standing, paths.closed))
            ended = self._ended(paths, standing, bounds, choice, len(asked))
            if isinstance(ended, str):
                if ended:
                    rule[fetched(running)] = ended
                    break
            else:
                rule[fetched(running)] = ended[fetched(path)]
                on = np.flatnonzero(ended[fetched(path)] == "")
                if not len(on):
                    break
                if len(on) < path.shape[0]:
                    running, path = (xp.take(one, library.put(on), axis=0) for one in (running, path))
            if drawn is None:
                questions = xp.take(choice.question, path, axis=0)
            else:
                questions = drawn.questions(running, path, len(asked), partial(self._every, standing, paths.closed))
            before = xp.full(path.shape, len(asked), dtype=xp.int64, device=library.device)
            classes = asking.answers(behaviour, running, questions, before)
            if not self._rules.may_skip and bool(xp.any(classes == MISSING)):
                raise QuaestorError("the rules let no question be skipped, got a student who skips")
            asked.append(self._column(questions, running, count, None))
            answers.append(self._column(classes, running, count, None))
            if library.is_numpy:
                first, after = merged(path, classes) if drawn is None else drawn.merged(path, questions, classes, paths.minutes)
                paths, path = self._after(paths, path[first], questions[first], classes[first]), after
            else:
                paths = self._after(paths, None if path.shape[0] == paths.count else path, questions, classes)
                path = xp.arange(paths.count, device=library.device)
        return self._record(students, asked, answers, node, nodes, rule)

    def _begun(self, count: int) -> _Paths:
        """Paths on which nothing was asked."""
        xp, place = self._xp, self._library.device
        shapes = (
            (count, self._known.width),
            (count, len(self._layout.questions)),
            (count, len(self._layout.order)),
            (count,),
            (count,),
        )
        kinds = (xp.float64, xp.bool, xp.int64, xp.int64, xp.float64)
        return _Paths(*(xp.zeros(shape, dtype=kind, device=place) for shape, kind in zip(shapes, kinds, strict=True)))

    def _after(self, paths: _Paths, old: Any, questions: Any, classes: Any) -> _Paths:
        """New paths: each an old one (None: all in order) with one more question and its answer."""
        xp, bank = self._xp, self._bank

        def of(values: Any, which: Any) -> Any:
            return values if which is None else xp.take(values, which, axis=0)

        if self._rules.skips == WRONG:
            classes = xp.where(classes == MISSING, 0, classes)
        told = self._known.told(questions, xp.maximum(classes, xp.zeros_like(classes)))
        closed = of(paths.closed, old)
        if self._library.is_numpy:  # where `old` is given, so that these are no longer those of the old paths
            closed[np.arange(len(closed)), questions] = True
        else:
            closed = closed | (self._columns == questions[:, None])
        return _Paths(
            of(paths.evidence, old) + xp.where(classes[:, None] == MISSING, 0.0, told),
            closed,
            of(paths.of_skill, old) + of(bank.on_skill, questions),
            of(paths.right, old) + xp.astype(classes == of(bank.classes, questions) - 1, xp.int64),
            of(paths.minutes, old) + of(bank.minutes, questions),
        )

    def _gains(self, standing: Any, closed: Any, score: str) -> Any:
        """The gains of all questions, (paths, questions); -inf for those that are closed."""
        return self._xp.where(closed, -self._xp.inf, self._known.gains(standing, score, self._rules.bound))

    def _every(self, standing: Any, closed: Any, some: slice, score: str) -> Array:
        """The gains of all questions on some paths, (paths, questions), on a processor."""
        here, is_closed = standing[some], closed[some]
        found = np.empty(is_closed.shape)
        for block in parts(len(found), max(1, self._library.block // found.shape[1])):
            found[block] = self._gains(here[block], is_closed[block], score)
        return found

    def _tied(self, standing: Any, closed: Any) -> tuple[Any, Any]:
        """Which questions are tied with the best, (paths, questions), and its gain, (paths,)."""
        gains = self._gains(standing, closed, self._rules.score)
        top = self._xp.max(gains, axis=1)
        return gains >= top[:, None] - TIED, top

    def _narrowed(self, tied: Any, standing: Any, closed: Any) -> Any:
        """Of the questions that are tied those that the second score prefers."""
        second = self._xp.where(tied, self._gains(standing, closed, self._second or self._rules.score), -self._xp.inf)
        return second >= self._xp.max(second, axis=1)[:, None] - TIED

    def _first(self, tied: Any) -> Any:
        """The first in the bank of the questions that are tied, (paths,)."""
        xp = self._xp
        if self._library.is_numpy:
            return tied.argmax(axis=1)
        return xp.min(xp.where(tied, self._columns, xp.full_like(self._columns, tied.shape[1])), axis=1)

    def _alone(self, standing: Any, closed: Any) -> tuple[Any, Any]:
        """The best question by one score alone, and its gain, (paths,) each."""
        tied, top = self._tied(standing, closed)
        return self._first(tied), top

    def _best(self, standing: Any, closed: Any) -> tuple[Any, Any]:
        """The best question of each path, and its gain, (paths,) each; ties as in `selection.ties`."""
        found = []
        for some in parts(standing.shape[0], max(1, self._library.block // closed.shape[1])):
            found.append(self._block(standing[some, :], closed[some, :]))
        return found[0] if len(found) == 1 else tuple(self._xp.concat(list(both)) for both in zip(*found, strict=True))

    def _block(self, standing: Any, closed: Any) -> tuple[Any, Any]:
        if self._second is None:
            question, top = self._quick(self._alone)(standing, closed)
            return question, top
        tied, top = self._quick(self._tied)(standing, closed)
        count = self._xp.sum(self._xp.astype(tied, self._xp.int64), axis=1)
        if self._library.is_numpy:
            rows = np.flatnonzero(count > 1)
            tied[rows] = self._narrowed(tied[rows], standing[rows], closed[rows])
        elif bool(self._xp.any(count > 1)):
            tied = self._quick(self._narrowed)(tied, standing, closed)
        return self._first(tied), top

    def _quick(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method, compiled where the library can; kept with the bank."""
        key = (method.__name__, self._rules.score, self._second, self._rules.bound)
        if key not in self._bank.compiled:
            self._bank.compiled[key] = self._library.compiled(method)
        return self._bank.compiled[key]

    def _ended(self, paths: _Paths, standing: Any, bounds: list[Ends], choice: "_Choice", asked: int) -> "str | NDArray[np.object_]":
        """What ends the test of each path, empty where it goes on; one text where it is the same for all."""
        is_over = asked == len(self._layout.questions)
        if self._length is not None:
            return "max_questions" if asked >= self._length else NO_QUESTION if is_over else ""
        named = self._named(paths, standing, bounds, choice, asked)
        return NO_QUESTION if named is None and is_over else "" if named is None else np.where((named == "") & is_over, NO_QUESTION, named)

    def _named(self, paths: _Paths, standing: Any, bounds: list[Ends], choice: "_Choice", asked: int) -> NDArray[np.object_] | None:
        """The criterion that stops each path; None where there is none."""
        if self._rules.stop is None:
            return None
        get, skills = fetched, self._layout.bank.skills.values()
        of_skill = get(paths.of_skill)
        situation = Situation(
            {skill.id: ManyBounds(skill.levels, get(low), get(high)) for skill, (low, high) in zip(skills, bounds, strict=True)},
            np.full(paths.count, asked),
            {skill.id: of_skill[:, number] for number, skill in enumerate(skills)},
            get(paths.right),
            get(paths.minutes),
            lambda: np.where(np.isfinite(get(choice.gain)), get(choice.gain), np.nan),  # NaN: no question is left
            lambda index: self._known.uncertainty(standing, index),
            Priors(self._layout),
        )
        return np.broadcast_to(self._rules.stop.rule(situation), paths.count)

    def _column(self, values: Any, running: Any, count: int, before: Any) -> Any:
        """Values of those who are still at it among everybody, (students,); -1, or what was before, for the others."""
        xp = self._xp
        if running.shape[0] == count:
            return values
        if self._library.is_numpy:
            column = np.full(count, -1) if before is None else before.copy()
            column[running] = values
            return column
        everyone = xp.arange(count, device=self._library.device)
        place = xp.searchsorted(running, everyone)
        place = xp.minimum(place, xp.full_like(place, running.shape[0] - 1))
        return xp.where(xp.take(running, place, axis=0) == everyone, xp.take(values, place, axis=0), -1 if before is None else before)

    def _record(
        self, students: Students, asked: list[Any], answers: list[Any], node: list[Any], nodes: list[list[Ends]], rule: NDArray[np.object_]
    ) -> Record:
        xp, none = self._xp, self._xp.zeros((len(students.numbers), 0), dtype=self._xp.int32, device=self._library.device)
        put, given, stood = (self._stacked(one).T if one else none for one in (asked, answers, node))
        ends: list[Ends] = []
        for skill in range(len(nodes[0])):
            low = xp.concat([one[skill][0] for one in nodes])
            is_exact = all(one[skill][0] is one[skill][1] for one in nodes)
            ends.append((low, low if is_exact else xp.concat([one[skill][1] for one in nodes])))
        return Record(students.numbers, students.levels, put, given, stood, tuple(ends), rule)

    def _stacked(self, columns: list[Any]) -> Any:
        """Columns as rows of one array, in numbers of 32 bits."""
        if self._library.is_numpy:
            return np.stack(columns, dtype=np.int32, casting="same_kind")
        return self._xp.stack([self._xp.astype(column, self._xp.int32) for column in columns])


class _Choice:
    """The best question of each path and its gain, worked out when asked for."""

    def __init__(self, best: Callable[[], tuple[Any, Any]]) -> None:
        self._best = best

    @lazy
    def _found(self) -> tuple[Any, Any]:
        return self._best()

    @property
    def question(self) -> Any:
        """The number of the question, (paths,)."""
        return self._found[0]

    @property
    def gain(self) -> Any:
        """The gain, (paths,)."""
        return self._found[1]
