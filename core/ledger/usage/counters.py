"""Counters of charges: in queues, for users and groups, and on nodes."""

from collections.abc import Callable
from operator import attrgetter

from core.ids import NodeName, PodUid
from core.ledger.pods.record import Charge, Held, PodRecord, Standing
from core.ledger.state.state import State
from core.queues.priority import ask_comes, ask_goes
from core.queues.queue import Queue
from core.queues.users.limits import UsageBook
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.nodes.node import NodeFacts, NodeUse

_HELD_IN: dict[Held, Callable[[Queue], Tally]] = {
    Held.PENDING: attrgetter("pending"),
    Held.RESERVED: attrgetter("reserved"),
    Held.ALLOCATED: attrgetter("allocated"),
}
_STANDING_IN: dict[Standing, Callable[[Queue], Tally]] = {
    Standing.PREEMPTING: attrgetter("preempting"),
    Standing.TRIGGERED: attrgetter("triggered"),
    Standing.BYPASSED: attrgetter("bypassed"),
}
"""Counters of a queue for a charge, by its held state and by its role in preemption."""


def holds(charge: Charge | None) -> bool:
    """True if a charge takes quota: allocated or reserved, not merely asked for."""
    return charge is not None and charge.queue is not None and charge.held in (Held.ALLOCATED, Held.RESERVED)


def holds_as_much(old: Charge | None, new: Charge | None) -> bool:
    """True if two charges that hold quota hold as much of one queue."""
    return old is not None and new is not None and (old.queue, old.size) == (new.queue, new.size)


def move_charge(
    state: State, record: PodRecord, old: Charge | None, new: Charge | None, *, people: bool
) -> None:
    """Count a pod's new charge in place of its old one. ``people``: also for users and groups."""
    # Queues count the same if only the node differs, as when a bind call names it.
    if old is None or new is None or not _differ_at_most_by_node(old, new):
        application = state.application_of(record)
        if old is not None:
            _count(state, application, old, adding=False, people=people)
        if new is not None:
            _count(state, application, new, adding=True, people=people)
    if new is not None:
        state.usage.charges[record.uid] = new
    else:
        state.usage.charges.pop(record.uid, None)
    if old is not None and new is not None and new.node and _holds_as_much_on_node(old, new):
        use = state.usage.uses[new.node]
        _file_evictable(use, record.uid, old, adding=False)
        _file_evictable(use, record.uid, new, adding=True)
        return
    if old is not None:
        _count_on_node(state, record.uid, old, adding=False)
    if new is not None:
        _count_on_node(state, record.uid, new, adding=True)


def _differ_at_most_by_node(old: Charge, new: Charge) -> bool:
    # A copy with the other's node would cost more than all else that a repeated charge does.
    (held, queue, _, *rest), (new_held, new_queue, _, *new_rest) = old, new
    return held is new_held and queue == new_queue and rest == new_rest


def _count(
    state: State, application: Application | None, charge: Charge, *, adding: bool, people: bool
) -> None:
    """Count a charge of a queue in or out. ``people``: also for users and groups."""
    leaf = state.config.tree.get(charge.queue) if charge.queue is not None else None
    if leaf is None:
        return
    for queue in leaf.chain:
        queue.changes += 1
    _count_in_queues(leaf, _HELD_IN[charge.held], charge.size, adding=adding)
    standing = _STANDING_IN.get(charge.standing)
    if standing is not None:
        _count_in_queues(leaf, standing, charge.size, adding=adding)
    if charge.held is Held.PENDING:
        _count_priority(leaf, application, charge, adding=adding)
    elif people and application is not None:
        _count_people(state, application, leaf, charge.size, adding=adding)


def _count_in_queues(leaf: Queue, counter: Callable[[Queue], Tally], size: Resource, *, adding: bool) -> None:
    """Count a size in one counter of a leaf and of every queue above it."""
    for tally in map(counter, leaf.chain):
        if adding:
            tally.add(size)
        else:
            tally.subtract(size)


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
    """Count usage of users and groups in or out."""
    if adding:
        application.used.add(size)
        state.usage.book.add(application.claimant, leaf.paths, size)
    else:
        application.used.subtract(size)
        state.usage.book.subtract(application.claimant, leaf.paths, size)


