"""Eligibility of an ask to preempt now, before any queue is searched (PRE-1 to PRE-5)."""

from core.decisions.preemption.receipts import NoPlan, Stop
from core.instants import has_come
from core.ledger.gangs.index import is_promised
from core.ledger.pods.record import Held, PodRecord
from core.ledger.preemption.attempts import ATTEMPTS_APART
from core.ledger.preemption.victims import PLANS_AT_MOST
from core.ledger.view import LedgerView
from core.queues.queue import Queue


def why_not_eligible(view: LedgerView, record: PodRecord, queue: Queue, *, now: float) -> NoPlan | None:
    """Reason why an ask may not preempt to reach a guarantee, in the order of PRE-1 and PRE-5, or None.

    A caller that asks often also uses `tried_recently`.
    """
    uid, facts = record.uid, record.facts
    if not view.preempts:
        return NoPlan(uid, Stop.SWITCHED_OFF, "PRE-1", "preemption.enabled of the partition is false")
    if facts.never_preempts:
        return NoPlan(uid, Stop.NEVER_PREEMPTS, "PRE-4", "its preemptionPolicy is Never")
    if record.preemption.triggered or record.preemption.plans >= PLANS_AT_MOST:
        return NoPlan(uid, Stop.TRIGGERED, "PRE-5", "victims were chosen for it before")
    no = held_back(view, record, queue, now=now)
    if no is not None:
        return no
    delay = queue.properties.preemption_delay
    if not has_come(facts.created + delay, now=now):
        age = max(0.0, now - facts.created)
        return NoPlan(uid, Stop.TOO_YOUNG, "PRE-3", f"{age:.0f} s old, preemption.delay is {delay:g} s")
    return None


def held_back(view: LedgerView, record: PodRecord, queue: Queue, *, now: float) -> NoPlan | None:
    """Result if the queue must wait, because its asks vanished after victims were evicted (F-25), or None."""
    until = view.waits_until(record, queue)
    if has_come(until, now=now):
        return None
    text = f"pods of {queue.path} vanished before they were placed: no plan for {until - now:.0f} s"
    return NoPlan(record.uid, Stop.HELD_BACK, "inVain", text)


def tried_recently(record: PodRecord, *, now: float) -> NoPlan | None:
    """Result if the last attempt is less than 15 s ago (PRE-5), or None."""
    if record.preemption.tried_at is None or has_come(record.preemption.tried_at + ATTEMPTS_APART, now=now):
        return None
    return NoPlan(
        record.uid,
        Stop.TRIED_RECENTLY,
        "PRE-5",
        f"tried {max(0.0, now - record.preemption.tried_at):.0f} s ago",
    )


def limited(view: LedgerView, record: PodRecord, queue: Queue) -> NoPlan | None:
    """Result if a limit holds the ask, which never starts a preemption (CYC-5), or None.

    Limits are those of users, groups and numbers of applications.
    """
    application = view.application(record.membership.application) if record.membership.application else None
    if application is None or is_promised(record):
        return None
    refusal = view.quota_check.personal_refusal(queue.chain, application.claimant, record.facts.size)
    return None if refusal is None else NoPlan(record.uid, Stop.LIMITED, "CYC-5", refusal.text)


def is_pending(view: LedgerView, record: PodRecord | None) -> bool:
    """True for a managed ask in a queue. Bound, terminating, gated and unplaced pods have nothing to plan.

    False for members of a pod group that has not started, because victims for some of them could be evicted
    in vain.
    """
    if record is None or not record.is_ask or view.unopened(record) is not None:
        return False
    charge = view.charge_of(record.uid)
    return charge is not None and charge.queue is not None and charge.held in (Held.PENDING, Held.RESERVED)


def is_in_back_off(view: LedgerView, record: PodRecord) -> bool:
    """True if its application is in back-off, which comes before every other check (QUO-7)."""
    application = view.application(record.membership.application) if record.membership.application else None
    return application is not None and view.backs_off(application)
