"""Explanation of a pod in the making: steps of bounded work over one moment. Changes nothing."""

from collections.abc import Generator, Iterable
from dataclasses import replace

from core.decisions.admission import NODE_RESERVED, refusal_of
from core.decisions.explanation.before import pods_before
from core.decisions.explanation.changes import find_changes
from core.decisions.explanation.holders import holders_on, holders_under
from core.decisions.explanation.obstacles import obstacles_of, standing_of
from core.decisions.explanation.preempting import preemption_of
from core.decisions.explanation.values import Obstacle, PodExplanation, PodStanding
from core.decisions.gating import why_gated
from core.ids import NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.reasons import Code, Refusal

WORK_PER_SLICE = 60
"""Units of about ten microseconds in one slice, so that no verb waits longer than a millisecond."""

Steps = Generator[int, None, PodExplanation | None]


class Explaining:
    """Explanation of one pod, made in slices.

    ``result``: None until ``done``, and for a pod that is not known. A caller that lets events in between two
    slices gets figures of several moments.
    """

    def __init__(self, view: LedgerView, uid: PodUid, *, now: float) -> None:
        self._steps = explain_pod(view, uid, now=now)
        self.done = False
        self.result: PodExplanation | None = None

    def slice(self) -> None:
        """Do a bounded amount of work."""
        left = WORK_PER_SLICE
        while left > 0 and not self.done:
            try:
                left -= next(self._steps)
            except StopIteration as end:
                self.done, self.result = True, end.value


def explain_at_once(view: LedgerView, uid: PodUid, *, now: float) -> PodExplanation | None:
    """Explanation of a pod without slices; None for a pod that is not known."""
    explaining = Explaining(view, uid, now=now)
    while not explaining.done:
        explaining.slice()
    return explaining.result


def explain_pod(view: LedgerView, uid: PodUid, *, now: float) -> Steps:
    """Everything that stands between a pod and running, in steps of some units of work."""
    record = view.pod(uid)
    if record is None:
        return None
    obstacles, survey = yield from obstacles_of(view, record, now=now)
    named = []
    for obstacle in obstacles:
        named.append((yield from _with_holders(view, obstacle)))
    explanation = _explanation(view, record)
    leaf, app_id = view.queue_of(record), record.membership.application
    application = view.application(app_id) if app_id is not None else None
    if leaf is not None and application is not None and _waits(view, record, explanation.standing):
        before = yield from pods_before(view, record, leaf, application)
        preemption = yield from preemption_of(view, record, now=now)
        explanation = replace(explanation, before=before, preemption=preemption)
    if _waits(view, record, explanation.standing):
        refusal = _refusal_of(view, record, obstacles)
        remedies = yield from find_changes(view, record, obstacles, survey)
        explanation = replace(explanation, refusal=refusal, remedies=remedies)
    return replace(explanation, obstacles=tuple(named), nodes=survey.counts)


def _waits(view: LedgerView, record: PodRecord, standing: PodStanding) -> bool:
    waits = standing in (PodStanding.PENDING, PodStanding.GATED)
    return waits and not view.has_turn(record.uid)


def _refusal_of(view: LedgerView, record: PodRecord, obstacles: Iterable[Obstacle]) -> Refusal | None:
    """Reason that users read in the pod's conditions, whose text is constant (FORMAT-10)."""
    if not record.is_ask:
        return None
    if record.is_gated:
        return why_gated(view, record)
    refusal = refusal_of(view, record)
    if refusal is None and any(each.code is Code.NODE_RESERVED for each in obstacles):
        return NODE_RESERVED
    return refusal


def _explanation(view: LedgerView, record: PodRecord) -> PodExplanation:
    queue, facts = view.queue_of(record), record.facts
    return PodExplanation(
        facts.namespace,
        facts.name,
        queue.path if queue is not None else None,
        record.membership.application,
        standing_of(record),
    )


def _with_holders(view: LedgerView, obstacle: Obstacle) -> Generator[int, None, Obstacle]:
    if obstacle.limit is not None:
        holders = yield from holders_under(view, obstacle.limit.key)
        return replace(obstacle, holders=holders)
    if obstacle.code is Code.UNSCHEDULABLE and obstacle.short:
        yield 1
        return replace(obstacle, holders=holders_on(view, NodeName(obstacle.subject), obstacle.short[0][0]))
    return obstacle
