"""Observed shares with their confidence intervals."""

from dataclasses import dataclass
from math import sqrt

NORMAL = 1.96  # quantile of the standard normal distribution for two-sided 95 % intervals
FEW = 20  # a share of fewer people is not reported


@dataclass(frozen=True)
class Share:
    """A share of `count` people with the ends of its 95 % confidence interval."""

    value: float
    low: float
    high: float
    count: float

    @property
    def is_known(self) -> bool:
        """Whether there are enough people to report the share."""
        return self.count >= FEW


def wilson(hits: float, count: float) -> Share:
    """A share with its 95 % score interval (Wilson 1927): (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    if not count:
        return Share(0.0, 0.0, 1.0, 0)
    p, square = hits / count, NORMAL**2 / count
    half = NORMAL * sqrt(max(p * (1 - p), 0) / count + square / (4 * count))
    return Share(p, max((p + square / 2 - half) / (1 + square), 0.0), min((p + square / 2 + half) / (1 + square), 1.0), count)
