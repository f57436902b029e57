"""How QTI 1.2 scores: conditions on responses, each with what it does to the score, looked at from the first to the last.

Programs differ from the standard in two ways that are followed here: a condition goes on to the next one unless it says otherwise, and
several equalities side by side that ask the same response for different values are alternatives.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from quaestor.errors import format_value
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.marking import MOST_OPTIONS, Range, as_number
from quaestor.formats.exchange.xml import Element
from quaestor.i18n import say

Responses = Mapping[str, frozenset[str]]
_ENDLESS = Fraction(10) ** 40
_BOUNDS = {"vargte", "vargt", "varlte", "varlt"}


@dataclass(frozen=True)
class Scoring:
    """A condition that changes the score."""

    condition: Element
    action: str
    points: Fraction
    ends: bool


def scorings(item: Element) -> list[Scoring]:
    """The conditions of an item that change its score, in their order."""
    found = []
    for processing in item.all("resprocessing"):
        name = next((one.attributes.get("varname", "SCORE") for one in processing.walk() if one.tag == "decvar"), "SCORE")
        for block in processing.all("respcondition"):
            condition = block.first("conditionvar")
            for change in block.all("setvar"):
                if condition is not None and change.attributes.get("varname", "SCORE") == name:
                    ends = block.attributes.get("continue", "").lower() == "no"
                    found.append(Scoring(condition, change.attributes.get("action", "Set").lower(), as_number(change.text or "0"), ends))
    return found


def score(found: Iterable[Scoring], responses: Responses) -> Fraction:
    """The score of these responses."""
    total = Fraction(0)
    for scoring in found:
        if not _all_hold(scoring.condition, responses):
            continue
        match scoring.action:
            case "set":
                total = scoring.points
            case "add":
                total += scoring.points
            case "subtract":
                total -= scoring.points
            case _:
                raise Refused(say("its scoring is not understood: {words}", words=scoring.action))
        if scoring.ends:
            break
    return total


def _all_hold(condition: Element, responses: Responses) -> bool:
    parts = condition.children
    same = {part.attributes.get("respident", "") for part in parts if part.tag == "varequal"}
    if len(parts) > 1 and len(same) == 1 and all(part.tag == "varequal" for part in parts):
        return any(_holds(part, responses) for part in parts)
    return all(_holds(part, responses) for part in parts)


def _holds(condition: Element, responses: Responses) -> bool:
    given = responses.get(condition.attributes.get("respident", ""), frozenset())
    match condition.tag:
        case "varequal":
            return condition.text.strip() in given
        case "and":
            return all(_holds(part, responses) for part in condition.children)
        case "or":
            return any(_holds(part, responses) for part in condition.children)
        case "not":
            return not any(_holds(part, responses) for part in condition.children)
        case "other":
            return True
        case "unanswered":
            return not given
    raise Refused(say("its scoring is not understood: {words}", words=condition.tag))


def named(condition: Element) -> Iterator[tuple[str, str]]:
    """The responses and values that a condition asks for, not those that it forbids."""
    waiting = [condition]
    while waiting:
        part = waiting.pop(0)
        if part.tag == "varequal":
            yield part.attributes.get("respident", ""), part.text.strip()
        elif part.tag != "not":
            waiting = part.children + waiting


def ranges(condition: Element, notes: list[str]) -> list[Range]:
    """The numbers for which a condition on one response holds."""
    parts = condition.children
    if condition.tag == "or" or (condition.tag == "conditionvar" and all(part.tag == "varequal" for part in parts)):
        return [one for part in parts for one in ranges(part, notes)]
    if condition.tag in ("and", "conditionvar"):
        held: list[Range] = [(-_ENDLESS, _ENDLESS)]
        for part in parts:
            inside = ranges(part, notes)
            held = [(max(a, c), min(b, d)) for a, b in held for c, d in inside if max(a, c) <= min(b, d)]
            if len(held) > MOST_OPTIONS:
                raise Refused(say("its scoring is not understood: {words}", words=condition.tag))
        return held
    if condition.tag == "varequal":
        value = as_number(condition.text)
        margin = as_number(condition.attributes["margin"]) if condition.attributes.get("margin") else Fraction(0)
        if condition.attributes.get("margintype") == "percent":
            margin = abs(value) * margin / 100
        return [(value - margin, value + margin)]
    if condition.tag in _BOUNDS:
        value = as_number(condition.text)
        if not condition.tag.endswith("e"):
            notes.append(
                say("an end of a range that does not count itself, {value}, counts here", value=format_value(condition.text.strip()))
            )
        return [(value, _ENDLESS) if condition.tag.startswith("varg") else (-_ENDLESS, value)]
    raise Refused(say("its scoring is not understood: {words}", words=condition.tag))


def is_endless(one: Range) -> bool:
    """Whether a range has no end on a side."""
    return one[0] == -_ENDLESS or one[1] == _ENDLESS
