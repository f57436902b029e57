r"""GIFT: Moodle's plain-text questions, `::name::text {=right ~wrong}`; an empty line ends a question, `//` begins a comment.

Signs with a backslash before them are letters: they stand as private letters while the marks between them are read.
"""

import re
from dataclasses import dataclass, field
from pathlib import PurePath

from quaestor.errors import BankError, format_value
from quaestor.formats.exchange import keys, own
from quaestor.formats.exchange.encoding import decoded, note_of_encoding
from quaestor.formats.exchange.html import from_html
from quaestor.formats.exchange.imported import Collection, Fields, Imported
from quaestor.formats.exchange.keys import Answer, Refused
from quaestor.formats.exchange.markdown import line_starts, prose_of
from quaestor.formats.exchange.moodle_xml import NO_QUESTION, path_of
from quaestor.i18n import say

_ESCAPED = "~=#{}:\\"
_HIDDEN = {sign: chr(0xE100 + number) for number, sign in enumerate(_ESCAPED)}
_SHOWN = {ord(hidden): sign for sign, hidden in _HIDDEN.items()}
_ESCAPE = re.compile(r"\\([~=#{}:\\n])")
_FORM = re.compile(r"\s*\[(html|moodle|plain|markdown)\]", re.I)
_NAME = re.compile(r"\s*::(.*?)::", re.S)
_SHARE = re.compile(r"%(-?\d{1,3}(?:\.\d{1,9})?)%")
_CATEGORY = re.compile(r"\s*\$CATEGORY:\s*(.*?)\s*")
_IN_COMMENT = re.compile(r"\[(id|tag):([^\]]*)\]")
_TRUE, _FALSE = ("T", "TRUE"), ("F", "FALSE")
BLANK = "_____"


@dataclass
class _Block:
    """The lines of a question, its first line, and the comments before it."""

    line: int = 0
    lines: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


def recognise(data: bytes, name: str) -> bool:
    """Whether a text has answers in braces, or begins as such files do."""
    try:
        text = decoded(data)[0].lstrip()
    except BankError:
        return PurePath(name).suffix.lower() == ".gift"
    if PurePath(name).suffix.lower() == ".gift":
        return bool(text)
    if PurePath(name).suffix.lower() not in (".txt", "") or text.startswith(("<", "{")):
        return text.startswith(("::", "$CATEGORY:"))
    return text.startswith(("::", "//", "$CATEGORY:")) or bool(re.search(r"(?<!\\)\{[^{}]*(?<!\\)\}", text))


def read(data: bytes, name: str) -> Imported:
    """The questions of a file."""
    text, odd_line = decoded(data)
    found = Collection(PurePath(name).name.removesuffix(".txt").removesuffix(".gift"))
    note_of_encoding(found, odd_line)
    category: tuple[str, ...] = ()
    block = _Block()
    for number, line in enumerate([*text.split("\n"), ""], 1):
        comment = line.strip().removeprefix("//") if line.strip().startswith("//") else None
        if comment is not None:
            block.comments.append(comment.strip())
        elif (heading := _CATEGORY.fullmatch(line)) is not None:
            category = path_of(heading[1])
            _keep_bank(found, block)
        elif line.strip():
            block.line = block.line or number
            block.lines.append(line)
        elif block.lines:
            _read_block(found, block, category)
            block = _Block()
        else:
            _keep_bank(found, block)
    return found.finished()


def _keep_bank(found: Collection, block: _Block) -> None:
    """Comments that stand alone may hold the fields of a bank; others are forgotten."""
    found.bank = found.bank or own.bank_of(block.comments)
    block.comments.clear()


def _read_block(found: Collection, block: _Block, category: tuple[str, ...]) -> None:
    place = say("line {line}", line=block.line)
    text = hidden("\n".join(block.lines).strip())
    found.bank = found.bank or own.bank_of(block.comments)
    marks = [mark for comment in block.comments for mark in _IN_COMMENT.findall(comment)]
    name = ""
    if (titled := _NAME.match(text)) is not None:
        name, text = _letters(titled[1]), text[titled.end() :]
    notes: list[str] = []
    reason, visible = "", None
    try:
        visible = fields_of(text, notes)
    except Refused as error:
        reason = error.args[0]
    fields, kept = own.merged(visible, block.comments, notes)
    if fields is None:
        found.refuse(name or _letters(text.partition("{")[0])[:100], place, reason)
        return
    known = next((value.strip() for kind, value in marks if kind == "id"), "")
    tags = [value.strip() for kind, value in marks if kind == "tag"]
    found.add(kept or known or name or fields.get("text", ""), fields, place, notes, category, tags, is_ours=bool(kept))


