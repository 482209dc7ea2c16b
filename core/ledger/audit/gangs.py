"""The audit of gangs: who stands where in them, the room that members take over, and when they are due."""

from collections.abc import Iterator

from core.ids import AppId, NodeName, PodUid
from core.ledger.audit.drift import Step, compare, each
from core.ledger.gangs.index import linked_at, place_of
from core.ledger.state.gangs import Place, Role
from core.ledger.state.state import State
from core.ledger.state.timer_heap import timer_at
from core.ledger.state.timers import TimerKind
from core.ledger.usage.counters import holds
from core.workload.application import Application
from core.workload.gangs.progress import GangProgress, TaskGroupProgress


def gang_steps(state: State) -> Iterator[Step]:
    yield from each({*state.gangs.places, *state.pods.records}, lambda uid: _place_drifts(state, uid))
    yield from each(
        {*state.gangs.slots_at, *state.gangs.opening, *state.pods.records},
        lambda uid: _slot_drifts(state, uid),
    )
    yield from each(state.gangs.slots, lambda name: _node_drifts(state, name))
    yield compare("gangs in line", sorted(state.gangs.in_line.values()), sorted(state.gangs.line))
    yield from each(
        {*state.applications.known, *_timed(state)},
        lambda app_id: _gang_drifts(state, app_id),
    )


def _timed(state: State) -> Iterator[AppId]:
    return (key for kind, key in state.timers.due if kind is TimerKind.GANG and isinstance(key, AppId))


def _place_drifts(state: State, uid: PodUid) -> Step:
    record = state.pods.records.get(uid)
    expected = place_of(state, record) if record is not None else None
    return compare(f"place of {uid}", expected, state.gangs.places.get(uid))


def _slot_drifts(state: State, uid: PodUid) -> Step:
    record = state.pods.records.get(uid)
    slot = record.gang.slot if record is not None and not record.node else None
    linked = linked_at(record) if record is not None else None
    return [
        *compare(f"slot of {uid}", slot.node if slot is not None else None, state.gangs.slots_at.get(uid)),
        *compare(f"link of {uid}", linked, state.gangs.opening.get(uid)),
    ]


def _node_drifts(state: State, name: NodeName) -> Step:
    expected = sorted(uid for uid, node in state.gangs.slots_at.items() if node == name)
    return compare(f"slots on {name}", expected, sorted(state.gangs.slots.get(name, ())))


def _gang_drifts(state: State, app_id: AppId) -> Step:
    application = state.applications.known.get(app_id)
    if application is None:
        return compare(f"gang of {app_id} is due", None, timer_at(state, TimerKind.GANG, app_id))
    holders = {
        uid
        for uid in application.pods
        if uid in state.pods.records and state.pods.records[uid].facts.placeholder
    }
    placed = [uid for uid in sorted(holders) if holds(state.usage.charges.get(uid))]
    gang_progress = application.gang_progress
    moment = gang_progress.due_next if gang_progress is not None else None
    return [
        *compare(f"placeholders of {app_id}", sorted(holders), sorted(application.holders)),
        *compare(f"placeholders of {app_id} with room", len(placed), application.holding),
        *compare(f"gang of {app_id} is due", moment, timer_at(state, TimerKind.GANG, app_id)),
        *(_gang_progress_drifts(state, application, gang_progress) if gang_progress is not None else ()),
    ]


def _gang_progress_drifts(state: State, application: Application, gang_progress: GangProgress) -> Step:
    places = [state.gangs.places[uid] for uid in sorted(application.pods) if uid in state.gangs.places]
    waiting = {place.rank[-1] for place in places if place.role in (Role.WANTING, Role.WAITING)}
    return [
        *compare(
            f"pods that wait for the gang of {application.id}", sorted(waiting), sorted(gang_progress.waiting)
        ),
        *[
            drift
            for name, progress in gang_progress.groups.items()
            for drift in _group_drifts(application.id, name, progress, places)
        ],
    ]


def _group_drifts(app_id: AppId, name: str, progress: TaskGroupProgress, places: list[Place]) -> Step:
    def of(role: Role) -> list[Place]:
        return [place for place in places if place.role is role and place.group == name]

    what = f"group {name} of {app_id}"
    return [
        *compare(
            f"{what}: pending", sorted(each.rank[-1] for each in of(Role.PENDING)), sorted(progress.pending)
        ),
        *compare(f"{what}: held", sorted(each.rank for each in of(Role.HELD)), list(progress.held)),
        *compare(f"{what}: wanting", sorted(each.rank for each in of(Role.WANTING)), list(progress.wanting)),
    ]
