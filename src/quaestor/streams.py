"""Random numbers of many students at once: those that numpy's generators, one for each student, would draw.

A generator `default_rng([seed, number])` takes 15 microseconds to make, and draws its numbers one after another. Here the same numbers come
as arrays: the seeds are spread as arrays (`quaestor.seeds`), and the n-th number of a stream is worked out without those before it. PCG64
goes from a state s to M s + a, modulo 2^128, with a number a of the stream's own; so after n steps, with m = M^n, it is at
m s + a (m - 1) / (M - 1). M - 1 is 4 u with an odd u. With a / u = 4 q + r, where r is 1 or 3, this is

    m (s + q) - q + r (m - 1) / 4        or, since 3 (m - 1) / 4 = (m - 1) - (m - 1) / 4,        m x - q + k or m x - q - k - 1

with k = (m - 1) / 4, x = s + q where r is 1, and x = s + q + 1 where it is 3: one product of 128 bits instead of two.

The lines run on any library that speaks the array API. Not all of these have unsigned numbers, so 64 bits are kept in signed ones, which
wrap around in the same way, and a shift to the right is followed by a mask; numpy's are taken as unsigned where that is quicker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.arrays import namespace
from quaestor.seeds import Seed, spread

Factors = NDArray[np.int64]

_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_HALF = 0xFFFFFFFF
_WHOLE = 2**64 - 1
_INVERSE = [
    np.uint64(part)  # 1 / u, in four parts: the upper 64 bits, the lower 64, and the halves of the lower ones, the upper half first
    for one in [pow(_MULTIPLIER // 4, -1, 2**128)]
    for part in (one >> 64, one & _WHOLE, one >> 32 & _HALF, one & _HALF)
]
_CHUNK = 1 << 13  # streams worked on together: what fits into a core's own memory


def places(numbers: Sequence[int]) -> Factors:
    """What leads to some places of every stream, (6, places): m in four parts (as `_INVERSE`), and k in two."""
    rows, made, power = [], -2, 1  # seeding takes two steps
    wanted = sorted(set(numbers))
    for number in wanted:
        power = power * (_MULTIPLIER if number == made + 1 else pow(_MULTIPLIER, number - made, 2**130)) % 2**130
        made = number
        rows.append(power.to_bytes(24, "little"))
    low, high, over = np.frombuffer(b"".join(rows), dtype="<u8").reshape(-1, 3).T
    found = np.stack([high, low, low >> 32, low & _HALF, high >> 2 | over << 62, low >> 2 | high << 62]).view(np.int64)
    return np.ascontiguousarray(found[:, np.searchsorted(wanted, numbers)])


@dataclass(frozen=True, eq=False)
class Streams:
    """The states of many generators, (7, streams): x, 128 bits in four parts; -q in two; and 0 where k is added, else -1 (-k - 1 is ~k)."""

    states: Any

    @staticmethod
    def of(*seeds: Seed) -> "Streams":
        """The streams of `default_rng([...])` for such seeds; those that differ between streams are arrays, of numbers below 2^32."""
        found = []
        for _, (start, low_start, high, low) in spread(*seeds):
            add = high << 1 | low >> 63, low << 1 | 1
            over, under = _product((*add, add[1] >> 32, add[1] & _HALF), _INVERSE)
            q = over >> 2, under >> 2 | over << 62
            is_three = under >> 1 & 1
            x = _sum(_sum((start, low_start), add), _sum(q, (np.zeros_like(is_three), is_three)))
            minus = _sum((~q[0], ~q[1]), (np.zeros_like(is_three), np.ones_like(is_three)))
            found.append(np.stack([*x, x[1] >> 32, x[1] & _HALF, *minus, -is_three]).view(np.int64))
        return Streams(np.concatenate(found, axis=1))

    def uniform(self, factors: Any, streams: Any, which: Any) -> Any:
        """A number from 0 to below 1 of some streams in rising order, each at one (`which`) of some places."""
        bits = self.bits(factors, streams, which)
        return namespace(bits).astype(bits >> 11 & (1 << 53) - 1, self._double) * 2.0**-53

    @property
    def _double(self) -> Any:
        return namespace(self.states).float64

    def bits(self, factors: Any, streams: Any, which: Any) -> Any:
        """The 64 bits that some streams in rising order draw, each at one (`which`) of some places, in signed numbers."""
        xp = namespace(self.states)
        if not isinstance(self.states, np.ndarray):
            return _drawn(xp.take(self.states, streams, axis=1), xp.take(factors, which, axis=1))
        found = np.empty(len(streams), dtype=np.uint64)
        are_all, states, factors = len(streams) == self.states.shape[1], self.states.view(np.uint64), factors.view(np.uint64)
        for some in (slice(start, start + _CHUNK) for start in range(0, len(streams), _CHUNK)):
            here = states[:, some] if are_all else np.take(states, streams[some], axis=1)
            found[some] = _drawn(here, np.take(factors, which[some], axis=1))
        return found.view(np.int64)


def seeds_of(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """What `integers(2**31)` makes of the bits of a draw."""
    return (bits & _HALF) >> 1


def _drawn(states: Any, factors: Any) -> Any:
    """The 64 bits drawn at states: m x + (k or ~k) - q, 128 bits, and of these a rotated half."""
    *x, over, under, turn = (states[row, :] for row in range(7))
    *m, high, low = (factors[row, :] for row in range(6))
    high, low = _sum(_product(x, m), _sum((high ^ turn, low ^ turn), (over, under)))
    turned, by = high ^ low, high >> 58 & 63
    right = turned >> by
    if not isinstance(turned, np.ndarray):
        right = right & ~(-2 << (63 - by))  # the bits that a shift to the right leaves: 64 - by of them
    return right | turned << (64 - by & 63)


def _product(one: Sequence[Any], other: Sequence[Any]) -> tuple[Any, Any]:
    """The upper and lower 64 bits of products of 128 bits, given in four parts."""
    low, cross, back = one[3] * other[3], one[2] * other[3], one[3] * other[2]
    middle = _upper(low) + (cross & _HALF) + (back & _HALF)
    high = one[2] * other[2] + _upper(cross) + _upper(back) + _upper(middle)
    return high + one[0] * other[1] + one[1] * other[0], one[1] * other[1]


def _upper(number: Any) -> Any:
    """The upper 32 of 64 bits."""
    return number >> 32 if isinstance(number, np.ndarray) else number >> 32 & _HALF


def _sum(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """The upper and lower 64 bits of a sum of 128 bits."""
    low = one[1] + other[1]
    is_over = low < one[1] if isinstance(low, np.ndarray) else ((one[1] & other[1]) | ((one[1] | other[1]) & ~low)) >> 63 & 1
    return one[0] + other[0] + is_over, low
