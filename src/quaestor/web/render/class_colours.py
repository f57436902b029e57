"""Levels and shares of a class as colours and small pictures; colours are classes of the style sheet, and never the only sign."""

from collections.abc import Sequence
from html import escape

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from quaestor.report.tallies import AtLevel
from quaestor.session.explain.wording import percent
from quaestor.web.render.language import translate

STEPS = 5
WIDTH, HEIGHT = 240, 16


def shade(level: str, levels: Sequence[str]) -> str:
    """The class of a level of a skill, lowest level first: one colour for one level on all pages, however sure it is."""
    return f"shade{round((STEPS - 1) * levels.index(level) / max(len(levels) - 1, 1))}"


def stack(levels: Sequence[tuple[str, int, int]]) -> Markup:
    """One bar for a skill: a part for each level, as wide as its share of the class."""
    total, left = sum(count for _, count, _ in levels), 0.0
    words = ", ".join(f"{level}: {count}" for level, count, _ in levels)
    names = [level for level, _, _ in levels]
    parts = []
    for level, count, _ in levels:
        width = WIDTH * count / total if total else 0.0
        if width:
            parts.append(f'<rect class="{shade(level, names)}" x="{left:.1f}" width="{width:.1f}" height="{HEIGHT}"/>')
        left += width
    return Markup(
        f'<svg class="stack" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{escape(words)}">'
        f'<rect class="empty" width="{WIDTH}" height="{HEIGHT}"/>{"".join(parts)}</svg>'
    )


@pass_context
def against(page: Context, share: AtLevel) -> Markup:
    """What the table says (a band) against what was seen (a dot, with the range in which the true share may lie)."""
    low, high = WIDTH * share.low, WIDTH * share.high
    if high - low < 4:
        low, high = (low + high) / 2 - 2, (low + high) / 2 + 2
    middle = HEIGHT / 2
    parts = [f'<rect class="table" x="{low:.1f}" width="{high - low:.1f}" height="{HEIGHT}"/>']
    words = translate(page["language"], percent(share.low, share.high))
    if share.count:
        first, last = (WIDTH * end for end in share.interval)
        parts.append(f'<line class="range" x1="{first:.1f}" x2="{last:.1f}" y1="{middle}" y2="{middle}"/>')
        parts.append(f'<circle class="seen" cx="{WIDTH * share.seen:.1f}" cy="{middle}" r="5"/>')
        words = f"{translate(page['language'], percent(share.seen))} / {words}"
    return Markup(
        f'<svg class="against" viewBox="-6 0 {WIDTH + 12} {HEIGHT}" role="img" aria-label="{escape(words)}">'
        f'<rect class="empty" y="{middle - 1}" width="{WIDTH}" height="2"/>{"".join(parts)}</svg>'
    )
