"""Charging pods to queues and nodes.

The one rule that makes filter, bind and watch idempotent: what a pod is charged is a function of what is
known about it (`charge_of`), and `settle_touched` moves the counters from the charge that stands to the one
that should. Any order of events and any repeat ends in the same counters.
"""

from collections.abc import Callable
from operator import attrgetter

from core.ids import NodeName, QueuePath
from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import end_turn, looked_at, note_fresh, note_moved
from core.ledger.admission.unguarded import file_unguarded, forget_unguarded, note_unadmitted
from core.ledger.applications.lifecycle import allocated, room_held, room_left
from core.ledger.gangs.index import awaits_gang, file, slot_node, unfile
from core.ledger.node_reservation.reservation import let_go
from core.ledger.node_reservation.search import await_age, forget_age
from core.ledger.podgroups.membership import note_member
from core.ledger.pods.record import Charge, Held, PodRecord, Standing
from core.ledger.preemption.attempts import await_try, forget_try
from core.ledger.preemption.quota_reclaim import note_growth
from core.ledger.state.admission import CycleReason, Seat, WaitingKey
from core.ledger.state.state import State
from core.ledger.touched import take_touched
from core.ledger.usage.over_max import note_release, note_use
from core.queues.priority import ask_comes, ask_goes
from core.queues.queue import Queue
from core.queues.users.limits import UsageBook
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.nodes.node import NodeUse
from core.workload.pending_index import Lineup
from core.workload.pod import OWN_GATE

_HELD_IN: dict[Held, Callable[[Queue], Tally]] = {
    Held.PENDING: attrgetter("pending"),
    Held.RESERVED: attrgetter("reserved"),
    Held.ALLOCATED: attrgetter("allocated"),
}
_STANDING_IN: dict[Standing, tuple[Callable[[Queue], Tally], ...]] = {
    Standing.PREEMPTING: (attrgetter("preempting"),),
    Standing.TRIGGERED: (attrgetter("triggered"),),
    Standing.BYPASSED: (attrgetter("bypassed"),),
}
"""What counts a charge in a queue: as held, and as what it is to preemption."""


def charge_of(state: State, record: PodRecord) -> Charge | None:
    """What a pod should be charged now, or None when it takes nothing (QUO-2, POD-2).

    A resize changes the size and nothing asks whether it fits (RES-8); a bound pod is charged whether or
    not there is room (QUO-9). Room is kept until the pod is gone, also while it terminates.
    """
    size = record.facts.size
    if not record.membership.managed:
        return Charge(Held.OCCUPIED, None, record.node, size) if record.node else None
    queue = _queue_of(state, record)
    if queue is None:
        return None
    if record.node:
        return _charge_of_running(record, queue)
    if record.admission.reservation is not None:
        return Charge(
            Held.RESERVED,
            queue,
            record.placement.binding or record.admission.noted or slot_node(record),
            size,
        )
    if not record.is_ask or _is_kept_out(state, record):
        return None
    if record.is_unguarded:
        return _charge_unguarded(state, record, queue)
    if awaits_gang(state, record):
        return _charge_beside(state, record)
    if slot_node(record):
        # From the moment its placeholder is gone: the pair counts once (GANG-12).
        return Charge(Held.RESERVED, queue, record.placement.binding or slot_node(record), size)
    standing = Standing.TRIGGERED if record.preemption.triggered else Standing.PLAIN
    return Charge(Held.PENDING, queue, record.placement.binding, size, record.facts.priority, standing)


def _charge_of_running(record: PodRecord, queue: QueuePath) -> Charge:
    size, priority = record.facts.size, record.facts.priority
    if record.preempting:
        return Charge(Held.ALLOCATED, queue, record.node, size, standing=Standing.PREEMPTING)
    if record.evictable:
        return Charge(Held.ALLOCATED, queue, record.node, size, priority, Standing.EVICTABLE)
    return Charge(Held.ALLOCATED, queue, record.node, size)


def _charge_unguarded(state: State, record: PodRecord, queue: QueuePath) -> Charge:
    """The quota of a pod that may be placed at any moment, whatever it waits for by our rules (F-2, F-7)."""
    beside = _charge_beside(state, record)
    node = (
        record.placement.binding
        or slot_node(record)
        or (beside.node if beside is not None else record.admission.noted)
    )
    standing = Standing.BYPASSED if record.bypasses else Standing.PLAIN
    return Charge(Held.RESERVED, queue, node, record.facts.size, standing=standing)


def _charge_beside(state: State, record: PodRecord) -> Charge | None:
    """A member that goes to another node than that of its placeholder has room there, while the quota is
    still the placeholder's (GANG-11)."""
    slot = record.gang.slot
    holder = state.pods.records.get(slot.placeholder) if slot is not None else None
    if slot is None or holder is None or holder.node == slot.node:
        return None
    return Charge(Held.RESERVED, None, slot.node, record.facts.size)


