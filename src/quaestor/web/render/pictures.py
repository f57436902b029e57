"""Small pictures made on the server, as SVG without styles of their own: classes are coloured by the style sheet."""

from collections.abc import Sequence
from html import escape

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from quaestor.bankfile.bank import Bank
from quaestor.i18n import listed, say
from quaestor.model.beliefs import Bounds
from quaestor.model.question import Question
from quaestor.session.explain.wording import percent
from quaestor.store.classes.growth import Growth, Point
from quaestor.web.render.language import day, translate

WIDTH, BAR, LINE = 320, 14, 30
ROW, COLUMN, LETTER, LONGEST = 24, 190, 8, 24  # of a ladder: pixels; letters of a name that are shown


def band(low: float, high: float, words: str) -> Markup:
    """A bar from 0 to 1: solid up to the lower bound, pale up to the upper one."""
    title = escape(words)
    return Markup(
        f'<svg class="band" viewBox="0 0 {WIDTH} {BAR}" preserveAspectRatio="none" role="img" aria-label="{title}">'
        f'<rect class="empty" width="{WIDTH}" height="{BAR}" rx="4"/>'
        f'<rect class="may" width="{WIDTH * high:.1f}" height="{BAR}" rx="4"/>'
        f'<rect class="is" width="{WIDTH * low:.1f}" height="{BAR}" rx="4"/></svg>'
    )


@pass_context
def bands(page: Context, bounds: Bounds, place: int) -> Markup:
    """The band of one level of a skill, in words of the page's language."""
    low, high = float(bounds.lower[place]), float(bounds.upper[place])
    return band(low, high, translate(page["language"], percent(low, high)))


def steps(place: int | None, may: int | None, count: int, words: str) -> Markup:
    """How far a skill has come: a segment for each step above the lowest level, filled where it was reached, pale up to what `may` be.

    Dashed where nobody knows.
    """
    gap = 6 if count > 1 else 0
    width = (WIDTH - gap * (count - 1)) / count
    parts = []
    for number in range(count):
        kind = "unknown" if place is None else "is" if number < place else "may" if may is not None and number < may else "empty"
        parts.append(f'<rect class="{kind}" x="{number * (width + gap) + 1:.1f}" y="1" width="{width - 2:.1f}" height="{BAR}" rx="4"/>')
    return Markup(f'<svg class="steps" viewBox="0 0 {WIDTH} {BAR + 2}" role="img" aria-label="{escape(words)}">{"".join(parts)}</svg>')


def meter(shares: Sequence[float], words: str) -> Markup:
    """One segment a skill, filled by how sure we are of it."""
    width, gap = 100 / max(len(shares), 1), 1.2 if len(shares) > 1 else 0
    parts = []
    for place, share in enumerate(shares):
        left, room = place * width, width - gap
        parts.append(f'<rect class="empty" x="{left:.2f}" width="{room:.2f}" height="6" rx="1"/>')
        parts.append(f'<rect class="is" x="{left:.2f}" width="{room * share:.2f}" height="6" rx="1"/>')
    return Markup(
        f'<svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )


def graph(svg: str) -> Markup:
    """A drawing of skills, for the style sheet to colour; all texts in it were escaped where it was made."""
    return Markup(svg.replace("<svg ", '<svg class="graph" ', 1))


def shares(bank: Bank, question: Question) -> list[tuple[str, float, float]]:
    """The bounds of the best answer for each combination of levels, with its name."""
    names = [""]
    for skill in question.skills:
        names = [f"{before}, {level}" if before else level for before in names for level in bank.skills[skill].levels]
    classes = len(question.classes)
    low, high = (ends.reshape(-1, classes)[:, -1].tolist() for ends in (question.table.lower, question.table.upper))
    return list(zip(names, low, high, strict=True))


@pass_context
def ladder(page: Context, growth: Growth) -> Markup:
    """A skill over its tests: a column a test, a row a level, the highest at the top; a bar is as long as the level is probable.

    Dark up to the lower, pale up to the upper probability; a line joins the most probable levels. Dashed where nobody knows.
    """
    language, levels = page["language"], growth.levels[::-1]
    left = 16 + LETTER * min(max(map(len, levels)), LONGEST)
    parts = [f'<text x="0" y="{ROW * row + 16}">{escape(_short(level, LONGEST))}</text>' for row, level in enumerate(levels)]
    joints = []
    for number, point in enumerate(growth.points):
        x = left + COLUMN * number
        parts += _column(point, x, len(levels))
        if point.level:
            joints.append((x + (COLUMN - 24) // 2, ROW * levels.index(point.level) + 11))
        named = ("→ " if point.starts else "") + _short(point.title, LONGEST)
        parts.append(f'<text x="{x}" y="{ROW * len(levels) + 18}">{escape(named)}</text>')
        parts.append(f'<text class="date" x="{x}" y="{ROW * len(levels) + 34}">{escape(day(language, point.at))}</text>')
    points = " ".join(f"{x},{y}" for x, y in joints)
    line = f'<polyline class="path" points="{points}"/>' if len(joints) > 1 else ""
    dots = "".join(f'<circle class="dot" cx="{x}" cy="{y}" r="4"/>' for x, y in joints)
    width, height = left + COLUMN * len(growth.points), ROW * len(levels) + 40
    told = escape(". ".join([growth.title, *(translate(language, _told(growth, point)) for point in growth.points)]))
    frame = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return Markup(f'<svg class="ladder" {frame} role="img" aria-label="{told}">{"".join(parts)}{line}{dots}</svg>')


def _column(point: Point, x: int, rows: int) -> list[str]:
    """The bars of one test, the highest level first."""
    room = COLUMN - 24
    if not point.is_known:
        return [f'<rect class="unknown" x="{x + 1}" y="3" width="{room - 2}" height="{ROW * rows - 8}" rx="4"/>']
    found = []
    for row, (low, high) in enumerate(zip(point.lows[::-1], point.highs[::-1], strict=True)):
        for kind, share in (("empty", 1.0), ("may", high), ("is", low)):
            found.append(f'<rect class="{kind}" x="{x}" y="{ROW * row + 4}" width="{room * share:.1f}" height="{BAR}" rx="3"/>')
    return found


def _told(growth: Growth, point: Point) -> str:
    if not point.is_known:
        return say("{title}: too few answers to tell", title=point.title)
    places = range(len(growth.levels))
    shares = [say("{level} {share}", level=growth.levels[place], share=percent(point.lows[place], point.highs[place])) for place in places]
    return say("{title}: {levels}", title=point.title, levels=listed(shares))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
