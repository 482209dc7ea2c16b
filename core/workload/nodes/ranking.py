"""Fullness of nodes (NODE-1, NODE-2), and the order of nodes by it, remembered until a node changes."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from core.ids import NodeName
from core.queues.spec import NodeSortSpec
from core.resource import Counted

DEFAULT_WEIGHTS: Mapping[str, float] = {"vcore": 1.0, "memory": 1.0}

BINPACKING = "binpacking"

FEW = 10
"""Fraction of nodes, as one in so many, up to which they are handled one by one. Beyond it a full pass is
cheaper."""


def usage_of(capacity: Counted, available: Mapping[str, int], weights: Mapping[str, float]) -> float:
    """Fullness of a node: the weighted mean over its resources that have a weight (NODE-1, NODE-2).

    0 is empty, 1 is full, and more than 1 means pods beyond the capacity. ``weights``: empty for the built-in
    ones. A name that is absent from ``available`` is used up. A resource that the node lacks does not count
    if nothing of it is used, and is infinite otherwise.
    """
    used = total = 0.0
    for name, weight in (weights or DEFAULT_WEIGHTS).items():
        has = capacity.get(name)
        if has:
            used += weight * (1.0 - available.get(name, 0) / has)
            total += weight
        elif weight and name in capacity and available.get(name, 0) < 0:
            return math.inf
    return used / total if total else 0.0


def score_of(sort: NodeSortSpec, capacity: Counted, available: Mapping[str, int]) -> float:
    """Score by which nodes are ordered, the lowest first (NODE-1).

    A policy of any name but binpacking is fair. A document with an unknown name is refused (CFG-37).
    """
    usage = usage_of(capacity, available, sort.weights)
    return 1.0 - usage if sort.policy == BINPACKING else usage


class NodeRanking:
    """Nodes in order, best first: by ascending score, then by name (NODE-1).

    Nothing is stored before the first reader. After that, a change of a node costs a note. Reading costs
    O(log nodes) and a shift per changed node, or sorting all of them.
    """

    def __init__(self) -> None:
        self.sort: NodeSortSpec | None = None
        """Policy of the order; None before the first reader."""
        self._filed: dict[NodeName, float] = {}
        self._scores: list[float] = []
        self._names: list[NodeName] = []
        self._changed: set[NodeName] = set()

    def __iter__(self) -> Iterator[NodeName]:
        """Nodes in the order, and nodes about to enter it, each once."""
        return iter(self._filed.keys() | self._changed)

    def note_change(self, name: NodeName) -> None:
        """Note that a node is new, or that its free capacity has changed."""
        if self.sort is not None:
            self._changed.add(name)

    def drop(self, name: NodeName) -> None:
        """Forget a node."""
        self._changed.discard(name)
        if name in self._filed:
            self._unfile(name)

    def settle(
        self, sort: NodeSortSpec, names: Iterable[NodeName], score: Callable[[NodeName], float]
    ) -> None:
        """Apply the changes. ``names``: all nodes. ``score``: score of a node by ``sort``."""
        if sort != self.sort:
            self.sort, self._changed = sort, set(names)
        changed, self._changed = self._changed, set()
        if len(changed) * FEW > len(self._names):
            self._filed.update((name, score(name)) for name in changed)
            self._sort_all()
        else:
            for name in changed:
                self._refile(name, score(name))

    def among(
        self, offered: Set[NodeName], *, instead: tuple[float, NodeName] | None = None
    ) -> Sequence[NodeName]:
        """Nodes that are offered, best first, to be read before the next change.

        ``instead``: score that replaces a node's own for this call.
        """
        if len(offered) * FEW < len(self._filed):
            return self._sorted(self._filed.keys() & offered, instead)
        if instead is None and self._filed.keys() <= offered:
            return self._names
        found = [name for name in self._names if name in offered]
        if instead is not None:
            del found[bisect_left(found, self._rank(instead[1]), key=self._rank)]
            found.insert(bisect_left(found, instead, key=self._rank), instead[1])
        return found

    def score_filed(self, name: NodeName) -> float | None:
        """Score under which a node is filed, or None if it is not at that place."""
        score = self._filed.get(name)
        if score is None:
            return None
        at = self._place_of(score, name)
        stands = at < len(self._names) and (self._scores[at], self._names[at]) == (score, name)
        return score if stands else None

    @property
    def strays(self) -> int:
        """Number of surplus or missing places in the order; 0 unless it is broken."""
        return abs(len(self._names) - len(self._filed)) + abs(len(self._scores) - len(self._filed))

    def awaits(self, name: NodeName) -> bool:
        """True if a change of that node is not applied yet."""
        return name in self._changed

    def _place_of(self, score: float, name: NodeName) -> int:
        """Number of nodes before one of that score and name."""
        start = bisect_left(self._scores, score)
        return bisect_left(self._names, name, start, bisect_right(self._scores, score, start))

    def _rank(self, name: NodeName) -> tuple[float, NodeName]:
        return self._filed[name], name

    def _sorted(self, names: Set[NodeName], instead: tuple[float, NodeName] | None) -> list[NodeName]:
        ranks = [self._rank(name) for name in names if instead is None or name != instead[1]]
        return [name for _, name in sorted([*ranks, instead] if instead else ranks)]

    def _sort_all(self) -> None:
        # Two sorts, because names and then numbers compare three times as fast as pairs.
        self._names = sorted(self._filed)
        self._names.sort(key=self._filed.__getitem__)
        self._scores = [self._filed[name] for name in self._names]

    def _refile(self, name: NodeName, score: float) -> None:
        if self._filed.get(name) == score:
            return
        if name in self._filed:
            self._unfile(name)
        at = self._place_of(score, name)
        self._filed[name] = score
        self._names.insert(at, name)
        self._scores.insert(at, score)

    def _unfile(self, name: NodeName) -> None:
        at = self._place_of(self._filed.pop(name), name)
        del self._names[at], self._scores[at]
