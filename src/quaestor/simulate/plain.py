"""Plain tests on exact numbers, for as many students as there are, on any library that speaks the array API: numpy, PyTorch, CuPy.

A test is plain where the rules only say which score counts and when to stop, each question is on one skill, and the joint table of the
skills is small. Then a step is a few products and logarithms: P(joint state | answers) of all paths, the gain of every question, the best
one, the answers. On a processor students who have answered the same are one path; on a graphics card each is a path, since there the
merging would take longer than the steps.

`run.take` does the same for all other tests, by the steps of a session.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import e
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import TIED
from quaestor.credal.indices import INDICES
from quaestor.credal.vectors import parts
from quaestor.errors import QuaestorError
from quaestor.inference.engine import Ends, JointTarget
from quaestor.inference.evidence import MISSING
from quaestor.inference.joint import LARGEST, joint_of
from quaestor.inference.layout import Layout, layout_of
from quaestor.lazy import lazy
from quaestor.selection.narrowing import is_extended
from quaestor.selection.ranking import second_score
from quaestor.selection.rules import MISSING as SKIPS_MISSING
from quaestor.selection.rules import WRONG, Rules
from quaestor.selection.scores.kernels import TOLD, Tables, entropy_told
from quaestor.selection.step import NO_QUESTION
from quaestor.selection.stopping.criteria import MaxQuestions
from quaestor.selection.stopping.criterion import ManyBounds, Situation
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Students
from quaestor.simulate.library import Library, fetched
from quaestor.simulate.run import Record, merged

_DEEP = 500.0  # minus the logarithm of numbers that products may round to zero
_RULES = {"score", "then", "bound", "stop", "skips", "may_skip", "only_next", "least_answers"}


def is_plain(bank: Bank, rules: Rules, behaviour: Behaviour) -> bool:
    """Whether a test can be taken here."""
    layout = layout_of(bank)
    second = second_score(rules.score, rules.then)
    return (
        layout.is_precise
        and layout.model.joint_size <= LARGEST
        and set(rules.document) <= _RULES
        and not is_extended()
        and rules.score in TOLD
        and (second is None or second in TOLD)
        and rules.skips in (SKIPS_MISSING, WRONG)
        and not behaviour.reveals
        and all(len(batch.scope) == 1 and bool((batch.low > 0).all()) for batch in layout.batches)  # no answers contradict each other
        and bool(layout.is_scored.all())
    )


@dataclass(frozen=True, eq=False)
class _Bank:
    """A bank as arrays of one library.

    `prior`: P(joint state); `ones`: a column of as many; `skills`: for each the matrix that sums joint states to its levels; `tables`: of
    each batch, with its skill; `order`: where each question stands among the batches (None: in their order). `together`: the tables of all
    questions as of one scope, the levels of all skills one after another; `every`: the matrix that sums joint states to these; `scale`:
    1 / log(levels) of each question. `logs`: log P(class | level) of all questions, one after another; `level_at`: the level of each skill
    in each joint state, (skills, states). Of each question: `first`, its first row in `logs`, `skill_of`, its skill, `on_skill`, the same
    as a row of 0 and 1 in the order of the bank, `classes`, `minutes`.
    """

    prior: Any
    ones: Any
    skills: list[Any]
    tables: list[tuple[int, Tables]]
    every: Any
    together: Tables
    scale: Any
    order: Any
    logs: Any
    first: Any
    skill_of: Any
    level_at: Any
    on_skill: Any
    classes: Any
    minutes: Any
    compiled: dict[tuple[str, str, str | None], Callable[..., Any]] = field(default_factory=dict)

    @staticmethod
    def of(layout: Layout, library: Library) -> "_Bank":
        """A bank, with its skills in the order of the layout's model."""
        model, put = layout.model, library.put
        joint = joint_of(model)
        classes, levels = int(layout.classes.max()), model.sizes
        skill_of = np.empty(len(layout.questions), dtype=np.int64)
        first = np.empty(len(layout.questions), dtype=np.int64)
        rows, place, tables = [], 0, []
        starts = np.cumsum([0, *levels]).tolist()
        together, noise = np.zeros((classes, starts[-1], len(first))), np.zeros((starts[-1], len(first)))
        for batch in layout.batches:
            skill, of = batch.scope[0], Tables.of(batch)
            logs = np.moveaxis(batch.logs[0], 1, 2).reshape(-1, batch.low.shape[1])  # (tables x levels, classes)
            rows.append(np.pad(logs, ((0, 0), (0, classes - logs.shape[1]))))
            skill_of[batch.index], first[batch.index] = skill, place + batch.row * levels[skill]
            place += len(logs)
            own = slice(starts[skill], starts[skill + 1])
            for number, one in enumerate(of.classes):
                together[number, own, batch.index] = one[:, batch.row].T
            noise[own, batch.index] = of.noise[:, batch.row]
            each = [put(np.ascontiguousarray(one[:, batch.row])) for one in (*of.classes, of.noise)]
            tables.append((skill, Tables(tuple(each[:-1]), each[-1])))
        listed = np.concatenate([batch.index for batch in layout.batches])
        order = None if (np.diff(listed) > 0).all() else put(np.argsort(listed))
        indices = [joint.index((skill,)) for skill in range(len(levels))]
        return _Bank(
            put(joint.prior),
            put(np.ones((len(joint.prior), 1))),
            [put(joint.indicator((skill,))) for skill in range(len(levels))],
            tables,
            put(np.concatenate([joint.indicator((skill,)) for skill in range(len(levels))], axis=1)),
            Tables(tuple(put(one) for one in together), put(noise)),
            put(1 / np.log(np.array(levels, dtype=float)[skill_of])),
            order,
            put(np.concatenate(rows)),
            put(first),
            put(skill_of),
            put(np.stack(indices).astype(np.int64)),
            put(layout.of_skill.astype(np.int64)),
            put(layout.classes.astype(np.int64)),
            put(layout.minutes),
        )


