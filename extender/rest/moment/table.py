"""Table in parts. A table of Python moves all its entries when it grows, which takes longer than a step."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

PARTS = 256
"""Number of parts. With 100,000 entries a part has about 400."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Table(Generic[K, V]):
    """Entries by key, in no order. An entry is in the part that the hash of its key names."""

    def __init__(self) -> None:
        self._parts: tuple[dict[K, V], ...] = tuple({} for _ in range(PARTS))
        self._count = 0
        #: Part from which `pop_any` took the last entry.
        self._place = 0

    def __len__(self) -> int:
        """Number of entries."""
        return self._count

    def get(self, key: K) -> V | None:
        """Return an entry, or None."""
        return self._parts[hash(key) % PARTS].get(key)

    def put(self, key: K, value: V) -> None:
        """Add or replace an entry."""
        part = self._parts[hash(key) % PARTS]
        before = len(part)
        part[key] = value
        self._count += len(part) - before

    def pop(self, key: K) -> V | None:
        """Remove and return an entry. Returns None if there is none."""
        part = self._parts[hash(key) % PARTS]
        before = len(part)
        found = part.pop(key, None)
        self._count += len(part) - before
        return found

    def pop_any(self) -> K:
        """Remove an entry, and return its key. The table must not be empty."""
        while not self._parts[self._place]:
            self._place = (self._place + 1) % PARTS
        self._count -= 1
        return self._parts[self._place].popitem()[0]

    def parts(self) -> Iterator[Mapping[K, V]]:
        """Yield all parts, which are live."""
        return iter(self._parts)

    def clear_in_steps(self) -> Iterator[None]:
        """Remove all entries, one part in each step."""
        for part in self._parts:
            self._count -= len(part)
            part.clear()
            yield


class KeySet(Generic[K]):
    """Set of keys, in no order."""

    def __init__(self) -> None:
        self._table: Table[K, None] = Table()

    def __len__(self) -> int:
        """Number of keys."""
        return len(self._table)

    def add(self, key: K) -> None:
        """Add a key."""
        self._table.put(key, None)

    def update(self, keys: Iterable[K]) -> None:
        """Add keys."""
        for key in keys:
            self._table.put(key, None)

    def pop(self) -> K:
        """Remove and return a key. There must be one."""
        return self._table.pop_any()
