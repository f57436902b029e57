"""The skill graph as an SVG picture: a box for each skill, parents above children; drawn without further libraries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from html import escape
from textwrap import wrap

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say
from quaestor.model.network import topological_order

_BOX, _GAP, _HEIGHT, _ROW = 240, 30, 78, 132  # width of a box, gap between boxes, height of a box, height of a row
_STYLE = """
text { font-family: system-ui, sans-serif; fill: #1b2733; text-anchor: middle }
.name { font-size: 14px; font-weight: 600 } .note { font-size: 11px; fill: #4a5a68 }
rect { fill: #eef4f8; stroke: #2f5d7c; stroke-width: 1.5 } path { fill: none; stroke: #2f5d7c; stroke-width: 1.5 }
marker path { fill: #2f5d7c; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e8eef3 } .note { fill: #b7c4cf } rect { fill: #1f2c38; stroke: #8fbad6 }
  path { stroke: #8fbad6 } marker path { fill: #8fbad6 }
}
"""


_TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker>'
)


@dataclass(frozen=True)
class Box:
    """A skill of the picture."""

    id: str
    title: str
    levels: tuple[str, ...]
    parents: tuple[str, ...]
    questions: int


def skill_graph(bank: Bank, translate: Callable[[str], str] = str, styled: bool = True) -> str:
    """An SVG of the skills, each with its levels and the number of its questions."""
    counts = {name: sum(name in question.skills for question in bank.questions.values()) for name in bank.skills}
    boxes = [Box(skill.id, skill.title or skill.id, skill.levels, skill.parents, counts[skill.id]) for skill in bank.skills.values()]
    return draw(boxes, bank.title, styled, translate)


def draw(boxes: Sequence[Box], title: str, styled: bool = True, translate: Callable[[str], str] = str) -> str:
    """An SVG of some skills; `styled`: with colours of its own, else with those of the page. Empty if the graph has a cycle."""
    parents = {box.id: box.parents for box in boxes}
    try:
        TopologicalSorter(parents).prepare()
    except CycleError:
        return ""
    rows = rows_of(parents)
    widest = max(len(row) for row in rows)
    width = widest * (_BOX + _GAP) + _GAP
    height = len(rows) * _ROW - (_ROW - _HEIGHT) + 2 * _GAP
    centre = {}
    for depth, row in enumerate(rows):
        left = (width - len(row) * (_BOX + _GAP) + _GAP) / 2
        for position, name in enumerate(row):
            centre[name] = (left + position * (_BOX + _GAP) + _BOX / 2, _GAP + depth * _ROW)
    edges = [_edge(centre[parent], centre[name]) for name, above in parents.items() for parent in above]
    drawn = [_box(box, *centre[box.id], translate(_count(box.questions))) for box in boxes]
    name = escape(translate(say("Skills of {title}", title=title) if title else say("Skills")))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    style = f"<style>{_STYLE}</style>" if styled else ""
    return "\n".join([head, f"<title>{name}</title>{style}<defs>{_TIP}</defs>", *edges, *drawn, "</svg>", ""])


def rows_of(parents: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """Skills by depth; within a row ordered by the mean position of their parents, which keeps arrows short."""
    depth: dict[str, int] = {}
    for name in topological_order(dict(parents)):
        depth[name] = max((depth[parent] + 1 for parent in parents[name]), default=0)
    rows: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in parents:
        rows[depth[name]].append(name)
    offset: dict[str, float] = {}
    for row in rows:
        row.sort(key=lambda name: sum(offset[parent] for parent in parents[name]) / max(len(parents[name]), 1))
        offset.update({name: position / len(row) for position, name in enumerate(row)})
    return rows


def _edge(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = (start[0], start[1] + _HEIGHT), end
    bend = (y2 - y1) / 2
    return f'<path d="M{x1:g} {y1:g} C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2 - 2:g}" marker-end="url(#tip)"/>'


def _count(questions: int) -> str:
    return say("{count} {count:question|questions}", count=questions)


def _box(box: Box, x: float, y: float, count: str) -> str:
    names = [("name", line) for line in _lines(box.title, 25)]
    lines = (*names, ("note", _cut(" < ".join(box.levels), 34)), ("note", count))
    top = y + _HEIGHT / 2 + 5 - 8 * (len(lines) - 1)
    texts = "".join(
        f'<text class="{kind}" x="{x:g}" y="{top + 16 * row:g}">{escape(text)}</text>' for row, (kind, text) in enumerate(lines)
    )
    shape = f'<rect x="{x - _BOX / 2:g}" y="{y:g}" width="{_BOX}" height="{_HEIGHT}" rx="8"/>'
    known = box.title if box.id == box.title else f"{box.title} ({box.id})"
    return f"<g><title>{escape(known)}</title>{shape}{texts}</g>"


def _lines(text: str, length: int) -> list[str]:
    """A title in one line or two, cut where it is longer still."""
    first, *rest = wrap(text, length) or [text]
    return [_cut(first, length), _cut(" ".join(rest), length)] if rest else [_cut(first, length)]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
