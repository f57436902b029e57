"""The texts of a bank as HTML: Markdown, with LaTeX between dollar signs as MathML, and nothing that could run or reach elsewhere.

Raw HTML in a text is shown as it was written; whatever Markdown and LaTeX make of it passes a list of allowed elements. What takers type
is no text of the bank: `2*3*4` stays `2*3*4`.
"""

import re
from collections.abc import Callable, Sequence
from html import unescape
from sys import getsizeof

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markupsafe import Markup

from quaestor.errors import AnswerError
from quaestor.formats.exchange.prose_html import formula
from quaestor.i18n import say
from quaestor.model.entries import GAP, PICTURE
from quaestor.model.question import Question
from quaestor.store.memory import cached

TRUTHS = {"true": say("True"), "false": say("False")}
_PLACE = re.compile("\ue000(\\d+)\ue001")  # where a gap stands in a text that was made into HTML
_IMAGE = re.compile(r"<img [^>]*>")
_ENTRY = 400  # bytes of an entry of the cache besides its texts
TAGS = {
    *("p", "br", "em", "strong", "code", "pre", "blockquote", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"),
    *("h3", "h4", "h5", "h6", "hr", "s", "sub", "sup", "img"),
}
MATHS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msup", "msub", "msubsup", "mover", "munder"),
    *("munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose", "mmultiscripts", "mprescripts", "merror"),
}
ATTRIBUTES = {
    "math": {"display"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "separator", "form", "minsize", "maxsize", "lspace", "rspace"},
    "mspace": {"width"},
    "mfrac": {"linethickness"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mover": {"accent"},
    "munder": {"accentunder"},
    "mtable": {"columnalign", "rowspacing", "columnspacing"},
    "mtd": {"columnalign"},
    "menclose": {"notation"},
    "ol": {"start"},
    "img": {"src", "alt"},
}


def mathml(latex: str, display: bool = False) -> str:
    """A formula; what cannot be read is shown as it was written."""
    try:
        made = convert(latex, display="block" if display else "inline")
    except Exception:  # whatever a formula does to the converter, the question can still be read
        made = f"<code>{nh3.clean_text(latex)}</code>"
    return str(made)


def _picture(state: StateInline, silent: bool) -> bool:
    """`![what it shows](file)`: a picture of the bank, whose address the page knows."""
    found = PICTURE.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        token = state.push("picture", "img", 0)
        token.content, token.markup = found[1], found[2]
    state.pos = found.end()
    return True


def _drawn(words: str, name: str) -> str:
    return str(Markup('<img src="media:{}" alt="{}">').format(name, words))


def with_pictures(html: Markup, address: Callable[[str], str]) -> Markup:
    """A text with the addresses of its pictures; where there is none, what the picture shows stands there."""

    def placed(found: re.Match[str]) -> str:
        name, words = (unescape(re.search(f'{one}="([^"]*)"', found[0])[1]) for one in ("src", "alt"))  # type: ignore[index]
        at = address(name.removeprefix("media:"))
        return str(Markup('<img class="inset" src="{}" alt="{}">').format(at, words) if at else Markup("[{}]").format(words))

    return Markup(_IMAGE.sub(placed, str(html)))


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False})
    reader.enable(["table", "strikethrough"]).disable(["image", "link", "autolink"])
    reader.inline.ruler.before("escape", "formula", formula)
    reader.inline.ruler.before("escape", "picture", _picture)
    reader.add_render_rule("picture", lambda self, tokens, i, options, env: _drawn(tokens[i].content, tokens[i].markup))
    reader.add_render_rule("formula", lambda self, tokens, i, options, env: mathml(tokens[i].content, tokens[i].markup == "$$"))
    return reader


def _gap(state: StateInline, silent: bool) -> bool:
    """`[[name]]`: a gap, marked by its number; not inside of formulas and code."""
    found = GAP.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        state.push("gap", "", 0).content = found[1].strip()
    state.pos = found.end()
    return True


def _reader_of_gaps() -> MarkdownIt:
    reader = _reader()
    reader.inline.ruler.before("escape", "gap", _gap)
    reader.add_render_rule("gap", lambda self, tokens, i, options, env: f"\ue000{env['gaps'].get(tokens[i].content, '')}\ue001")
    return reader


_markdown, _with_gaps = _reader(), _reader_of_gaps()


def block(text: str) -> Markup:
    """A text of one or more paragraphs."""
    return _kept(_markdown.render, text)


def inline(text: str) -> Markup:
    """A short text such as an option, without paragraphs."""
    return _kept(_markdown.renderInline, text)


def gapped(question: Question, fields: Sequence[Markup]) -> Markup:
    """The text of a question with a field for each of its gaps; those of gaps inside a formula or code stand below it."""
    numbers = {part.name: number for number, part in enumerate(question.parts)}
    plain = question.text.translate({0xE000: None, 0xE001: None})
    html = str(_clean(_with_gaps.render(plain, {"gaps": numbers})))
    placed = {int(number) for number in _PLACE.findall(html)}
    below = [field for number, field in enumerate(fields) if number not in placed]
    filled = _PLACE.sub(lambda found: str(fields[int(found[1])]), html)
    return Markup(filled) + Markup("").join(Markup("<p>{}</p>").format(field) for field in below)


def needs_drawing(text: str) -> bool:
    """Whether a text is more than letters: it has a formula or a picture, which a list of choices cannot show."""
    made = str(inline(text))
    return "<math" in made or "<img" in made


def _kept(render: Callable[[str], str], text: str) -> Markup:
    """A text as HTML; those used last are cached."""
    key = ("text", (render.__name__, text))
    found: Markup | None = cached.get(key)
    if found is None:
        found = _clean(render(text))
        cached.put(key, found, getsizeof(text) + getsizeof(found) + _ENTRY)
    return found


def answer(text: str, question: Question, translate: Callable[[str], str] = str) -> Markup:
    """An answer to a question: an option as the bank's text that it is; what people type, and the key it is compared with, as typed.

    An answer of several parts is a list; where not all of them are right, each is marked.
    """
    if question.parts:
        try:
            return _parts(question, text, translate)
        except AnswerError:  # of an answer that was kept in another form
            return _typed(text)
    if question.kind == "truefalse":
        return Markup.escape(translate(TRUTHS.get(text.strip().lower(), text)))
    return inline(text) if question.options else _typed(text)


def _typed(text: str) -> Markup:
    return Markup('<span class="typed">{}</span>').format(text)


def _parts(question: Question, text: str, translate: Callable[[str], str]) -> Markup:
    marks = question.marks(text)
    sign = Markup(' <span class="mark {}"><span aria-hidden="true">{}</span><span class="unseen">({})</span></span>')
    signs = {True: sign.format("yes", "✓", translate(say("right"))), False: sign.format("no", "✗", translate(say("not right")))}
    lines = []
    for part, entry, right in zip(question.parts, question.entries(text), marks, strict=True):
        shown = inline(entry) if part.options else _typed(entry)
        line = Markup("{} – {}").format(inline(part.name), shown) if question.kind == "matching" else shown
        lines.append(Markup("<li>{}{}</li>").format(line, "" if all(marks) else signs[right]))
    kind = Markup("ul" if question.kind == "matching" else "ol")
    return Markup('<{0} class="parts">{1}</{0}>').format(kind, Markup("").join(lines))


def _clean(html: str) -> Markup:
    return Markup(nh3.clean(html, tags=TAGS | MATHS, attributes=ATTRIBUTES, url_schemes={"media"}, link_rel=None))
