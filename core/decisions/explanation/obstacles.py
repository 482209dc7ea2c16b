"""Complete list of what stands between a pod and a node, in the order of refusal codes (FORMAT-10)."""

from collections.abc import Generator, Iterable, Iterator

from core.decisions.explanation import phrases
from core.decisions.explanation.nodes import RESERVED, NodeSurvey, survey_nodes
from core.decisions.explanation.values import Barrier, Obstacle, OtherPod, PodStanding
from core.decisions.gangs import refusal_of_gang_pod, refusals_of_group
from core.decisions.preemption.contention import hold, state_aware_hold
from core.ids import PodUid
from core.instants import has_come
from core.ledger.gangs.index import is_promised
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.closing import closed_in
from core.queues.limit_state import LimitKind, LimitState, limits_of_ask
from core.queues.queue import Queue
from core.queues.quota_check import refusal_of_closed
from core.reasons import Code, Refusal, contains_refusal
from core.workload.application import Application

Found = tuple[tuple[Obstacle, ...], NodeSurvey]

_CODES = {
    LimitKind.CLUSTER: Code.QUOTA_EXCEEDED,
    LimitKind.QUEUE: Code.QUOTA_EXCEEDED,
    LimitKind.USER: Code.USER_QUOTA_EXCEEDED,
    LimitKind.GROUP: Code.GROUP_QUOTA_EXCEEDED,
}
_NUMBERS = {
    LimitKind.CLUSTER: Code.MAX_APPLICATIONS_REACHED,
    LimitKind.QUEUE: Code.MAX_APPLICATIONS_REACHED,
    LimitKind.USER: Code.USER_MAX_APPLICATIONS_REACHED,
    LimitKind.GROUP: Code.GROUP_MAX_APPLICATIONS_REACHED,
}
_ORDER: tuple[Code | Barrier, ...] = (*Code, *Barrier)


def standing_of(record: PodRecord) -> PodStanding:
    """Standing of a pod."""
    if record.node:
        return PodStanding.BOUND
    if record.facts.deleting:
        return PodStanding.LEAVING
    if not record.membership.managed:
        return PodStanding.UNMANAGED
    if is_promised(record):
        return PodStanding.RESERVED
    return PodStanding.PENDING if record.is_ask else PodStanding.GATED


def obstacles_of(view: LedgerView, record: PodRecord, *, now: float) -> Generator[int, None, Found]:
    """All obstacles of a pod, in steps of some units of work."""
    standing = standing_of(record)
    if standing in (PodStanding.BOUND, PodStanding.UNMANAGED):
        return (), NodeSurvey()
    found = [*_of_pod(record), *_of_application(view, record)]
    if standing in (PodStanding.LEAVING, PodStanding.RESERVED):
        return _sorted(found), NodeSurvey()
    application, queue = _application_of(view, record), view.queue_of(record)
    if application is None or queue is None:
        return _sorted(found), NodeSurvey()
    found += _back_offs(view, record, application, now=now)
    found += _of_groups(view, record, queue)
    found += _of_closed_queue(application, queue)
    if view.has_turn(record.uid):
        return _sorted(found), NodeSurvey()
    found += _of_limits(view, record, application, queue)
    held = state_aware_hold(view, application, queue)
    if held is not None:
        found.append(_of_refusal(held))
    survey = yield from survey_nodes(view, record)
    found += _of_nodes(view, record, survey)
    if not found:
        turn = hold(view, record, application, queue)
        found += [_of_refusal(turn)] if turn is not None else []
    return _sorted(found), survey


def _sorted(found: Iterable[Obstacle]) -> tuple[Obstacle, ...]:
    return tuple(sorted(found, key=lambda each: _ORDER.index(each.code)))


def _application_of(view: LedgerView, record: PodRecord) -> Application | None:
    app_id = record.membership.application
    return view.application(app_id) if app_id is not None else None


# -- the pod and its application ---------------------------------------------------------------------------


def _of_pod(record: PodRecord) -> Iterator[Obstacle]:
    facts = record.facts
    if facts.deleting:
        yield Obstacle(Barrier.LEAVING, facts.name, phrases.LEAVING)
    if facts.gated:
        yield Obstacle(Barrier.FOREIGN_GATE, facts.name, phrases.foreign_gates(facts.gates))
    if facts.unscheduled and not contains_refusal(facts.unscheduled):
        yield Obstacle(Barrier.KUBE_SCHEDULER, facts.name, phrases.quoted(facts.unscheduled))


def _of_application(view: LedgerView, record: PodRecord) -> Iterator[Obstacle]:
    application = _application_of(view, record)
    if application is not None and application.refusal is not None:
        yield _of_refusal(application.refusal)
    elif not view.synced or (record.is_ask and (application is None or application.queue is None)):
        yield Obstacle(Code.NOT_READY, record.facts.name, phrases.NOT_READY)


def _of_refusal(refusal: Refusal) -> Obstacle:
    return Obstacle(refusal.code, refusal.subject, phrases.of_refusal(refusal))


