"""The texts of a bank as HTML: Markdown, with LaTeX between dollar signs as MathML, and nothing that could run or reach elsewhere.

Raw HTML in a text is shown as it was written; whatever Markdown and LaTeX make of it passes a list of allowed elements. What takers type
is no text of the bank: `2*3*4` stays `2*3*4`.
"""

from collections.abc import Callable
from sys import getsizeof

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markupsafe import Markup

from quaestor.model.question import Question
from quaestor.store.memory import cached

_ENTRY = 400  # bytes of an entry of the cache besides its texts
TAGS = {
    *("p", "br", "em", "strong", "code", "pre", "blockquote", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"),
    *("h3", "h4", "h5", "h6", "hr", "s", "sub", "sup"),
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
}


def _formula(state: StateInline, silent: bool) -> bool:
    """`$...$` and `$$...$$`; a dollar sign before a space, or a closing one before a digit, is a dollar sign."""
    source, start = state.src, state.pos
    if source[start] != "$":
        return False
    fence = "$$" if source.startswith("$$", start) else "$"
    begin = start + len(fence)
    end = source.find(fence, begin)
    while end > 0 and source[end - 1] == "\\":
        end = source.find(fence, end + 1)
    inside = source[begin:end] if end > 0 else ""
    after = source[end + len(fence) : end + len(fence) + 1]
    if not inside.strip() or end > state.posMax or (fence == "$" and (inside != inside.strip() or after.isdigit())):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = inside, fence
    state.pos = end + len(fence)
    return True


def mathml(latex: str, display: bool = False) -> str:
    """A formula; what cannot be read is shown as it was written."""
    try:
        made = convert(latex, display="block" if display else "inline")
    except Exception:  # whatever a formula does to the converter, the question can still be read
        made = f"<code>{nh3.clean_text(latex)}</code>"
    return str(made)


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False})
    reader.enable(["table", "strikethrough"]).disable(["image", "link", "autolink"])
    reader.inline.ruler.before("escape", "formula", _formula)
    reader.add_render_rule("formula", lambda self, tokens, i, options, env: mathml(tokens[i].content, tokens[i].markup == "$$"))
    return reader


_markdown = _reader()


def block(text: str) -> Markup:
    """A text of one or more paragraphs."""
    return _kept(_markdown.render, text)


def inline(text: str) -> Markup:
    """A short text such as an option, without paragraphs."""
    return _kept(_markdown.renderInline, text)


def _kept(render: Callable[[str], str], text: str) -> Markup:
    """A text as HTML; those used last are cached."""
    key = ("text", (render.__name__, text))
    found: Markup | None = cached.get(key)
    if found is None:
        found = _clean(render(text))
        cached.put(key, found, getsizeof(text) + getsizeof(found) + _ENTRY)
    return found


def answer(text: str, question: Question) -> Markup:
    """An answer to a question: an option as the bank's text that it is; what people type, and the key it is compared with, as typed."""
    if question.kind in ("choice", "choices"):
        return inline(text)
    return Markup('<span class="typed">{}</span>').format(text)


def _clean(html: str) -> Markup:
    return Markup(nh3.clean(html, tags=TAGS | MATHS, attributes=ATTRIBUTES, url_schemes=set(), link_rel=None))
