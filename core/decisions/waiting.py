"""Sentences for Events and stories that say why a pod waits, and for what (E5).

A text for kube-scheduler names no count and no other pod, since every changed text would wake the pod.
"""

from collections import Counter
from collections.abc import Iterable

from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import RequeueReason
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.reasons import Code, Refusal
from core.sentences import amounts_phrase, other_pods
from core.workload.nodes.affinity import why_not

NODES_READ = 200
"""Nodes of a cluster, at most, that are read for one sentence, since a verb waits for it."""

_REQUEUED = {
    RequeueReason.BACK_OFF: "its last turn led to no node, so it backs off for a moment",
    RequeueReason.APPLICATION_BACK_OFF: "its application is in back-off: too many of its pods found no node",
    RequeueReason.PASSED_OVER: "its last turn led to no node, so other pods go first this time",
}
_UNFIT = {"affinity": "not admitted by its affinity", "taint": "tainted", "cordon": "cordoned"}


def why_waits(view: LedgerView, record: PodRecord, refusal: Refusal) -> str:
    """Return the sentence for a current refusal."""
    queue, node = view.queue_of(record), record.node_reservation.node
    if node and refusal.code in (Code.WAITING_FOR_TURN, Code.UNSCHEDULABLE):
        has = view.has_capacity(node, record.facts.size)
        return f"node {node} is reserved for it {'and has the' if has else 'but still lacks'} capacity"
    match refusal.code:
        case Code.NODE_RESERVED:
            return _reserved(view, record)
        case Code.UNSCHEDULABLE:
            return _nowhere(view, record)
        case Code.WAITING_FOR_TURN if queue is not None:
            return _turn(view, record, queue)
        case Code.QUOTA_EXCEEDED | Code.USER_QUOTA_EXCEEDED | Code.GROUP_QUOTA_EXCEEDED:
            return f"{refusal.subject} has too little capacity left for it: {refusal.limit}"
        case _:
            return refusal.text.partition(": ")[2]


def requeue_reason(view: LedgerView, record: PodRecord) -> RequeueReason | None:
    """Return the reason why the last cycle did not admit an ask of this kind; None if it did."""
    application = record.membership.application
    if application is None or view.has_turn(record.uid):
        return None
    found, queue = view.cycle.requeued, view.queue_of(record)
    alone = found.get((application, (record.facts.size, record.facts.constraints)))
    return alone or (found.get(queue.path) if queue is not None else None)


def _reserved(view: LedgerView, record: PodRecord) -> str:
    others = (view.pod(uid) for uid in set(view.reserved_nodes.values()) if uid != record.uid)
    pods = [_named(view, each) for each in others if each is not None]
    if not pods:
        return "its nodes are reserved"
    return (
        f"each node that could take it is reserved for {other_pods(pods, named=view.settings.names_others)}"
    )


def _named(view: LedgerView, record: PodRecord) -> tuple[str, str, str]:
    queue = view.queue_of(record)
    return record.facts.namespace, record.facts.name, queue.path if queue is not None else ""


def _nowhere(view: LedgerView, record: PodRecord) -> str:
    """Return a sentence such as ``fits on no node that its affinity admits``, with counts of other nodes.

    Only a small cluster's nodes are read, and none after the first one that would take it.
    """
    facts, counts = record.facts, Counter[str]()
    size = amounts_phrase(dict(facts.size.items()))
    needs = f"it needs {size}, which no node has free for it"
    if len(view.nodes) > NODES_READ:
        return needs
    wanted = [(each, amount) for each, amount in facts.size.items() if amount > 0]
    for name, node in view.nodes.items():
        reason = why_not(node, facts.constraints)
        free = view.free_on(name)
        if not reason and all(amount <= free.get(each, 0) for each, amount in wanted):
            return needs
        counts[reason] += 1
    unfit = _counted((phrase, counts[reason]) for reason, phrase in _UNFIT.items())
    if not unfit:
        return needs
    if not counts[""]:
        return f"no node admits it: {unfit}"
    which = "its affinity admits" if counts["affinity"] else "admits it"
    return f"it needs {size} and fits on no node that {which} ({unfit})"


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {phrase}" for phrase, count in counts if count)


def _turn(view: LedgerView, record: PodRecord, queue: Queue) -> str:
    requeued = requeue_reason(view, record)
    if requeued is RequeueReason.NO_NODE:
        return _nowhere(view, record)
    if requeued is RequeueReason.RESERVED_FOR_ANOTHER:
        return _reserved(view, record)
    if requeued in _REQUEUED:
        return _REQUEUED[requeued]
    rank = view.lines_beside(record, queue)[1]
    before = sum(
        waiting.before(rank) for _, lines in view.waiting_below(queue.path) for waiting in lines.values()
    )
    pods = "1 pod" if before == 1 else f"{before} pods"
    return (
        f"it waits for {queue.path}: {pods} before it"
        if before
        else f"it waits for {queue.path}: pods of other queues go first"
    )