def _letters(text: str) -> str:
    return " ".join(text.translate(_SHOWN).split())


def hidden(text: str) -> str:
    """A text whose signs with a backslash before them stand as private letters."""
    return _ESCAPE.sub(lambda sign: "\n" if sign[1] == "n" else _HIDDEN[sign[1]], text)


def fields_of(text: str, notes: list[str]) -> Fields:
    """The fields of a question from its text without a name (`hidden`), with the answers in braces."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0:
        raise Refused(NO_QUESTION["description"])
    if end < begin:
        raise Refused(say("the answers end with a closing brace"))
    form = _FORM.match(text)
    before, inside, after = text[form.end() if form else 0 : begin], text[begin + 1 : end], text[end + 1 :]
    kind = form[1].lower() if form else "moodle"
    stem = before.rstrip() if not after.strip() else f"{before}{BLANK}{after}"
    inside, _, general = inside.partition("####")
    made = _answers(inside.strip(), kind, notes)
    fields = {"text": _prose(stem, kind, notes), **made}
    explanation = _prose(general, kind, notes)
    return {**fields, **({"explanation": explanation} if explanation else {})}


def _prose(text: str, kind: str, notes: list[str], is_line: bool = False) -> str:
    """A text in the format that it names, or else in that of the question."""
    if (form := _FORM.match(text)) is not None:
        kind, text = form[1].lower(), text[form.end() :]
    plain = text.translate(_SHOWN).strip()
    if kind == "markdown":
        return " ".join(plain.split()) if is_line else plain
    if kind == "plain" or ("<" not in plain and "&" not in plain):
        made = prose_of(" ".join(plain.split()))
        return made if is_line else line_starts(made)
    prose = from_html(plain, lambda address: "", is_line)
    shown = str(prose)
    notes += prose.notes
    return shown


def _answers(text: str, kind: str, notes: list[str]) -> Fields:
    if not text:
        raise Refused(NO_QUESTION["essay"])
    if text.startswith("#"):
        return _numbers(text[1:], notes)
    if "~" in text:
        answers = [Answer(_prose(one, kind, notes, True), worth) for one, worth in _split(text.replace("=", "~="), "~", notes)]
        return (keys.one_choice if "=" in text else keys.several_choices)(answers, notes)
    if "=" in text and "->" in text:
        return _pairs(text, kind, notes)
    said, *feedback = text.split("#")
    if said.strip().upper() in (*_TRUE, *_FALSE):
        if any(part.strip() for part in feedback):
            notes.append(keys.FEEDBACK)
        return keys.true_or_false(said.strip().upper() in _TRUE)
    if not text.startswith("="):
        raise Refused(say("answers begin with =, ~ or #, or are TRUE or FALSE, got {value}", value=format_value(_letters(text))))
    answers = [Answer(_typed(one), worth) for one, worth in _split(text, "=", notes, 100.0)]
    return keys.typed(answers, notes)


def _typed(text: str) -> str:
    form = _FORM.match(text)
    return _letters(text[form.end() :] if form else text)


def _split(text: str, sign: str, notes: list[str], worth: float = 0.0) -> list[tuple[str, float]]:
    """The answers between signs, each with what it is worth; feedback goes."""
    found = []
    for part in text.split(sign):
        answer, _, feedback = part.partition("#")
        if feedback.strip():
            notes.append(keys.FEEDBACK)
        answer, its = answer.strip(), worth
        if answer.startswith("="):
            answer, its = answer[1:].strip(), 100.0
        if (share := _SHARE.match(answer)) is not None:
            answer, its = answer[share.end() :].strip(), float(share[1])
        if answer:
            found.append((answer, its))
    return found


def _numbers(text: str, notes: list[str]) -> Fields:
    right, *wrong = text.split("~")
    if any(part.partition("#")[2].strip() for part in wrong):
        notes.append(keys.FEEDBACK)
    answers = []
    for one, worth in _split(right, "=", notes, 100.0):
        plain = _letters(one)
        if ".." in plain:
            value, off = keys.within(*plain.split("..", 1))
        else:
            value, _, off = plain.partition(":")
        answers.append(Answer(value, worth, off or "0"))
    return keys.number(answers, notes)


def _pairs(text: str, kind: str, notes: list[str]) -> Fields:
    rows = []
    for one, _ in _split(text, "=", notes):
        left, arrow, right = one.partition("->")
        if not arrow:
            raise Refused(say("a pair has an arrow -> in it, got {value}", value=format_value(_letters(one))))
        rows.append((_prose(left, kind, notes, True), _prose(right, kind, notes, True)))
    return keys.matching(rows, notes)
