"""Free capacity of nodes, and the node on which an ask would leave the least of it."""

from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping

from core.ids import NodeName
from core.queues.spec import NodeSortSpec
from core.resource import Counted, Resource
from core.workload.nodes.affinity import Constraints, admits, bars_of
from core.workload.nodes.free_order import FIRST, FreeOrder
from core.workload.nodes.node import NodeFacts
from core.workload.nodes.ranking import NodeRanking, score_of
from core.workload.nodes.tainted_capacity import TaintedCapacity

LIGHT = 8
"""Weight up to which constraints are judged each time, which costs no more than remembering the result."""

WEIGHED_AT_ONCE = 1_500
"""Units of work, at most, that one search spends on nodes without a remembered result."""

JUDGED_AT_MOST = 400_000
"""Remembered results. More of them push out those of the oldest constraints."""


class Undecided(Exception):
    """Sign that a search has used up its work. A repeated search continues from there."""


class FreeCapacity:
    """Free amounts of each known node, and their order by free ``vcore`` and then by names.

    Amounts may be negative, because bound pods count whether or not they fit. Cost of a change: O(resources).
    Cost of a search: that of bringing the order up to date (see `FreeOrder`), and the nodes with enough
    ``vcore`` that are unsuitable otherwise.
    """

    def __init__(self) -> None:
        self.ranking = NodeRanking()
        """Ranking as it was when it was read last; see `ranked`."""
        self.tainted = TaintedCapacity()
        self.work = 0
        """Units of work that searches have taken so far: nodes checked and expressions judged."""
        self._free: dict[NodeName, dict[str, int]] = {}
        self._judged: dict[Constraints, dict[NodeName, bool]] = {}
        self._order = FreeOrder(self._free)

    def __iter__(self) -> Iterator[tuple[NodeName, Mapping[str, int]]]:
        return iter(self._free.items())

    def add_node(self, node: NodeFacts, *held: Counted) -> None:
        """Add a node. ``held``: amounts that pods hold on it."""
        name, free = node.name, dict(node.allocatable.items())
        for each in held:
            for resource, amount in each.items():
                free[resource] = free.get(resource, 0) - amount
        self._free[name] = free
        self._forget(name)
        self.tainted.add(name, bars_of(node), free)
        self._order.add(name)
        self.ranking.note_change(name)

    def drop_node(self, name: NodeName) -> None:
        """Forget a node, if it is known."""
        free = self._free.pop(name, None)
        if free is not None:
            self._forget(name)
            self._order.drop(name, free.get(FIRST, 0))
            self.tainted.drop(name, free)
            self.ranking.drop(name)

    def take(self, name: NodeName, size: Resource) -> None:
        """Count a pod on a node. An unknown node is ignored."""
        self._change(name, size, -1)

    def give_back(self, name: NodeName, size: Resource) -> None:
        """Count a pod out of a node."""
        self._change(name, size, 1)

    def free_on(self, name: NodeName) -> dict[str, int]:
        """Free amounts of a node; empty for an unknown node. Read only."""
        free = self._free.get(name)
        return free if free is not None else {}

    def tightest(
        self,
        size: Resource,
        constraints: Constraints,
        nodes: Mapping[NodeName, NodeFacts],
        *,
        besides: Container[NodeName] = (),
    ) -> NodeName | None:
        """Node that takes such an ask and has the least free ``vcore``, then by name. None for none.

        ``besides``: nodes that are left out. Raises `Undecided`.
        """
        places, judged = self._order.places(), self._verdicts(constraints)
        wanted = [(name, amount) for name, amount in size.items() if amount and name != FIRST]
        until = self.work + len(places) + WEIGHED_AT_ONCE
        for at in range(bisect_left(places, (size.get(FIRST), "")), len(places)):
            name = places[at][1]
            free = self._free[name]
            self.work += 1
            for resource, amount in wanted:
                if free.get(resource, 0) < amount:
                    break
            else:
                if name not in besides and self._admits(nodes[name], constraints, judged):
                    return name
                if judged is not None and self.work > until:
                    raise Undecided
        return None

    def admits(self, node: NodeFacts, constraints: Constraints) -> bool:
        """True if a node would take such a pod, given enough capacity. Expensive results are remembered."""
        return self._admits(node, constraints, self._verdicts(constraints))

    def judged(self) -> Iterator[tuple[Constraints, Mapping[NodeName, bool]]]:
        """Remembered results, by constraints and node. Read only."""
        return iter(self._judged.items())

    def _verdicts(self, constraints: Constraints) -> dict[NodeName, bool] | None:
        if constraints.weight <= LIGHT:
            return None
        judged = self._judged.get(constraints)
        if judged is None:
            if (len(self._judged) + 1) * len(self._free) > JUDGED_AT_MOST and self._judged:
                del self._judged[next(iter(self._judged))]
            judged = self._judged[constraints] = {}
        return judged

    def _admits(self, node: NodeFacts, constraints: Constraints, judged: dict[NodeName, bool] | None) -> bool:
        if judged is None:
            self.work += 1 + constraints.weight
            return admits(node, constraints)
        verdict = judged.get(node.name)
        if verdict is None:
            self.work += constraints.weight
            verdict = judged[node.name] = admits(node, constraints)
        return verdict

    def _forget(self, name: NodeName) -> None:
        """Forget the results for a node, which has changed."""
        for judged in self._judged.values():
            judged.pop(name, None)

    def has(self, name: NodeName, size: Resource) -> bool:
        """True if a node has the capacity for such an ask, whatever its constraints."""
        free = self.free_on(name)
        return all(free.get(resource, 0) >= amount for resource, amount in size.items() if amount)

    def is_filed(self, name: NodeName) -> bool:
        """True if a node is at the place of its free ``vcore``."""
        return self._order.has(name)

    @property
    def strays(self) -> int:
        """Number of surplus or missing places in the order; 0 unless it is broken."""
        return abs(len(self._order) - len(self._free))

    def ranked(self, sort: NodeSortSpec, nodes: Mapping[NodeName, NodeFacts]) -> NodeRanking:
        """Nodes in the order of a policy. Read only. Cost: see `NodeRanking`."""
        free = self._free
        self.ranking.settle(sort, free, lambda name: score_of(sort, nodes[name].allocatable, free[name]))
        return self.ranking

    def reading(self) -> "FreeCapacity":
        """Reader of the present free amounts, with a count of work of its own. Changes nothing. Cost: O(1).

        Neither `ranking` nor `tainted` is of use in it.
        """
        reader = FreeCapacity()
        reader._free, reader._order, reader._judged = self._free, self._order, self._judged
        return reader

    def fork(self) -> "FreeCapacity":
        """Copy that changes by itself, for a trial. Results of judgements are shared. Cost: O(nodes), small.

        Neither `ranking` nor `tainted` is of use in it.
        """
        return _Fork(self)

    def _change(self, name: NodeName, size: Resource, sign: int) -> None:
        free = self._free.get(name)
        if free is None:
            return
        self.tainted.change(name, free, size.by_name(), sign)
        self._count(name, free, size, sign)
        self.ranking.note_change(name)

    def _count(self, name: NodeName, free: dict[str, int], size: Resource, sign: int) -> None:
        # A new mapping, since forks share the old one.
        changed = self._free[name] = free.copy()
        for resource, amount in size.by_name().items():
            changed[resource] = changed.get(resource, 0) + sign * amount
        self._order.note_change(name, free.get(FIRST, 0))


class _Fork(FreeCapacity):
    """Free amounts of a trial, as they were when it began."""

    def __init__(self, base: FreeCapacity) -> None:
        super().__init__()
        self._free = dict(base._free)
        self._order = base._order.copy(self._free)
        self._judged = base._judged

    def _change(self, name: NodeName, size: Resource, sign: int) -> None:
        free = self._free.get(name)
        if free is not None:
            self._count(name, free, size, sign)
