"""Moodle XML: questions of every type that can be marked here, with their categories, tags, pictures and sounds."""

from functools import lru_cache
from html import unescape
from pathlib import PurePath
from statistics import median

from quaestor.bankfile.elicit import DIFFICULTY
from quaestor.errors import BankError, format_value
from quaestor.formats.exchange import cloze, keys, own
from quaestor.formats.exchange.credit import PARTS, in_halves
from quaestor.formats.exchange.html import Keep, from_html
from quaestor.formats.exchange.imported import Collection, Fields, Imported
from quaestor.formats.exchange.keys import Answer, Refused
from quaestor.formats.exchange.markdown import line_starts, prose_of
from quaestor.formats.exchange.media import from_base64, keeper
from quaestor.formats.exchange.package import is_package
from quaestor.formats.exchange.xml import Element, outermost, parse
from quaestor.i18n import say
from quaestor.numerals import read_number

_number = lru_cache(maxsize=1000)(read_number)  # a file has the same few numbers many times

_DRAWN_NUMBERS = say("its numbers are drawn anew for everyone")
_DRAWN = say("it stands for questions that Moodle draws")
NO_QUESTION = {
    "essay": say("answers are written freely and marked by people"),
    "description": say("it is a text without a question"),
    **dict.fromkeys(("calculated", "calculatedsimple", "calculatedmulti"), _DRAWN_NUMBERS),
    **dict.fromkeys(("random", "randomsamatch"), _DRAWN),
}


def recognise(data: bytes, name: str) -> bool:
    """Whether a file is XML whose outermost element is `quiz`."""
    try:
        return b"<" in data[:2000].replace(b"\x00", b"") and outermost(data).tag == "quiz"
    except BankError:
        return b"<quiz" in data[:2000] and not is_package(data)  # broken before its first element: the reader tells how


def read(data: bytes, name: str) -> Imported:
    """The questions of a file."""
    root = parse(data)
    found = Collection(PurePath(name).stem)
    found.bank = own.bank_of(root.comments)
    grades = [float(grade) for element in root.all("question") if (grade := _number(element.words("defaultgrade"))) is not None]
    usual = median(grades) if grades else 1.0
    category: tuple[str, ...] = ()
    for element in root.all("question"):
        if element.attributes.get("type") == "category":
            category = path_of(element.words("category", "text"))
            if element.words("info", "text"):
                found.note(element.place, say("the description of a category was left out"))
        else:
            _read_question(found, element, category, usual)
    return found.finished()


def path_of(text: str) -> tuple[str, ...]:
    """The names of a category and of those above it, without where in Moodle they stood.

    >>> path_of("$course$/top/Fractions/Add//subtract")
    ('Fractions', 'Add/subtract')
    """
    parts = [part.replace("\x00", "/").strip() for part in text.replace("//", "\x00").split("/")]
    while parts and (parts[0] in ("", "top") or (parts[0].startswith("$") and parts[0].endswith("$"))):
        parts.pop(0)
    return tuple(part for part in parts if part)


def _read_question(found: Collection, element: Element, category: tuple[str, ...], usual: float) -> None:
    name = " ".join(unescape(element.words("name", "text")).split())
    item = Item(element, found)
    tags = [tag.words("text") for group in element.all("tags") for tag in group.all("tag")]
    reason, visible = "", None
    try:
        visible = item.fields()
    except Refused as error:
        reason = error.args[0]
    fields, kept = own.merged(visible, element.comments, item.notes)
    if fields is None:
        found.refuse(name or element.words("questiontext", "text"), element.place, reason)
        return
    if not kept:
        fields |= _difficulty(element, usual, item.notes)
        _note_the_rest(element, item.notes)
    called = kept or element.words("idnumber") or name or fields.get("text", "")
    found.add(called, fields, element.place, item.notes, category, tags, is_ours=bool(kept))


