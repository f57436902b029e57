"""A test compiled to a decision graph: every node asks a question, or is the end with what is known; no engine is needed to play it.

All nodes of one depth are worked out together. What is asked next follows from which question has which answer, so paths that meet in the
same answers meet in the same node; under `variety` the last questions must be the same too. Among questions that differ in nothing that
counts, the first of the bank is always asked first, so it only matters how many of them have which answer.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import best, survivors
from quaestor.errors import AnswerError, QuaestorError, format_value
from quaestor.inference.chooser import lookahead
from quaestor.inference.layout import Answers
from quaestor.inference.lookahead import Ends
from quaestor.inference.posterior import joint_uncertainty, refuse_conflict
from quaestor.model.table import Array
from quaestor.selection.criteria import ManyBounds, Situation
from quaestor.selection.ranking import rank_ahead
from quaestor.selection.rules import MISSING as SKIPS_MISSING
from quaestor.selection.rules import WRONG, Rules
from quaestor.session.log import Answer
from quaestor.session.session import NO_QUESTION, Session
from quaestor.simulate.run import PLAIN
from quaestor.simulate.states import MISSING, OPEN, States, Steps, unique_rows

FORMAT = 1
LIMIT = 100_000  # nodes
DIGITS = 7  # of a probability
LAST = "No question is left."
END = "The graph ends here; the test would go on."
TOGETHER = 256  # nodes worked out at once, so that memory stays flat

Edge = tuple[int, int, int]  # a node's place in its layer, the place of a question, a class (or MISSING)


class Layer(NamedTuple):
    """All nodes of one depth: the places of their next questions (-1: none), why they stop, and the bounds of each skill."""

    following: list[int]
    reasons: dict[int, str]
    bounds: list[Ends]


class Front(Protocol):
    """The answers with which all nodes of one depth are reached."""

    def __len__(self) -> int: ...

    def decide(self) -> Layer:
        """What happens there."""

    def move(self, edges: Sequence[Edge]) -> list[int]:
        """Go one question deeper; where each edge leads among the next nodes, -1 for an answer that cannot be given."""


def policy(
    bank: Bank, rules: Rules | None = None, depth: int = 10, limit: int = LIMIT, skips: bool = False, texts: bool = False
) -> dict[str, Any]:
    """The decision graph of a test as plain data; docs/policy.md describes it.

    `depth`: how many questions deep it goes at most; `limit`: how many nodes it may have. `skips`: with nodes for skipped questions
    where a skip tells nothing (a skip that counts as an answer costs no node and is always there). `texts`: with the texts and options
    of the questions; keys are never there, since a player takes answer classes.
    """
    rules = rules or Rules()
    _check(bank, rules, depth, limit)
    front: Front = _Together(bank, rules) if set(rules.document) <= PLAIN else _OneByOne(bank, rules)
    listed = list(bank.questions.values())
    nodes: list[dict[str, Any]] = []
    deep = 0
    while True:
        start, after = len(nodes), len(nodes) + len(front)
        if after > limit:
            raise QuaestorError(f"a policy has at most {limit:,} nodes, got {after:,} at depth {deep}; lower the depth or raise the limit")
        layer = front.decide()
        ends = _ends(bank, layer, deep == depth)
        nodes += [ends[row] if row in ends else {"ask": listed[place].id, "then": {}} for row, place in enumerate(layer.following)]
        asking = [(row, place) for row, place in enumerate(layer.following) if row not in ends]
        if not asking:
            break
        own = [MISSING] if skips and rules.may_skip and rules.skips == SKIPS_MISSING else []
        edges = [(row, place, answer) for row, place in asking for answer in [*range(len(listed[place].classes)), *own]]
        for (row, place, answer), target in zip(edges, front.move(edges), strict=True):
            node, number = nodes[start + row], after + target if target >= 0 else None
            if answer == MISSING:
                node["skip"] = number
            else:
                node["then"][listed[place].classes[answer]] = number
        if rules.may_skip and rules.skips != SKIPS_MISSING:
            for row, place in asking:
                node = nodes[start + row]
                node["skip"] = node["then"][listed[place].classes[0] if rules.skips == WRONG else rules.skips]
        deep += 1
    return {
        "policy": FORMAT,
        "bank": {"title": bank.title, "version": bank.version, "model_version": bank.model_version},
        "rules": rules.document,
        "depth": deep,
        "skills": {skill.id: list(skill.levels) for skill in bank.skills.values()},
        **({"questions": _texts(bank, nodes)} if texts else {}),
        "nodes": nodes,
    }


def _check(bank: Bank, rules: Rules, depth: int, limit: int) -> None:
    rules.check(bank)
    for name, value in (("depth", depth), ("limit", limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise QuaestorError(f"{name}: a whole number of at least 1, got {format_value(value)}")
    if rules.is_random:
        raise QuaestorError(f"a policy is for rules that draw nothing at random, got {_drawn(rules)}")


def _drawn(rules: Rules) -> str:
    """The rule that draws."""
    document = rules.document
    for name in ("among", "first_among", "pilots"):
        if name in document:
            return f"{name}: {document[name]}"
    return "exposure.chances" if rules.exposure.chances else "score: random" if rules.score == "random" else "then: random"


def _ends(bank: Bank, layer: Layer, all_end: bool) -> dict[int, dict[str, Any]]:
    """The nodes that ask nothing, by their place in the layer."""
    found: dict[int, dict[str, Any]] = {}
    for row, place in enumerate(layer.following):
        if all_end or place < 0:
            why = {"stop": layer.reasons[row]} if row in layer.reasons else {"end": END}
            found[row] = {**why, "beliefs": {}}
    for skill, (low, high) in zip(bank.skills.values(), layer.bounds, strict=True):
        (lower, upper), levels, left = _rounded(low, high), best(low, high), survivors(low, high)
        for row, node in found.items():
            node["beliefs"][skill.id] = {
                "lower": lower[row].tolist(),
                "upper": upper[row].tolist(),
                "level": skill.levels[levels[row]],
                "possible": [level for level, stays in zip(skill.levels, left[row], strict=True) if stays],
            }
    return found


def _rounded(low: Array, high: Array) -> Ends:
    """Bounds rounded outwards, so that they stay safe; a probability to the nearest."""
    scale, noise, near = 10.0**DIGITS, 1e-6, np.round(low, DIGITS)
    down, up = np.floor(low * scale + noise) / scale, np.ceil(high * scale - noise) / scale
    return np.where(low == high, near, down), np.where(low == high, near, up)


def _texts(bank: Bank, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    asked = {node["ask"] for node in nodes if "ask" in node}
    return {
        q.id: {"text": q.text, "kind": q.kind, **({"options": list(q.options)} if q.options else {})}
        for q in bank.questions.values()
        if q.id in asked
    }


class _Doubtful:
    """Which answers the bank may exclude: only those that some levels give probability zero are worth a look."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        tables = [question.table.upper for question in bank.questions.values()]
        self._least = [table.min(axis=tuple(range(table.ndim - 1))).tolist() for table in tables]  # the smallest of each class

    def excludes(self, place: int, answer: int, answers: Callable[[], Answers]) -> bool:
        """Whether an answer contradicts the others; `answers` gives all of them, this one too."""
        if answer == MISSING or self._least[place][answer] > 0:
            return False
        try:
            refuse_conflict(self._bank, answers(), {})
        except AnswerError:
            return True
        return False


