"""Room on all nodes together, by what keeps pods off them: how much is left for who tolerates so much."""

from collections.abc import Collection, ItemsView, Iterator, Mapping

from core.ids import NodeName
from core.workload.nodes.affinity import Toleration, passes
from core.workload.nodes.node import Taint

Bars = frozenset[Taint]
Amounts = ItemsView[str, int]

LOOKED_AT = 64
"""Pairs of bars and tolerations, at most, that one answer looks at."""

_NOTHING: Mapping[str, int] = {}


class TaintedCapacity:
    """What is left behind each set of bars. A node on which more is held than it has counts as full."""

    __slots__ = ("_bars", "_left", "_nodes")

    def __init__(self) -> None:
        self._bars: dict[NodeName, Bars] = {}
        self._left: dict[Bars, dict[str, int]] = {}
        self._nodes: dict[Bars, int] = {}

    def add(self, name: NodeName, bars: Bars, free: Mapping[str, int]) -> None:
        """A node is there, with so much left."""
        self._bars[name] = bars
        self._nodes[bars] = self._nodes.get(bars, 0) + 1
        self.change(name, _NOTHING, free.items(), 1)

    def drop(self, name: NodeName, free: Mapping[str, int]) -> None:
        """A node is gone, on which so much was left."""
        self.change(name, free, free.items(), -1)
        bars = self._bars.pop(name)
        self._nodes[bars] -= 1
        if not self._nodes[bars]:
            del self._nodes[bars]
            self._left.pop(bars, None)

    def change(self, name: NodeName, free: Mapping[str, int], size: Amounts, sign: int) -> None:
        """On a node on which ``free`` was left there is ``size`` more, or less with a ``sign`` of -1."""
        left = self._left.setdefault(self._bars[name], {})
        for resource, amount in size:
            before = free.get(resource, 0)
            after = before + sign * amount
            left[resource] = left.get(resource, 0) + max(after, 0) - max(before, 0)

    def __iter__(self) -> Iterator[tuple[Bars, int, Mapping[str, int]]]:
        """What stands behind which bars: the number of nodes, and what is left there."""
        return ((bars, count, self._left.get(bars, {})) for bars, count in self._nodes.items())

    def bars_of(self, name: NodeName) -> Bars | None:
        """What a node is filed behind; None for one that is not known."""
        return self._bars.get(name)

    def open_to(self, tolerated: Collection[tuple[Toleration, ...]]) -> list[Mapping[str, int]] | None:
        """What is left behind the bars that one of some asks could pass; None: too much to look at.

        ``tolerated``: what each of them tolerates.
        """
        if len(self._nodes) * len(tolerated) > LOOKED_AT:
            return None
        return [
            self._left.get(bars, _NOTHING)
            for bars in self._nodes
            if not bars or any(passes(bars, each) for each in tolerated)
        ]
