"""A learnt table as an author would state it: in words where words still say it, else in a few digits.

A word covers the numbers within `COVERS` of its own, half of a step between two neighbouring difficulties. Numbers are rounded to two
digits, or to as many as a small probability needs so that it does not become 0; a row of exact numbers still sums to 1, and intervals are
rounded outwards.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from quaestor.bankfile import elicit
from quaestor.bankfile.bank import Bank
from quaestor.bankfile.document import merged
from quaestor.bankfile.keys import by_chance
from quaestor.bankfile.statements import STATEMENT_FIELDS
from quaestor.errors import StatementError
from quaestor.model.table import Array, Table

Entry = dict[str, Any]
Ends = tuple[Array, Array]
COVERS = 0.05
MOST_DIGITS = 15
_SKILL_FIELDS = {"prior", "shares", "strength", "table", "confidence"}
_IN_WORDS = ("difficulty", "discrimination", "right", "slip", "guess", "prior")


def skill_entry(bank: Bank, name: str, table: Table) -> Entry:
    """The entry of a skill that states a table; its own one if that is in words which still say it."""
    skill = bank.skills[name]
    stated: Entry = bank.document["skills"][name]
    in_words = not skill.parents and "shares" not in stated and isinstance(stated.get("prior", "even"), str)
    if _still_says({"prior": "even", **stated} if in_words else stated, skill.table, table):
        return stated
    own = {field: value for field, value in stated.items() if field not in _SKILL_FIELDS}
    if skill.parents:
        return {**own, "table": _rows(table, [bank.skills[parent].levels for parent in skill.parents])}
    if in_words and table.is_precise:
        words = [({"prior": word}, _exactly(elicit.by_prior_word(word, len(skill.levels)))) for word in elicit.PRIOR]
        found = _nearest(words, (table.lower, table.upper))
        if found is not None:
            return {**own, **found}
    return {**own, "prior": _row(table.lower, table.upper)}


def question_entry(bank: Bank, name: str, table: Table) -> Entry:
    """The entry of a question that states a table; its own one if that is in words which still say it."""
    question, document = bank.questions[name], bank.document
    stated: Entry = document["questions"][name]
    fields = merged(stated, document.get("templates", {}).get(question.template, {}))
    if _still_says(fields, question.table, table):
        return stated
    own = {field: value for field, value in stated.items() if field not in STATEMENT_FIELDS}
    if len(question.skills) > 1 or question.classes != ("wrong", "right") or table.vertices:
        return {**own, "table": _rows(table, [bank.skills[skill].levels for skill in question.skills])}
    rights = (table.lower[:, 1], table.upper[:, 1])
    if elicit.is_word(fields.get("difficulty", 0)):
        guess = by_chance(question.kind, question.option_classes, "right", question.parts) if document["quaestor"] > 1 else 0.0
        found = _nearest(_difficulties(len(rights[0]), guess, document.get("imprecision", 0), table.is_precise), rights)
        if found is not None:
            return {**own, **found}
    pairs = [_row(np.array([1 - high, low]), np.array([1 - low, high])) for low, high in zip(*rights, strict=True)]
    return {**own, "right": [row[1] for row in pairs]}


def _still_says(fields: Mapping[str, Any], current: Table, learnt: Table) -> bool:
    """Whether a statement has words and means what was learnt."""
    values = [value for field in _IN_WORDS if field in fields for value in np.ravel(np.array(fields[field], dtype=object)).tolist()]
    if not any(isinstance(value, str) and elicit.is_word(value) for value in values) or current.is_precise != learnt.is_precise:
        return False
    return _distance((current.lower, current.upper), (learnt.lower, learnt.upper)) <= COVERS


def _difficulties(levels: int, guess: float, imprecision: float, is_precise: bool) -> Iterator[tuple[Entry, Ends]]:
    """All that words can say of a question's difficulty: fields, and the bounds of P(right) at each level."""
    widths: dict[str, float] = {"": imprecision} | (
        {} if is_precise else {word: width for word, width in elicit.CONFIDENCE.items() if width}
    )
    for difficulty, discrimination, (word, width) in product(elicit.DIFFICULTY, elicit.DISCRIMINATION, widths.items()):
        try:
            rights = np.maximum(elicit.by_difficulty(difficulty, discrimination, levels), guess)
        except StatementError:  # no question is so hard and tells so much
            continue
        said: Entry = {"difficulty": difficulty, "discrimination": discrimination, **({"confidence": word} if word else {})}
        if is_precise or width:
            yield said, (np.clip(rights - width, 0, 1), np.clip(rights + width, 0, 1))


def _nearest(candidates: Sequence[tuple[Entry, Ends]] | Iterator[tuple[Entry, Ends]], wanted: Ends) -> Entry | None:
    """The fields whose bounds come nearest, if that is near enough."""
    found = min(((_distance(ends, wanted), number, said) for number, (said, ends) in enumerate(candidates)), default=None)
    return found[2] if found is not None and found[0] <= COVERS else None


def _exactly(row: Sequence[float]) -> Ends:
    return np.array(row), np.array(row)


def _distance(one: Ends, other: Ends) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(one, other, strict=True))


def _rows(table: Table, levels: Sequence[Sequence[str]]) -> Entry:
    states = table.shape[-1]
    lower, upper = table.lower.reshape(-1, states), table.upper.reshape(-1, states)
    made: Entry = {}
    for number, combination in enumerate(product(*levels)):
        points = table.vertices.get(number)
        made[", ".join(combination)] = _row(lower[number], upper[number]) if points is None else {"vertices": points.tolist()}
    return made


def _row(lower: Array, upper: Array) -> list[Any]:
    """A row in as few digits as it can be said in: numbers, or pairs of a lower and an upper end."""
    if (lower == upper).all():
        row = lower.tolist()
        return next((made for digits in range(2, MOST_DIGITS) if (made := _summing(row, digits))), row)
    ends = zip(_outwards(lower, math.floor), _outwards(upper, math.ceil), strict=True)
    return [low if low == high else [low, high] for low, high in ends]


def _summing(row: Sequence[float], digits: int) -> list[float]:
    """The row rounded, its largest number such that the sum is 1; empty where a possible answer would become impossible."""
    made = [round(p, digits) for p in row]
    largest = max(range(len(made)), key=made.__getitem__)
    made[largest] = round(1 - sum(made[:largest] + made[largest + 1 :]), digits)
    return made if all((p == 0) == (q == 0) for p, q in zip(row, made, strict=True)) else []


def _outwards(ends: Array, rounding: Callable[[float], int]) -> list[float]:
    """Ends of intervals with two digits; what is an error of arithmetic away from two digits is these."""
    return [min(1.0, max(0.0, rounding(round(100 * p, 9)) / 100)) for p in ends.tolist()]
