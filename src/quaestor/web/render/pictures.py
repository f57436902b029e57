"""Small pictures made on the server, as SVG without styles of their own: classes are coloured by the style sheet."""

from collections.abc import Sequence
from html import escape

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from quaestor.bankfile.bank import Bank
from quaestor.model.beliefs import Bounds
from quaestor.model.question import Question
from quaestor.session.explain.wording import percent
from quaestor.web.render.language import translate

WIDTH, BAR, LINE = 320, 14, 30


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
