"""Random numbers of many students at once: those that numpy's generators, one for each student, would draw.

A generator `default_rng([seed, number])` takes 15 microseconds to make, and draws its numbers one after another. Here the same numbers come
as arrays: the seeds are spread as arrays (`quaestor.seeds`), and the n-th number of a stream is worked out without those before
it, since PCG64 multiplies and adds: after n steps its state is a sum of two products with numbers that depend on n alone.

The lines run on any library that speaks the array API. Not all of these have unsigned numbers, so 64 bits are kept in signed ones, which
wrap around in the same way, and a shift to the right is followed by a mask.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.vectors import parts
from quaestor.seeds import Seed, spread
from quaestor.simulate.arrays import namespace

Factors = NDArray[np.int64]

_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_HALF = 0xFFFFFFFF
_CHUNK = 1 << 13  # streams worked on together: what fits into a core's own memory


def places(numbers: Sequence[int]) -> Factors:
    """What leads to some places of every stream, (8, places): two factors of 128 bits each, in four parts."""
    rows, made = [], 0
    power, total = 1, 0  # m^n and 1 + m + ... + m^(n - 1), modulo 2^128
    for number in sorted(set(numbers)):
        for _ in range(number + 1 - made):
            power, total = power * _MULTIPLIER % 2**128, (total * _MULTIPLIER + 1) % 2**128
        made = number + 1
        once = power * _MULTIPLIER
        rows.append([*_parts(once % 2**128), *_parts((once + power + total) % 2**128)])
    found = np.array(rows, dtype=np.int64).reshape(-1, 8).T
    return np.ascontiguousarray(found[:, np.unique(numbers, return_inverse=True)[1].reshape(-1)])


def _parts(number: int) -> tuple[int, int, int, int]:
    """128 bits: the upper 64, the lower 64, and the halves of the lower ones, the upper half first."""
    high, low = number >> 64, number & (2**64 - 1)
    return _signed(high), _signed(low), low >> 32, low & _HALF


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


@dataclass(frozen=True, eq=False)
class Streams:
    """The states of many generators, (8, streams): what they start from and what they add, 128 bits each, in four parts."""

    states: Any

    @staticmethod
    def of(*seeds: Seed) -> "Streams":
        """The streams of `default_rng([...])` for such seeds; those that differ between streams are arrays, of numbers below 2^32."""
        found = []
        for _, (start, low_start, high, low) in ((some, rows.T) for some, rows in spread(*seeds)):
            add, low_add = high << np.uint64(1) | low >> np.uint64(63), low << np.uint64(1) | np.uint64(1)
            states = []
            for upper, lower in ((start, low_start), (add, low_add)):
                states += [upper, lower, lower >> np.uint64(32), lower & np.uint64(_HALF)]
            found.append(np.stack(states).view(np.int64))
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
        found = np.empty(len(streams), dtype=np.int64)
        are_all = len(streams) == self.states.shape[1]
        for some in parts(len(streams), _CHUNK):
            found[some] = _drawn(self.states[:, some if are_all else streams[some]], factors[:, which[some]])
        return found


def seeds_of(bits: NDArray[np.int64]) -> list[int]:
    """What `integers(2**31)` makes of the bits of a draw."""
    found: list[int] = ((bits & _HALF) >> 1).tolist()
    return found


def _drawn(states: Any, factors: Any) -> Any:
    """The 64 bits drawn at states: start x the first factor + add x the second, 128 bits, and of these a rotated half."""
    one_high, one_low = _product(states[:4, :], factors[:4, :])
    other_high, other_low = _product(states[4:, :], factors[4:, :])
    low = one_low + other_low
    carry = ((one_low & other_low) | ((one_low | other_low) & ~low)) >> 63 & 1
    high = one_high + other_high + carry
    turned, by = high ^ low, high >> 58 & 63
    kept = ~(-2 << (63 - by))  # the bits that a shift to the right leaves: 64 - by of them
    return turned >> by & kept | turned << (-by & 63)


def _product(one: Any, other: Any) -> tuple[Any, Any]:
    """The upper and lower 64 bits of products of 128 bits."""
    low = one[3, :] * other[3, :]
    cross, back = one[2, :] * other[3, :], one[3, :] * other[2, :]
    middle = (low >> 32 & _HALF) + (cross & _HALF) + (back & _HALF)
    high = one[2, :] * other[2, :] + (cross >> 32 & _HALF) + (back >> 32 & _HALF) + (middle >> 32)
    return high + one[0, :] * other[1, :] + one[1, :] * other[0, :], one[1, :] * other[1, :]
