"""How the entries to a question are judged: its options and their classes, its key, what is accepted, and its parts.

A question of kind `matching`, `ordering` or `gaps` has several parts, each with a key of its own; a gap has the fields of a question.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import factorial, prod
from typing import Any

from quaestor.bankfile.readers import Report
from quaestor.bankfile.statements import FieldPlace
from quaestor.errors import Place, nearest
from quaestor.i18n import say
from quaestor.model.entries import GAP, Part
from quaestor.model.question import ONE_CHOICE
from quaestor.numerals import read_number

DEFAULT_CLASSES = ("wrong", "right")
KEY_FIELDS = ("options", "pairs", "gaps", "correct", "accept", "tolerance")
_FIELDS = {  # those of them that go with a kind
    "choice": {"options", "correct"},
    "choices": {"options", "correct"},
    "number": {"correct", "accept", "tolerance"},
    "text": {"correct", "accept"},
    "truefalse": {"correct"},
    "matching": {"pairs", "options"},
    "ordering": {"options"},
    "gaps": {"gaps"},
}
_TRUTHS = {"true": {"true", "wahr", "richtig", "vrai"}, "false": {"false", "falsch", "faux"}}  # as sheets of several languages have them
_KINDS = {
    "choice": say("choice"),
    "choices": say("choices"),
    "number": say("number"),
    "text": say("text"),
    "truefalse": say("truefalse"),
    "matching": say("matching"),
    "ordering": say("ordering"),
    "gaps": say("gaps"),
}


def by_chance(kind: str, option_classes: Mapping[str, str], best: str, parts: Sequence[Part] = ()) -> float:
    """P(best answer) of someone who chooses blindly; 0 where there is nothing to choose from.

    Of an order of n items 1/n!. Of n matches with m options (m - n)!/m! where no option belongs twice, as who guesses then uses each once,
    else m^-n. Of gaps the product of 1/m over the gaps, each with m options; 0 as soon as one is typed.
    """
    if parts and kind == "ordering":
        return 1 / factorial(len(parts))
    if parts and kind == "matching":
        most = len(parts[0].options)
        used = {part.accept[0] for part in parts}
        return factorial(most - len(parts)) / factorial(most) if len(used) == len(parts) else float(most) ** -len(parts)
    if parts:
        return prod(1 / len(part.options) if part.options else 0.0 for part in parts)
    if kind not in ONE_CHOICE or not option_classes:
        return 0.0
    return list(option_classes.values()).count(best) / len(option_classes)


def points_by_chance(kind: str, option_classes: Mapping[str, str], classes: Sequence[str], parts: Sequence[Part] = ()) -> float:
    """The mean share of the points of someone who chooses blindly, of a question with several classes; a class is worth its place.

    Of parts the mean of 1/m over them, each with m options; a part that is typed counts 0.
    """
    if len(classes) == 2:
        return by_chance(kind, option_classes, classes[-1], parts)
    if parts:
        return sum(1 / len(part.options) if part.options else 0.0 for part in parts) / len(parts)
    if kind not in ONE_CHOICE or not option_classes:
        return 0.0
    return sum(classes.index(one) for one in option_classes.values()) / ((len(classes) - 1) * len(option_classes))


def read_key(fields: Mapping[str, Any], classes: Sequence[str], at: FieldPlace, report: Report) -> dict[str, Any]:
    """The fields of a `Question` that classify an entry."""
    kind = fields.get("kind", "choice")
    for name in KEY_FIELDS:
        if name in fields and name not in _FIELDS[kind]:
            report.error(at(name), say("this field does not go with kind '{kind}'", kind=_KINDS[kind]), fields[name])
    if kind == "matching":
        return _read_pairs(fields, at, report)
    if kind == "ordering":
        return _read_order(fields, at, report)
    if kind == "gaps":
        return _read_gaps(fields, at, report)
    correct = fields.get("correct", ())
    correct = (correct,) if isinstance(correct, str) else tuple(correct)
    if kind == "truefalse":
        return _read_truth(correct, classes, at, report)
    if kind in ("choice", "choices"):
        return _read_options(kind, fields.get("options", ()), correct, classes, at, report)
    accept = fields.get("accept", {})
    if not correct and not accept:
        rule = say("a {kind} question has a correct answer, or answers to accept", kind=_KINDS[kind])
        report.error(at("correct"), rule, say("none"))
    if len(correct) > 1:
        rule = say("a {kind} question has one correct answer; 'accept' takes others", kind=_KINDS[kind])
        report.error(at("correct"), rule, list(correct))
    accepted = dict(accept) if isinstance(accept, Mapping) else dict.fromkeys(accept, classes[-1])
    for answer, given in accepted.items():
        _check_class(given, classes, (*at("accept"), answer), report)
    for key in correct:
        if accepted.get(key, classes[-1]) != classes[-1]:
            rule = say("the correct answer has the best class, {best}", best=classes[-1])
            report.error((*at("accept"), key), rule, accepted[key])
    entry = {"correct": correct, "accept": {**dict.fromkeys(correct, classes[-1]), **accepted}}
    return entry if kind == "text" else {**entry, "tolerance": _read_numbers(fields, correct, accepted, at, report)}


def truth_of(word: object) -> str:
    """`true` or `false`, as a word in any language means it; empty where it means neither."""
    return next((name for name, words in _TRUTHS.items() if str(word).strip().casefold() in words), "")


def _read_truth(correct: tuple[str, ...], classes: Sequence[str], at: FieldPlace, report: Report) -> dict[str, Any]:
    said = tuple(truth_of(one) for one in correct)
    if len(said) != 1 or not said[0]:
        report.error(at("correct"), say("true or false is expected"), ", ".join(correct) if correct else say("none"))
        return {}
    judged = {one: classes[-1] if one == said[0] else classes[0] for one in _TRUTHS}
    return {"options": tuple(_TRUTHS), "option_classes": judged, "correct": said}


def _read_pairs(fields: Mapping[str, Any], at: FieldPlace, report: Report) -> dict[str, Any]:
    pairs: Mapping[str, str] = fields.get("pairs", {})
    if not pairs:
        report.error(at("pairs"), say("a matching question has pairs: what stands on the left, and what belongs to it"), say("none"))
        return {}
    options = _listed(fields.get("options", list(dict.fromkeys(pairs.values()))), at, report)
    if not options:
        return {}
    for left, right in pairs.items():
        if right not in options:
            report.error((*at("pairs"), left), say("what belongs to it is one of the options"), right, nearest(right, options))
    return {"options": options, "parts": tuple(Part(left, "choice", options, (right,)) for left, right in pairs.items())}


def _read_order(fields: Mapping[str, Any], at: FieldPlace, report: Report) -> dict[str, Any]:
    options = _listed(fields.get("options", ()), at, report)
    return {"options": options, "parts": tuple(Part(str(place), "choice", options, (one,)) for place, one in enumerate(options, start=1))}


def _listed(options: Any, at: FieldPlace, report: Report) -> tuple[str, ...]:
    """The options where they are a list of at least two."""
    if isinstance(options, Mapping):
        report.error(at("options"), say("a list is expected"), say("a map"))
        return ()
    if len(options) < 2:
        report.error(at("options"), say("there are at least two options"), list(options) if options else say("none"))
        return ()
    return tuple(options)


def _read_gaps(fields: Mapping[str, Any], at: FieldPlace, report: Report) -> dict[str, Any]:
    """The gaps in the order of the text, in which each stands once."""
    gaps: Mapping[str, Mapping[str, Any]] = fields.get("gaps", {})
    if not gaps:
        report.error(at("gaps"), say("a question with gaps says what belongs into each"), say("none"))
        return {}
    found = Counter(name.strip() for name in GAP.findall(fields.get("text", "")))
    for name in found:
        if name not in gaps:
            report.error(at("text"), say("each gap of the text is described in 'gaps'"), f"[[{name}]]", nearest(name, gaps))
    for name in gaps:
        if found[name] != 1:
            rule = say("each gap stands once in the text, as [[{name}]]", name=name)
            report.error(at("text"), rule, say("{count} {count:time|times}", count=found[name]))
    parts = {name: _read_gap(name, gap, at, report) for name, gap in gaps.items()}
    return {"parts": tuple(part for name in found if (part := parts.get(name)) is not None)}


def _read_gap(name: str, fields: Mapping[str, Any], at: FieldPlace, report: Report) -> Part | None:
    place = (*at("gaps"), name)

    def within(field: str) -> Place:
        return (*place, field)

    kind = fields.get("kind", "choice")
    if kind == "choice" and "options" not in fields:
        report.error(within("options"), say("a gap has options, or says how it is filled: 'kind: text' or 'kind: number'"), say("none"))
        return None
    read = read_key(fields, DEFAULT_CLASSES, within, report)
    return Part(name, kind, read.get("options", ()), tuple(read.get("accept", read["correct"])), read.get("tolerance", Fraction(0)))


def _read_options(
    kind: str, options: Any, correct: tuple[str, ...], classes: Sequence[str], at: FieldPlace, report: Report
) -> dict[str, Any]:
    best, worst = classes[-1], classes[0]
    if kind == "choices" and (not options or isinstance(options, Mapping)):
        rule = say("for several choices the options are a list; 'correct' names the right ones")
        report.error(at("options"), rule, say("a map") if options else say("none"))
        return {}
    if correct and not options:
        report.error(at("correct"), say("a key goes with options"), ", ".join(correct))
    for key in correct:
        if options and key not in options:
            report.error(at("correct"), say("the correct option is one of the options"), key, nearest(key, options))
    if isinstance(options, Mapping):
        known = [_check_class(given, classes, (*at("options"), option), report) for option, given in options.items()]
        if not all(known):
            return {}
        right = tuple(option for option, given in options.items() if given == best)
        if not right:
            report.error(at("options"), say("at least one option has the best class, {best}", best=best), say("none"))
        wrong = [key for key in correct if key in options and key not in right]
        if wrong:
            report.error(at("correct"), say("a correct option has the best class, {best}", best=best), ", ".join(wrong))
        return {"options": tuple(options), "option_classes": dict(options), "correct": correct or right}
    if options and not correct:
        rule = say("each option has a class: give 'correct', or a map from options to classes")
        report.error(at("options"), rule, list(options))
    if kind == "choice" and len(correct) > 1:
        rule = say("one choice has one correct option; use 'kind: choices' for several")
        report.error(at("correct"), rule, list(correct))
    option_classes = {option: best if option in correct else worst for option in options}
    return {"options": tuple(options), "option_classes": option_classes, "correct": correct}


def _check_class(given: str, classes: Sequence[str], place: Place, report: Report) -> bool:
    if given not in classes:
        report.error(place, say("an answer class is one of {words}", words=", ".join(classes)), given, nearest(given, classes))
    return given in classes


def _read_numbers(fields: Mapping[str, Any], correct: Iterable[str], accepted: Iterable[str], at: FieldPlace, report: Report) -> Fraction:
    """Check that a number question's answers are numbers; return its tolerance."""
    for written, field in [*((key, "correct") for key in correct), *((key, "accept") for key in accepted)]:
        if read_number(written) is None:
            report.error(at(field), say("a number question accepts numbers, such as 12, 0.75, 3/4 or 1 1/2"), written)
    tolerance = read_number(fields.get("tolerance", "0"))
    if tolerance is None or tolerance < 0:
        report.error(at("tolerance"), say("a tolerance is a number not below 0"), fields["tolerance"])
        return Fraction(0)
    return tolerance