class _Together:
    """Plain rules: a row of answers for each node, (nodes, questions)."""

    def __init__(self, bank: Bank, rules: Rules) -> None:
        self._bank, self._rules, self._steps, self._doubtful = bank, rules, Steps(bank, rules), _Doubtful(bank)
        self._listed = list(bank.questions.values())
        self._answers = np.full((1, len(self._listed)), OPEN, dtype=np.int16)
        groups: dict[tuple[object, ...], list[int]] = {}
        for place, q in enumerate(self._listed):
            looks = (q.skills, q.classes, q.minutes, q.pilot, q.table.lower.tobytes(), q.table.upper.tobytes())
            groups.setdefault(looks, []).append(place)
        self._alike = [places for places in groups.values() if len(places) > 1]

    def __len__(self) -> int:
        return len(self._answers)

    def decide(self) -> Layer:
        """All nodes by the same steps."""
        parts = np.split(self._answers, range(TOGETHER, len(self), TOGETHER))
        found = [self._steps.decide(States.of(self._steps.compiled, part)) for part in parts]
        bounds = [
            (np.concatenate([one.bounds[skill][0] for one in found]), np.concatenate([one.bounds[skill][1] for one in found]))
            for skill in range(len(self._bank.skills))
        ]
        rule = np.concatenate([one.rule for one in found])
        reasons = {row: self._reason(row, rule[row], bounds) for row in np.flatnonzero(rule != "").tolist()}
        return Layer(np.concatenate([one.next for one in found]).tolist(), reasons, bounds)

    def _reason(self, row: int, rule: str, bounds: list[Ends]) -> str:
        """Why the test stops, in the words of a session."""
        if rule == NO_QUESTION or self._rules.stop is None:
            return LAST
        asked = [self._listed[place] for place in np.flatnonzero(self._answers[row] != OPEN)]
        answers = self._given(self._answers[row])
        now = Situation(
            {
                skill.id: ManyBounds(skill.levels, low[row], high[row])
                for skill, (low, high) in zip(self._bank.skills.values(), bounds, strict=True)
            },
            len(asked),
            {skill: sum(skill in question.skills for question in asked) for skill in self._bank.skills},
            sum(answers.get(question.id) == len(question.classes) - 1 for question in asked),
            sum(question.minutes or 1.0 for question in asked),
            lambda: self._best_gain(answers, [question.id for question in asked]),
            lambda index: joint_uncertainty(self._bank, answers, {}, index),
        )
        return self._rules.stop.reason(now)

    def _best_gain(self, answers: Answers, asked: list[str]) -> float | None:
        rules, ahead = self._rules, lookahead(self._bank, answers, self._rules.target, asked=asked)
        ranking = rank_ahead(self._bank, ahead, rules.score, rules.bound, rules.then, rules.per, np.random.default_rng(0))
        return float(ranking.gains[0]) if len(ranking) else None

    def _given(self, answers: NDArray[np.int16]) -> dict[str, int]:
        return {self._listed[place].id: int(answers[place]) for place in np.flatnonzero(answers >= 0)}

    def move(self, edges: Sequence[Edge]) -> list[int]:
        """One more answer in each row; equal rows once."""
        rows, places, classes = np.array(edges).T
        then = self._answers[rows]
        then[np.arange(len(then)), places] = classes
        doubted = (
            self._doubtful.excludes(place, answer, partial(self._given, row)) for (_, place, answer), row in zip(edges, then, strict=True)
        )
        possible = np.flatnonzero(~np.fromiter(doubted, bool, len(edges)))
        then = then[possible]
        for alike in self._alike:
            then[:, alike] = -np.sort(-then[:, alike], axis=1)  # the open ones last
        first, place = unique_rows(then)
        self._answers = then[first]
        targets = np.full(len(edges), -1)
        targets[possible] = place
        return [int(target) for target in targets]