def _back_offs(
    view: LedgerView, record: PodRecord, application: Application, *, now: float
) -> Iterator[Obstacle]:
    name, until = record.facts.name, record.admission.backs_off_until
    if until is not None and not has_come(until, now=now):
        yield Obstacle(Barrier.BACK_OFF, name, phrases.BACK_OFF, until=until)
    elif record.admission.passed_over:
        yield Obstacle(Barrier.PASSED_OVER, name, phrases.PASSED_OVER)
    if view.backs_off(application):
        until = application.backs_off_until
        yield Obstacle(Barrier.APPLICATION_BACK_OFF, application.id.name, phrases.NO_NODES, until=until)
    group = view.unopened(record)
    until = group.backs_off_until if group is not None else None
    if group is not None and until is not None and not has_come(until, now=now):
        yield Obstacle(Barrier.POD_GROUP_BACK_OFF, group.key.name, phrases.GROUP_BACK_OFF, until=until)


def _of_groups(view: LedgerView, record: PodRecord, queue: Queue) -> Iterator[Obstacle]:
    of_gang, group = refusal_of_gang_pod(view, record), view.pod_group_of(record)
    if of_gang is not None:
        needed, there = _placeholders(view, record)
        text = phrases.of_refusal(of_gang)
        yield Obstacle(of_gang.code, of_gang.subject, text, needed=needed, free=there)
    if group is None:
        return
    needed, there = (("members", group.min_available),), (("members", group.there),)
    for each in refusals_of_group(view, record, queue):
        yield Obstacle(each.code, each.subject, phrases.of_refusal(each), needed=needed, free=there)


def _placeholders(view: LedgerView, record: PodRecord) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Numbers of placeholders that a gang needs and has on nodes."""
    application = _application_of(view, record)
    progress = application.gang_progress if application is not None else None
    groups = progress.groups.values() if progress is not None else ()
    needed, there = sum(each.needed for each in groups), sum(len(each.held) for each in groups)
    return (("placeholders", needed),), (("placeholders", there),)


def _of_closed_queue(application: Application, queue: Queue) -> Iterator[Obstacle]:
    closed = closed_in(queue.chain) if not application.claimant.started else None
    if closed is not None and closed.closed is not None:
        refusal = refusal_of_closed(closed)
        text = phrases.of_refusal(refusal)
        yield Obstacle(refusal.code, refusal.subject, text, until=closed.closed.until)


# -- limits -------------------------------------------------------------------------------------------------


def _of_limits(
    view: LedgerView, record: PodRecord, application: Application, queue: Queue
) -> Iterator[Obstacle]:
    """Every limit that is short. One that only turns of others fill makes the ask wait for its own turn."""
    claimant, size = application.claimant, record.facts.size
    plain = limits_of_ask(view.quota_check, queue.chain, claimant, size)
    beside = limits_of_ask(view.quota_check, queue.chain, claimant, size, extra=view.given)
    for alone, counted in zip(plain, beside, strict=True):
        if counted.short:
            yield of_limit(counted, is_turn=not alone.short)


def of_limit(state: LimitState, *, is_turn: bool = False) -> Obstacle:
    """Obstacle for a limit that is short."""
    key = state.key
    code = (_CODES if key.resource else _NUMBERS)[key.kind]
    subject = f"{key.kind} {key.name} in {key.path}" if key.name else str(key.path)
    return Obstacle(Code.WAITING_FOR_TURN if is_turn else code, subject, phrases.of_limit(state), state)


# -- nodes --------------------------------------------------------------------------------------------------


def _of_nodes(view: LedgerView, record: PodRecord, survey: NodeSurvey) -> Iterator[Obstacle]:
    counts, facts = survey.counts, record.facts
    node = record.node_reservation.node
    needed = tuple((name, amount) for name, amount in facts.size.items() if amount > 0)
    # Once the node has the capacity, only other obstacles hold the pod.
    if node and not view.has_capacity(node, facts.size):
        free = view.free_on(node)
        there = tuple((name, free.get(name, 0)) for name, _ in needed)
        yield Obstacle(Barrier.OWN_NODE, node, phrases.OWN_NODE, needed=needed, free=there)
    if facts.complex or facts.constraints.unread:
        yield Obstacle(Barrier.NODES_NOT_JUDGED, facts.name, phrases.NOT_JUDGED)
    if counts.fitting or counts.left or facts.constraints.unread:
        return
    if counts.by_reason.get(RESERVED, 0):
        others = tuple(_others(view, survey.owners))
        yield Obstacle(Code.NODE_RESERVED, facts.name, phrases.RESERVED, others=others)
    else:
        text = phrases.no_node(facts.size, counts)
        left = tuple(sorted(survey.free.items())) if counts.nearest else ()
        subject = counts.nearest or facts.name
        yield Obstacle(Code.UNSCHEDULABLE, subject, text, needed=needed if left else (), free=left)


def _others(view: LedgerView, uids: Iterable[PodUid]) -> Iterator[OtherPod]:
    for uid in sorted(uids):
        record = view.pod(uid)
        if record is not None:
            queue = view.queue_of(record)
            yield OtherPod(record.facts.namespace, record.facts.name, queue.path if queue else None)
