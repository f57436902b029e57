"""What an item of QTI 2 and 3 declares of its responses, and how it scores them.

The declared right answer is the key. Scoring is read as far as it says more than that: points by a mapping, a tolerance of numbers. All
else that an item scores by is named in a note.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from quaestor.formats.exchange import marking
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.marking import Range, as_number
from quaestor.formats.exchange.qti.names import attribute, kind
from quaestor.formats.exchange.xml import Element
from quaestor.i18n import say

NUMBERS = ("float", "integer")
_TEMPLATES = ("match_correct", "map_response", "cc2_match_basic", "cc2_map_response")
_PLAIN = {
    *(
        "responseProcessing",
        "responseCondition",
        "responseIf",
        "responseElse",
        "responseElseIf",
        "setOutcomeValue",
        "baseValue",
        "variable",
    ),
    *("correct", "match", "equal", "mapResponse", "isNull", "not", "sum", "divide", "index"),
}


@dataclass(frozen=True)
class Declaration:
    """A response: whether one, several or an order is expected, of which type, what is right, and the points of answers."""

    name: str
    cardinality: str
    type: str
    correct: list[str]
    points: dict[str, Fraction] = field(default_factory=dict)
    ignores_case: bool = False

    def right(self, by_points: bool) -> list[str]:
        """The right values: those declared, else those with most points; of several that can be chosen, all with points."""
        if self.correct or not by_points:
            return self.correct
        best = max(self.points.values(), default=Fraction(0))
        several = self.cardinality == "multiple"
        return [value for value, points in self.points.items() if points > 0 and (several or points == best)]


def declared(item: Element) -> dict[str, Declaration]:
    """The responses that an item declares, by name."""
    found: dict[str, Declaration] = {}
    for one in item.children:
        if kind(one) != "responseDeclaration":
            continue
        name = attribute(one, "identifier")
        if name in found:
            raise Refused(say("two responses have the name {name}", name=name))
        correct: list[str] = []
        points: dict[str, Fraction] = {}
        ignores_case = False
        for part in one.children:
            if kind(part) == "correctResponse":
                correct = [value.whole_text().strip() for value in part.children if kind(value) == "value"]
            elif kind(part) == "mapping":
                entries = [entry for entry in part.children if kind(entry) == "mapEntry"]
                points = {attribute(entry, "mapKey").strip(): as_number(attribute(entry, "mappedValue", "0")) for entry in entries}
                ignores_case = bool(entries) and all(attribute(entry, "caseSensitive", "true") == "false" for entry in entries)
        found[name] = Declaration(name, attribute(one, "cardinality", "single"), attribute(one, "baseType"), correct, points, ignores_case)
    return found


@dataclass(frozen=True)
class Scoring:
    """How an item is scored: whether by points of a mapping; the element of its own rules, where it has any; `adds`: parts are added up."""

    by_points: bool
    rules: Element | None
    adds: bool = False

    def ranges(self, declaration: Declaration, notes: list[str]) -> tuple[list[Range], list[tuple[Range, float]]]:
        """The right numbers of a response, with the tolerance of the comparison that scores it; and others, with what they are worth."""
        scored: list[tuple[Fraction | None, Range]] = []
        for holder in self.rules.walk() if self.rules is not None else ():
            for comparison in (one for one in holder.children if kind(one) == "equal"):
                values = _compared(comparison, declaration)
                scored += [(_points(holder), _within(value, comparison, notes)) for value in values]
        best = max((points for points, _ in scored if points is not None), default=None)
        if scored:
            partly = [(one, float(100 * points / best)) for points, one in scored if points is not None and best and 0 < points < best]
            return [one for points, one in scored if points is None or points == best], partly
        if self.by_points and declaration.points:
            return _by_points(declaration, notes)
        return [(value, value) for value in map(as_number, declaration.correct)], []


def _compared(comparison: Element, declaration: Declaration) -> list[Fraction]:
    """The numbers that a comparison holds a response against."""
    parts = {kind(part): part for part in comparison.children}
    if attribute(parts.get("variable", comparison), "identifier") != declaration.name:
        return []
    if "correct" in parts:
        return [as_number(value) for value in declaration.correct]
    return [as_number(parts["baseValue"].text.strip())] if "baseValue" in parts else []


def _points(branch: Element) -> Fraction | None:
    """The score that a branch sets, where it is a number."""
    for one in branch.children:
        if _scores(one) and len(one.children) == 1 and kind(one.children[0]) == "baseValue":
            return as_number(one.children[0].text.strip())
    return None


def _within(value: Fraction, comparison: Element, notes: list[str]) -> Range:
    mode = attribute(comparison, "toleranceMode", "exact")
    widths = [as_number(word) for word in attribute(comparison, "tolerance").split()[:2]] or [Fraction(0)]
    below, above = widths[0], widths[-1]
    if mode == "exact":
        below = above = Fraction(0)
    elif mode == "relative":
        below, above = abs(value) * below / 100, abs(value) * above / 100
    elif mode != "absolute":
        raise Refused(say("its scoring is not understood: {words}", words=mode))
    for end in ("includeLowerBound", "includeUpperBound"):
        if attribute(comparison, end, "true") == "false" and (below or above):
            notes.append(
                say(
                    "an end of a range that does not count itself, {value}, counts here",
                    value=marking.written(value - below if "Lower" in end else value + above),
                )
            )
    return value - abs(below), value + abs(above)


def _by_points(declaration: Declaration, notes: list[str]) -> tuple[list[Range], list[tuple[Range, float]]]:
    """The numbers with most points; whole numbers one after the other are one range."""
    best = max(declaration.points.values())
    if best <= 0:
        raise Refused(say("no answer is right"))
    values = sorted(as_number(value) for value, points in declaration.points.items() if points == best)
    others = [(as_number(value), float(100 * points / best)) for value, points in declaration.points.items() if 0 < points < best]
    partly = [((value, value), worth) for value, worth in others]
    if declaration.type == "integer" and len(values) > 1 and values[-1] - values[0] == len(values) - 1:
        notes.append(
            say(
                "numbers between {low} and {high} that are not whole are right too",
                low=marking.written(values[0]),
                high=marking.written(values[-1]),
            )
        )
        return [(values[0], values[-1])], partly
    return [(value, value) for value in values], partly


def scoring(item: Element, notes: list[str]) -> Scoring:
    """How an item is scored; notes name what is not understood."""
    processing = next((one for one in item.children if kind(one) == "responseProcessing"), None)
    if processing is None:
        notes.append(say("the file does not say how it is scored: the declared right answer counts"))
        return Scoring(False, None)
    if template := attribute(processing, "template") or attribute(processing, "templateLocation"):
        name = re.sub(r"\.xml$", "", template.rstrip("/").rpartition("/")[2]).lower()
        if "point" in name:
            raise Refused(say("{what} cannot be marked here", what=name))
        if name not in _TEMPLATES:
            notes.append(say("its scoring is not understood: {words}; the declared right answer counts", words=name))
        return Scoring("map" in name, None)
    rules = [rule for rule in processing.children if any(_scores(one) for one in rule.walk())] or processing.children
    used = dict.fromkeys(_named(one, item) for rule in rules for one in rule.walk())
    if "mapResponsePoint" in used:
        raise Refused(say("{what} cannot be marked here", what="mapResponsePoint"))
    if others := [name for name in used if name not in _PLAIN]:
        notes.append(say("its scoring is not understood: {words}; the declared right answer counts", words=", ".join(others)))
    totals = [one for one in processing.walk() if kind(one) == "setOutcomeValue" and attribute(one, "identifier").upper() == "SCORE"]
    adds = any(kind(part) in ("sum", "mapResponse") for total in totals for part in total.walk())
    return Scoring("mapResponse" in used and "match" not in _direct(processing), processing, adds)


def shares(points: Mapping[str, Fraction], right: Sequence[str]) -> dict[str, float]:
    """What values are worth of 100, those that are not right but worth something; a right one has the most points."""
    best = max((points.get(value, Fraction(0)) for value in right), default=Fraction(0))
    return {value: float(100 * worth / best) for value, worth in points.items() if value not in right and 0 < worth < best}


def _scores(one: Element) -> bool:
    """Whether a rule sets the score, and not only which feedback is shown."""
    return kind(one) == "setOutcomeValue" and attribute(one, "identifier").upper().startswith("SCORE")


def _named(one: Element, item: Element) -> str:
    """The name of an element; one of another vocabulary with that."""
    return kind(one) if one.namespace == item.namespace else f"{one.tag} ({one.namespace})"


def _direct(processing: Element) -> set[str]:
    """The comparisons of a response with its declared right answer."""
    return {kind(one) for one in processing.walk() if {"variable", "correct"} <= {kind(part) for part in one.children}}
