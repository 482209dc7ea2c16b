"""Free room on nodes, and the node on which an ask would leave the least of it."""

from bisect import bisect_left, insort
from collections.abc import Container, Iterator, Mapping

from core.ids import NodeName
from core.queues.spec import NodeSortSpec
from core.resource import Counted, Resource
from core.workload.affinity import Constraints, admits, bars_of
from core.workload.barred_room import BarredRoom
from core.workload.node import NodeFacts
from core.workload.node_ranking import NodeRanking, score_of

_FIRST = "vcore"


class NodeRoom:
    """What is left on each node that is known, in the order of free ``vcore`` and then of names.

    Room may be negative: pods that are bound are counted whether or not they fit. Cost of a change:
    O(log nodes) and a shift; of a look: the nodes with enough ``vcore`` that something else speaks against.
    """

    def __init__(self) -> None:
        self.ranking = NodeRanking()
        """As it was when somebody asked last: see `ranked`."""
        self.barred = BarredRoom()
        self._free: dict[NodeName, dict[str, int]] = {}
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
        self.barred.add(name, bars_of(node), free)
        self._file(name, free)

    def drop_node(self, name: NodeName) -> None:
        free = self._free.pop(name, None)
        if free is not None:
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

        ``besides``: nodes that are left out.
        """
        start = bisect_left(self._order, (size.get(_FIRST), ""))
        wanted = [(name, amount) for name, amount in size.items() if amount and name != _FIRST]
        for at in range(start, len(self._order)):
            name = self._order[at][1]
            free = self._free[name]
            for resource, amount in wanted:
                if free.get(resource, 0) < amount:
                    break
            else:
                if name not in besides and admits(nodes[name], constraints):
                    return name
        return None

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
