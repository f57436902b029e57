"""Multiple testing: which of many tests are significant when the false discovery rate is controlled; p-values in words."""

import numpy as np
from numpy.typing import NDArray

from quaestor.i18n import say
from quaestor.model.table import Array


def discoveries(tails: Array, share: float) -> NDArray[np.bool_]:
    """Which tests are significant, (tests,), at a false discovery rate of at most `share` (Benjamini and Hochberg 1995).

    `tails`: p-values, (tests,). Of m p-values p_(1) <= ... <= p_(m) the first k are significant, k the largest number with
    p_(k) <= k * share / m. NaN (no test) is never significant and does not count in m.
    """
    known = np.flatnonzero(np.isfinite(tails))
    order = known[np.argsort(tails[known], kind="stable")]
    passed = np.flatnonzero(tails[order] <= share * np.arange(1, len(order) + 1) / max(len(order), 1))
    found = np.zeros(len(tails), bool)
    if len(passed):
        found[order[: passed[-1] + 1]] = True
    return found


def tail_words(tail: float) -> str:
    """A p-value as it is read."""
    return say("p = {tail:.3f}", tail=tail) if tail >= 0.001 else say("p below {least:.3f}", least=0.001)
