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

_WORD = 0xFFFFFFFF
_CHUNK = 1 << 13  # takers worked on together: what fits into a core's own memory


def spread(*seeds: Seed) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
    """What SeedSequence makes of seeds, (takers, 4), some takers at a time; seeds that differ between takers are arrays, below 2^32."""
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
        halves = [word.astype(np.uint64) for word in _spread(words)]
        whole = [halves[2 * number] | halves[2 * number + 1] << np.uint64(32) for number in range(4)]
        yield some, np.stack(np.broadcast_arrays(*whole), axis=1)


def generators(seeds: Sequence[int], counts: NDArray[np.integer[Any]], purpose: int) -> list[np.random.Generator]:
    """The generators `default_rng([seed, count, purpose])` of many takers."""
    if max(seeds, default=0) > _WORD:  # somebody's own seed
        return [np.random.default_rng([seed, count, purpose]) for seed, count in zip(seeds, counts.tolist(), strict=True)]
    words = (row for _, rows in spread(np.array(seeds, dtype=np.uint32), counts, purpose) for row in rows)
    return [np.random.Generator(np.random.PCG64(_Spread(row))) for row in words]  # type: ignore[arg-type]  # its stubs know no ISeedSequence


class _Spread(ISeedSequence):
    """Seeds that were spread already."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self._words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[np.uint64]:
        """The words, as PCG64 asks for them: four of 64 bits."""
        assert (n_words, np.dtype(dtype)) == (4, np.dtype(np.uint64))
        return self._words


def _spread(words: list[Words]) -> list[Words]:
    """The eight words of `SeedSequence(words).generate_state(8)`."""
    constant = 0x43B0D7E5

    def hashed(value: Words, factor: int) -> Words:
        nonlocal constant
        value = value ^ np.uint32(constant)
        constant = constant * factor & _WORD
        value = value * np.uint32(constant)
        return value ^ value >> np.uint32(16)

    def mixed(one: Words, other: Words) -> Words:
        value: Words = one * np.uint32(0xCA01F9DD) - other * np.uint32(0x4973F715)
        return value ^ value >> np.uint32(16)

    nothing = np.zeros(1, dtype=np.uint32)
    pool = [hashed(word, 0x931E8875) for word in [*words, *[nothing] * 4][:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = mixed(pool[target], hashed(pool[source], 0x931E8875))
    for word in words[4:]:
        pool = [mixed(one, hashed(word, 0x931E8875)) for one in pool]
    constant = 0x8B51F9DD
    return [hashed(pool[number % 4], 0x58F38DED) for number in range(8)]
