"""A small picture of how many students were asked how many questions, as SVG without styles of its own."""

from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT, FOOT = 320, 96, 16
MOST_BARS, MOST_LABELS, FEWEST = 40, 8, 6  # bars at most; numbers below them; bars that the width has room for at least


def histogram(counts: Sequence[int]) -> Markup:
    """A bar for each number of questions, from the least that somebody was asked; of many, several together. Words say the same."""
    first = next((place for place, count in enumerate(counts) if count), 0)
    step = -(-(len(counts) - first) // MOST_BARS)
    bars = [sum(counts[place : place + step]) for place in range(first, len(counts), step)]
    wide = WIDTH / max(len(bars), FEWEST)
    left, floor = (WIDTH - wide * len(bars)) / 2, HEIGHT - FOOT
    parts = []
    for number, count in enumerate(bars):
        x, tall = left + number * wide, (floor - 4) * count / max(*bars, 1)
        parts.append(f'<rect class="is" x="{x + 1:.1f}" y="{floor - tall:.1f}" width="{wide - 2:.1f}" height="{tall:.1f}" rx="1"/>')
    for number in _labelled(len(bars)):
        parts.append(f'<text x="{left + (number + 0.5) * wide:.1f}" y="{HEIGHT - 3}">{first + number * step}</text>')
    base = f'<path class="base" d="M0 {floor}H{WIDTH}"/>'
    return Markup(f'<svg class="histogram" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(parts)}{base}</svg>')


def _labelled(bars: int) -> list[int]:
    """The bars that have a number: the last one, and every so many before it."""
    every = -(-bars // MOST_LABELS)
    return list(range(bars - 1, -1, -every))[::-1]
