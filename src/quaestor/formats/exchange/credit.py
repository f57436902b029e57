"""Credit for answers that are partly right: a class of its own between wrong and right, as other systems' shares of the points tell.

Classes are a like distance apart: one class between wrong and right is worth a half, two are worth thirds, three quarters. Answers keep
their order; where a class is not worth what an answer was, a note tells. What the statement in words then says is in
`bankfile/elicit.py` (`graded`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quaestor.bankfile.sentences import class_word
from quaestor.errors import format_value
from quaestor.formats.exchange.imported import Fields
from quaestor.i18n import say, together

FULL = 99.99  # of 100: what counts as right; thirds are written 33.33333
HALVES = ["wrong", "half", "right"]
_BETWEEN = {0: [], 1: ["half"], 2: ["third", "two thirds"], 3: ["quarter", "half", "three quarters"]}
_NEAR = 1.0  # of 100: worth the same
PARTS = say("credit for single parts is half from half of the parts on")
SOME = say("credit for some of the right options is half from half of them on; every wrong one takes away a right one")


def classes_of(worths: Iterable[float]) -> dict[float, str]:
    """The class of each worth (100 is right), and all classes, worst first, as its values.

    >>> classes_of([100, 80, 0]), classes_of([100, 0, -50])
    ({0: 'wrong', 80: 'half', 100: 'right'}, {0: 'wrong', -50: 'wrong', 100: 'right'})
    """
    given = sorted(set(worths))
    between = [worth for worth in given if 0 < worth < FULL]
    quarters = [min(3, max(1, round(worth / 25))) for worth in between] if len(between) > 3 else []
    names = [_BETWEEN[3][quarter - 1] for quarter in quarters] if quarters else _BETWEEN[len(between)]
    named = dict(zip(between, names, strict=True))
    low, high = {worth: "wrong" for worth in (0, *given) if worth <= 0}, {worth: "right" for worth in given if worth >= FULL}
    return {**low, **named, **high}


def credited(answers: Sequence[tuple[str, float]], notes: list[str]) -> tuple[dict[str, str], Fields]:
    """The classes of answers with what each is worth, and the field `classes` where there are more than wrong and right."""
    found = classes_of(worth for _, worth in answers)
    listed = list(dict.fromkeys(found.values()))
    classes = listed if listed[-1] == "right" else [*listed, "right"]
    other = [
        say("{answer} {worth:g} % as {name}", answer=format_value(text), worth=round(worth, 5), name=class_word(found[worth]))
        for text, worth in answers
        if 0 < worth < FULL and abs(100 * classes.index(found[worth]) / (len(classes) - 1) - worth) > _NEAR
    ]
    if other:
        shown = together([*other[:5], *["..."] * (len(other) > 5)], ", ")
        notes.append(say("partly right answers count by their class: {answers}", answers=shown))
    return {text: found[worth] for text, worth in answers}, {"classes": classes} if len(classes) > 2 else {}


def in_halves(count: int, notes: list[str], words: str) -> Fields:
    """The field `classes` of a question with so many parts (or right options), of which some right ones are worth something."""
    if count > 2:
        notes.append(words)
    return {"classes": list(HALVES)} if count > 1 else {}


def in_classes(fields: Mapping[str, Any], classes: Sequence[str]) -> Fields:
    """A question whose answers have other classes: each takes the one at its place or below it, so that half of two classes is wrong."""
    own = fields.get("classes", ["wrong", "right"])
    if list(own) == list(classes):
        return dict(fields)
    named = {name: classes[place * (len(classes) - 1) // (len(own) - 1)] for place, name in enumerate(own)}
    made = {name: value for name, value in fields.items() if name != "classes"}
    for key in ("options", "accept"):
        if isinstance(made.get(key), dict):
            made[key] = {text: named[its] for text, its in made[key].items()}
    return made
