"""Nodes as one ask sees them: those that take it, and what the others lack. In steps, without changes."""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from heapq import nsmallest

from core.decisions.explanation.values import NodeCounts
from core.ids import NO_NODE, NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.workload.nodes.affinity import why_not
from core.workload.nodes.node import NodeFacts

UNITS_AT_MOST = 1_000
"""Units of work, of about ten microseconds, that the nodes of one ask get. The others stay unjudged."""

NEAREST = 8
"""Nodes that lack capacity and are remembered."""

_NODES_PER_UNIT = 4
_WEIGHT_PER_UNIT = 16

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
    short: list[tuple[float, NodeName]] = []
    own = record.daemon.required_node
    names = list(view.nodes) if not own else [own] if own in view.nodes else []
    per_node = 1 / _NODES_PER_UNIT + record.facts.constraints.weight / _WEIGHT_PER_UNIT
    spent, judged = 0.0, 0
    for name in names:
        if spent >= 1.0:
            yield int(spent)
            left -= int(spent)
            spent = 0.0
        if left <= 0:
            break
        node = view.nodes.get(name)
        if node is None:
            continue
        reason, lack = _judge(view, record, node, found)
        counts[reason] += 1
        judged += 1
        spent += per_node
        if reason == CAPACITY:
            short.append((lack, name))
    found.lacking = [name for _, name in nsmallest(NEAREST, short)]
    at = found.lacking[0] if found.lacking else NO_NODE
    unfit = tuple(sorted((each, count) for each, count in counts.items() if each))
    found.counts = NodeCounts(judged, len(names) - judged, counts[FITS], unfit, at)
    free = view.free_on(at)
    found.free = {name: free.get(name, 0) for name, amount in record.facts.size.items() if amount > 0}
    return found


def _judge(view: LedgerView, record: PodRecord, node: NodeFacts, found: NodeSurvey) -> tuple[str, float]:
    """Obstacle on a node, and how much it lacks in relation to what is needed."""
    unfit = why_not(node, record.facts.constraints)
    if unfit:
        return unfit, 0.0
    free, lack = view.free_on(node.name), 0.0
    for name, amount in record.facts.size.items():
        missing = amount - free.get(name, 0)
        if amount > 0 and missing > 0:
            lack += missing / amount
    if lack:
        return CAPACITY, lack
    owner = view.reserved_nodes.get(node.name, record.uid)
    if owner != record.uid and not record.daemon.required_node:
        found.owners.add(owner)
        return RESERVED, 0.0
    return FITS, 0.0