def _queue_of(state: State, record: PodRecord) -> QueuePath | None:
    if record.membership.application is None:
        return None
    return state.applications.known[record.membership.application].queue


def _is_kept_out(state: State, record: PodRecord) -> bool:
    """Whether its application runs in a queue that does not let in what waits of it (F-1)."""
    application = state.application_of(record)
    return application is not None and application.refusal is not None


def settle_touched(state: State) -> None:
    """Bring counters and indexes in line with what is now known about the pods that were touched."""
    for record, dropped in take_touched(state):
        (_discharge if dropped else _settle)(state, record)


def _settle(state: State, record: PodRecord) -> None:
    note_member(state, record)
    new = charge_of(state, record)
    if record.node and not record.placement.placed_at:
        record.placement.placed_at = state.now
        note_unadmitted(state, record)
    _recharge(state, record, new)
    _index_reservation(state, record)
    _index_waiting(state, record, new)
    file(state, record)
    file_unguarded(state, record)
    if record.node_reservation.node and not record.is_ask:
        let_go(state, record)


def _discharge(state: State, record: PodRecord) -> None:
    """Take a pod that is gone out of the counters and indexes."""
    _recharge(state, record, None)
    _index_waiting(state, record, None)
    unfile(state, record)
    forget_unguarded(state, record.uid, gone=True)
    state.turns.unwoken.discard(record.uid)
    state.usage.reserved.discard(record.uid)
    let_go(state, record, gone=True)


def holds(charge: Charge | None) -> bool:
    """Whether a charge takes quota: allocated or reserved, not merely asked for."""
    return charge is not None and charge.queue is not None and charge.held in (Held.ALLOCATED, Held.RESERVED)


def _recharge(state: State, record: PodRecord, new: Charge | None) -> None:
    old = state.usage.charges.get(record.uid)
    if old == new:
        return
    # Most often a reservation becomes an allocation, which is the same to users and groups.
    people = old is None or not _keeps_room(old, new)
    if old is not None:
        _count(state, record, old, adding=False, people=people)
        del state.usage.charges[record.uid]
    if new is not None:
        _count(state, record, new, adding=True, people=people)
        state.usage.charges[record.uid] = new
    for each in (old, new):
        if each is not None and each.queue is not None and record.membership.application is not None:
            note_moved(state, each.queue, record.membership.application)
    _note_room(state, record, was=holds(old), now=holds(new))
    if old is not None and people:
        note_release(state, record, old)
    if new is not None:
        note_growth(state, old, new)
        if people and holds(new):
            note_use(state, record, new)
    if old is not None and holds(old) and people:
        request_cycle(state, CycleReason.CAPACITY_FREED)


def _note_room(state: State, record: PodRecord, *, was: bool, now: bool) -> None:
    """What that is to its application. Room of a placeholder is none of the application's own (GANG-8)."""
    if was == now or record.membership.application is None:
        return
    application = state.applications.known[record.membership.application]
    if record.facts.placeholder:
        (room_held if now else room_left)(state, application)
    elif now:
        allocated(state, application)
    if now and _was_let_in(state, record):
        application.let_in = True


def _was_let_in(state: State, record: PodRecord) -> bool:
    """Whether a pod has its room by leave of ours: others may have bound it."""
    promised = (
        record.admission.reservation is not None or record.gang.slot is not None or record.admission.opening
    )
    return promised or record.uid in state.turns.of


def _keeps_room(old: Charge, new: Charge | None) -> bool:
    """Whether a pod goes on to hold as much of the same queue."""
    return holds(old) and new is not None and holds(new) and (new.queue, new.size) == (old.queue, old.size)


def _count(state: State, record: PodRecord, charge: Charge, *, adding: bool, people: bool) -> None:
    """Count a charge in or out. ``people``: for users and groups too."""
    leaf = state.config.tree.get(charge.queue) if charge.queue is not None else None
    if leaf is not None:
        for counter in (_HELD_IN[charge.held], *_STANDING_IN.get(charge.standing, ())):
            for queue in leaf.chain:
                (counter(queue).add if adding else counter(queue).subtract)(charge.size)
        if charge.held is Held.PENDING:
            _count_priority(leaf, state.application_of(record), charge, adding=adding)
        if people and holds(charge) and record.membership.application is not None:
            _count_people(
                state,
                state.applications.known[record.membership.application],
                leaf,
                charge.size,
                adding=adding,
            )
    if charge.node:
        _count_on_node(state, record, charge, adding=adding)
    elif charge.held is Held.RESERVED and adding:
        state.usage.afloat.add(charge.size)
    elif charge.held is Held.RESERVED:
        state.usage.afloat.subtract(charge.size)


