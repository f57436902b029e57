"""Answers and what each is worth, as other systems list them, as keys of our kinds of questions; what does not fit is noted or refused."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from quaestor.errors import QuaestorError, format_value
from quaestor.formats.exchange.credit import FULL, PARTS, SOME, credited, in_halves
from quaestor.formats.exchange.imported import Fields
from quaestor.i18n import Said, say
from quaestor.model.entries import as_text
from quaestor.numerals import read_number

FEEDBACK = say("feedback to single answers was left out")
NEGATIVE = say("negative marks were left out")
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
    _note_negative(answers, notes)
    if len(right) == 1 and not any(0 < answer.worth < FULL for answer in answers):
        return {"options": [answer.text for answer in answers], "correct": right[0]}
    options, classes = credited([(answer.text, answer.worth) for answer in distinct(answers)], notes)
    return {"options": options, **classes}


def several_choices(answers: Sequence[Answer], notes: list[str]) -> Fields:
    """Several of several options: those that are worth something."""
    right = [answer.text for answer in answers if answer.worth > 0]
    if not right:
        raise Refused(say("no option is right"))
    classes = in_halves(len(right), notes, SOME)
    _note_negative(answers, notes)
    total = sum(answer.worth for answer in answers if answer.worth > 0)
    if not 99.9 < total < 100.1 and len(right) > 1:
        notes.append(
            say("the right options are worth {total:g} % together, not 100 %; each of them counts as right", total=round(total, 5))
        )
    return {"kind": "choices", "options": [answer.text for answer in answers], "correct": right, **classes}


def typed(answers: Sequence[Answer], notes: list[str]) -> Fields:
    """A text: the answers that are worth something. A catch-all `*` only told people that they were wrong."""
    worth: dict[str, float] = {}
    for answer in answers:
        if answer.worth > 0 and (text := _without_wildcard(answer.text, notes)):
            worth.setdefault(text, answer.worth)  # the first that fits counts
    right = [text for text, its in worth.items() if its >= FULL]
    if not right:
        raise Refused(say("no answer is fully right, or any is"))
    _note_negative([answer for answer in answers if answer.text.strip() != "*"], notes)
    return {"kind": "text", **accepting(apart(list(worth.items()), notes), notes)}


def apart(answers: Sequence[tuple[str, float]], notes: list[str]) -> list[tuple[str, float]]:
    """Typed answers without those that cannot be told from a better one (`york` from `York`): no class is left that nobody can reach."""
    best: dict[str, float] = {}
    for text, worth in answers:
        best[as_text(text)] = max(worth, best.get(as_text(text), worth))
    if lost := [f"{format_value(text)} {worth:g} %" for text, worth in answers if worth < best[as_text(text)]]:
        notes.append(partly_right(lost))
    return [(text, worth) for text, worth in answers if worth == best[as_text(text)]]


def accepting(answers: Sequence[tuple[str, float]], notes: list[str]) -> Fields:
    """The fields `correct`, `accept` and `classes` of answers with what each is worth; the first that is right is the key."""
    judged, classes = credited(answers, notes)
    key = next(text for text, its in judged.items() if its == "right")
    more = {text: its for text, its in judged.items() if text != key and its != "wrong"}
    accept: Fields = {"accept": more if classes else list(more)} if more else {}
    return {"correct": key, **accept, **classes}


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
    """A number within a tolerance; credit for others where their tolerance is the same."""
    ranges: dict[tuple[Fraction, Fraction], tuple[str, float]] = {}
    for answer in answers:
        if answer.worth <= 0 or (answer.worth < FULL and answer.text.strip() == "*"):
            continue
        value, tolerance = read_number(answer.text), read_number(answer.tolerance or "0")
        if value is None or tolerance is None:
            raise Refused(say("a number is expected, got {value}", value=format_value(answer.text if value is None else answer.tolerance)))
        ranges.setdefault((value, abs(tolerance)), (answer.text.strip(), answer.worth))
    full = [one for one, (_, worth) in ranges.items() if worth >= FULL]
    widest = [one for one in full if not any(_holds(other, one) for other in full if other != one)]
    if not widest:
        raise Refused(say("no number is fully right"))
    if len({tolerance for _, tolerance in widest}) > 1:
        raise Refused(say("the right numbers have different tolerances"))
    tolerance = widest[0][1]
    partly = [one for one, (_, worth) in ranges.items() if worth < FULL and one not in full]
    if lost := [ranges[one] for one in partly if one[1] != tolerance]:
        notes.append(partly_right([f"{format_value(text)} {worth:g} %" for text, worth in lost]))
    _note_negative(answers, notes)
    kept = [ranges[one] for one in (*widest, *partly) if one[1] == tolerance]
    wide = {"tolerance": decimal(tolerance)} if tolerance else {}
    return {"kind": "number", **accepting(kept, notes), **wide}


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
    more = {"options": list(offered)} if len(offered) > len(set(pairs.values())) else {}
    return {"kind": "matching", "pairs": pairs, **more, **in_halves(len(pairs), notes, PARTS)}


def distinct(answers: Sequence[Answer]) -> Sequence[Answer]:
    """The answers, refused where two are the same."""
    texts = [answer.text for answer in answers]
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise Refused(say("two options are the same: {option}", option=format_value(twice[0])))
    return answers


def without_parts(answers: Iterable[Answer], notes: list[str]) -> list[Answer]:
    """Answers of which only those that are fully right count; a note tells of the others."""
    found = list(answers)
    partly = [
        f"{format_value(answer.text)} {answer.worth:g} %" for answer in found if 0 < answer.worth < FULL and answer.text.strip() != "*"
    ]
    if partly:
        notes.append(partly_right(partly))
    return [Answer(answer.text, 0.0, answer.tolerance) if 0 < answer.worth < FULL else answer for answer in found]


def _note_negative(answers: Iterable[Answer], notes: list[str]) -> None:
    if any(answer.worth < 0 for answer in answers):
        notes.append(NEGATIVE)


def partly_right(answers: Sequence[str]) -> Said:
    """What is lost where answers were worth a part of the points."""
    return say("credit for partly right answers was left out: {answers}", answers=", ".join(answers[:5]) + ", ..." * (len(answers) > 5))
