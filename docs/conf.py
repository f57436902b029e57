"""The documentation as a site: `make docs`. Pages are the Markdown files and notebooks of this folder, grouped by `index.md`.

Everything is served from one place, under the application's content security policy: no script, style or font comes from elsewhere, and
none stands inline. Formulas are MathML, which browsers draw themselves.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

import quaestor

project = "Quaestor"
author = copyright = "The Quaestor authors"
version = release = quaestor.__version__
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True  # displayed formulas inside of a list item
myst_heading_anchors = 4
exclude_patterns = ["examples", "pictures", "*.py", "_theme"]
suppress_warnings = ["misc.highlighting_failure"]  # console blocks and notebooks hold what Pygments cannot read
html_theme = "furo"
html_title = "Quaestor"
html_favicon = "../src/quaestor/web/static/quaestor.svg"
html_static_path = ["_theme"]
html_css_files = ["site.css"]
html_copy_source = html_show_sphinx = html_use_index = False
html_permalinks_icon = "#"
html_math_renderer = "mathml"
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f4e79", "color-brand-content": "#1f4e79"},
    "dark_css_variables": {"color-brand-primary": "#9cc7f0", "color-brand-content": "#9cc7f0"},
}

DOCS = Path(__file__).parent
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#]+)(?:#[^)]*)?\)")


def notebook(text: str) -> str:
    """A notebook as Markdown: its prose, its code, and below it what the code showed."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [shown(output) for output in cell.get("outputs", ())]
    return "\n\n".join(part for part in parts if part) + "\n"


def shown(output: dict[str, Any]) -> str:
    """An output of a cell as Markdown."""
    data = output.get("data", {})
    if "image/png" in data:
        return f"![A figure drawn by the code above](data:image/png;base64,{''.join(data['image/png']).strip()})"
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
    return f"```text\n{text}\n```" if text else ""


class NotebookParser(MystParser):
    """Notebooks, read as the Markdown that they hold."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: Any) -> None:
        """Parse a notebook."""
        super().parse(notebook(inputstring), document)


def only_inside(app: Sphinx, name: str, source: list[str]) -> None:
    """Links to files of the repository that are no pages of the site become their names."""
    folder = (DOCS / name).parent

    def reached(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(DOCS.resolve()):
            return link[0]
        return f"{link[1]} (`{target.relative_to(DOCS.resolve().parent).as_posix()}` in the repository)"

    source[0] = _LINK.sub(reached, source[0])


def formula(self: Any, node: Any, display: str = "inline") -> None:
    """A formula as MathML."""
    from docutils.nodes import SkipNode

    made = convert(node.astext(), display=display)
    self.body.append(f'<div class="math">{made}</div>' if display == "block" else made)
    raise SkipNode


READABLE = (  # what the theme leaves out for screen readers and keyboards
    ('role="heading">', 'role="heading" aria-level="2">'),
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="math">', '<div class="math" tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<aside class="sidebar-drawer"', '<aside aria-label="All pages" class="sidebar-drawer"'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ('<div id="search-results">', '<h1>Search</h1><div id="search-results">'),
)


def nothing_inline(app: Sphinx, failed: Exception | None) -> None:
    """Move inline scripts and styles of the theme to files, which the content security policy allows; add what readers need."""
    if failed is not None:
        return
    folder = Path(app.outdir)
    for page in folder.rglob("*.html"):
        up = "../" * len(page.relative_to(folder).parent.parts)

        def moved(match: re.Match[str], up: str = up) -> str:
            kind, text = match[1], match[2].strip()
            name = f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.{'js' if kind == 'script' else 'css'}"
            (folder / "_static" / name).write_text(text, encoding="utf-8")
            if kind == "script":
                return f'<script src="{up}_static/{name}"></script>'
            return f'<link rel="stylesheet" href="{up}_static/{name}">'

        text = re.sub(r"<(script|style)>(.*?)</\1>", moved, page.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r'(<svg [^>]*)style="display: none;"', r"\1hidden", text).replace('style="opacity: 50%"', 'opacity="0.5"')
        for found, better in READABLE:
            text = text.replace(found, better)
        page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """What is ours beside Sphinx and the theme."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("source-read", only_inside)
    app.add_html_math_renderer("mathml", (formula, None), (lambda self, node: formula(self, node, "block"), None))
    app.connect("build-finished", nothing_inline)
