"""Victims for a pod that may run on one node only, like a DaemonSet's (RNP-1 to RNP-5).

Neither fences nor switches count here, and pods of the same application may be evicted. Guarantees count if
``paddock.preemption.daemonSets`` is ``guarantees`` (F-10).
"""

from collections import Counter
from collections.abc import Iterator

from core.decisions.preemption.case import victim_of, with_capacity
from core.decisions.preemption.laws import keeps_guarantee
from core.decisions.preemption.receipts import (
    Finding,
    Kind,
    NodeNotes,
    NoPlan,
    Plan,
    Receipt,
    Stop,
    Victim,
    passed,
)
from core.decisions.preemption.selection import lacking
from core.ids import NodeName, PodUid
from core.ledger.gangs.index import is_promised
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.guarantees import below_common
from core.queues.headroom import shortfall
from core.queues.queue import Queue
from core.queues.whatif import WhatIf
from core.resource import Resource, shares_type

REGULAR, OPTED_OUT, ORIGINATOR = 1, 2, 3
_KINDS = {REGULAR: "regular", OPTED_OUT: "opted out", ORIGINATOR: "an originator"}


def plan_required_node(view: LedgerView, record: PodRecord, leaf: Queue) -> Plan | NoPlan:
    """Plan the fewest possible victims on the required node of an ask (RNP-4), or return a reason against it.

    Victims are chosen only once for an ask, which then waits for their capacity (RNP-5).
    """
    node, uid = record.daemon.required_node, record.uid
    if record.preemption.triggered:
        return NoPlan(uid, Stop.TRIGGERED, "RNP-5", "victims were chosen for it before")
    known = view.nodes.get(node)
    if known is None:
        return NoPlan(uid, Stop.NO_NODE, "RNP-1", f"node {node} is not known")
    short_of = None if is_promised(record) else shortfall(leaf.chain[:-1], record.facts.size)
    if short_of is not None:
        return NoPlan(uid, Stop.HEADROOM, "RNP-1", f"{short_of.queue.path} {short_of.limit}")
    wanted = {name: amount for name, amount in record.facts.size.items() if amount > 0}
    missing = lacking(with_capacity(view.free_on(node), view.coming(record)), wanted)
    if not missing:
        return NoPlan(uid, Stop.ENOUGH_CAPACITY, "RNP-1", f"{node} has enough capacity")
    candidates, left_out = _candidates(view, record, node)
    chosen = _front(_permitted(view, leaf, candidates, left_out), missing)
    if chosen is None:
        text = f"no fit on required node, preemption does not help ({_counted(left_out)})"
        return NoPlan(uid, Stop.NO_VICTIMS, "RNP-4", text)
    return _plan(record, leaf, node, chosen, left_out)


def _candidates(view: LedgerView, record: PodRecord, node: NodeName) -> tuple[list[Victim], Counter[str]]:
    """Return possible victims in order, and the number of other pods by reason (RNP-2, RNP-3)."""
    left_out: Counter[str] = Counter()
    found = []
    use = view.use_of(node)
    for uid in sorted(use.pods) if use is not None else ():
        pod = view.pod(uid)
        queue = view.queue_of(pod) if pod is not None else None
        if pod is None or queue is None or not pod.node:
            continue
        reason = _spared(pod, record, strict=view.settings.preemption.daemon_sets_keep_guarantees)
        if reason:
            left_out[reason] += 1
        else:
            found.append(victim_of(view, pod, queue.path))
    return sorted(found, key=_order), left_out


def _spared(pod: PodRecord, ask: PodRecord, *, strict: bool) -> str:
    """Return the reason to leave a pod out, or empty. ``strict``: leave out pods of equal priority, too."""
    if pod.daemon.required_node:
        return "bound to this node"
    if pod.facts.priority > ask.facts.priority:
        return "more important"
    if strict and pod.facts.priority == ask.facts.priority:
        return "as important"
    if pod.preempting:
        return "chosen already"
    if not shares_type(pod.facts.size, ask.facts.size):
        return "of other resources"
    return "leaving" if pod.facts.deleting else ""


def _permitted(
    view: LedgerView, leaf: Queue, candidates: list[Victim], left_out: Counter[str]
) -> Iterator[Victim]:
    """Yield the candidates whose queues keep their guarantees. Each yielded candidate counts as evicted."""
    strict, usage = view.settings.preemption.daemon_sets_keep_guarantees, WhatIf()
    for victim in candidates:
        queue = view.tree.get(victim.queue)
        if strict and queue is not None:
            if not keeps_guarantee(usage, below_common(queue, leaf), victim.size):
                left_out["guaranteed to its queue"] += 1
                continue
            usage.remove(queue, victim.size)
        yield victim


def breach_of(view: LedgerView, plan: Plan, record: PodRecord, leaf: Queue) -> tuple[str, PodUid] | None:
    """Return the law that a plan breaks if guarantees count, with the victim. None if it breaks none."""
    if not view.settings.preemption.daemon_sets_keep_guarantees:
        return None
    usage = WhatIf()
    for victim in plan.victims:
        queue = view.tree.get(victim.queue)
        if victim.priority >= record.facts.priority:
            return "LAW-6", victim.uid
        if queue is None or not keeps_guarantee(usage, below_common(queue, leaf), victim.size):
            return "LAW-2", victim.uid
        usage.remove(queue, victim.size)
    return None


def kind_of(victim: Victim) -> int:
    """Kind of a victim. Originators come last, even those that opted out (DIV-15)."""
    return ORIGINATOR if victim.originator else OPTED_OUT if victim.opted_out else REGULAR


def _order(victim: Victim) -> tuple[bool, int, int, float, int, int, PodUid]:
    """Sort key of a victim (RNP-3). Those guarded by a budget come last.

    The sum stands in for the size: if one size contains another, its sum is larger.
    """
    amount = sum(amount for _, amount in victim.size.items())
    created, seq, uid = victim.newness
    return victim.guarded, kind_of(victim), victim.priority, created, amount, seq, uid


def _front(candidates: Iterator[Victim], missing: dict[str, int]) -> list[Victim] | None:
    """Take candidates in order until enough capacity is free. Then drop those that are not needed."""
    taken: list[Victim] = []
    while not _covered(taken, missing) and (victim := next(candidates, None)) is not None:
        taken.append(victim)
    if not _covered(taken, missing):
        return None
    for victim in reversed(list(taken)):
        others = [each for each in taken if each is not victim]
        if _covered(others, missing):
            taken = others
    return taken


def _covered(victims: list[Victim], missing: dict[str, int]) -> bool:
    total = Resource({})
    for victim in victims:
        total += victim.size
    return all(total.get(name) >= amount for name, amount in missing.items())


def _plan(
    record: PodRecord, leaf: Queue, node: NodeName, victims: list[Victim], left_out: Counter[str]
) -> Plan:
    ask = Finding("RNP-1", f"may run on {node} only, priority {record.facts.priority}")
    findings = tuple(
        passed(each, Finding("RNP-2", f"priority {each.priority}, {_KINDS[kind_of(each)]}"))
        for each in victims
    )
    notes = NodeNotes(1, tuple(sorted(left_out.items())))
    receipt = Receipt(Kind.REQUIRED_NODE, (ask,), findings, notes)
    return Plan(Kind.REQUIRED_NODE, record.uid, leaf.path, node, tuple(victims), receipt)


def _counted(left_out: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items())) or "no pod runs there"
