"""Self-contained HTML pages: figures are embedded, and there are no scripts, and links only to files beside them."""

import html
from collections.abc import Sequence

import pandas as pd

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1.05rem/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
figure { margin: 1.2rem 0; background: #fff; } figure svg { width: 100%; height: auto; } figcaption { color: #444; font-size: .92rem; }
table { border-collapse: collapse; font-size: .92rem; display: block; overflow-x: auto; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid #888; }
code, pre { font-family: ui-monospace, monospace; font-size: .92em; background: #f3f3f3; } code { padding: 0 .2em; }
pre { padding: .7rem 1rem; overflow-x: auto; }
@media (prefers-color-scheme: dark) { body { color: #e8e8e8; background: #16181b; } figcaption { color: #bbb; }
 a { color: #9cc7f0; } th, td { border-color: #444; } code, pre { background: #24272b; } }
"""


def text(words: str) -> str:
    """A paragraph; `code` in backquotes."""
    parts = html.escape(words, quote=False).split("`")
    return "<p>" + "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts)) + "</p>"


def heading(words: str) -> str:
    """A heading of a section."""
    return f"<h2>{html.escape(words)}</h2>"


def listing(items: Sequence[str]) -> str:
    """A list of points."""
    return "<ul>" + "".join(f"<li>{text(item)[3:-4]}</li>" for item in items) + "</ul>"


def figure(svg: str, caption: str) -> str:
    """A figure with its caption."""
    return (
        f'<figure role="img" aria-label="{html.escape(caption, quote=True)}">{svg}<figcaption>{html.escape(caption)}</figcaption></figure>'
    )


def table(frame: pd.DataFrame, digits: int = 4) -> str:
    """A data frame as a table; floats with `digits` decimals, NaN as an empty cell."""
    head = "".join(f"<th scope='col'>{html.escape(str(name))}</th>" for name in (frame.index.name or "", *frame.columns))
    rows = []
    for label, row in frame.iterrows():
        cells = "".join(f"<td>{_cell(value, digits)}</td>" for value in row)
        rows.append(f"<tr><th scope='row'>{html.escape(str(label))}</th>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(value: object, digits: int) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.{digits}f}"
    return html.escape(str(value))


def files(names: Sequence[str]) -> str:
    """Links to files beside the page."""
    return "<ul>" + "".join(f'<li><a href="{html.escape(name, quote=True)}">{html.escape(name)}</a></li>' for name in names) + "</ul>"


def code(words: str) -> str:
    """A block of code, such as a command."""
    return f"<pre><code>{html.escape(words)}</code></pre>"


def page(title: str, parts: Sequence[str]) -> str:
    """The whole page."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n<body><h1>{html.escape(title)}</h1>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )
