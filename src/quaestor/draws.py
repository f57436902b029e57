"""What many takers draw, each from a generator of their own, as arrays: the numbers are those of `numpy.random.default_rng([...])`.

A few numbers of each taker are worked out as arrays (`quaestor.streams`). A generator takes two microseconds to make, but then draws a
number in a tenth of the time that arrays take: it is made where each taker draws many, and where there are few takers.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.lazy import lazy
from quaestor.seeds import Seed, Seeds, are_many, generators
from quaestor.streams import Factors, Streams, places

_HALF = 0xFFFFFFFF
_FEW = 100  # numbers of one taker


class Draws:
    """Numbers drawn one after another, by N takers at once, from `default_rng([seed, *others])`; `others`: arrays where takers differ."""

    def __init__(self, seeds: Seeds, *others: Seed) -> None:
        self._seeds, self._others, self._place, self._are_many = seeds, others, 0, are_many(seeds)

    def __len__(self) -> int:
        return len(self._seeds)

    def random(self, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The next numbers from 0 to below 1 of each taker, (takers, numbers), as many as `wanted` has columns; where it does not want one
        it may be 0.
        """
        found, first = np.zeros(wanted.shape), self._next(wanted.shape[1])
        if self._are_many and wanted.sum() <= _FEW * len(self):
            takers, which = np.nonzero(wanted)
            found[wanted] = self._streams.uniform(_run(first, wanted.shape[1]), takers, which)
        else:
            for row, generator in zip(found, self._generators(first), strict=True):
                generator.random(out=row)
        return found

    def integers(self, below: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
        """A whole number from 0 to below a number of 1 or more for each taker, (takers,)."""
        first = self._next(1)
        if not self._are_many:
            each = zip(self._generators(first), below.tolist(), strict=True)
            return np.array([generator.integers(most) for generator, most in each], dtype=np.intp)
        everyone = np.arange(len(self))
        bits = self._streams.bits(_run(first, 1), everyone, np.zeros_like(everyone)) & _HALF
        product = bits.astype(np.uint64) * below.astype(np.uint64)
        found: NDArray[np.intp] = (product >> np.uint64(32)).astype(np.intp)
        for taker in np.flatnonzero((product & np.uint64(_HALF)) < 2**32 % below):  # one in a thousand million: numpy draws again
            found[taker] = self._generators(first)[taker].integers(below[taker])
        return found

    def _next(self, count: int) -> int:
        """The place of the next of so many numbers."""
        first, self._place = self._place, self._place + count
        return first

    @lazy
    def _streams(self) -> Streams:
        return Streams.of(np.asarray(self._seeds), *self._others)

    def _generators(self, place: int) -> list[np.random.Generator]:
        """Generators that draw the number at a place next."""
        found = generators(self._seeds, *self._others)
        for generator in found if place else ():
            generator.bit_generator.advance(place)  # type: ignore[attr-defined]  # PCG64 can
        return found


@lru_cache(maxsize=256)
def _run(first: int, count: int) -> Factors:
    """What leads to so many places one after another."""
    return places(range(first, first + count))
