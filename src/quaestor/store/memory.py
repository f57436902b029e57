"""A bounded, thread-safe cache of the least recently used kind (LRU). What it holds can always be computed again from the database."""

from collections import Counter, OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

from quaestor.store import counters

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
MEGABYTE = 1_000_000
KINDS = ("session", "bank", "draft", "text")
_READS = {(kind, found): counters.CACHE_READS.labels(kind, "yes" if found else "no") for kind in KINDS for found in (True, False)}


class Memory(Generic[K, V]):
    """Values by key, each with a weight; the sum of the weights is at most `most`, unless a single one is larger."""

    def __init__(self, most: int) -> None:
        self._most, self._weight = most, 0
        self._kept: OrderedDict[K, tuple[V, int, int, K | None]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._touch(key)
            return found[0]

    def put(self, key: K, value: V, weight: int = 1, needs: K | None = None) -> None:
        """Store a value, and drop the least recently used ones if the total weight is too large.

        `needs`: the key of a value that this one holds. It counts as used whenever this one is, so it is dropped after all that hold it:
        what is dropped is free.
        """
        with self._lock:
            self._drop(key)
            self._kept[key] = (value, weight, 0, needs)
            self._weight += weight
            self._touch(key)
            self._shrink()

    def grown(self, key: K, more: int) -> None:
        """Note that what is stored under a key weighs so much more than when it was stored."""
        with self._lock:
            if key in self._kept:
                value, weight, before, needs = self._kept[key]
                self._kept[key] = (value, weight, more, needs)
                self._weight += more - before
                self._shrink()

    def limit(self, most: int) -> None:
        """Set the largest sum of weights."""
        with self._lock:
            self._most = most
            self._shrink()

    def keys(self) -> list[K]:
        """All keys."""
        with self._lock:
            return list(self._kept)

    def forget(self, key: K) -> None:
        """Remove a key."""
        with self._lock:
            self._drop(key)

    def clear(self) -> None:
        """Remove all keys."""
        with self._lock:
            self._kept.clear()
            self._weight = 0

    def _touch(self, key: K) -> None:
        self._kept.move_to_end(key)
        needs = self._kept[key][3]
        if needs is not None and needs in self._kept:
            self._kept.move_to_end(needs)

    def _shrink(self) -> None:
        while self._weight > self._most and len(self._kept) > 1:  # better one that is too large than reading it again and again
            self._drop(next(iter(self._kept)))

    def _drop(self, key: K) -> None:
        dropped = self._kept.pop(key, None)
        if dropped is not None:
            self._weight -= dropped[1] + dropped[2]


class Cache(Memory[tuple[str, Hashable], Any]):
    """The cache of a process, of things of several kinds: a key is the kind and a name, a weight is in bytes."""

    def get(self, key: tuple[str, Hashable]) -> Any:
        """The value of a key, or None; counted by kind."""
        found = super().get(key)
        _READS[key[0], found is not None].inc()
        return found

    def stock(self) -> dict[str, tuple[int, int]]:
        """How many things of each kind there are, and their bytes."""
        count: Counter[str] = Counter()
        total: Counter[str] = Counter()
        with self._lock:
            for (kind, _), (_, weight, more, _) in self._kept.items():
                count[kind] += 1
                total[kind] += weight + more
        return {kind: (count[kind], total[kind]) for kind in KINDS}


cached = Cache(256 * MEGABYTE)
