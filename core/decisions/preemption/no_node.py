"""Cause that no node can provide the capacity for an ask, with queue and resource (PRE-13)."""

from collections import Counter

from core.decisions.preemption.case import Case
from core.decisions.preemption.receipts import Finding, NodeNotes
from core.decisions.preemption.search import Open, why_unfit
from core.decisions.preemption.selection import lacking
from core.ids import NodeName, QueuePath
from core.ledger.view import LedgerView
from core.queues.guarantees import below_common
from core.queues.queue import Queue
from core.sentences import amount_phrase, in_order, signed_amount
from core.workload.nodes.node import Evictable

UNFIT = {
    "too small": "too small",
    "affinity": "not admitted by its affinity",
    "taint": "tainted",
    "cordon": "cordoned",
}
"""Reasons that rule out a node whatever runs on it, each with its text for users."""
RESERVED, NO_POD = "reserved for another pod", "no pod may be evicted"
TOO_FEW, SPARED = "too few pods may be evicted", "the laws protect too many pods"
"""Reasons why a node that fits the ask provides no capacity."""


def why_no_node(view: LedgerView, case: Case, open_: Open, notes: NodeNotes) -> Finding:
    """Find the cause on the nodes that came nearest. Cost: O(`SHOWN` nodes, and the queues on one node)."""
    lost = Counter(dict(notes.lost))
    for name in (name for reason in (SPARED, TOO_FEW) for name, why in notes.examples if why == reason):
        node = view.nodes.get(name)
        unfit = why_unfit(case, node, given=False) if node is not None else ""
        if not unfit:
            return _on_node(view, case, open_, name)
        lost[unfit] += 1
    if NO_POD in lost:
        return Finding("PRE-13", "no pod may be evicted from the nodes that take it")
    if RESERVED in lost:
        return Finding("PRE-12", "the nodes that take it are reserved for other pods")
    counts = [f"{lost[reason]} {phrase}" for reason, phrase in UNFIT.items() if reason in lost]
    if counts:
        return Finding("PRE-12", f"it fits on no node: {', '.join(counts)}")
    return Finding("PRE-13", "no node can be given the capacity")


def _on_node(view: LedgerView, case: Case, open_: Open, node: NodeName) -> Finding:
    """Find the limit of the evictions on one node: a guarantee, a closed queue, or too small a total."""
    use = view.use_of(node)
    short = lacking(case.free_on(view, node), case.wanted)
    if use is None or not short:
        return Finding("PRE-13", "no node can be given the capacity")
    for name in in_order(short):
        guaranteed = _guaranteed(case, open_, use.evictable, name, short[name])
        if guaranteed is not None:
            return _reached(case, guaranteed, name)
    name = in_order(short)[0]
    closed = dict(open_.closed)
    for rung in use.evictable.groups:
        if rung.queue in closed:
            return Finding(closed[rung.queue].law, f"pods of {rung.queue} stay: {closed[rung.queue].text}")
    text = (
        f"{node} lacks {amount_phrase(name, short[name])}, more than the pods free that may be evicted there"
    )
    return Finding("PRE-13", text)


def _guaranteed(case: Case, open_: Open, evictable: Evictable, name: str, missing: int) -> Queue | None:
    """Find the queue whose guarantee protects too much of a resource; None if no guarantee is decisive."""
    allowed, withheld = 0, dict[QueuePath, int]()
    for rung, group in evictable.groups.items():
        spare = open_.spare(rung)
        if spare is not None:
            amount = group.total.get(name, 0)
            may_go = min(amount, max(0, spare[name])) if name in spare else amount
            allowed += may_go
            withheld[rung.queue] = withheld.get(rung.queue, 0) + amount - may_go
    if allowed >= missing or not any(withheld.values()):
        return None
    leaf = case.reach[max(sorted(withheld), key=lambda path: withheld[path])].leaf
    due = [
        each for each in below_common(leaf, case.leaf) if each.guaranteed and name in each.guaranteed.names()
    ]
    return min(due, key=lambda queue: _slack(case, queue, name), default=None)


def _slack(case: Case, queue: Queue, name: str) -> int:
    due = queue.guaranteed.get(name) if queue.guaranteed else 0
    return case.usage.used(queue).get(name, 0) - due


def _reached(case: Case, queue: Queue, name: str) -> Finding:
    due = queue.guaranteed.get(name) if queue.guaranteed else 0
    used = signed_amount(name, case.usage.used(queue).get(name, 0))
    text = f"{queue.path} must keep its guarantee of {amount_phrase(name, due)} and uses {used}"
    return Finding("LAW-2", text, queue.path, name)
