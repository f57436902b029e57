r"""Plain text as Markdown that says the same: what would be a mark is escaped, formulas of other systems stand between dollar signs.

>>> prose_of(r"Is \(a*b\) 2*3 or $5?")
'Is $a*b$ 2\\*3 or \\$5?'
"""

import re

_FENCES = {
    "\\(": ("\\)", "$"),
    "\\[": ("\\]", "$$"),
    "$$": ("$$", "$$"),
}  # how a formula begins, how it ends, and what stands for both here
_FENCE = re.compile(r"\\\(|\\\[|\$\$")
_SIGNS = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])"  # a backslash that would escape what follows
    r"|(?<!\s)\*|\*(?=\S)|`|\$|~~|!(?=\[)"
    r"|(?<=[^\W_])_+(?!\w)|(?<!\w)_+(?=[^\W_])"  # neither inside a word nor a blank to fill in
    r"|&(?=#?\w+;)"
)
_LINE_START = re.compile(r"^([ ]*)(?=(?:[#]{1,6}|[-+*>=]|`{3}|\||_{3})(?:\s|$|[-=>`|_]))", re.M)
_NUMBERED = re.compile(r"^([ ]*\d{1,9})(?=[.)](?:\s|$))", re.M)


def escaped(text: str) -> str:
    r"""A text whose signs are no marks.

    >>> escaped("*a* snake_case _b_ 2 * 3 C:\\new &amp; $5")
    '\\*a\\* snake_case \\_b\\_ 2 * 3 C:\\new &amp;amp; \\$5'
    """
    return _SIGNS.sub(lambda found: "&amp;" if found[0] == "&" else "".join(f"\\{sign}" for sign in found[0]), text)


def line_starts(markdown: str) -> str:
    r"""Paragraphs whose lines do not begin as a heading, a list or a quotation does.

    >>> line_starts("# 1\n1. b\n- c\n-3")
    '\\# 1\n1\\. b\n\\- c\n-3'
    """
    return _NUMBERED.sub(r"\1\\", _LINE_START.sub(r"\1\\", markdown))


def formula(latex: str) -> str:
    """A formula between dollar signs."""
    inside = " ".join(latex.split())
    return f"${inside}$" if inside else ""


def prose_of(text: str, before: str = "") -> str:
    r"""A text in which formulas stand as `\( \)`, `\[ \]` or `$$ $$`, as Markdown; `before`: what stands in front of it."""
    made, last, begin = "", 0, 0
    open_ended: set[str] = set()  # beginnings that no end follows: looked for once, so that a text of them takes no longer than others
    while (found := _FENCE.search(text, begin)) is not None:
        end, ours = _FENCES[found[0]]
        at = -1 if found[0] in open_ended else text.find(end, found.end())
        latex = text[found.end() : at].strip() if at >= 0 else ""
        if not latex:
            open_ended |= {found[0]} if at < 0 else set()
            begin = found.end()
            continue
        made += _plain(text[last : found.start()], before + made[-2:])
        made += formula(latex) if ours == "$" else f"$${latex}$$"
        last = begin = at + len(end)
    return made + _plain(text[last:], before + made[-2:])


def _plain(text: str, before: str) -> str:
    """Escaped; a digit after a formula is written by its number, since a dollar sign before a digit ends none."""
    if before.endswith("$") and not before.endswith("\\$") and text[:1].isdigit():
        return f"&#{ord(text[0])};" + escaped(text[1:])
    return escaped(text)


def code(text: str) -> str:
    """A piece of code in a line."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") or (fence != "`") else ""
    return fence + pad + " ".join(text.split()) + pad + fence
