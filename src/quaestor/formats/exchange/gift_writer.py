"""Banks as GIFT: questions in categories by their skills; our own numbers in comments. GIFT has no room for pictures, orders and gaps."""

from collections.abc import Callable

from quaestor.bankfile.bank import Bank
from quaestor.formats.exchange import gift, own
from quaestor.formats.exchange.exported import Exported, Media, only_ours, plain_number, share, share_of, skill_names
from quaestor.formats.exchange.imported import Note
from quaestor.formats.exchange.keys import Refused, decimal
from quaestor.formats.exchange.prose_html import html_of
from quaestor.i18n import say
from quaestor.model.question import Question


def write(bank: Bank, media: Media) -> Exported:
    """The bank as a file; pictures and sounds are named in notes."""
    notes: list[Note] = []
    parts = [f"// {own.bank_comment(bank.document)}\n"]
    category = ""
    stated = bank.document["questions"]
    for question in bank.questions.values():
        if skill_names(question) != category:
            category = skill_names(question)
            parts.append(f"$CATEGORY: $course$/top/{category.replace('/', '//')}\n")
        writer = _Writer(question)
        visible = writer.text()
        comment = own.question_comment(question.id, stated[question.id], _seen(visible))
        known = f"[id:{question.id}]" + "".join(f" [tag:{tag}]" for tag in question.tags)
        parts.append(f"// {comment}\n// {known}\n::{_escaped(question.id)}::{visible}\n")
        notes += [Note("", question.id, words) for words in dict.fromkeys(writer.notes)]
    return Exported("\n".join(parts).encode(), tuple(notes))


def _seen(visible: str) -> dict[str, object]:
    try:
        return gift.fields_of(gift.hidden(visible), [])
    except Refused:
        return {}


class _Writer:
    """One question as text."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self.notes: list[str] = []

    def text(self) -> str:
        """The whole question but its name."""
        question = self._question
        answers = _KINDS[question.kind](self)
        if question.media:
            self._address(question.media)
        explanation = f"####{self._prose(question.explanation)}" if question.explanation else ""
        return f"[html]{self._prose(question.text)}{{{answers}{explanation}}}"

    def _prose(self, prose: str, is_line: bool = False) -> str:
        return _escaped(html_of(prose, self._address, is_line).replace("\n", " " if is_line else "\n"))

    def _address(self, name: str) -> str:
        self.notes.append(say("GIFT has no room for pictures and sounds: {name} was left out", name=name))
        return ""

    def _line(self, prose: str) -> str:
        """An option: plain where it can be."""
        return self._prose(prose, True)

    def choice(self) -> str:
        """One of several options."""
        question = self._question
        if not question.options:
            return self.ours()
        best = [option for option, its in question.option_classes.items() if its == question.classes[-1]]
        made = []
        for option, its in question.option_classes.items():
            worth = share(question, its)
            mark = "=" if option in best else "~" if not worth else f"~%{worth:g}%"
            made.append(mark + self._line(option))
        return " ".join(made)

    def choices(self) -> str:
        """Several of several options."""
        worth = share_of(len(self._question.correct))
        less = -100 if len(self._question.classes) == 2 else -worth
        if len(self._question.classes) == 2:
            self.notes.append(say("other programs give credit for some of the right options"))
        right = self._question.correct
        return " ".join(f"~%{worth if option in right else less:.7g}%{self._line(option)}" for option in self._question.options)

    def truefalse(self) -> str:
        """True or false."""
        return "TRUE" if "true" in self._question.correct else "FALSE"

    def number(self) -> str:
        """A number."""
        made = []
        for written, its in self._question.accept.items():
            value, is_exact = plain_number(written)
            if not is_exact:
                self.notes.append(say("other programs read {number} as {decimal}", number=written, decimal=value))
            made.append(f"=%{share(self._question, its):g}%{value}:{decimal(self._question.tolerance)}")
        return "#" + " ".join(made)

    def typed(self) -> str:
        """A text that is typed."""
        found = self._question.accept.items()
        return " ".join(f"=%{share(self._question, its):g}%{_escaped(text.replace('*', chr(92) + '*'))}" for text, its in found)

    def matching(self) -> str:
        """Pairs."""
        parts = self._question.parts
        used = {part.accept[0] for part in parts}
        rows = [(part.name, part.accept[0]) for part in parts]
        rows += [("", option) for option in parts[0].options if option not in used]
        return " ".join(f"={self._line(left)} -> {self._line(right)}" for left, right in rows)

    def ours(self) -> str:
        """What GIFT has no form for: others see a text to write."""
        self.notes.append(only_ours(self._question.kind))
        return ""


_KINDS: dict[str, Callable[[_Writer], str]] = {
    "choice": _Writer.choice,
    "choices": _Writer.choices,
    "truefalse": _Writer.truefalse,
    "number": _Writer.number,
    "text": _Writer.typed,
    "matching": _Writer.matching,
    "ordering": _Writer.ours,
    "gaps": _Writer.ours,
}


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "~=#{}:\\" else "\\n" if sign == "\n" else sign for sign in text)