class Item:
    """A question of a file, read by its type; `notes` tell what of it was lost."""

    def __init__(self, element: Element, found: Collection) -> None:
        self._element, self._found = element, found
        self.notes: list[str] = []
        self._sounds: list[str] = []

    def fields(self) -> Fields:
        """Its fields in a bank file, without numbers."""
        kind = self._element.attributes.get("type", "")
        reader = _TYPES.get(kind)
        if reader is None:
            raise Refused(NO_QUESTION.get(kind) or say("questions of type {type} cannot be marked here", type=format_value(kind)))
        made = reader(self)
        if "text" not in made:
            made = {"text": self._prose(self._element.first("questiontext")), **made}
        explanation = self._prose(self._element.first("generalfeedback"))
        sounds = list(dict.fromkeys(self._sounds))
        if sounds[1:]:
            self.notes.append(say("a question plays one sound; left out: {names}", names=", ".join(sounds[1:])))
        return {**made, **({"explanation": explanation} if explanation else {}), **({"media": sounds[0]} if sounds else {})}

    def _prose(self, element: Element | None, is_line: bool = False, text: str | None = None) -> str:
        """The text in an element, in the format that it names; `text`: another text, with the files of the element."""
        if element is None:
            return ""
        text = element.words("text") if text is None else text
        form = element.attributes.get("format", "html")
        if form == "markdown":
            return " ".join(text.split()) if is_line else text
        if form == "plain_text" or (is_line and "<" not in text and "&" not in text):
            return " ".join(prose_of(text).split()) if is_line else line_starts(prose_of(text))
        made = from_html(text if form == "html" else text.replace("\n", "<br>\n"), self._keep(element), is_line)
        prose = str(made)
        self.notes += made.notes
        self._sounds += made.sounds
        return prose

    def _keep(self, element: Element) -> Keep:
        files = {file.attributes.get("path", "/").lstrip("/") + file.attributes.get("name", ""): file for file in element.all("file")}
        return keeper(self._found, {name: from_base64(file.text) for name, file in files.items()})

    def _answers(self) -> list[Answer]:
        return [Answer(self._prose(one, True), _worth(one)) for one in self._element.all("answer")]

    def _typed_answers(self) -> list[Answer]:
        return [Answer(one.words("text"), _worth(one), one.words("tolerance") or "0") for one in self._element.all("answer")]

    def multichoice(self) -> Fields:
        """One or several of several options."""
        is_single = self._element.words("single").lower() in ("true", "1") and self._element.attributes["type"] == "multichoice"
        return (keys.one_choice if is_single else keys.several_choices)(self._answers(), self.notes)

    def truefalse(self) -> Fields:
        """True or false."""
        best = max(self._element.all("answer"), key=_worth, default=None)
        said = best.words("text").lower() if best is not None else ""
        if said not in ("true", "false"):
            raise Refused(say("the answers are true and false, got {value}", value=format_value(said)))
        return keys.true_or_false(said == "true")

    def shortanswer(self) -> Fields:
        """A text that is typed."""
        if self._element.words("usecase") == "1":
            self.notes.append(keys.CASE)
        return keys.typed(self._typed_answers(), self.notes)

    def numerical(self) -> Fields:
        """A number."""
        if units := [unit.words("unit_name") for group in self._element.all("units") for unit in group.all("unit")]:
            self.notes.append(say("units were left out: {units}", units=", ".join(units)[:200]))
        return keys.number(self._typed_answers(), self.notes)

    def matching(self) -> Fields:
        """Pairs."""
        rows = [(self._prose(one, True), self._prose(one.first("answer"), True)) for one in self._element.all("subquestion")]
        return keys.matching(rows, self.notes)

    def ordering(self) -> Fields:
        """Items in their order."""
        options = [answer.text for answer in self._answers()]
        if len(options) < 3 or self._element.words("gradingtype").upper() in ("ALL_OR_NOTHING", "-1"):
            return {"kind": "ordering", "options": options}
        return {"kind": "ordering", "options": options, **in_halves(len(options), self.notes, PARTS)}

    def cloze(self) -> Fields:
        """A text with gaps in it."""
        element = self._element.first("questiontext") or self._element
        html = element.words("text")
        text, gaps = cloze.cut(html, lambda piece: self._prose(element, True, piece), self.notes)
        return {
            "kind": "gaps",
            "text": cloze.named(self._prose(element, text=text)),
            "gaps": gaps,
            **in_halves(len(gaps), self.notes, PARTS),
        }

    def gapselect(self) -> Fields:
        """A text with gaps, `[[2]]` for the second of the words below it."""
        options = self._element.all("selectoption", "dragbox")
        if any(option.first("infinite") for option in options):
            self.notes.append(say("whether a word can be used several times was left out: here each can"))
        words = [(self._prose(option, True), option.words("group")) for option in options]
        return cloze.chosen(self._prose(self._element.first("questiontext")), words, self.notes)


