"""Answers and what each is worth, as other systems list them, as keys of our kinds of questions; what does not fit is noted or refused."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from quaestor.errors import QuaestorError, format_value
from quaestor.formats.exchange.imported import Fields
from quaestor.i18n import Said, say
from quaestor.numerals import read_number

FULL = 99.99  # of 100: what counts as right; thirds are written 33.33333
FEEDBACK = say("feedback to single answers was left out")
NEGATIVE = say("negative marks were left out")
SOME = say("credit for some of the right options was left out: right is who ticks all of them and no other")
PARTS = say("credit for single parts was left out: right is who has all of them right")
SHUFFLED = say("options stay in the order of the file; they were to be shuffled")
CASE = say("small and capital letters were told apart; here they are not")


class Refused(QuaestorError):
    """An item that cannot be a question here; its words say why."""


@dataclass(frozen=True)
class Answer:
    """An answer: its text, what it is worth (100 is right), and for a number how far off it may be."""

    text: str
    worth: float
    tolerance: str = "0"


def one_choice(answers: Sequence[Answer], notes: list[str]) -> Fields:
    """One of several options."""
    right = [answer.text for answer in answers if answer.worth >= FULL]
    if len(answers) < 2:
        raise Refused(say("a question has at least two options, got {count}", count=len(answers)))
    if not right:
        raise Refused(say("no option is fully right"))
    _note_worth(answers, notes)
    if len(right) > 1:
        return {"options": {answer.text: "right" if answer.text in right else "wrong" for answer in distinct(answers)}}
    return {"options": [answer.text for answer in answers], "correct": right[0]}


def several_choices(answers: Sequence[Answer], notes: list[str]) -> Fields:
    """Several of several options: those that are worth something."""
    right = [answer.text for answer in answers if answer.worth > 0]
    if not right:
        raise Refused(say("no option is right"))
    if len(right) > 1:
        notes.append(SOME)
    if any(answer.worth < 0 for answer in answers):
        notes.append(NEGATIVE)
    total = sum(answer.worth for answer in answers if answer.worth > 0)
    if not 99.9 < total < 100.1 and len(right) > 1:
        notes.append(
            say("the right options are worth {total:g} % together, not 100 %; each of them counts as right", total=round(total, 5))
        )
    return {"kind": "choices", "options": [answer.text for answer in answers], "correct": right}


def typed(answers: Sequence[Answer], notes: list[str]) -> Fields:
    """A text: the answers that are fully right. A catch-all `*` only told people that they were wrong."""
    right: list[str] = []
    for answer in answers:
        if answer.worth >= FULL and (text := _without_wildcard(answer.text, notes)):
            right.append(text)
    if not right:
        raise Refused(say("no answer is fully right, or any is"))
    _note_worth([answer for answer in answers if answer.text.strip() != "*"], notes)
    right = list(dict.fromkeys(right))
    return {"kind": "text", "correct": right[0], **({"accept": right[1:]} if right[1:] else {})}


def _without_wildcard(text: str, notes: list[str]) -> str:
    plain = text.replace("\\*", "\x00")
    if "*" in plain:
        word = plain.strip("* ")
        kept = "" if "*" in word else word.replace("\x00", "*")
        words = say("the wildcard in {answer} was left out", answer=format_value(text))
        notes.append(say("{words}: right is {word} alone", words=words, word=format_value(kept)) if kept else words)
        return kept
    return plain.replace("\x00", "*").strip()


def number(answers: Sequence[Answer], notes: list[str]) -> Fields:
    """A number within a tolerance: all answers that are fully right."""
    ranges: dict[tuple[Fraction, Fraction], str] = {}
    for answer in answers:
        if answer.worth < FULL:
            continue
        value, tolerance = read_number(answer.text), read_number(answer.tolerance or "0")
        if value is None or tolerance is None:
            raise Refused(say("a number is expected, got {value}", value=format_value(answer.text if value is None else answer.tolerance)))
        ranges[value, abs(tolerance)] = answer.text.strip()
    widest = [one for one in ranges if not any(_holds(other, one) for other in ranges if other != one)]
    if not widest:
        raise Refused(say("no number is fully right"))
    if len({tolerance for _, tolerance in widest}) > 1:
        raise Refused(say("the right numbers have different tolerances"))
    _note_worth([answer for answer in answers if answer.text.strip() != "*"], notes)
    (first, tolerance), *more = widest
    accept = {"accept": [ranges[one] for one in more]} if more else {}
    wide = {"tolerance": decimal(tolerance)} if tolerance else {}
    return {"kind": "number", "correct": ranges[first, tolerance], **accept, **wide}


def _holds(outer: tuple[Fraction, Fraction], inner: tuple[Fraction, Fraction]) -> bool:
    return abs(outer[0] - inner[0]) + inner[1] <= outer[1]


def within(low: str, high: str) -> tuple[str, str]:
    """The middle of a range, and how far it reaches from there."""
    ends = read_number(low), read_number(high)
    if ends[0] is None or ends[1] is None or ends[0] > ends[1]:
        raise Refused(say("a range of numbers is expected, got {value}", value=format_value(f"{low}..{high}")))
    return decimal((ends[0] + ends[1]) / 2), decimal((ends[1] - ends[0]) / 2)


def decimal(value: Fraction) -> str:
    """A number as a decimal, where it is one.

    >>> decimal(Fraction(7, 4)), decimal(Fraction(-1, 2000)), decimal(Fraction(1, 3))
    ('1.75', '-0.0005', '1/3')
    """
    for places in range(31):
        scaled = value * 10**places
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).zfill(places + 1)
            sign = "-" if value < 0 else ""
            return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
    return f"{value.numerator}/{value.denominator}"


def true_or_false(is_true: bool) -> Fields:
    """True or false."""
    return {"kind": "truefalse", "correct": "true" if is_true else "false"}


def matching(rows: Iterable[tuple[str, str]], notes: list[str]) -> Fields:
    """Pairs; a row without a left-hand side is an answer that belongs to nothing."""
    pairs: dict[str, str] = {}
    offered: dict[str, None] = {}
    for left, right in rows:
        if left in pairs:
            raise Refused(say("{left} stands twice on the left-hand side", left=format_value(left)))
        if left:
            pairs[left] = right
        offered.setdefault(right)
    if len(pairs) < 2:
        raise Refused(say("there are at least two pairs, got {count}", count=len(pairs)))
    notes.append(PARTS)
    more = {"options": list(offered)} if len(offered) > len(set(pairs.values())) else {}
    return {"kind": "matching", "pairs": pairs, **more}


def distinct(answers: Sequence[Answer]) -> Sequence[Answer]:
    """The answers, refused where two are the same."""
    texts = [answer.text for answer in answers]
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise Refused(say("two options are the same: {option}", option=format_value(twice[0])))
    return answers


def _note_worth(answers: Iterable[Answer], notes: list[str]) -> None:
    partly = [f"{format_value(answer.text)} {answer.worth:g} %" for answer in answers if 0 < answer.worth < FULL]
    if partly:
        notes.append(partly_right(partly))
    if any(answer.worth < 0 for answer in answers):
        notes.append(NEGATIVE)


def partly_right(answers: Sequence[str]) -> Said:
    """What is lost where answers were worth a part of the points."""
    return say("credit for partly right answers was left out: {answers}", answers=", ".join(answers[:5]) + ", ..." * (len(answers) > 5))
