"""A test compiled to a decision graph: every node asks a question, or is the end with what is known; no engine is needed to play it.

All nodes of one depth are worked out together. What is asked next follows from which question has which answer: where nothing is drawn, two
paths part at different answers to one question, so equal answers mean the same path. Among questions that differ in nothing that
counts, the first of the bank is always asked first, so it only matters how many of them have which answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import best, survivors
from quaestor.errors import QuaestorError, expect_flag, format_value
from quaestor.inference.conflict import possible
from quaestor.inference.engine import Ends
from quaestor.inference.evidence import MISSING, Evidence
from quaestor.model.question import Question
from quaestor.model.table import Array
from quaestor.selection.rules import MISSING as SKIPS_MISSING
from quaestor.selection.rules import WRONG, Rules, rules_of
from quaestor.selection.scores.known import DRAWN
from quaestor.selection.step import step
from quaestor.simulate.run import PLAIN

FORMAT = 1
LIMIT = 100_000  # nodes
DIGITS = 7  # of a probability
END = "The graph ends here; the test would go on."
TOGETHER = 256  # nodes worked out at once, so that memory stays flat

Edge = tuple[int, int, int]  # a node's place in its layer, the place of a question, a class (or MISSING)


def policy(
    bank: Bank, rules: Rules | None = None, depth: int = 10, limit: int = LIMIT, skips: bool = False, texts: bool = False
) -> dict[str, Any]:
    """The decision graph of a test as plain data; docs/policy.md describes it.

    `depth`: how many questions deep it goes at most; `limit`: how many nodes it may have. `skips`: with nodes for skipped questions
    where a skip tells nothing (a skip that counts as an answer costs no node and is always there). `texts`: with the texts and options
    of the questions; keys are never there, since a player takes answer classes.
    """
    rules = rules_of(rules)
    _check(bank, rules, depth, limit, skips, texts)
    front = _Front(bank, rules)
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


def _check(bank: Bank, rules: Rules, depth: int, limit: int, skips: bool, texts: bool) -> None:
    rules.check(bank)
    for name, flag in (("skips", skips), ("texts", texts)):
        expect_flag(name, flag)
    for name, value in (("depth", depth), ("limit", limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise QuaestorError(f"{name}: a whole number of at least 1, got {format_value(value)}")
    if rules.is_random:
        raise QuaestorError(f"a policy is for rules that draw nothing at random, got {_drawn(rules)}")


def _drawn(rules: Rules) -> str:
    """The rule that draws."""
    document = rules.document
    for name in ("among", "first_among", "pilots", "progressive", "proportional"):
        if name in document:
            return f"{name}: {document[name]}"
    for rule in rules.narrow:
        if rule.draws:
            return f"narrow: {rule.name}"
    return "exposure.chances" if rules.exposure.chances else f"score: {rules.score}" if rules.score in DRAWN else f"then: {rules.then}"


def _ends(bank: Bank, layer: "Layer", all_end: bool) -> dict[int, dict[str, Any]]:
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
    return {q.id: {"text": q.text, "kind": q.kind, **_options(q)} for q in bank.questions.values() if q.id in asked}


def _options(question: Question) -> dict[str, Any]:
    """The options of a question and of its parts; where their order is the key, they are sorted."""
    if not question.parts:
        return {"options": list(question.options)} if question.options else {}
    if question.kind == "gaps":
        parts = [{"name": one.name, "kind": one.kind, **({"options": list(one.options)} if one.options else {})} for one in question.parts]
        return {"parts": parts}
    return {"options": sorted(question.options), "parts": [{"name": one.name, "kind": one.kind} for one in question.parts]}


@dataclass(frozen=True)
class Layer:
    """All nodes of one depth: the numbers of their next questions (-1: none), why they stop, and the bounds of each skill."""

    following: list[int]
    reasons: Mapping[int, str]
    bounds: list[Ends]


class _Front:
    """The answers with which all nodes of one depth are reached: evidence of as many takers."""

    def __init__(self, bank: Bank, rules: Rules) -> None:
        self._bank, self._rules = bank, rules
        self._evidence = Evidence.begin(bank, withdrawn=rules.withdrawn)
        groups: dict[tuple[object, ...], list[int]] = {}
        for number, q in enumerate(bank.questions.values()):
            looks = (q.skills, q.classes, q.minutes, q.pilot, q.table.lower.tobytes(), q.table.upper.tobytes())
            groups.setdefault(looks, []).append(number)
        plain = set(rules.document) <= PLAIN  # other rules may name one of the questions that look alike
        self._alike = [numbers for numbers in groups.values() if len(numbers) > 1] if plain else []

    def __len__(self) -> int:
        return self._evidence.takers

    def decide(self) -> Layer:
        """What happens in each node."""
        starts = range(0, len(self), TOGETHER)
        found = [step(self._rules, self._evidence.take(np.arange(start, min(start + TOGETHER, len(self))))) for start in starts]
        bounds = [
            (np.concatenate([one.bounds[skill].lower for one in found]), np.concatenate([one.bounds[skill].upper for one in found]))
            for skill in range(len(self._bank.skills))
        ]
        stops = [(start, one, row) for start, one in zip(starts, found, strict=True) for row in np.flatnonzero(one.stopped).tolist()]
        reasons = {start + row: one.reason(row) for start, one, row in stops}
        return Layer(np.concatenate([one.question for one in found]).tolist(), reasons, bounds)

    def move(self, edges: Sequence[Edge]) -> list[int]:
        """Go one question deeper; where each edge leads among the next nodes, -1 for an answer that cannot be given."""
        rows, questions, classes = np.array(edges).T
        then = self._evidence.take(rows).put(questions, classes)
        can_be = np.flatnonzero(possible(then.model, then.takers))
        then = then.take(can_be)
        if self._alike:
            answers = then.answers.copy()
            for alike in self._alike:
                answers[:, alike] = -np.sort(-answers[:, alike], axis=1)  # the open ones last
            then = Evidence.of_rows(self._bank, answers)
        first, number = then.alike()
        self._evidence = then.take(first)
        targets = np.full(len(edges), -1)
        targets[can_be] = number
        return [int(target) for target in targets]
