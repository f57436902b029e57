"""Surveys of AdapQuest as a workbook: a row an answer, a column a skill, a cell how strongly the skill makes somebody tick the answer.

Each answer is a variable of its own, with a noisy-OR table: without any of its skills nobody ticks it, and each skill that somebody has
keeps them from ticking it with a probability x, the *inhibition*: P(not ticked) = product of x over the skills that they have. A survey's
question gives as many pieces of evidence as it has answers, so each answer becomes a question of its own. Words in the settings call x
an inhibition, and so it is read; AdapQuest itself has taken it for the opposite since November 2021 (a change in the library crema).
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import PurePath

from quaestor.errors import BankError, format_value
from quaestor.formats.exchange.adapquest import NO_KEY
from quaestor.formats.exchange.imported import Collection, Fields, Imported
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.markdown import line_starts, prose_of
from quaestor.formats.exchange.marking import as_number
from quaestor.formats.exchange.names import clean_name, unique
from quaestor.formats.exchange.tables import Rows, is_workbook, workbook
from quaestor.formats.limits import refusal
from quaestor.i18n import said, say

MOST_SKILLS = 8  # of an answer: its table has two rows to this power
LEVELS, CLASSES = ["no", "yes"], ["not ticked", "ticked"]
_COLUMNS = ("question_id", "mandatory", "questions_text", "yes_only", "answer_id", "answer_text")
_NEEDED = {"question_id", "questions_text", "answer_id", "answer_text"}
_DEFAULTS = {"EPS": "0.1", "INHIBITOR_MAX_VALUE": "0.95", "INHIBITOR_MIN_VALUE": "0.05", "INHIBITOR_DEFAULT_VALUE": "0.6"}
_KEPT = {*_DEFAULTS, "INHIBITOR_OVERRIDE_VALUE_WITH_DEFAULT", "ACCESS_CODE", "LANGUAGE", "SURVEY_DESCRIPTION"}


@dataclass(frozen=True)
class _Inhibition:
    """From a cell to the probability that a skill does not make somebody tick the answer."""

    eps: Fraction
    most: Fraction
    least: Fraction
    fixed: Fraction | None

    def of(self, cell: Fraction) -> Fraction:
        """The inhibition of a skill with a positive number."""
        return self.fixed if self.fixed is not None else min(self.most, max(self.least, 1 - cell + self.eps))


def recognise(data: bytes, name: str) -> bool:
    """Whether a workbook has the sheets of a survey."""
    try:
        return is_workbook(data) and _has_questions(workbook(data, 3))
    except BankError:
        return False


def _has_questions(sheets: dict[str, Rows]) -> bool:
    first = next(iter(sheets.get("Questions", [])), [])
    return "Settings" in sheets and {cell.lower() for cell in first} >= _NEEDED


def read(data: bytes, name: str) -> Imported:
    """The skills of a survey, and its answers as questions."""
    sheets = workbook(data)
    settings = {row[0].upper(): row[1] for row in sheets["Settings"][1:] if len(row) > 1 and row[0] and row[1]}
    found = Collection(settings.get("ACCESS_CODE") or PurePath(name).stem)
    inhibition = _inhibition(settings)
    rows = sheets["Questions"]
    columns = {cell.lower(): position for position, cell in enumerate(rows[0]) if cell.lower() in _COLUMNS}
    second = rows[1] if len(rows) > 1 else []
    start = next((position for position, cell in enumerate(second) if cell), len(second))
    skills: list[str] = []
    for cell in second[start:]:
        if cell:
            skills.append(unique(clean_name(cell), skills))
    if not skills:
        raise refusal(say("the second row of the sheet names the skills"), say("none"), where="Questions")
    found.bank = {"skills": {skill: {"levels": LEVELS, "prior": [0.5, 0.5]} for skill in skills}}
    if language := settings.get("LANGUAGE"):
        found.bank["language"] = language
    if description := settings.get("SURVEY_DESCRIPTION"):
        found.bank["description"] = line_starts(prose_of(description))
    _tell(found, settings, sheets)
    question: dict[str, str] = {}
    for number, row in enumerate(rows[2:], 3):
        cells = {column: row[position] if position < len(row) else "" for column, position in columns.items()}
        question = cells if cells["question_id"] else question
        if cells["answer_id"] and question:
            _add(found, question, cells, dict(zip(skills, row[start : start + len(skills)], strict=False)), inhibition, number)
    return found.finished()


def _inhibition(settings: dict[str, str]) -> _Inhibition:
    try:
        eps, most, least, fixed = (as_number(settings.get(key, default)) for key, default in _DEFAULTS.items())
    except Refused as error:
        raise refusal(say("the numbers of the settings lie between 0 and 1"), said(error), where="Settings") from error
    if not all(0 <= value <= 1 for value in (eps, most, least, fixed)):
        raise refusal(say("the numbers of the settings lie between 0 and 1"), say("another"), where="Settings")
    override = settings.get("INHIBITOR_OVERRIDE_VALUE_WITH_DEFAULT", "true").lower() in ("true", "1")
    return _Inhibition(eps, most, least, fixed if override else None)


def _tell(found: Collection, settings: dict[str, str], sheets: dict[str, Rows]) -> None:
    found.note("Questions", NO_KEY)
    found.note("Questions", say("each answer of a survey's question is a question of its own here, ticked or not ticked"))
    words = say("a skill keeps somebody from ticking an answer with the stated probability, as the settings call it (inhibition)")
    found.note("Settings", words)
    if others := [key for key in settings if key not in _KEPT]:
        found.note("Settings", say("settings of the survey were left out: {names}", names=", ".join(others)))
    for title in sheets:
        if title not in ("Settings", "Questions"):
            found.note(title, say("the sheet drives experiments and was left out"))


def _add(
    found: Collection, question: dict[str, str], answer: dict[str, str], cells: dict[str, str], inhibition: _Inhibition, row: int
) -> None:
    name, place, notes = (
        f"Q{question['question_id']} A{answer['answer_id']}",
        say("{sheet}, row {row}", sheet="Questions", row=row),
        list[str](),
    )
    try:
        fields = _fields(cells, inhibition, notes)
    except Refused as refused:
        found.refuse(name, place, said(refused))
        for words in notes:
            found.note(place, words)
        return
    if question.get("yes_only") in ("1", "true"):
        notes.append(say("only ticking it is evidence there: leave it unanswered where it is not ticked"))
    if question.get("mandatory") in ("1", "true"):
        notes.append(say("it is asked first there"))
    text = "\n\n".join(line_starts(prose_of(part)) for part in (question["questions_text"], answer["answer_text"]) if part)
    found.add(name, {"text": text, **fields}, place, notes, tags=(f"Q{question['question_id']}",))


def _fields(cells: dict[str, str], inhibition: _Inhibition, notes: list[str]) -> Fields:
    out = [skill for skill, cell in cells.items() if cell.upper() == "KO"]
    if out:
        notes.append(say("ticking it rules out {names} there (KO), which was left out", names=", ".join(out)))
    strengths = {skill: as_number(cell) for skill, cell in cells.items() if skill not in out}
    wrong = [skill for skill, value in strengths.items() if not 0 <= value <= 1]
    if wrong:
        raise Refused(say("a cell of a skill lies between 0 and 1, got {value}", value=format_value(cells[wrong[0]])))
    kept = {skill: inhibition.of(value) for skill, value in strengths.items() if value > 0}
    if not kept:
        raise Refused(say("it depends on no skill: nobody would tick it"))
    if len(kept) > MOST_SKILLS:
        rule = say("it depends on {count} skills, whose table would have {rows:,} rows", count=len(kept), rows=2 ** len(kept))
        raise Refused(rule)
    table = {}
    for has in product((False, True), repeat=len(kept)):
        unticked = Fraction(1)
        for x, own in zip(kept.values(), has, strict=True):
            unticked *= x if own else 1
        table[", ".join(LEVELS[own] for own in has)] = [float(unticked), float(1 - unticked)]
    return {"options": dict(zip(LEVELS, CLASSES, strict=True)), "skills": list(kept), "classes": CLASSES, "table": table}
