"""Banks as Moodle XML: questions in categories by their skills; our own numbers in comments, which Moodle passes over."""

import base64
from collections.abc import Callable
from html import escape
from urllib.parse import quote

from quaestor.bankfile.bank import Bank
from quaestor.formats.exchange import own
from quaestor.formats.exchange.exported import Exported, Media, only_ours, plain_number, share, share_of, skill_names
from quaestor.formats.exchange.html import SOUNDS
from quaestor.formats.exchange.imported import Collection, Note
from quaestor.formats.exchange.keys import Refused, decimal
from quaestor.formats.exchange.moodle_xml import Item
from quaestor.formats.exchange.prose_html import html_of
from quaestor.formats.exchange.xml import parse
from quaestor.i18n import say
from quaestor.model.entries import GAP, Part
from quaestor.model.question import Question

_PLACE = "@@PLUGINFILE@@/"


def write(bank: Bank, media: Media) -> Exported:
    """The bank as a file; `media`: contents of the pictures and sounds that its questions name."""
    notes: list[Note] = []
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n', f"<!-- {own.bank_comment(bank.document)} -->\n"]
    category = ""
    stated = bank.document["questions"]
    for question in bank.questions.values():
        if skill_names(question) != category:
            category = skill_names(question)
            path = escape(category.replace("/", "//"))
            parts.append(f'<question type="category"><category><text>$course$/top/{path}</text></category></question>\n')
        writer = _Writer(question, media)
        visible = writer.element()
        comment = own.question_comment(question.id, stated[question.id], _seen(visible))
        parts.append(visible.replace("</question>", f"<!-- {comment} -->\n</question>") + "\n")
        notes += [Note("", question.id, words) for words in dict.fromkeys(writer.notes)]
    return Exported("".join([*parts, "</quiz>\n"]).encode(), tuple(notes))


def _seen(visible: str) -> dict[str, object]:
    """What our own reader understands of the visible part of a question; nothing where it is none for other programs."""
    try:
        return Item(parse(visible.encode()), Collection()).fields()
    except Refused:
        return {}


