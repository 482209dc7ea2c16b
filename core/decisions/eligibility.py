"""May an ask try to preempt, and now? What is asked before any queue is looked at (PRE-1 to PRE-5)."""

from core.decisions.receipts import NoPlan, Stop
from core.ids import PodUid, QueuePath
from core.instants import has_come
from core.ledger.record import Held, PodRecord
from core.ledger.snapshot import Snapshot
from core.queues.queue import Queue

TRIES_APART = 15.0
"""Seconds between two attempts of one ask (PRE-5)."""


def barred(snapshot: Snapshot, record: PodRecord, queue: Queue, *, now: float) -> NoPlan | None:
    """What keeps an ask from preempting to reach a guarantee, in the order of PRE-1 and PRE-5, or None.

    That it tried lately is a matter for whoever asks often: see `tried_lately`.
    """
    uid, facts = record.uid, record.facts
    if not snapshot.preempts:
        return NoPlan(uid, Stop.SWITCHED_OFF, "PRE-1", "preemption.enabled of the partition is false")
    if facts.never_preempts:
        return NoPlan(uid, Stop.NEVER_PREEMPTS, "PRE-4", "its preemptionPolicy is Never")
    if record.triggered:
        return NoPlan(uid, Stop.TRIGGERED, "PRE-5", "victims were chosen for it before")
    delay = queue.properties.preemption_delay
    if not has_come(facts.created + delay, now=now):
        age = max(0.0, now - facts.created)
        return NoPlan(uid, Stop.TOO_YOUNG, "PRE-3", f"{age:.0f} s old, preemption.delay is {delay:g} s")
    return None


def tried_lately(record: PodRecord, *, now: float) -> NoPlan | None:
    """Whether the last attempt is less than 15 s ago (PRE-5)."""
    if record.tried_at is None or has_come(record.tried_at + TRIES_APART, now=now):
        return None
    return NoPlan(
        record.uid, Stop.TRIED_LATELY, "PRE-5", f"tried {max(0.0, now - record.tried_at):.0f} s ago"
    )


def limited(snapshot: Snapshot, record: PodRecord, queue: Queue) -> NoPlan | None:
    """Limits of users, groups and numbers of applications never start a preemption (CYC-5)."""
    application = snapshot.application(record.application) if record.application else None
    if application is None or record.reservation is not None:
        return None
    refusal = snapshot.room.personal_refusal(queue.chain, application.claimant, record.facts.size)
    return None if refusal is None else NoPlan(record.uid, Stop.LIMITED, "CYC-5", refusal.text)


def is_pending(snapshot: Snapshot, record: PodRecord | None) -> bool:
    """Whether it is a managed ask in a queue: bound, leaving, gated or unplaced ones have nothing to plan."""
    if record is None or not record.is_ask:
        return False
    charge = snapshot.charge_of(record.uid)
    return charge is not None and charge.held in (Held.PENDING, Held.RESERVED)


ATTEMPTS_PER_LEAF = 10
"""Asks of one leaf that may plan in one round (PRE-5)."""


def due_asks(snapshot: Snapshot, *, now: float) -> list[PodUid]:
    """The asks that may plan now, each leaf's most important and oldest first, at most ten of a leaf (PRE-5).

    Those for one node come too, whenever they have not triggered yet (RNP-1). Asks that hold a reservation
    are on their way to a node already. Cost: O(asks that wait).
    """
    by_leaf: dict[QueuePath, list[PodRecord]] = {}
    for record in snapshot.waiting_asks():
        leaf = snapshot.queue_of(record)
        if leaf is None or record.triggered:
            continue
        if record.facts.required_node or _may_try(snapshot, record, leaf, now=now):
            by_leaf.setdefault(leaf.path, []).append(record)
    return [
        record.uid
        for path in sorted(by_leaf)
        for record in sorted(by_leaf[path], key=lambda each: each.rank)[:ATTEMPTS_PER_LEAF]
    ]


def _may_try(snapshot: Snapshot, record: PodRecord, leaf: Queue, *, now: float) -> bool:
    no = barred(snapshot, record, leaf, now=now) or tried_lately(record, now=now)
    return no is None
