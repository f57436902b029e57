r"""Our prose as HTML of other systems: Markdown as elements, formulas as `\( \)` and `\[ \]`, pictures by the addresses they have there."""

from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

from quaestor.extras import from_extra

Address = Callable[[str], str]  # from the name of a picture in the bank to its address; empty where it has none


def html_of(prose: str, address: Address, is_line: bool = False) -> str:
    """Prose as HTML; `is_line`: without paragraphs, such as an option."""
    reader = _reader()
    tokens = reader.parseInline(prose) if is_line else reader.parse(prose)
    html: str = reader.renderer.render(tokens, reader.options, {"address": address})
    return html.strip()


@cache
def _reader() -> Any:
    with from_extra():
        from markdown_it import MarkdownIt  # slow to import, and not needed to read

    reader = MarkdownIt("commonmark", {"html": False, "xhtmlOut": True})
    reader.enable(["table", "strikethrough"]).disable(["link", "autolink"])
    reader.inline.ruler.before("escape", "formula", formula)
    reader.add_render_rule("formula", _shown_formula)
    reader.add_render_rule("image", _shown_picture)
    return reader


def formula(state: Any, silent: bool) -> bool:
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


def _shown_formula(_: Any, tokens: Any, place: int, options: Any, given: Any) -> str:
    begin, end = ("\\[", "\\]") if tokens[place].markup == "$$" else ("\\(", "\\)")
    return begin + escape(tokens[place].content, quote=False) + end


def _shown_picture(_: Any, tokens: Any, place: int, options: Any, given: Any) -> str:
    from urllib.parse import unquote

    alt = escape(tokens[place].content)
    address = given["address"](unquote(tokens[place].attrs["src"]))
    return f'<img src="{escape(address)}" alt="{alt}" />' if address else f"({alt})"
