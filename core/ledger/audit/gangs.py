"""Audit of gangs: places of pods, and slots of members."""

from collections.abc import Iterator
from itertools import chain

from core.ids import AppId, NodeName, PodUid
from core.ledger.audit.drift import Claims, Step, compare, compare_each, compare_index
from core.ledger.gangs.index import linked_at, place_of
from core.ledger.state.gangs import Role
from core.ledger.state.state import State
from core.ledger.usage.counters import holds
from core.workload.application import Application
from core.workload.ask import Rank
from core.workload.gangs.progress import GangProgress


def gang_steps(state: State) -> Iterator[Step]:
    """Audit steps for gangs."""
    gangs, records = state.gangs, state.pods.records
    yield from compare_each(
        state, chain(records, gangs.places, gangs.slots_at, gangs.opening), _member_claims
    )
    slots = [(node, uid) for uid, node in gangs.slots_at.items()]
    yield from compare_index(state, "slots", lambda state: state.gangs.slots, slots, _is_slot)
    yield compare([("gangs in line", sorted(gangs.in_line.values()), sorted(gangs.line))])
    yield from compare_each(state, state.applications.known, _gang_claims)


def _member_claims(state: State, uid: PodUid) -> Claims:
    record = state.pods.records.get(uid)
    slot = record.gang.slot if record is not None and not record.node else None
    yield "place", record and place_of(state, record), state.gangs.places.get(uid)
    yield "slot", slot and slot.node, state.gangs.slots_at.get(uid)
    yield "link", record and linked_at(record), state.gangs.opening.get(uid)


def _is_slot(state: State, node: NodeName, uid: PodUid) -> bool:
    return state.gangs.slots_at.get(uid) == node


def _gang_claims(state: State, app_id: AppId) -> Claims:
    application = state.applications.known.get(app_id)
    if application is None:
        return
    records = state.pods.records
    holders = {uid for uid in application.pods if uid in records and records[uid].facts.placeholder}
    placed = [uid for uid in holders if holds(state.usage.charges.get(uid))]
    yield "placeholders", holders, application.holders
    yield "placeholders with a node", len(placed), application.holding
    if application.gang_progress is not None:
        yield from _progress_claims(state, application, application.gang_progress)


def _progress_claims(state: State, application: Application, gang_progress: GangProgress) -> Claims:
    places = [state.gangs.places[uid] for uid in sorted(application.pods) if uid in state.gangs.places]
    waiting = {place.rank[-1] for place in places if place.role in (Role.WANTING, Role.WAITING)}
    yield "pods that wait for the gang", waiting, set(gang_progress.waiting)

    def of(role: Role, group: str) -> list[Rank]:
        return sorted(place.rank for place in places if place.role is role and place.group == group)

    for name, progress in gang_progress.groups.items():
        yield f"group {name}: pending", {rank[-1] for rank in of(Role.PENDING, name)}, set(progress.pending)
        yield f"group {name}: held", of(Role.HELD, name), list(progress.held)
        yield f"group {name}: wanting", of(Role.WANTING, name), list(progress.wanting)
