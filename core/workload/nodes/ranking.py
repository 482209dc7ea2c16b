"""How full a node is (NODE-1, NODE-2), and the order of nodes by that, remembered until one changes."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from core.ids import NodeName
from core.queues.spec import NodeSortSpec
from core.resource import Counted

DEFAULT_WEIGHTS: Mapping[str, float] = {"vcore": 1.0, "memory": 1.0}

BINPACKING = "binpacking"

FEW = 10
"""Up to one in so many nodes are looked at one by one; for more of them going through all is cheaper."""


def usage_of(capacity: Counted, available: Mapping[str, int], weights: Mapping[str, float]) -> float:
    """How full a node is: the weighted mean over what it has and what is weighted (NODE-1, NODE-2).

    0 is empty, 1 full, and more than 1 what holds pods beyond its capacity. ``weights``: empty for the
    built-in ones. A name that is absent from ``available`` is used up. Of what a node has none, nothing used
    is no number and does not count, and anything used is infinitely much.
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
    """What nodes are ordered by, the lowest first (NODE-1).

    A policy of another name than binpacking is fair; a document with such a one is refused (CFG-37).
    """
    usage = usage_of(capacity, available, sort.weights)
    return 1.0 - usage if sort.policy == BINPACKING else usage


class NodeRanking:
    """The nodes, best first: by score ascending, then by name (NODE-1).

    Nothing is kept before somebody asks. After that a change of a node costs a note, and asking costs the
    nodes that have changed since: O(log nodes) and a shift each, or sorting all of them.
    """

    def __init__(self) -> None:
        self.sort: NodeSortSpec | None = None
        """The policy by which they stand; None before somebody has asked."""
        self._filed: dict[NodeName, float] = {}
        self._scores: list[float] = []
        self._names: list[NodeName] = []
        self._changed: set[NodeName] = set()

    def __iter__(self) -> Iterator[NodeName]:
        """Nodes that stand in the order or are about to, each once."""
        return iter(self._filed.keys() | self._changed)

    def note_change(self, name: NodeName) -> None:
        """A node is new, or its room has changed."""
        if self.sort is not None:
            self._changed.add(name)

    def drop(self, name: NodeName) -> None:
        self._changed.discard(name)
        if name in self._filed:
            self._unfile(name)

    def settle(
        self, sort: NodeSortSpec, names: Iterable[NodeName], score: Callable[[NodeName], float]
    ) -> None:
        """Take in what has changed. ``names``: of all nodes; ``score``: of one of them by ``sort``."""
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
    ) -> list[NodeName]:
        """Those that are offered, best first. ``instead``: a score that one of them has for this once."""
        if len(offered) * FEW < len(self._filed):
            return self._sorted(self._filed.keys() & offered, instead)
        found = list(filter(offered.__contains__, self._names))
        if instead is not None:
            del found[bisect_left(found, self._rank(instead[1]), key=self._rank)]
            found.insert(bisect_left(found, instead, key=self._rank), instead[1])
        return found

    def score_filed(self, name: NodeName) -> float | None:
        """By which a node stands in the order; None when it does not, or not where it should."""
        score = self._filed.get(name)
        if score is None:
            return None
        at = self._place_of(score, name)
        stands = at < len(self._names) and (self._scores[at], self._names[at]) == (score, name)
        return score if stands else None

    @property
    def strays(self) -> int:
        """How many places of the order belong to nobody; 0 unless it is broken."""
        return abs(len(self._names) - len(self._filed)) + abs(len(self._scores) - len(self._filed))

    def awaits(self, name: NodeName) -> bool:
        """Whether a change of that node has not been taken in yet."""
        return name in self._changed

    def _place_of(self, score: float, name: NodeName) -> int:
        """How many nodes come before one of that score and name."""
        start = bisect_left(self._scores, score)
        return bisect_left(self._names, name, start, bisect_right(self._scores, score, start))

    def _rank(self, name: NodeName) -> tuple[float, NodeName]:
        return self._filed[name], name

    def _sorted(self, names: Set[NodeName], instead: tuple[float, NodeName] | None) -> list[NodeName]:
        ranks = [self._rank(name) for name in names if instead is None or name != instead[1]]
        return [name for _, name in sorted([*ranks, instead] if instead else ranks)]

    def _sort_all(self) -> None:
        # In two goes: comparing names and then numbers is three times as fast as comparing pairs.
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