def regroup(state: State, application: Application, group: str) -> None:
    """Count all that an application holds for another user group from now on; empty for none."""
    before, application.group = application.claimant, group
    if before.group == group:
        return
    for uid in application.pods:
        charge = state.usage.charges.get(uid)
        leaf = state.config.tree.get(charge.queue) if charge is not None and charge.queue else None
        if charge is not None and leaf is not None and holds(charge):
            state.usage.book.subtract(before, leaf.paths, charge.size)
            state.usage.book.add(application.claimant, leaf.paths, charge.size)


def recount_people(state: State) -> None:
    """Recount groups and usage from what the pods hold, after a new document (UGM-10)."""
    state.usage.book = UsageBook()
    for application in state.applications.known.values():
        leaf = state.config.tree.get(application.queue) if application.queue is not None else None
        if leaf is None:
            continue
        application.group = state.config.limits.group_for(leaf.paths, application.groups or ())
        for uid in application.pods:
            charge = state.usage.charges.get(uid)
            if charge is not None and holds(charge):
                state.usage.book.add(application.claimant, leaf.paths, charge.size)
        if application.started:
            state.usage.book.start(application.claimant, leaf.paths)


def _holds_as_much_on_node(old: Charge, new: Charge) -> bool:
    """True if two charges of queues hold as much on one node."""
    foreign = Held.OCCUPIED in (old.held, new.held)
    return not foreign and (old.node, old.size) == (new.node, new.size)


def _count_on_node(state: State, uid: PodUid, charge: Charge, *, adding: bool) -> None:
    """Count a charge in or out on its node, or as reserved on no node yet."""
    if not charge.node:
        if charge.held is Held.RESERVED:
            (state.usage.afloat.add if adding else state.usage.afloat.subtract)(charge.size)
        return
    use = state.usage.uses.get(charge.node)
    if use is None:
        use = state.usage.uses[charge.node] = NodeUse()
    tally = use.occupied if charge.held is Held.OCCUPIED else use.allocated
    _file_evictable(use, uid, charge, adding=adding)
    if adding:
        tally.add(charge.size)
        use.pods.add(uid)
        state.usage.free_capacity.take(charge.node, charge.size)
        return
    tally.subtract(charge.size)
    state.usage.free_capacity.give_back(charge.node, charge.size)
    use.pods.discard(uid)
    if not use.pods:
        del state.usage.uses[charge.node]


def _file_evictable(use: NodeUse, uid: PodUid, charge: Charge, *, adding: bool) -> None:
    if charge.standing is Standing.EVICTABLE and charge.queue is not None:
        use.evictable.file(charge.queue, charge.priority, uid, charge.size, adding=adding)


def hold_on_node(state: State, node: NodeName, size: Resource) -> None:
    """Count what a turn holds as used on a node."""
    state.usage.free_capacity.take(node, size)


def release_on_node(state: State, node: NodeName, size: Resource) -> None:
    """Count what a turn held as free on a node again."""
    state.usage.free_capacity.give_back(node, size)


def file_node(state: State, name: NodeName, node: NodeFacts | None) -> None:
    """Index the free amounts of a node anew. Pods may have been seen on it before it."""
    state.usage.free_capacity.drop_node(name)
    if node is not None:
        use = state.usage.uses.get(name, NodeUse())
        turns = (turn.seat.key.size for turn in state.turns.of.values() if turn.node == name)
        state.usage.free_capacity.add_node(node, use.allocated, use.occupied, *turns)


def count_running(state: State, application: Application, leaf: Queue, *, runs: bool) -> None:
    """Count an application that starts or stops running for its user and user groups."""
    if runs:
        state.usage.book.start(application.claimant, leaf.paths)
    else:
        state.usage.book.stop(application.claimant, leaf.paths)
