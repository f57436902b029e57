"""Scores that look at no uncertainty: how likely a right answer is, chance, the order of the bank."""

import numpy as np

from quaestor.draws import Draws
from quaestor.inference.lookahead import Group, Lookahead
from quaestor.model.table import Array


def right(ahead: Lookahead, bound: str, draws: Draws) -> Array:
    """1 - 2 |P(best class) - 1/2|: largest when a right answer is as likely as not; in credal banks at the worst (`lower`: best) P."""

    def of_group(group: Group) -> Array:
        low, high = (end[..., -1] for end in group.answers)
        away = np.maximum(np.abs(low - 0.5), np.abs(high - 0.5)) if bound == "upper" else np.maximum(np.maximum(low - 0.5, 0.5 - high), 0)
        result: Array = 1 - 2 * away
        return result

    return ahead.spread(of_group)


def random(ahead: Lookahead, bound: str, draws: Draws) -> Array:
    """A random number each."""
    return draws.random(ahead.open)


def order(ahead: Lookahead, bound: str, draws: Draws) -> Array:
    """The order of the bank: minus the question's place."""
    return np.broadcast_to(-np.arange(ahead.open.shape[1], dtype=float), ahead.open.shape)
