"""Shadow tests: at each step the best whole test that keeps all rules on content is put together, and its best question is asked.

Rules followed one question at a time may have to take a poor question at the end, to keep what they promise. Here every choice is made
inside a test that keeps it: for the questions that were asked and n more, with gains g now,

    maximise sum g_q x_q   over x in {0, 1}^questions   with   sum x = n,   least <= asked + sum over members x <= most of each content,

at most one question of those that exclude one another, all mandatory ones, testlets whole or not at all. What is asked next is the best
question of that test (within a testlet its first). A mixed-integer program a taker and step, solved by HiGHS; equal standings are solved
once. Of tests with equal gains the one with the earlier questions of the bank is taken, so that a solver's order decides nothing.

Source: W. J. van der Linden, L. M. Reese, "A model for optimal constrained adaptive testing", Applied Psychological Measurement 22, 1998.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import ceil, floor

import numpy as np

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.inference.layout import Numbers
from quaestor.model.table import Array
from quaestor.selection.narrowing import Candidates, Standing
from quaestor.selection.plan import Mask, Plan

EARLIER = 1e-9  # of a gain, over the whole bank: what an earlier place counts
Limit = tuple[Numbers, int, int]  # questions, and how many of them there are at least and at most


def keep_to_shadow(now: Standing, left: Candidates, gains: Callable[[], Array]) -> None:
    """Keep to the questions of each taker's best test; where no test keeps all rules any more (late entries), the choice stays as it is."""
    if not now.plan.rules.shadow:
        return
    found = np.zeros_like(left.mask)
    solved: dict[bytes, Mask] = {}
    worth = gains()
    for taker in np.flatnonzero(left.active & left.mask.any(axis=1)).tolist():
        is_open, asked = now.still_open[taker], now.asked[taker]
        key = b"".join(part.tobytes() for part in (is_open, asked, worth[taker]))
        if key not in solved:
            test = shadow_test(now.plan, asked, np.flatnonzero(is_open), int(now.most_left[taker]), worth[taker])
            if test is None and not asked.any():
                length = int(now.most_left[taker])
                raise QuaestorError(f"shadow: the rules on content leave room for a test of {length} questions, got none in this bank")
            solved[key] = np.zeros_like(is_open) if test is None else _next(now.plan, test, asked)
        found[taker] = solved[key]
    left.keep("shadow", lambda _: say("only questions of the best whole test that keeps the rules on content"), found, or_all=True)


def _next(plan: Plan, test: Numbers, asked: Mask) -> Mask:
    """What of a test may be asked next: of a testlet its first question alone."""
    mask = np.zeros_like(asked)
    mask[test] = True
    for ids in plan.testlets:
        rest = ids[~asked[ids]]
        mask[rest[1:]] = False
    return mask


def shadow_test(plan: Plan, asked: Mask, left: Numbers, count: int, gains: Array) -> Numbers | None:
    """The best `count` of the questions left that keep the rules with those asked, as numbers; None where there is no such test."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # only here: it takes long to import

    count = min(count, len(left))
    place = {int(number): column for column, number in enumerate(left)}
    rows, lows, highs = [np.ones(len(left))], [count], [count]
    for members, low, high in _limits(plan, asked, int((asked & plan.layout.is_scored).sum()) + count):
        row = np.zeros(len(left))
        row[[place[number] for number in members.tolist() if number in place]] = 1
        rows.append(row)
        lows.append(low)
        highs.append(high)
    for ids in plan.testlets:
        rest = [place[number] for number in ids.tolist() if number in place]
        for one, other in pairwise(rest):
            row = np.zeros(len(left))
            row[one], row[other] = 1, -1
            rows.append(row)
            lows.append(0)
            highs.append(0)
    worth = gains[left] - EARLIER * np.arange(len(left)) / max(1, len(left))
    found = milp(-worth, integrality=np.ones(len(left)), bounds=Bounds(0, 1), constraints=LinearConstraint(np.array(rows), lows, highs))
    return left[np.round(found.x).astype(bool)] if found.x is not None else None


def _limits(plan: Plan, asked: Mask, length: int) -> Iterator[Limit]:
    """The rules on content, exclusion and what is mandatory, for the questions that are still to come."""
    for content, members in plan.content:
        numbers = np.flatnonzero(members & plan.layout.is_scored)
        done = int(asked[numbers].sum())
        least, most = content.least, length if content.most is None else content.most
        if content.share is not None:
            least, most = max(least, floor(content.share * length + EARLIER)), min(most, ceil(content.share * length - EARLIER))
        yield numbers, max(0, least - done), max(0, most - done)
    for ids in plan.exclude:
        yield ids, 0, int(not asked[ids].any())
    for number in plan.mandatory:
        if not asked[number]:
            yield np.array([number]), 1, 1
