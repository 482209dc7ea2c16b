"""Free capacity of all nodes together, by the taints that repel pods from them."""

from collections.abc import Collection, Iterator, Mapping

from core.ids import NodeName
from core.workload.nodes.affinity import Toleration, passes
from core.workload.nodes.node import Taint

Bars = frozenset[Taint]

CHECKED_AT_MOST = 64
"""Pairs of bars and tolerations, at most, that one answer checks."""

_NOTHING: dict[str, int] = {}


class TaintedCapacity:
    """Free amounts behind each set of bars. A node that is used beyond its capacity counts as full."""

    __slots__ = ("_bars", "_left", "_nodes")

    def __init__(self) -> None:
        self._bars: dict[NodeName, Bars] = {}
        self._left: dict[Bars, dict[str, int]] = {}
        self._nodes: dict[Bars, int] = {}

    def add(self, name: NodeName, bars: Bars, free: dict[str, int]) -> None:
        """Add a node with its free amounts."""
        self._bars[name] = bars
        self._nodes[bars] = self._nodes.get(bars, 0) + 1
        self.change(name, _NOTHING, free, 1)

    def drop(self, name: NodeName, free: dict[str, int]) -> None:
        """Drop a node with its free amounts."""
        self.change(name, free, free, -1)
        bars = self._bars.pop(name)
        self._nodes[bars] -= 1
        if not self._nodes[bars]:
            del self._nodes[bars]
            self._left.pop(bars, None)

    def change(self, name: NodeName, free: dict[str, int], size: dict[str, int], sign: int) -> None:
        """Add ``size`` on a node that had ``free``, or subtract it with a ``sign`` of -1."""
        left = self._left.setdefault(self._bars[name], {})
        for resource, amount in size.items():
            before = free.get(resource, 0)
            after = before + sign * amount
            left[resource] = left.get(resource, 0) + max(after, 0) - max(before, 0)

    def __iter__(self) -> Iterator[tuple[Bars, int, Mapping[str, int]]]:
        """Sets of bars, each with the number of nodes and the free amounts behind it."""
        return ((bars, count, self._left.get(bars, {})) for bars, count in self._nodes.items())

    def bars_of(self, name: NodeName) -> Bars | None:
        """Bars under which a node is filed, or None for an unknown node."""
        return self._bars.get(name)

    def open_to(self, tolerated: Collection[tuple[Toleration, ...]]) -> list[Mapping[str, int]] | None:
        """Free amounts behind the bars that at least one of some asks tolerates.

        None if there is too much to check.

        ``tolerated``: tolerations of each ask.
        """
        if len(self._nodes) * len(tolerated) > CHECKED_AT_MOST:
            return None
        return [
            self._left.get(bars, _NOTHING)
            for bars in self._nodes
            if not bars or any(passes(bars, each) for each in tolerated)
        ]