class _Writer:
    """One question as an element."""

    def __init__(self, question: Question, media: Media) -> None:
        self._question, self._media = question, media
        self._files: list[str] = []  # of the text that is being written
        self.notes: list[str] = []

    def element(self) -> str:
        """The whole element."""
        question = self._question
        kind, inside = _KINDS[question.kind](self)
        text = self._stem() if question.kind != "gaps" else self._gap_text()
        tags = "".join(f"<tag><text>{escape(tag)}</text></tag>" for tag in question.tags)
        return (
            f'<question type="{kind}">\n<name><text>{escape(question.id)}</text></name>\n'
            f'<questiontext format="html">{text}</questiontext>\n'
            f'<generalfeedback format="html">{self._text(question.explanation)}</generalfeedback>\n'
            f"<defaultgrade>1</defaultgrade><penalty>0</penalty><hidden>0</hidden><idnumber>{escape(question.id[:100])}</idnumber>\n"
            f"{inside}{f'<tags>{tags}</tags>' if tags else ''}\n</question>"
        )

    def _text(self, prose: str, is_line: bool = False) -> str:
        return self._with_files(html_of(prose, self._address, is_line))

    def _with_files(self, html: str) -> str:
        files, self._files = "".join(dict.fromkeys(self._files)), []
        return f"<text>{_cdata(html)}</text>{files}"

    def _address(self, name: str) -> str:
        if name not in self._media:
            self.notes.append(say("the file {name} was not there to be written", name=name))
            return ""
        content = base64.b64encode(self._media[name]).decode()
        folder, _, last = name.rpartition("/")
        path = f"/{folder}/" if folder else "/"
        self._files.append(f'<file name="{escape(last)}" path="{escape(path)}" encoding="base64">{content}</file>')
        return _PLACE + quote(name)

    def _stem(self) -> str:
        return self._with_files(html_of(self._question.text, self._address) + self._medium())

    def _medium(self) -> str:
        question = self._question
        if not question.media or not (address := self._address(question.media)):
            return ""
        if question.media.lower().endswith(SOUNDS):
            return f'<p><audio controls="controls" src="{escape(address)}"></audio></p>'
        return f'<p><img src="{escape(address)}" alt="{escape(question.alt)}" /></p>'

    def _answer(self, text: str, worth: float, more: str = "", form: str = "html") -> str:
        return f'<answer fraction="{worth:.7g}" format="{form}">{text}<feedback format="html"><text></text></feedback>{more}</answer>\n'

    def choice(self) -> tuple[str, str]:
        """One of several options."""
        question = self._question
        if not question.options:
            self.notes.append(only_ours(question.kind))
            return "essay", ""
        options = [self._answer(self._text(option, True), share(question, its)) for option, its in question.option_classes.items()]
        return "multichoice", f"<single>true</single><shuffleanswers>0</shuffleanswers>\n{''.join(options)}"

    def choices(self) -> tuple[str, str]:
        """Several of several options."""
        question = self._question
        worth = share_of(len(question.correct))
        less = -100 if len(question.classes) == 2 else -worth
        made = [self._answer(self._text(option, True), worth if option in question.correct else less) for option in question.options]
        if len(question.classes) == 2:
            self.notes.append(say("other programs give credit for some of the right options"))
        return "multichoice", f"<single>false</single><shuffleanswers>0</shuffleanswers>\n{''.join(made)}"

    def truefalse(self) -> tuple[str, str]:
        """True or false."""
        answers = [(option, 100.0 if option in self._question.correct else 0.0) for option in ("true", "false")]
        return "truefalse", "".join(self._answer(f"<text>{option}</text>", worth, form="moodle_auto_format") for option, worth in answers)

    def number(self) -> tuple[str, str]:
        """A number."""
        tolerance = f"<tolerance>{decimal(self._question.tolerance)}</tolerance>"
        made = []
        for written, its in self._question.accept.items():
            value, is_exact = plain_number(written)
            if not is_exact:
                self.notes.append(say("other programs read {number} as {decimal}", number=written, decimal=value))
            made.append(self._answer(f"<text>{value}</text>", share(self._question, its), tolerance, "moodle_auto_format"))
        return "numerical", "".join(made)

    def typed(self) -> tuple[str, str]:
        """A text that is typed."""
        answers = [(escape(text.replace("*", "\\*")), share(self._question, its)) for text, its in self._question.accept.items()]
        made = [self._answer(f"<text>{text}</text>", worth, form="moodle_auto_format") for text, worth in answers]
        return "shortanswer", f"<usecase>0</usecase>\n{''.join(made)}"

    def matching(self) -> tuple[str, str]:
        """Pairs."""
        parts = self._question.parts
        used = {part.accept[0] for part in parts}
        rows = [(part.name, part.accept[0]) for part in parts]
        rows += [("", option) for option in parts[0].options if option not in used]
        made = [
            f'<subquestion format="html">{self._text(left, True)}<answer>{self._text(right, True)}</answer></subquestion>\n'
            for left, right in rows
        ]
        return "matching", f"<shuffleanswers>true</shuffleanswers>\n{''.join(made)}"

    def ordering(self) -> tuple[str, str]:
        """Items in their order."""
        items = [part.accept[0] for part in self._question.parts]
        made = [self._answer(self._text(item, True), float(number)) for number, item in enumerate(items, 1)]
        by = "ALL_OR_NOTHING" if len(self._question.classes) == 2 else "ABSOLUTE_POSITION"
        return "ordering", f"<layouttype>VERTICAL</layouttype><selecttype>ALL</selecttype><gradingtype>{by}</gradingtype>\n{''.join(made)}"

    def gaps(self) -> tuple[str, str]:
        """A text with gaps: all of it is in the text."""
        return "cloze", ""

    def _gap_text(self) -> str:
        """The text with embedded answers; a gap is put in after the Markdown round it was read."""
        gaps = {part.name: part for part in self._question.parts}
        html = html_of(GAP.sub(lambda found: f"\ue000{found[1]}\ue001", self._question.text), self._address)
        for name, part in gaps.items():
            html = html.replace(f"\ue000{escape(name)}\ue001", self._embedded(part))
        return self._with_files(html + self._medium())

    def _embedded(self, part: Part) -> str:
        if part.kind == "choice":
            options = [("=" if option in part.accept else "") + _in_gap(html_of(option, self._address, True)) for option in part.options]
            return "{1:MULTICHOICE:" + "~".join(options) + "}"
        if part.kind == "number":
            values = [f"={plain_number(value)[0]}:{decimal(part.tolerance)}" for value in part.accept]
            return "{1:NUMERICAL:" + "~".join(values) + "}"
        return "{1:SHORTANSWER:" + "~".join("=" + _in_gap(escape(text.replace("*", "\\*"), quote=False)) for text in part.accept) + "}"


_KINDS: dict[str, Callable[[_Writer], tuple[str, str]]] = {
    "choice": _Writer.choice,
    "choices": _Writer.choices,
    "truefalse": _Writer.truefalse,
    "number": _Writer.number,
    "text": _Writer.typed,
    "matching": _Writer.matching,
    "ordering": _Writer.ordering,
    "gaps": _Writer.gaps,
}


def _in_gap(html: str) -> str:
    return "".join(f"\\{sign}" if sign in "~#}{=" else sign for sign in html.replace("%", "&percnt;"))


def _cdata(text: str) -> str:
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"
