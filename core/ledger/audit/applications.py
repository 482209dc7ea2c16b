"""The audit of applications: their pods, their queues, their timers."""

from collections import Counter
from collections.abc import Container, Iterator

from core.ids import AppId, PodUid, QueuePath
from core.ledger.audit.drift import Step, compare, compare_tallies, each
from core.ledger.pods.record import Held
from core.ledger.state.state import State
from core.ledger.state.timer_heap import timer_at
from core.ledger.state.timers import ONLY_ONE, TimerKey, TimerKind
from core.resource import Tally
from core.workload.application import Application
from core.workload.states import AppState


def application_steps(state: State) -> Iterator[Step]:
    yield from each(
        [(app_id, uid) for app_id, app in state.applications.known.items() for uid in app.pods],
        lambda pair: _member_drifts(state, *pair),
    )
    yield from each(state.applications.known, lambda app_id: _application_drifts(state, app_id))
    yield from each(state.applications.unplaced, lambda app_id: _unplaced_drifts(state, app_id))
    yield from each(state.applications.namesakes, lambda name: _namesake_drifts(state, name))
    yield from each(state.applications.guests, lambda own: _guest_drifts(state, own))
    yield from each(state.timers.due, lambda timer: _timer_drifts(state, *timer))
    yield from each(state.applications.resolved, lambda user: _groups_drifts(state, user))
    for kind in TimerKind:
        yield _heap_drifts(state, kind)
    yield from each(
        [(queue.path, app_id) for queue in state.config.tree for app_id in queue.applications],
        lambda pair: _resident_drifts(state, *pair),
    )


def _member_drifts(state: State, app_id: AppId, uid: PodUid) -> Step:
    application = state.applications.known.get(app_id)
    if application is None or uid not in application.pods:
        return []
    record = state.pods.records.get(uid)
    return compare(f"pods of {app_id}: {uid}", app_id, record.membership.application if record else None)


def _application_drifts(state: State, app_id: AppId) -> Step:
    application = state.applications.known.get(app_id)
    if application is None:
        return []
    queue = state.config.tree.get(application.queue) if application.queue else None
    resident = application.queue is None or (queue is not None and app_id in queue.applications)
    completes, work = application.state is AppState.COMPLETING, application.pods - application.holders
    return [
        *compare(f"pods of {app_id}: any", True, completes or bool(application.pods)),
        *compare(f"pods of {app_id}: any", False, completes and bool(work)),
        *_counter_drifts(state, application),
        *_identity_drifts(state, application),
        *compare(
            f"timer of {app_id}",
            application.state in (AppState.COMPLETING, AppState.STARTING),
            timer_at(state, TimerKind.APPLICATION_STATE, app_id) is not None,
        ),
        *compare(f"applications of {application.queue}: {app_id}", True, resident),
        *compare(
            f"applications without a queue: {app_id}",
            application.queue is None or application.refusal is not None,
            app_id in state.applications.unplaced,
        ),
    ]


def _counter_drifts(state: State, application: Application) -> Step:
    asked: Counter[int] = Counter()
    used = Tally()
    for uid in application.pods:
        charge = state.usage.charges.get(uid)
        if charge is not None and charge.held is Held.PENDING:
            asked[charge.priority] += 1
        elif charge is not None and charge.queue is not None:
            used.add(charge.size)
    return [
        *compare(f"asked by {application.id}", dict(asked), application.asked),
        *compare_tallies(f"used by {application.id}", used, application.used),
    ]


def _identity_drifts(state: State, application: Application) -> Step:
    """Whether it is found by its id, and what it counts of pods of other namespaces."""
    app_id = application.id
    guests = Counter(
        state.pods.records[uid].facts.namespace for uid in application.pods if uid in state.pods.records
    )
    del guests[app_id.namespace]
    hosts = [state.applications.guests.get(AppId(app_id.name, each)) for each in sorted(application.guests)]
    return [
        *compare(
            f"applications of id {app_id.name}: {app_id}",
            True,
            app_id in state.applications.namesakes.get(app_id.name, ()),
        ),
        *compare(f"pods of other namespaces in {app_id}", dict(guests), application.guests),
        *compare(f"guests of {app_id}", [app_id] * len(hosts), hosts),
    ]


def _unplaced_drifts(state: State, app_id: AppId) -> Step:
    if app_id not in state.applications.unplaced:
        return []
    return compare(f"applications without a queue: {app_id}", True, app_id in state.applications.known)


def _namesake_drifts(state: State, name: str) -> Step:
    found = state.applications.namesakes.get(name, set())
    expected = {each for each in found if each in state.applications.known and each.name == name}
    return compare(f"applications of id {name}", (True, sorted(expected)), (bool(found), sorted(found)))


def _guest_drifts(state: State, own: AppId) -> Step:
    """Pods that belong to another namespace's application."""
    if own not in state.applications.guests:
        return []
    host = state.applications.known.get(state.applications.guests[own])
    there = host is not None and own.name == host.id.name and own.namespace in host.guests
    return compare(f"where pods of {own} belong", True, there)


def _timer_drifts(state: State, kind: TimerKind, key: TimerKey) -> Step:
    if timer_at(state, kind, key) is None:
        return []
    return compare(f"timer of {key}", True, key in _keys_of(state, kind))


def _keys_of(state: State, kind: TimerKind) -> Container[object]:
    """What timers of one kind may be about."""
    match kind:
        case TimerKind.USER_GROUPS:
            return state.applications.resolved
        case TimerKind.GANG | TimerKind.APPLICATION_STATE:
            return state.applications.known
        case TimerKind.QUOTA_RECLAIM:
            return [queue.path for queue in state.config.tree]
        case TimerKind.CYCLE | TimerKind.ATTEMPT | TimerKind.AGE:
            return (ONLY_ONE,)
        case _:
            return state.pods.records


def _groups_drifts(state: State, user: str) -> Step:
    known = state.applications.resolved.get(user)
    expected = known.until if known is not None else None
    return compare(f"groups of {user} until", expected, timer_at(state, TimerKind.USER_GROUPS, user))


def _heap_drifts(state: State, kind: TimerKind) -> Step:
    """Timers of one kind that the heap lacks, and whether its first entry is valid."""
    set_now = {(when, key) for (of, key), when in state.timers.due.items() if of is kind}
    heap = state.timers.heaps.get(kind, [])
    return [
        *compare(f"timers outside the heap {kind.name}", [], sorted(set_now.difference(heap))),
        *compare(f"first timer {kind.name}", min(set_now, default=None), heap[0] if heap else None),
    ]


def _resident_drifts(state: State, path: QueuePath, app_id: AppId) -> Step:
    queue = state.config.tree.get(path)
    if queue is None or app_id not in queue.applications:
        return []
    application = state.applications.known.get(app_id)
    completes = application is not None and application.state is AppState.COMPLETING and not application.pods
    return [
        *compare(f"applications of {path}: {app_id}", path, application.queue if application else None),
        *compare(f"completing in {path}: {app_id}", completes, app_id in queue.completing),
    ]
