r"""Gaps in a text: Moodle's embedded answers, such as `{1:MULTICHOICE:=cat~dog#no}` or `{2:NUMERICAL:=4:0.5}`, and words to choose from.

A gap with several choices is none of our gaps: its right answers are filled in, and a note tells.
"""

import re
from collections.abc import Callable, Sequence
from html import unescape

from quaestor.errors import format_value
from quaestor.formats.exchange import keys
from quaestor.formats.exchange.credit import PARTS, in_halves
from quaestor.formats.exchange.imported import Fields
from quaestor.formats.exchange.keys import Answer, Refused
from quaestor.i18n import say

_GAP = re.compile(r"(?<!\\)\{(\d*):([A-Z_]+):((?:\\.|[^{}\\])*)\}", re.S)
_ONE = re.compile("MULTICHOICE(_[HV]?S?)?|MC[HV]?S?")
_SEVERAL = re.compile("MULTIRESPONSE(_H?S?)?|MRH?S?")
_TYPED = re.compile("SHORTANSWER(_C)?|SAC?|MWC?")
_NUMBER = re.compile("NUMERICAL|NM")
_LITERAL = re.compile(r"\[(?=\[\d+\]\])")
_PLACE = re.compile(r"\[\[(\d{1,6})\]\]")
_WORTH = re.compile(r"%(-?\d{1,3}(?:\.\d{1,9})?)%")
Line = Callable[[str], str]


def cut(html: str, line: Line, notes: list[str]) -> tuple[str, dict[str, Fields]]:
    """The HTML with a mark for each gap, and the gaps by number; `line` reads HTML as one line of prose."""
    gaps: dict[str, Fields] = {}
    weights: set[str] = set()

    def gap(found: re.Match[str]) -> str:
        weights.add(found[1] or "1")
        answers = _answers(found[3], notes)
        if _SEVERAL.fullmatch(found[2]):
            right = ", ".join(answer.text for answer in answers if answer.worth > 0)
            notes.append(say("a gap takes several choices; its right ones are filled in: {right}", right=format_value(line(right))))
            return right
        name = str(len(gaps) + 1)
        gaps[name] = _gap(found[2], keys.without_parts(answers, notes), line, notes)
        return f"\ue000{name}\ue001"  # while the text round it is read as HTML

    text = _GAP.sub(gap, _LITERAL.sub("[&#8203;", html))
    if not gaps:
        raise Refused(say("there is no gap in the text that can be read"))
    if len(weights) > 1:
        notes.append(say("the weights of gaps were left out"))
    return text, gaps


def named(prose: str) -> str:
    """The prose with gaps named as a bank file names them: `[[1]]`."""
    return prose.replace("\ue000", "[[").replace("\ue001", "]]")


def _gap(kind: str, answers: list[Answer], line: Line, notes: list[str]) -> Fields:
    if _ONE.fullmatch(kind):
        return keys.one_choice([Answer(line(answer.text), answer.worth) for answer in answers], notes)
    if _TYPED.fullmatch(kind):
        if kind.endswith("C"):
            notes.append(keys.CASE)
        return keys.typed([Answer(unescape(re.sub(r"<[^>]*>", "", answer.text)), answer.worth) for answer in answers], notes)
    if _NUMBER.fullmatch(kind):
        parted = [(answer.text.partition(":"), answer.worth) for answer in answers]
        return keys.number([Answer(value.strip(), worth, off.strip() or "0") for (value, _, off), worth in parted], notes)
    raise Refused(say("a gap of type {type} cannot be marked here", type=format_value(kind)))


def _answers(text: str, notes: list[str]) -> list[Answer]:
    found = []
    for one in filter(str.strip, re.split(r"(?<!\\)~", text)):
        answer, *feedback = re.split(r"(?<!\\)#", one, maxsplit=1)
        if any(part.strip() for part in feedback):
            notes.append(keys.FEEDBACK)
        answer, worth = answer.strip(), 0.0
        if answer.startswith("="):
            answer, worth = answer[1:], 100.0
        elif (share := _WORTH.match(answer)) is not None:
            answer, worth = answer[share.end() :], float(share[1])
        found.append(Answer(re.sub(r"\\([#~=}{/\"\\])", r"\1", answer).strip(), worth))
    return found


def chosen(text: str, words: Sequence[tuple[str, str]], notes: list[str]) -> Fields:
    """A text in which `[[2]]` is a gap for the second of some words; each gap is chosen from the words of its group."""
    gaps: dict[str, Fields] = {}

    def gap(found: re.Match[str]) -> str:
        number = int(found[1])
        if not 1 <= number <= len(words):
            raise Refused(
                say("{gap} stands for a word that is not there; {count} {count:word is|words are} listed", gap=found[0], count=len(words))
            )
        word, group = words[number - 1]
        name = str(len(gaps) + 1)
        gaps[name] = {"options": list(dict.fromkeys(other for other, its in words if its == group)), "correct": word}
        return f"[[{name}]]"

    made = _PLACE.sub(gap, text)
    if not gaps:
        raise Refused(say("there is no gap in the text that can be read"))
    return {"kind": "gaps", "text": made, "gaps": gaps, **in_halves(len(gaps), notes, PARTS)}
