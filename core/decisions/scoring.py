"""Rule behind prioritize: the order of the offered nodes (NODE-1 to NODE-3).

Scores are chosen so that kube-scheduler follows that order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from core.decisions.decision import Band, Ignored, Scored, Scoring, Unscored
from core.ids import NO_NODE, NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.resource import Resource
from core.workload.nodes.ranking import score_of

TOP_SCORE = 10
"""Highest score of an extender (`MaxExtenderPriority`). The lowest is 0."""


def decide_scores(view: LedgerView, uid: PodUid, offered: Callable[[], Set[NodeName]]) -> Scoring:
    """Score each node offered to a managed pod, or leave the choice to kube-scheduler.

    The rank is sent, not the usage itself: see `bands_by_rank`. A node that the ledger does not know has the
    lowest score. ``offered``: the nodes to score, called only if Paddock scores any. Cost: O(offered nodes),
    and ranking the nodes that changed since the last call.
    """
    record = view.pod(uid)
    if record is None or not record.membership.managed or not view.synced:
        return Ignored()
    if not scores_nodes(view):
        return Unscored()
    names = offered()
    ranked = _in_order(view, record, names)
    bands = tuple(bands_by_rank(ranked))
    if len(ranked) < len(names):
        # The order of a set may differ between processes.
        bands += ((0, tuple(sorted(name for name in names if name not in view.nodes))),)
    return Scored(view.node_sort.policy, bands)


def scores_nodes(view: LedgerView) -> bool:
    """True if Paddock chooses among nodes, by the document's policy or by a setting."""
    return view.node_sort.named or view.settings.scores_nodes


def bands_by_rank(names: Sequence[NodeName]) -> Iterator[Band]:
    """Scores and their nodes, for nodes in order, best first.

    Only the best node has `TOP_SCORE`, so it wins with any number of nodes. Up to eleven nodes have different
    scores. If there are more, neighbours share a score.
    """
    spread = max(len(names) - 1, TOP_SCORE)
    start = 0
    for score in range(TOP_SCORE, -1, -1):
        # Rank r has (spread - r) * TOP_SCORE // spread: rounded away from the top, which only rank 0 gets.
        end = spread + 1 + -score * spread // TOP_SCORE
        if start < len(names):
            yield score, tuple(names[start:end])
        start = end


def _in_order(view: LedgerView, record: PodRecord, offered: Set[NodeName]) -> Sequence[NodeName]:
    """Known nodes, best first."""
    return view.node_ranking().among(offered, instead=_own_rank(view, record, offered))


def _own_rank(view: LedgerView, record: PodRecord, offered: Set[NodeName]) -> tuple[float, NodeName] | None:
    """Return the node on which the pod is counted but does not run, and its rank without the pod."""
    own = _own_node(record)
    node = view.nodes.get(own) if own in offered else None
    if node is None:
        return None
    available = _with(view.free_on(own), record.facts.size)
    return score_of(view.node_sort, node.allocatable, available), own


def _own_node(record: PodRecord) -> NodeName:
    if record.placement.binding:
        return record.placement.binding
    return (
        record.admission.noted if record.admission.reservation is not None or record.is_unguarded else NO_NODE
    )


def _with(available: Mapping[str, int], size: Resource) -> Mapping[str, int]:
    return {**available, **{name: available.get(name, 0) + amount for name, amount in size.items()}}
