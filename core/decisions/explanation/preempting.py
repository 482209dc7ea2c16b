"""Preemption in an explanation: a plan, or the law that stops it, and the time of the next attempt."""

from collections.abc import Generator

from core.decisions.explanation.values import OtherPod, Preempting
from core.decisions.preemption.planning import Outcome, Planning
from core.decisions.preemption.receipts import NoPlan
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView

UNITS_AT_MOST = 600
"""Units of work, of about ten microseconds, for a plan. Beyond that its outcome is unknown."""

WORK_PER_STEP = 20


def preemption_of(view: LedgerView, record: PodRecord, *, now: float) -> Generator[int, None, Preempting]:
    """Plan for an ask, or the reason against it, as the planner finds it. Nothing is carried out."""
    tried_at, tried_next = record.preemption.tried_at, view.tried_next(record)
    if record.preemption.triggered or record.uid in view.offers:
        victims = tuple(_victims(view, record))
        return Preempting(tried_at, tried_next, under_way=True, victims=victims)
    outcome = yield from _outcome(view, record, now=now)
    if outcome is None:
        return Preempting(tried_at, tried_next)
    if isinstance(outcome, NoPlan):
        queues = tuple((path, finding.law, finding.text) for path, finding in outcome.queues)
        return Preempting(
            tried_at,
            tried_next,
            stop=outcome.stop,
            law=outcome.law,
            text=outcome.text,
            queue=outcome.queue,
            resource=outcome.resource,
            queues=queues,
        )
    chosen = tuple(OtherPod(each.namespace, each.name, each.queue) for each in outcome.victims)
    return Preempting(tried_at, tried_next, possible=True, victims=chosen)


def _outcome(view: LedgerView, record: PodRecord, *, now: float) -> Generator[int, None, Outcome | None]:
    planning, left = Planning(view, record.uid, now=now), UNITS_AT_MOST
    try:
        while planning.result is None and left > 0:
            spent = planning.slice(WORK_PER_STEP)
            left -= spent
            yield spent
    finally:
        planning.drop()
    return planning.result


def _victims(view: LedgerView, record: PodRecord) -> Generator[OtherPod, None, None]:
    for uid in view.victims_of(record.uid):
        victim = view.pod(uid)
        if victim is not None:
            queue = view.queue_of(victim)
            yield OtherPod(victim.facts.namespace, victim.facts.name, queue.path if queue else None)
