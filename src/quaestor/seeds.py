"""Random generators of many takers at once: those of `numpy.random.default_rng([...])`, without the time it takes to make each of them.

Most of that time goes into spreading the seeds (numpy's SeedSequence). Here they are spread as arrays; what comes out is the same.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

Words = NDArray[np.uint32]
Seed = int | NDArray[np.integer[Any]]
Seeds = Sequence[int] | NDArray[np.integer[Any]]

_WORD = 0xFFFFFFFF
_CHUNK = 1 << 13  # takers worked on together: what fits into a core's own memory
_MANY = 16


def spread(*seeds: Seed) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
    """What SeedSequence makes of seeds, (4, takers), some takers at a time; seeds that differ between takers are arrays, below 2^32."""
    count = max((len(seed) for seed in seeds if isinstance(seed, np.ndarray)), default=1)
    for start in range(0, count, _CHUNK):
        some = slice(start, min(start + _CHUNK, count))
        words: list[Words] = []
        for seed in seeds:
            if isinstance(seed, np.ndarray):
                words.append(seed[some].astype(np.uint32))
            else:
                each = range(max(1, -(-seed.bit_length() // 32)))
                words += [np.array([seed >> 32 * place & _WORD], dtype=np.uint32) for place in each]
        halves = _spread(words).astype(np.uint64)
        yield some, halves[::2] | halves[1::2] << np.uint64(32)


def generators(seeds: Seeds, *others: Seed) -> list[np.random.Generator]:
    """The generators `default_rng([seed, *others])` of many takers; those of the `others` that differ between takers are arrays."""
    if not are_many(seeds):
        each = zip(seeds, *(np.broadcast_to(other, len(seeds)).tolist() for other in others), strict=True)
        return [np.random.default_rng([int(word) for word in words]) for words in each]
    rows = (row for _, words in spread(np.asarray(seeds), *others) for row in np.ascontiguousarray(words.T))
    return [np.random.Generator(np.random.PCG64(_Spread(row))) for row in rows]  # type: ignore[arg-type]  # its stubs know no ISeedSequence


def are_many(seeds: Seeds) -> bool:
    """Whether it pays to spread seeds as arrays, and they are those of many: somebody's own may have more than 32 bits."""
    return len(seeds) >= _MANY and bool(np.max(seeds) <= _WORD)


class _Spread(ISeedSequence):
    """Seeds that were spread already."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self._words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[np.uint64]:
        """The words, as PCG64 asks for them: four of 64 bits."""
        assert (n_words, np.dtype(dtype)) == (4, np.dtype(np.uint64))
        return self._words


def _spread(words: list[Words]) -> Words:
    """The eight words of `SeedSequence(words).generate_state(8)`, (8, takers)."""
    constant = 0x43B0D7E5

    def hashed(values: Words, factor: int, count: int) -> Words:
        """Values, (count or 1, takers), each mixed with constants of its own."""
        nonlocal constant
        constants = [constant]
        for _ in range(count):
            constants.append(constants[-1] * factor & _WORD)
        constant = constants[-1]
        each = np.array(constants, dtype=np.uint32)[:, None]
        found = values ^ each[:-1]
        found *= each[1:]
        found ^= found >> np.uint32(16)
        return found

    def mixed(one: Words, other: Words) -> Words:
        value = one * np.uint32(0xCA01F9DD)
        value -= other * np.uint32(0x4973F715)
        value ^= value >> np.uint32(16)
        return value

    count = max(len(word) for word in words)
    every = np.zeros((max(4, len(words)), count), dtype=np.uint32)
    for place, word in enumerate(words):
        every[place] = word
    pool = hashed(every[:4], 0x931E8875, 4)
    for source in range(4):
        others = [target for target in range(4) if target != source]
        pool[others] = mixed(pool[others], hashed(pool[source], 0x931E8875, 3))
    for word in every[4:]:
        pool = mixed(pool, hashed(word, 0x931E8875, 4))
    constant = 0x8B51F9DD
    return hashed(np.concatenate([pool, pool]), 0x58F38DED, 8)