_TYPES = {
    "multichoice": Item.multichoice,
    "multichoiceset": Item.multichoice,
    "truefalse": Item.truefalse,
    "shortanswer": Item.shortanswer,
    "numerical": Item.numerical,
    "matching": Item.matching,
    "ddmatch": Item.matching,
    "ordering": Item.ordering,
    "cloze": Item.cloze,
    "multianswer": Item.cloze,
    "gapselect": Item.gapselect,
    "ddwtos": Item.gapselect,
}


def _worth(element: Element) -> float:
    value = _number(element.attributes.get("fraction", "0"))
    if value is None:
        raise Refused(say("what an answer is worth is a number, got {value}", value=format_value(element.attributes["fraction"])))
    return float(value)


def _difficulty(element: Element, usual: float, notes: list[str]) -> Fields:
    """A word for how difficult a question is, where the file tells something: how many got it right, or points far from the usual."""
    facility = _number(element.words("facility"))
    if facility is not None and 0 <= facility <= 1:
        near = min(DIFFICULTY, key=lambda word: abs(DIFFICULTY[word] - float(1 - facility)))
        notes.append(say("'{word}' is taken from the share that got it right, {share:.0%}", word=near, share=float(facility)))
        return {"difficulty": near}
    grade = _number(element.words("defaultgrade"))
    if grade is None or element.attributes.get("type") in ("cloze", "multianswer"):  # there points count the gaps
        return {}
    if grade not in (1, usual):
        notes.append(say("its points ({points:g}) were left out", points=float(grade)))
    if grade >= 2 * usual > 0:
        notes.append(
            say("'{word}' is guessed from its points: {points:g}, where {usual:g} is usual", word="hard", points=float(grade), usual=usual)
        )
        return {"difficulty": "hard"}
    if 0 < grade <= usual / 2:
        notes.append(
            say("'{word}' is guessed from its points: {points:g}, where {usual:g} is usual", word="easy", points=float(grade), usual=usual)
        )
        return {"difficulty": "easy"}
    return {}


def _note_the_rest(element: Element, notes: list[str]) -> None:
    """Note what no kind of question has room for."""
    if any(answer.words("feedback", "text") for answer in element.all("answer")):
        notes.append(keys.FEEDBACK)
    if any(element.words(name, "text") for name in ("correctfeedback", "partiallycorrectfeedback", "incorrectfeedback")):
        notes.append(say("feedback to right, partly right and wrong answers was left out"))
    if element.all("hint"):
        notes.append(say("hints were left out"))
    if _number(element.words("penalty")):
        notes.append(say("the penalty for further tries was left out"))
    if element.words("shuffleanswers").lower() in ("true", "1") and element.attributes.get("type") in ("multichoice", "multichoiceset"):
        notes.append(keys.SHUFFLED)
    if element.words("hidden") == "1":
        notes.append(say("it was hidden in Moodle"))
