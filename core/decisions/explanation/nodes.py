"""Nodes as one ask sees them: those that take it, and what the others lack. In steps, without changes."""

from bisect import insort
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

from core.decisions.explanation.values import NodeCounts
from core.ids import NO_NODE, NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.workload.nodes.affinity import why_not

UNITS_AT_MOST = 1_000
"""Units of work, of about ten microseconds, that the nodes of one ask get. The others stay unjudged."""

NEAREST = 8
"""Nodes that lack capacity and are remembered."""

_NODES_PER_UNIT = 8
_UNITS_PER_STEP = 12

FITS, CAPACITY, RESERVED = "", "capacity", "reserved"


@dataclass(slots=True)
class NodeSurvey:
    """Nodes as one ask finds them."""

    counts: NodeCounts = field(default_factory=NodeCounts)
    #: Asks for which nodes are reserved that would take this one.
    owners: set[PodUid] = field(default_factory=set)
    #: Amounts that the nearest node has free.
    free: dict[str, int] = field(default_factory=dict)
    #: Admitting nodes that lack capacity, those that lack least first.
    lacking: list[NodeName] = field(default_factory=list)


def survey_nodes(view: LedgerView, record: PodRecord) -> Generator[int, None, NodeSurvey]:
    """Judge the nodes for an ask, in steps of some units of work. Cost: O(nodes)."""
    found, counts, left = NodeSurvey(), Counter[str](), UNITS_AT_MOST
    judging = _Judging(view, record, found)
    own = record.daemon.required_node
    # The names alone: pairs of all nodes would take half a millisecond in one step.
    nodes = list(view.nodes) if not own else [own] if own in view.nodes else []
    per_step = max(1, int(_UNITS_PER_STEP / (1 / _NODES_PER_UNIT + record.facts.constraints.weight / 16)))
    yield 1
    judged = 0
    while judged < len(nodes) and left > 0:
        counts.update(judging.judged(nodes[judged : judged + per_step]))
        judged = min(judged + per_step, len(nodes))
        left -= _UNITS_PER_STEP
        yield _UNITS_PER_STEP
    found.lacking = [name for _, name in judging.lacking]
    at = found.lacking[0] if found.lacking else NO_NODE
    unfit = tuple(sorted((each, count) for each, count in counts.items() if each))
    found.counts = NodeCounts(judged, len(nodes) - judged, counts[FITS], unfit, at)
    free = view.free_on(at)
    found.free = {name: free.get(name, 0) for name, amount in record.facts.size.items() if amount > 0}
    return found


class _Judging:
    """Judgement of nodes for one ask. What does not depend on the node is read once."""

    def __init__(self, view: LedgerView, record: PodRecord, found: NodeSurvey) -> None:
        self._uid, self._constraints = record.uid, record.facts.constraints
        self._size = [(name, amount) for name, amount in record.facts.size.items() if amount > 0]
        self._view, self._reserved, self._nodes = view, view.reserved_nodes, view.nodes
        self._is_anywhere = not (self._constraints.selector or self._constraints.terms is not None)
        self._barred = not record.daemon.required_node
        self._found = found
        #: Admitting nodes that lack least, with how much in relation to what is needed.
        self.lacking: list[tuple[float, NodeName]] = []

    def judged(self, names: Iterable[NodeName]) -> list[str]:
        """Obstacle on each node; empty for none. A node that was deleted meanwhile has none."""
        found, size, view, nodes = list[str](), self._size, self._view, self._nodes
        for name in names:
            node = nodes.get(name)
            if node is None:
                continue
            # Most nodes have no taint and most asks no affinity: then nothing is to be judged.
            unfit = ""
            if node.taints or node.unschedulable or not self._is_anywhere:
                unfit = why_not(node, self._constraints)
            if not unfit:
                free, lack = view.free_on(name), 0.0
                for resource, amount in size:
                    missing = amount - free.get(resource, 0)
                    if missing > 0:
                        lack += missing / amount
                unfit = self._lacking(name, lack) if lack else self._of_reservation(name)
            found.append(unfit)
        return found

    def _lacking(self, name: NodeName, lack: float) -> str:
        """Remember one of the admitting nodes that lack least."""
        lacking = self.lacking
        if len(lacking) < NEAREST or (lack, name) < lacking[-1]:
            insort(lacking, (lack, name))
            del lacking[NEAREST:]
        return CAPACITY

    def _of_reservation(self, name: NodeName) -> str:
        owner = self._reserved.get(name, self._uid)
        if owner == self._uid or not self._barred:
            return FITS
        self._found.owners.add(owner)
        return RESERVED
