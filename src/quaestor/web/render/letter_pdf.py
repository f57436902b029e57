"""Letters as PDF, a page each: the words of `report.letters`, drawn with fpdf2 and the font that comes with matplotlib."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from fpdf import FPDF
from fpdf.enums import XPos, YPos

from quaestor.i18n import Said
from quaestor.report.letters import Letter, Part
from quaestor.web.render.language import day, translate

FONT = "dejavu"
WIDTH, BAR = 100, 5  # of the picture, in mm
PART = 40  # mm that are left on a sheet, or the next skill begins on another one
FULL, PALE, EMPTY, SOFT = (44, 122, 114), (169, 210, 204), (233, 232, 227), (85, 98, 106)


def made(letters: Sequence[Letter], title: str, language: str) -> bytes:
    """The letters in a language, as the bytes of a file."""
    sheet = _Sheet(language)
    for letter in letters:
        sheet.write_letter(letter, title)
    if not letters:
        sheet.add_page()
    return bytes(sheet.output())


def _font(name: str) -> str:
    place = find_spec("matplotlib")
    assert place is not None
    assert place.origin is not None
    return str(Path(place.origin).parent / "mpl-data" / "fonts" / "ttf" / name)


class _Sheet(FPDF):
    """A4 sheets on which sentences are written in a language."""

    def __init__(self, language: str) -> None:
        super().__init__(format="A4")
        self._language = language
        self.set_margins(22, 22)
        self.set_auto_page_break(True, 20)
        self.add_font(FONT, "", _font("DejaVuSans.ttf"))
        self.add_font(FONT, "B", _font("DejaVuSans-Bold.ttf"))
        self.set_lang(language)

    def say(self, words: str) -> str:
        """A sentence in the language of the letters."""
        return translate(self._language, words) if isinstance(words, Said) else words

    def line_of(self, words: str, size: float = 10.5, style: str = "", soft: bool = False, link: str = "") -> None:
        """A paragraph."""
        self.set_font(FONT, style, size)
        self.set_text_color(*(SOFT if soft else (0, 0, 0)))
        self.multi_cell(0, size * 0.5, self.say(words), align="L", link=link, new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def write_letter(self, letter: Letter, title: str) -> None:
        """A letter on sheets of its own."""
        self.add_page()
        self.line_of(letter.name or "–", 17, "B")
        self.line_of(title, 11, soft=True)
        self.ln(3)
        self.line_of(f"{day(self._language, letter.date)}. {self.say(letter.points)}")
        for note in letter.notes:
            self.line_of(note, 9.5, soft=True)
        if letter.grade:
            self.line_of(f"{translate(self._language, 'Grade:')} {letter.grade}", 12, "B")
        for part in letter.parts:
            self._write_part(part)
        if letter.praise or letter.next or letter.ask:
            self._heading(translate(self._language, "What to practise next"))
        if letter.praise:
            self.line_of(letter.praise)
        for number, part in enumerate(letter.next, 1):
            self.line_of(f"{number}. {part.title}")
            if part.link:
                self.line_of(part.link, 9, soft=True, link=part.link)
        if letter.ask:
            named = "; ".join(part.title for part in letter.ask)
            unknown = translate(self._language, "Whether this needs practice is not known yet:")
            self.line_of(f"{unknown} {named}. {translate(self._language, 'More questions would help.')}", 9.5)

    def _heading(self, words: str) -> None:
        self.ln(4)
        self.line_of(words, 12.5, "B")
        self.ln(1)

    def _write_part(self, part: Part) -> None:
        if self.will_page_break(PART):
            self.add_page()
        self._heading(part.title)
        self.line_of(part.sentence)
        self.ln(1.5)
        gap = 2
        width = (WIDTH - gap * (part.steps - 1)) / part.steps
        for number in range(part.steps):
            self.set_fill_color(*(FULL if number < (part.place or 0) else PALE if number < (part.may or 0) else EMPTY))
            self.set_draw_color(*SOFT)
            if part.place is None:
                self.set_dash_pattern(1, 1)
            self.rect(
                self.l_margin + self.c_margin + number * (width + gap), self.get_y(), width, BAR, style="D" if part.place is None else "DF"
            )
            self.set_dash_pattern()
        self.ln(BAR + 1.5)
        self.line_of(part.certainty, 9.5, soft=True)
