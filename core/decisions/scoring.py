"""Which of the nodes offered is best: the rule behind prioritize (NODE-1 to NODE-3).

Here: how full a node is, the order that follows, and the scores that make kube-scheduler keep to it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from core.ids import NO_NODE, NodeName, PodUid
from core.ledger.record import PodRecord
from core.ledger.snapshot import Snapshot
from core.resource import Counted, Resource

TOP_SCORE = 10
"""The end of an extender's range (`MaxExtenderPriority`); its other end is 0."""

DEFAULT_WEIGHTS: Mapping[str, float] = {"vcore": 1.0, "memory": 1.0}

BINPACKING = "binpacking"


def decide_scores(snapshot: Snapshot, uid: PodUid, names: Iterable[NodeName]) -> dict[NodeName, int]:
    """A score for each node offered to a managed pod, or none: the choice is kube-scheduler's own.

    What is sent is the rank, not the usage itself: see `scores_by_rank`. A node that the ledger does not know
    has the lowest score. Cost: O(nodes offered), and sorting them.
    """
    record = snapshot.pod(uid)
    if record is None or not record.managed or not (snapshot.synced and scores_nodes(snapshot)):
        return {}
    offered = list(dict.fromkeys(names))
    scores = dict.fromkeys(offered, 0)
    scores.update(scores_by_rank(_in_order(snapshot, record, offered)))
    return scores


def scores_nodes(snapshot: Snapshot) -> bool:
    """Whether Paddock chooses among nodes: the document names a policy, or a setting says so."""
    return snapshot.node_sort.named or snapshot.settings.scores_nodes


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


def scores_by_rank(names: Sequence[NodeName]) -> dict[NodeName, int]:
    """Scores of nodes in their order, best first.

    The best is the only one with `TOP_SCORE`, so that it wins however many there are. Up to eleven nodes
    have scores of their own; of more, neighbours share one.
    """
    spread = max(len(names) - 1, TOP_SCORE)
    # Rounded away from the top, which leaves it to rank 0.
    return {name: (spread - rank) * TOP_SCORE // spread for rank, name in enumerate(names)}


def _in_order(snapshot: Snapshot, record: PodRecord, names: Iterable[NodeName]) -> list[NodeName]:
    """The nodes that are known, best first: by score ascending, then by name (NODE-1).

    A policy of another name than binpacking is fair; a document with such a one is refused (CFG-37).
    """
    sort, nodes, own = snapshot.node_sort, snapshot.nodes, _own_node(record)
    packs, weights = sort.policy == BINPACKING, sort.weights
    scored = []
    for name in names:
        node = nodes.get(name)
        if node is not None:
            available = snapshot.free_on(name)
            if name == own:
                available = _with(available, record.facts.size)
            usage = usage_of(node.allocatable, available, weights)
            scored.append((1.0 - usage if packs else usage, name))
    scored.sort()
    return [name for _, name in scored]


def _own_node(record: PodRecord) -> NodeName:
    """Where the pod itself is counted although it is not there: it must not speak against that node."""
    if record.binding:
        return record.binding
    return record.noted if record.reservation is not None else NO_NODE


def _with(available: Mapping[str, int], size: Resource) -> Mapping[str, int]:
    return {**available, **{name: available.get(name, 0) + amount for name, amount in size.items()}}