def _count_priority(leaf: Queue, application: Application | None, charge: Charge, *, adding: bool) -> None:
    priority = charge.priority
    if adding:
        ask_comes(leaf, priority)
    else:
        ask_goes(leaf, priority)
    if application is not None:
        left = application.asked.get(priority, 0) + (1 if adding else -1)
        if left:
            application.asked[priority] = left
        else:
            del application.asked[priority]


def _count_people(
    state: State, application: Application, leaf: Queue, size: Resource, *, adding: bool
) -> None:
    """What users and groups hold."""
    paths = [queue.path for queue in leaf.chain]
    if adding:
        application.used.add(size)
        state.usage.book.add(application.claimant, paths, size)
    else:
        application.used.subtract(size)
        state.usage.book.subtract(application.claimant, paths, size)


def recount_people(state: State) -> None:
    """Groups and usage anew, from what the pods hold; after a new document (UGM-10)."""
    state.usage.book = UsageBook()
    for application in state.applications.known.values():
        leaf = state.config.tree.get(application.queue) if application.queue is not None else None
        if leaf is None:
            continue
        paths = [queue.path for queue in leaf.chain]
        application.group = state.config.limits.group_for(paths, application.groups or ())
        for uid in application.pods:
            charge = state.usage.charges.get(uid)
            if charge is not None and holds(charge):
                state.usage.book.add(application.claimant, paths, charge.size)
        if application.started:
            state.usage.book.start(application.claimant, paths)


def _count_on_node(state: State, record: PodRecord, charge: Charge, *, adding: bool) -> None:
    use = state.usage.uses.setdefault(charge.node, NodeUse())
    tally = use.occupied if charge.held is Held.OCCUPIED else use.allocated
    if charge.standing is Standing.EVICTABLE and charge.queue is not None:
        use.evictable.file(charge.queue, charge.priority, record.uid, charge.size, adding=adding)
    if adding:
        tally.add(charge.size)
        use.pods.add(record.uid)
        state.usage.node_room.take(charge.node, charge.size)
        return
    tally.subtract(charge.size)
    state.usage.node_room.give_back(charge.node, charge.size)
    use.pods.discard(record.uid)
    _drop_unused(state, charge.node)


def _drop_unused(state: State, name: NodeName) -> None:
    if not state.usage.uses[name].pods:
        del state.usage.uses[name]


def _index_reservation(state: State, record: PodRecord) -> None:
    if record.admission.reservation is None:
        state.usage.reserved.discard(record.uid)
    else:
        state.usage.reserved.add(record.uid)


def waiting_key(record: PodRecord, charge: Charge | None) -> WaitingKey | None:
    """Where a pending ask waits for its turn: equal asks of one application fit alike."""
    if charge is None or charge.held is not Held.PENDING or charge.queue is None:
        return None
    if record.membership.application is None:
        return None
    return WaitingKey(charge.queue, charge.size, record.membership.application, record.facts.constraints)


def _index_waiting(state: State, record: PodRecord, charge: Charge | None) -> None:
    seat, new = state.pending.waits_at.get(record.uid), waiting_key(record, charge)
    if (seat and seat.key) == new:
        return
    if seat is not None:
        looked_at(state, record.uid)
        end_turn(state, record.uid, used=holds(charge))
        _leave(state, seat)
    if new is not None:
        _enter(state, record, Seat(new, record.rank))


def _enter(state: State, record: PodRecord, seat: Seat) -> None:
    key = seat.key
    state.pending.waiting.setdefault(key.queue, Lineup()).add(key.app, (key.size, key.constraints), seat.rank)
    state.pending.waits_at[record.uid] = seat
    tolerated = key.constraints.tolerations
    state.usage.tolerated[tolerated] = state.usage.tolerated.get(tolerated, 0) + 1
    note_fresh(state, seat)
    await_age(state, record)
    await_try(state, record)
    leaf = state.config.tree.get(key.queue)
    if OWN_GATE in record.facts.gates or (leaf is not None and leaf.properties.unscheduled_backoff):
        # It will never ask by itself; or its application rests from now on, if no node takes it (CYC-4).
        request_cycle(state, CycleReason.POD_ARRIVED)


def _leave(state: State, seat: Seat) -> None:
    key = seat.key
    lineup = state.pending.waiting[key.queue]
    lineup.remove(key.app, (key.size, key.constraints), seat.rank)
    tolerated = key.constraints.tolerations
    state.usage.tolerated[tolerated] -= 1
    if not state.usage.tolerated[tolerated]:
        del state.usage.tolerated[tolerated]
    del state.pending.waits_at[seat.rank[-1]]
    forget_age(state, seat.rank[-1])
    forget_try(state, seat.rank[-1])
    if not lineup:
        del state.pending.waiting[key.queue]