@dataclass(frozen=True, eq=False)
class _Paths:
    """Where paths stand: log P(answers | joint state), (paths, states); which questions are `closed`, (paths, questions).

    `of_skill`: how many questions were asked on each skill of the bank, (paths, skills); `right`, `minutes`: (paths,).
    """

    logs: Any
    closed: Any
    of_skill: Any
    right: Any
    minutes: Any

    @property
    def count(self) -> int:
        """How many they are."""
        return int(self.logs.shape[0])


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
        most = rules.stop.most_questions() if rules.stop is not None else None
        self._length = most if most is not None and rules.stop == MaxQuestions(most) else None  # of a test that ends by its length alone
        self._second = second_score(rules.score, rules.then)
        self._columns = library.put(np.arange(len(layout.questions)))
        self._deepest = max(-float(batch.logs[0].min()) for batch in layout.batches)  # of one answer

    def taken(self, students: Students, behaviour: Behaviour) -> Record:
        """Every step of every student."""
        xp, library, count = self._xp, self._library, len(students.numbers)
        assert students.asking is not None
        asking = library.moved(students.asking)
        running = library.put(np.arange(count))
        path = library.put(np.zeros(count, dtype=np.int64)) if library.is_numpy else running
        paths = self._begun(1 if library.is_numpy else count)
        rule = np.full(count, "", dtype=object)
        asked: list[Any] = []
        answers: list[Any] = []
        node: list[Any] = []
        nodes: list[list[Any]] = []
        while True:
            posterior = self._posterior(paths.logs, len(asked))
            bounds = [posterior @ self._bank.skills[skill] for skill in self._layout.order]
            node.append(self._column(path + sum(one[0].shape[0] for one in nodes), running, count, node[-1] if node else None))
            nodes.append(bounds)
            choice = _Choice(partial(self._best, posterior, paths.closed))
            ended = self._ended(paths, posterior, bounds, choice, len(asked))
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
            questions = xp.take(choice.question, path, axis=0)
            before = xp.full(path.shape, len(asked), dtype=xp.int64, device=library.device)
            classes = asking.answers(behaviour, running, questions, before)
            if not self._rules.may_skip and bool(xp.any(classes == MISSING)):
                raise QuaestorError("the rules let no question be skipped, got a student who skips")
            asked.append(self._column(questions, running, count, None))
            answers.append(self._column(classes, running, count, None))
            if library.is_numpy:
                first, after = merged(path, classes)
                paths, path = self._after(paths, path[first], questions[first], classes[first]), after
            else:
                paths = self._after(paths, None if path.shape[0] == paths.count else path, questions, classes)
                path = xp.arange(paths.count, device=library.device)
        return self._record(students, asked, answers, node, nodes, rule)

    def _begun(self, count: int) -> _Paths:
        """Paths on which nothing was asked."""
        xp, place = self._xp, self._library.device
        shapes = (
            (count, self._bank.prior.shape[0]),
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
        row = of(bank.first, questions)[:, None] + of(bank.level_at, of(bank.skill_of, questions))
        place = row * bank.logs.shape[1] + xp.maximum(classes, xp.zeros_like(classes))[:, None]
        told = xp.reshape(of(xp.reshape(bank.logs, (-1,)), xp.reshape(place, (-1,))), place.shape)
        return _Paths(
            of(paths.logs, old) + xp.where(classes[:, None] == MISSING, 0.0, told),
            of(paths.closed, old) | (self._columns == questions[:, None]),
            of(paths.of_skill, old) + of(bank.on_skill, questions),
            of(paths.right, old) + xp.astype(classes == of(bank.classes, questions) - 1, xp.int64),
            of(paths.minutes, old) + of(bank.minutes, questions),
        )

    def _posterior(self, logs: Any, asked: int) -> Any:
        """P(joint state | answers), (paths, states)."""
        xp = self._xp
        if asked * self._deepest > _DEEP:
            logs = logs - xp.max(xp.where(self._bank.prior > 0, logs, -xp.inf), axis=1, keepdims=True)
        weights = xp.exp(logs) * self._bank.prior
        return weights / (weights @ self._bank.ones)  # quicker than a sum over so short an axis

    def _gains(self, posterior: Any, closed: Any, told: Callable[..., Any]) -> Any:
        """The gains of all questions, (paths, questions); -inf for those that are closed."""
        if told is entropy_told:  # of all skills at once: the configurations of other skills have no part in a question
            mass = posterior @ self._bank.every
            gains = told(self._xp, JointTarget(e, mass, None, None), self._bank.together)
            gains *= self._bank.scale
            return self._xp.where(closed, -self._xp.inf, gains)
        found = []
        for skill, tables in self._bank.tables:
            mass = posterior @ self._bank.skills[skill]
            found.append(told(self._xp, JointTarget(mass.shape[1], mass, mass, mass * mass), tables))
        gains = found[0] if len(found) == 1 else self._xp.concat(found, axis=1)
        gains = gains if self._bank.order is None else self._xp.take(gains, self._bank.order, axis=1)
        return self._xp.where(closed, -self._xp.inf, gains)

    def _tied(self, posterior: Any, closed: Any) -> tuple[Any, Any]:
        """Which questions are tied with the best, (paths, questions), and its gain, (paths,)."""
        gains = self._gains(posterior, closed, TOLD[self._rules.score])
        top = self._xp.max(gains, axis=1)
        return gains >= top[:, None] - TIED, top

    def _narrowed(self, tied: Any, posterior: Any, closed: Any) -> Any:
        """Of the questions that are tied those that the second score prefers."""
        second = self._xp.where(tied, self._gains(posterior, closed, TOLD[self._second or ""]), -self._xp.inf)
        return second >= self._xp.max(second, axis=1)[:, None] - TIED

    def _first(self, tied: Any) -> Any:
        """The first in the bank of the questions that are tied, (paths,)."""
        xp = self._xp
        if self._library.is_numpy:
            return tied.argmax(axis=1)
        return xp.min(xp.where(tied, self._columns, xp.full_like(self._columns, tied.shape[1])), axis=1)

    def _alone(self, posterior: Any, closed: Any) -> tuple[Any, Any]:
        """The best question by one score alone, and its gain, (paths,) each."""
        tied, top = self._tied(posterior, closed)
        return self._first(tied), top

    def _best(self, posterior: Any, closed: Any) -> tuple[Any, Any]:
        """The best question of each path, and its gain, (paths,) each; ties as in `selection.ties`."""
        found = []
        for some in parts(posterior.shape[0], max(1, self._library.block // closed.shape[1])):
            found.append(self._block(posterior[some, :], closed[some, :]))
        return found[0] if len(found) == 1 else tuple(self._xp.concat(list(both)) for both in zip(*found, strict=True))

    def _block(self, posterior: Any, closed: Any) -> tuple[Any, Any]:
        if self._second is None:
            question, top = self._quick(self._alone)(posterior, closed)
            return question, top
        tied, top = self._quick(self._tied)(posterior, closed)
        count = self._xp.sum(self._xp.astype(tied, self._xp.int64), axis=1)
        if self._library.is_numpy:
            rows = np.flatnonzero(count > 1)
            tied[rows] = self._narrowed(tied[rows], posterior[rows], closed[rows])
        elif bool(self._xp.any(count > 1)):
            tied = self._quick(self._narrowed)(tied, posterior, closed)
        return self._first(tied), top

    def _quick(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method, compiled where the library can; kept with the bank."""
        key = (method.__name__, self._rules.score, self._second)
        if key not in self._bank.compiled:
            self._bank.compiled[key] = self._library.compiled(method)
        return self._bank.compiled[key]

    def _ended(self, paths: _Paths, posterior: Any, bounds: list[Any], choice: "_Choice", asked: int) -> "str | NDArray[np.object_]":
        """What ends the test of each path, empty where it goes on; one text where it is the same for all."""
        is_over = asked == len(self._layout.questions)
        if self._length is not None:
            return "max_questions" if asked >= self._length else NO_QUESTION if is_over else ""
        named = self._named(paths, posterior, bounds, choice, asked)
        return NO_QUESTION if named is None and is_over else "" if named is None else np.where((named == "") & is_over, NO_QUESTION, named)

    def _named(self, paths: _Paths, posterior: Any, bounds: list[Any], choice: "_Choice", asked: int) -> NDArray[np.object_] | None:
        """The criterion that stops each path; None where there is none."""
        if self._rules.stop is None:
            return None
        get, skills = fetched, self._layout.bank.skills.values()
        of_skill = get(paths.of_skill)
        situation = Situation(
            {skill.id: ManyBounds(skill.levels, *(get(one),) * 2) for skill, one in zip(skills, bounds, strict=True)},
            np.full(paths.count, asked),
            {skill.id: of_skill[:, number] for number, skill in enumerate(skills)},
            get(paths.right),
            get(paths.minutes),
            lambda: np.where(np.isfinite(get(choice.gain)), get(choice.gain), np.nan),  # NaN: no question is left
            lambda index: np.asarray(INDICES[index].value(get(posterior))),
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
        self, students: Students, asked: list[Any], answers: list[Any], node: list[Any], nodes: list[list[Any]], rule: NDArray[np.object_]
    ) -> Record:
        xp, none = self._xp, self._xp.zeros((len(students.numbers), 0), dtype=self._xp.int32, device=self._library.device)
        put, given, stood = (self._stacked(one).T if one else none for one in (asked, answers, node))
        ends: list[Ends] = []
        for skill in range(len(nodes[0])):
            every = xp.concat([one[skill] for one in nodes])
            ends.append((every, every))
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
