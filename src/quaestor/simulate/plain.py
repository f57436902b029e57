"""Plain tests on exact numbers, for as many students as there are, on any library that speaks the array API: numpy, PyTorch, CuPy.

A test is plain where the rules only say which score counts and when to stop, each question is on one skill, and the joint table of the
skills is small. Then a step is a few products and logarithms: P(joint state | answers) of all paths, the gain of every question, the best
one, the answers. On a processor students who have answered the same are one path; on a graphics card each is a path, since there the
merging would take longer than the steps.

`run.take` does the same for all other tests, by the steps of a session.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
from quaestor.selection.ranking import second_score
from quaestor.selection.rules import MISSING as SKIPS_MISSING
from quaestor.selection.rules import WRONG, Rules
from quaestor.selection.scores.kernels import TOLD, Tables
from quaestor.selection.step import NO_QUESTION
from quaestor.selection.stopping.criteria import MaxQuestions
from quaestor.selection.stopping.criterion import ManyBounds, Situation
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Students
from quaestor.simulate.library import Library, fetched
from quaestor.simulate.run import Record, merged

_DEEP = 500.0  # minus the logarithm of numbers that products may round to zero
_RULES = {"score", "then", "bound", "stop", "skips", "may_skip", "only_next"}


def is_plain(bank: Bank, rules: Rules, behaviour: Behaviour) -> bool:
    """Whether a test can be taken here."""
    layout = layout_of(bank)
    second = second_score(rules.score, rules.then)
    return (
        layout.is_precise
        and layout.model.joint_size <= LARGEST
        and set(rules.document) <= _RULES
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
    each batch, with its skill; `order`: where each question of the bank stands among the batches (None: in their order); `logs`: log
    P(class | level) of all questions, one after another; `level_at`: the level of each skill in each joint state, (skills, states). Of
    each question: `first`, its first row in `logs`, `skill_of`, its skill, `on_skill`, the same as a row of 0 and 1 in the order of the
    bank, `classes`, `minutes`.
    """

    prior: Any
    ones: Any
    skills: list[Any]
    tables: list[tuple[int, Tables]]
    order: Any
    logs: Any
    first: Any
    skill_of: Any
    level_at: Any
    on_skill: Any
    classes: Any
    minutes: Any

    @staticmethod
    def of(layout: Layout, library: Library) -> "_Bank":
        """A bank, with its skills in the order of the layout's model."""
        model, put = layout.model, library.put
        joint = joint_of(model)
        classes, levels = int(layout.classes.max()), model.sizes
        skill_of = np.empty(len(layout.questions), dtype=np.int64)
        first = np.empty(len(layout.questions), dtype=np.int64)
        rows, place, tables = [], 0, []
        for batch in layout.batches:
            skill, size = batch.scope[0], levels[batch.scope[0]]
            logs = np.moveaxis(batch.logs[0], 1, 2).reshape(-1, batch.low.shape[1])  # (tables x levels, classes)
            rows.append(np.pad(logs, ((0, 0), (0, classes - logs.shape[1]))))
            skill_of[batch.index], first[batch.index] = skill, place + batch.row * size
            place += len(logs)
            of = Tables.of(batch)
            each = Tables(
                tuple(np.ascontiguousarray(one[:, batch.row]) for one in of.classes), np.ascontiguousarray(of.noise[:, batch.row])
            )
            tables.append((skill, Tables(tuple(put(one) for one in each.classes), put(each.noise))))
        listed = np.concatenate([batch.index for batch in layout.batches])
        order = None if (np.diff(listed) > 0).all() else put(np.argsort(listed))
        indices = [joint.index((skill,)) for skill in range(len(levels))]
        return _Bank(
            put(joint.prior),
            put(np.ones((len(joint.prior), 1))),
            [put(joint.indicator((skill,))) for skill in range(len(levels))],
            tables,
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
        second = second_score(rules.score, rules.then)
        self._second = TOLD[second] if second else None
        self._deepest = max(-float(batch.logs[0].min()) for batch in layout.batches)  # of one answer
        self._gains = library.compiled(self._worked_out)

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
            first, path_after = merged(path, classes) if library.is_numpy else (None, library.put(np.arange(path.shape[0])))
            old, put, said = (path, questions, classes) if first is None else (path[first], questions[first], classes[first])
            paths, path = self._after(paths, old, put, said), path_after
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
        """New paths: each an old one with one more question and its answer."""
        xp, bank = self._xp, self._bank
        if self._rules.skips == WRONG:
            classes = xp.where(classes == MISSING, 0, classes)
        every = xp.arange(paths.closed.shape[1], device=self._library.device)
        closed = xp.take(paths.closed, old, axis=0) | (every == questions[:, None])
        row = xp.take(bank.first, questions, axis=0)[:, None] + xp.take(bank.level_at, xp.take(bank.skill_of, questions, axis=0), axis=0)
        number = row * bank.logs.shape[1] + xp.maximum(classes, xp.zeros_like(classes))[:, None]
        told = xp.reshape(xp.take(xp.reshape(bank.logs, (-1,)), xp.reshape(number, (-1,)), axis=0), number.shape)
        told = xp.where(classes[:, None] == MISSING, 0.0, told)
        best = xp.astype(classes == xp.take(bank.classes, questions, axis=0) - 1, xp.int64)
        of_skill = xp.take(paths.of_skill, old, axis=0) + xp.take(bank.on_skill, questions, axis=0)
        right, minutes = (
            xp.take(paths.right, old, axis=0) + best,
            xp.take(paths.minutes, old, axis=0) + xp.take(bank.minutes, questions, axis=0),
        )
        logs = xp.take(paths.logs, old, axis=0) + told
        return _Paths(logs, closed, of_skill, right, minutes)

    def _posterior(self, logs: Any, asked: int) -> Any:
        """P(joint state | answers), (paths, states)."""
        xp = self._xp
        if asked * self._deepest > _DEEP:
            logs = logs - xp.max(xp.where(self._bank.prior > 0, logs, -xp.inf), axis=1, keepdims=True)
        weights = xp.exp(logs) * self._bank.prior
        return weights / (weights @ self._bank.ones)  # quicker than a sum over so short an axis

    def _worked_out(self, posterior: Any, closed: Any, told: Callable[..., Any]) -> Any:
        """The gains of all questions, (paths, questions); -inf for those that are closed."""
        xp = self._xp
        found = []
        for skill, tables in self._bank.tables:
            mass = posterior @ self._bank.skills[skill]
            found.append(told(JointTarget(mass.shape[1], mass, mass, mass * mass), tables))
        gains = found[0] if len(found) == 1 else xp.concat(found, axis=1)
        if self._bank.order is not None:
            gains = xp.take(gains, self._bank.order, axis=1)
        return xp.where(closed, -xp.inf, gains)

    def _best(self, posterior: Any, closed: Any) -> tuple[Any, Any]:
        """The best question of each path, and its gain, (paths,) each; ties as in `selection.ties`."""
        xp = self._xp
        questions, most = [], []
        for some in parts(posterior.shape[0], max(1, self._library.block // closed.shape[1])):
            gains = self._gains(posterior[some, :], closed[some, :], TOLD[self._rules.score])
            top = xp.max(gains, axis=1)
            tied = gains >= top[:, None] - TIED
            if self._second is not None:
                tied = self._narrowed(tied, posterior[some, :], closed[some, :])
            questions.append(xp.argmax(xp.astype(tied, xp.int8), axis=1))
            most.append(top)
        return (questions[0], most[0]) if len(questions) == 1 else (xp.concat(questions), xp.concat(most))

    def _narrowed(self, tied: Any, posterior: Any, closed: Any) -> Any:
        """Of the questions that are tied those that the second score prefers."""
        xp = self._xp
        is_open = xp.sum(xp.astype(tied, xp.int64), axis=1) > 1
        rows = xp.nonzero(is_open)[0]
        if not rows.shape[0]:
            return tied
        second = xp.where(
            xp.take(tied, rows, axis=0), self._gains(xp.take(posterior, rows, axis=0), xp.take(closed, rows, axis=0), self._second), -xp.inf
        )
        fewer = second >= xp.max(second, axis=1, keepdims=True) - TIED
        place = xp.cumulative_sum(xp.astype(is_open, xp.int64)) - 1
        return xp.where(is_open[:, None], xp.take(fewer, xp.maximum(place, xp.zeros_like(place)), axis=0), tied)

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
        put, given, stood = (xp.stack([xp.astype(column, xp.int32) for column in one]).T if one else none for one in (asked, answers, node))
        ends: list[Ends] = []
        for skill in range(len(nodes[0])):
            every = xp.concat([one[skill] for one in nodes])
            ends.append((every, every))
        return Record(students.numbers, students.levels, put, given, stood, tuple(ends), rule)


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