class _OneByOne:
    """Other rules: a log for each node, and a session made from it."""

    def __init__(self, bank: Bank, rules: Rules) -> None:
        self._bank, self._rules, self._doubtful = bank, rules, _Doubtful(bank)
        self._listed = list(bank.questions.values())
        self._place = {question.id: place for place, question in enumerate(self._listed)}
        self._logs: list[tuple[Answer, ...]] = [()]

    def __len__(self) -> int:
        return len(self._logs)

    def decide(self) -> Layer:
        """Each by its session, which is not kept."""
        following, reasons, beliefs = [], {}, []
        for row, log in enumerate(self._logs):
            session = Session(self._bank, self._rules, 0, log)
            following.append(-1 if session.next is None else self._place[session.next.id])
            if session.stopped is not None:
                reasons[row] = session.stopped.reason
            beliefs.append(session.beliefs)
        bounds = [
            (np.stack([one[skill].lower for one in beliefs]), np.stack([one[skill].upper for one in beliefs]))
            for skill in self._bank.skills
        ]
        return Layer(following, reasons, bounds)

    def move(self, edges: Sequence[Edge]) -> list[int]:
        """One more line in each log; logs that the rules cannot tell apart once."""
        numbers: dict[object, int] = {}
        targets, logs = [], list[tuple[Answer, ...]]()
        for row, place, answer in edges:
            question = self._listed[place]
            log = (*self._logs[row], Answer(question.id, None if answer == MISSING else question.classes[answer]))
            if self._doubtful.excludes(place, answer, partial(_given, log)):
                targets.append(-1)
                continue
            number = numbers.setdefault(self._key(log), len(numbers))
            if number == len(logs):
                logs.append(log)
            targets.append(number)
        self._logs = logs
        return targets

    def _key(self, log: tuple[Answer, ...]) -> object:
        """All that the rules look at: the answers, and under `variety` the last questions that count."""
        variety = self._rules.variety
        scored = [one.question for one in log if not self._bank.questions[one.question].pilot] if variety is not None else []
        return frozenset(log), tuple(scored[-variety.after :]) if variety is not None else ()


def _given(log: tuple[Answer, ...]) -> dict[str, str | int]:
    return {one.question: one.answer for one in log if one.answer is not None}
