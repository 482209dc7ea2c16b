"""Free room on nodes, and the node on which an ask would leave the least of it."""

from bisect import bisect_left, insort
from collections.abc import Container, Iterator, Mapping

from core.ids import NodeName
from core.queues.spec import NodeSortSpec
from core.resource import Counted, Resource
from core.workload.nodes.affinity import Constraints, admits, bars_of
from core.workload.nodes.node import NodeFacts
from core.workload.nodes.ranking import NodeRanking, score_of
from core.workload.nodes.tainted_capacity import TaintedCapacity

_FIRST = "vcore"

LIGHT = 8
"""The weight up to which constraints are judged anew each time: that costs no more than to remember it."""

WEIGHED_AT_ONCE = 1_500
"""Units of work, at most, that one search spends on judging nodes it knows nothing of."""

JUDGED_AT_MOST = 400_000
"""Verdicts on nodes that are remembered; more push out those on the constraints that came first."""


class Undecided(Exception):
    """A search has spent what it may at once. It goes on where it was when it is made again."""


class FreeCapacity:
    """What is left on each node that is known, in the order of free ``vcore`` and then of names.

    Room may be negative: pods that are bound are counted whether or not they fit. Cost of a change:
    O(log nodes) and a shift; of a look: the nodes with enough ``vcore`` that something else speaks against.
    """

    def __init__(self) -> None:
        self.ranking = NodeRanking()
        """As it was when somebody asked last: see `ranked`."""
        self.barred = TaintedCapacity()
        self.work = 0
        """Units of work that searches have taken so far: a node looked at, or an expression judged."""
        self._free: dict[NodeName, dict[str, int]] = {}
        self._judged: dict[Constraints, dict[NodeName, bool]] = {}
        self._order: list[tuple[int, NodeName]] = []

    def __iter__(self) -> Iterator[tuple[NodeName, Mapping[str, int]]]:
        return iter(self._free.items())

    def add_node(self, node: NodeFacts, *held: Counted) -> None:
        """A node is there, and pods hold some of it."""
        name, free = node.name, dict(node.allocatable.items())
        for each in held:
            for resource, amount in each.items():
                free[resource] = free.get(resource, 0) - amount
        self._free[name] = free
        self._forget(name)
        self.barred.add(name, bars_of(node), free)
        self._file(name, free)

    def drop_node(self, name: NodeName) -> None:
        free = self._free.pop(name, None)
        if free is not None:
            self._forget(name)
            self._unfile(name, free)
            self.barred.drop(name, free)
            self.ranking.drop(name)

    def take(self, name: NodeName, size: Resource) -> None:
        """A pod holds room on a node; of a node that is not known nothing is noted."""
        self._change(name, size, -1)

    def give_back(self, name: NodeName, size: Resource) -> None:
        self._change(name, size, 1)

    def free_on(self, name: NodeName) -> Mapping[str, int]:
        """Only to be read; empty for an unknown node."""
        return self._free.get(name, {})

    def tightest(
        self,
        size: Resource,
        constraints: Constraints,
        nodes: Mapping[NodeName, NodeFacts],
        *,
        besides: Container[NodeName] = (),
    ) -> NodeName | None:
        """Of the nodes that take such an ask the one with the least free ``vcore``, then by name; or None.

        ``besides``: nodes that are left out. Raises `Undecided`.
        """
        start, judged = bisect_left(self._order, (size.get(_FIRST), "")), self._verdicts(constraints)
        wanted = [(name, amount) for name, amount in size.items() if amount and name != _FIRST]
        until = self.work + len(self._order) + WEIGHED_AT_ONCE
        for at in range(start, len(self._order)):
            name = self._order[at][1]
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
        """Whether a node would take such a pod, had it the room; what is heavy to judge is remembered."""
        return self._admits(node, constraints, self._verdicts(constraints))

    def judged(self) -> Iterator[tuple[Constraints, Mapping[NodeName, bool]]]:
        """What is remembered of which nodes take whom; only to be read."""
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
        """A node is another one now."""
        for judged in self._judged.values():
            judged.pop(name, None)

    def has(self, name: NodeName, size: Resource) -> bool:
        """Whether a node has room for such an ask, whatever else speaks against it."""
        free = self.free_on(name)
        return all(free.get(resource, 0) >= amount for resource, amount in size.items() if amount)

    def is_filed(self, name: NodeName) -> bool:
        """Whether a node stands where its free ``vcore`` says."""
        entry = (self.free_on(name).get(_FIRST, 0), name)
        at = bisect_left(self._order, entry)
        return at < len(self._order) and self._order[at] == entry

    @property
    def strays(self) -> int:
        """How many places of the order belong to nobody; 0 unless it is broken."""
        return abs(len(self._order) - len(self._free))

    def ranked(self, sort: NodeSortSpec, nodes: Mapping[NodeName, NodeFacts]) -> NodeRanking:
        """The nodes in the order of a policy; only to be read. Cost: see `NodeRanking`."""
        free = self._free
        self.ranking.settle(sort, free, lambda name: score_of(sort, nodes[name].allocatable, free[name]))
        return self.ranking

    def _change(self, name: NodeName, size: Resource, sign: int) -> None:
        free = self._free.get(name)
        if free is None:
            return
        self._unfile(name, free)
        self.barred.change(name, free, size.items(), sign)
        for resource, amount in size.items():
            free[resource] = free.get(resource, 0) + sign * amount
        self._file(name, free)

    def _file(self, name: NodeName, free: Mapping[str, int]) -> None:
        insort(self._order, (free.get(_FIRST, 0), name))
        self.ranking.note_change(name)

    def _unfile(self, name: NodeName, free: Mapping[str, int]) -> None:
        at = bisect_left(self._order, (free.get(_FIRST, 0), name))
        del self._order[at]
