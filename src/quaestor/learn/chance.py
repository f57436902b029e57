"""Differences beyond chance among many: which of a list of tail probabilities stand, when the list is long."""

import numpy as np
from numpy.typing import NDArray

from quaestor.model.table import Array


def discoveries(tails: Array, share: float) -> NDArray[np.bool_]:
    """Which findings stand, (tests,), so that of those that do at most this share is expected to be chance (Benjamini, Hochberg 1995).

    With m tests in rising order the first k stand, k the largest number whose tail is at most k * share / m. NaN never stands.
    """
    known = np.flatnonzero(np.isfinite(tails))
    order = known[np.argsort(tails[known], kind="stable")]
    passed = np.flatnonzero(tails[order] <= share * np.arange(1, len(order) + 1) / max(len(order), 1))
    found = np.zeros(len(tails), bool)
    if len(passed):
        found[order[: passed[-1] + 1]] = True
    return found
