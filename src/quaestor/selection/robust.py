"""Choosing by vote: which question would networks drawn from a credal set ask?"""

from functools import partial

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.draws import Draws
from quaestor.inference.chooser import Chooser
from quaestor.inference.conflict import possible
from quaestor.inference.layout import Layout, Numbers
from quaestor.inference.lookahead import look
from quaestor.selection.narrowing import Standing
from quaestor.selection.plan import Mask
from quaestor.selection.ranking import gains_of
from quaestor.selection.rules import Robust
from quaestor.selection.ties import best


def sample(layout: Layout, networks: int, seed: int) -> tuple[Bank, ...]:
    """Precise banks of the set: vertices drawn at random, the same for the same seed; kept with the layout."""
    kept: dict[tuple[int, int], tuple[Bank, ...]] = layout.kept.setdefault("networks", {})
    found = kept.get((networks, seed))
    if found is None:
        rng = np.random.default_rng(seed)
        found = tuple(layout.bank.vertex(rng) for _ in range(networks))
        kept.clear()  # one sample is enough: each is as many banks
        kept[networks, seed] = found
    return found


def votes(now: Standing, robust: Robust, candidates: Mask) -> Numbers:
    """The candidate that each sampled network would ask each taker, (takers, networks); -1 where it excludes the answers and abstains."""
    rules, second = now.plan.rules, now.plan.second
    found = np.full((now.takers, robust.networks), -1)
    for column, bank in enumerate(sample(now.plan.layout, robust.networks, robust.seed)):
        evidence = now.evidence.with_bank(bank)
        some = np.flatnonzero(possible(evidence.model, evidence.takers) & candidates.any(axis=1))
        if not len(some):
            continue
        evidence, layout = evidence.take(some), evidence.layout
        ahead = look(layout, Chooser(evidence.model, len(some)), evidence.is_open, rules.target)
        draws = now.draws(some, 0) if len(now.seeds) else Draws(())
        gains = gains_of(layout, ahead, rules.score, rules.bound, rules.per, draws)
        again = partial(gains_of, layout, ahead, second, rules.bound, rules.per, draws) if second else None
        found[some, column] = best(np.where(candidates[some], gains, -np.inf), again)
    return found


def counted(layout: Layout, ballot: Numbers) -> dict[str, int]:
    """How many networks would ask which question, the most wanted first; of equal ones the first that was wanted."""
    wanted = ballot[ballot >= 0]
    numbers, first, count = np.unique(wanted, return_index=True, return_counts=True)
    order = np.lexsort((first, -count))
    return {layout.questions[numbers[row]].id: int(count[row]) for row in order}
