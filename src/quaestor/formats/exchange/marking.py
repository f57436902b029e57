"""From what another system counts as right to the fields of a question; what cannot be a question is `Refused`.

Options that are empty or stand twice are left out, and a note says so. A question has one tolerance, so right numbers of several widths
cannot be one question.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from quaestor.errors import format_value
from quaestor.formats.exchange.credit import SOME, credited, in_halves
from quaestor.formats.exchange.imported import Fields
from quaestor.formats.exchange.keys import Refused, accepting, apart, decimal, partly_right
from quaestor.i18n import say
from quaestor.model.entries import loose
from quaestor.numerals import LONGEST, read_number

MOST_OPTIONS = 300
NONE: Mapping[str, float] = {}
_TRUTHS = {"true": "true", "false": "false"}

Range = tuple[Fraction, Fraction]  # right numbers, both ends too


def choice(
    options: Iterable[tuple[str, bool]], several: bool, notes: list[str], partly: Mapping[str, float] = NONE, by_some: bool = False
) -> Fields:
    """The fields of a choice among options, each with whether it is right; `several`: all right ones are to be ticked.

    `partly`: what other options are worth of 100, of one choice; `by_some`: of several, some of the right ones are worth something.
    """
    judged: dict[str, bool] = {}
    empty = doubles = 0
    for text, is_right in options:
        if not text:
            if is_right:
                raise Refused(say("a right option is empty"))
            empty += 1
        elif judged.setdefault(text, is_right) != is_right:
            raise Refused(say("the option {option} is right and wrong", option=format_value(text)))
        else:
            doubles += 1
    doubles -= len(judged)
    if empty:
        notes.append(say("{count} empty {count:option was|options were} left out", count=empty))
    if doubles:
        notes.append(say("{count} {count:option that stands|options that stand} twice {count:was|were} left out", count=doubles))
    check_options(judged)
    right = [text for text, is_right in judged.items() if is_right]
    if not right:
        raise Refused(say("no option is right"))
    if not several and any(partly.get(text) for text in judged if text not in right):
        worths = [(text, 100.0 if is_right else partly.get(text, 0.0)) for text, is_right in judged.items()]
        marked, classes = credited(worths, notes)
        return {"options": marked, **classes}
    truths = {_TRUTHS.get(loose(text), ""): text for text in judged}
    if not several and len(judged) == 2 and truths.keys() == {"true", "false"} and len(right) == 1:
        return {"kind": "truefalse", "correct": next(truth for truth, text in truths.items() if text == right[0])}
    if several:
        classes = in_halves(len(right), notes, SOME) if by_some else {}
        return {"kind": "choices", "options": list(judged), "correct": right, **classes}
    if len(right) > 1:
        return {"options": {text: "right" if is_right else "wrong" for text, is_right in judged.items()}}
    return {"options": list(judged), "correct": right[0]}


def listed_choice(options: Sequence[tuple[str, bool]], notes: list[str]) -> Fields:
    """The fields of a gap to be filled with one of several options."""
    fields = choice(options, False, notes)
    if fields.get("kind") == "truefalse":
        return {"options": [text for text, _ in options], "correct": next(text for text, right in options if right)}
    if isinstance(fields["options"], dict):
        raise Refused(say("one option of a gap is right, got several"))
    return fields


def check_options(options: Sequence[str] | Mapping[str, object]) -> None:
    """Refuse too few options and too many."""
    if len(options) < 2:
        raise Refused(say("a question has at least two options, got {count}", count=len(options)))
    if len(options) > MOST_OPTIONS:
        raise Refused(say("a question has at most {most} options, got {count:,}", most=MOST_OPTIONS, count=len(options)))


def typed(answers: Sequence[str], notes: list[str], partly: Mapping[str, float] = NONE) -> Fields:
    """The fields of a text to be typed, of which these answers are right, the first one being the key; `partly`: what others are worth."""
    right = dict.fromkeys((answer.strip() for answer in answers if answer.strip()), 100.0)
    if not right:
        raise Refused(say("no answer is right"))
    found = [*right.items(), *((text.strip(), worth) for text, worth in partly.items() if text.strip() and text.strip() not in right)]
    if len(found) > MOST_OPTIONS:
        raise Refused(say("a question has at most {most} right answers, got {count:,}", most=MOST_OPTIONS, count=len(found)))
    return {"kind": "text", **accepting(apart(found, notes), notes)}


def number(ranges: Sequence[Range], notes: list[str], partly: Sequence[tuple[Range, float]] = ()) -> Fields:
    """The fields of a number in one of these ranges; one within another says nothing new. `partly`: others, and what each is worth."""
    if len(ranges) + len(partly) > MOST_OPTIONS:
        raise Refused(say("a question has at most {most} right answers, got {count:,}", most=MOST_OPTIONS, count=len(ranges) + len(partly)))
    distinct = list(dict.fromkeys(ranges))
    wide = [one for one in distinct if not any(other != one and other[0] <= one[0] and one[1] <= other[1] for other in distinct)]
    if not wide:
        raise Refused(say("no answer is right"))
    width = wide[0][1] - wide[0][0]
    if any(high - low != width for low, high in wide):
        shown = ", ".join(written(low) if low == high else f"{written(low)}..{written(high)}" for low, high in wide)
        raise Refused(say("all right numbers of a question have one tolerance, got {ranges}", ranges=shown))
    if lost := [f"{written((low + high) / 2)} {worth:g} %" for (low, high), worth in partly if high - low != width]:
        notes.append(partly_right(lost))
    found = {written((low + high) / 2): 100.0 for low, high in wide}
    for (low, high), worth in partly:
        if high - low == width:
            found.setdefault(written((low + high) / 2), worth)
    return {"kind": "number", **accepting(list(found.items()), notes), **({"tolerance": written(width / 2)} if width else {})}


def written(value: Fraction) -> str:
    """A number as a person writes it; Refused where that is too long to be read back.

    >>> written(Fraction(5, 4)), written(Fraction(-1, 3))
    ('1.25', '-1/3')
    """
    text = decimal(value)
    if read_number(text) != value:
        raise Refused(say("a number has at most {most} characters", most=LONGEST))
    return text


def as_number(text: str) -> Fraction:
    """A number in a file; a Refused where it is none."""
    value = read_number(text)
    if value is None:
        raise Refused(say("a number is expected, got {value}", value=format_value(text)))
    return value


def matching(pairs: Iterable[tuple[str, str]], options: Iterable[str], notes: list[str]) -> Fields:
    """The fields of a matching question: what stands on the left with what belongs to it, and all that is offered on the right."""
    made: dict[str, str] = {}
    empty = doubles = 0
    for left, right in pairs:
        if not left or not right:
            empty += 1
        elif made.setdefault(left, right) != right:
            raise Refused(say("two things belong to {left}", left=format_value(left)))
        else:
            doubles += 1
    doubles -= len(made)
    if empty:
        notes.append(say("{count} {count:pair without a text was|pairs without a text were} left out", count=empty))
    if doubles:
        notes.append(say("{count} {count:pair that stands|pairs that stand} twice {count:was|were} left out", count=doubles))
    if not made:
        raise Refused(say("what is to be matched has no text") if empty else say("there are no pairs"))
    offered = list(dict.fromkeys([*(option for option in options if option), *made.values()]))
    check_options(offered)
    if len(made) > MOST_OPTIONS:
        raise Refused(say("a question has at most {most} pairs, got {count:,}", most=MOST_OPTIONS, count=len(made)))
    plain = list(dict.fromkeys(made.values()))
    return {"kind": "matching", "pairs": made, **({"options": offered} if offered != plain else {})}
