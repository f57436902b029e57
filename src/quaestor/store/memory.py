"""A bounded, thread-safe cache of the least recently used kind (LRU). What it holds can always be computed again from the database."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memory(Generic[K, V]):
    """Values by key, each with a weight; the sum of the weights is at most `most`."""

    def __init__(self, most: int) -> None:
        self._most, self._weight = most, 0
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, weight: int = 1) -> None:
        """Store a value, and drop the least recently used ones if the total weight is too large."""
        with self._lock:
            self._drop(key)
            self._kept[key] = (value, weight)
            self._weight += weight
            while self._weight > self._most:
                self._drop(next(iter(self._kept)))

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

    def _drop(self, key: K) -> None:
        dropped = self._kept.pop(key, None)
        if dropped is not None:
            self._weight -= dropped[1]
