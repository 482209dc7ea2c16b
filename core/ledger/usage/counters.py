"""Counters of charges: in queues, for users and groups, and on nodes."""

from typing import Final

from core.ids import NodeName, PodUid
from core.ledger.pods.record import Charge, Held, PodRecord, Standing
from core.ledger.state.state import State
from core.queues.priority import ask_comes, ask_goes
from core.queues.queue import Queue
from core.queues.users.limits import UsageBook
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.nodes.node import NodeFacts, NodeUse

# Each settled pod needs these, and mypyc would look them up by name.
_PENDING: Final = Held.PENDING
_RESERVED: Final = Held.RESERVED
_ALLOCATED: Final = Held.ALLOCATED
_PLAIN: Final = Standing.PLAIN
_EVICTABLE: Final = Standing.EVICTABLE


def holds(charge: Charge | None) -> bool:
    """True if a charge takes quota: allocated or reserved, not merely asked for."""
    return (
        charge is not None
        and charge.queue is not None
        and (charge.held is _ALLOCATED or charge.held is _RESERVED)
    )


def holds_as_much(old: Charge | None, new: Charge | None) -> bool:
    """True if two charges that hold quota hold as much of one queue."""
    return old is not None and new is not None and old.queue == new.queue and old.size == new.size


def move_charge(
    state: State, record: PodRecord, old: Charge | None, new: Charge | None, *, people: bool
) -> None:
    """Count a pod's new charge in place of its old one. ``people``: also for users and groups."""
    # Queues count the same if only the node differs, as when a bind call names it.
    if old is None or new is None or not old.differs_at_most_by_node(new):
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


def _count(
    state: State, application: Application | None, charge: Charge, *, adding: bool, people: bool
) -> None:
    """Count a charge of a queue in or out. ``people``: also for users and groups."""
    leaf = state.config.tree.get(charge.queue) if charge.queue is not None else None
    if leaf is None:
        return
    standing = charge.standing
    is_plain = standing is _PLAIN or standing is _EVICTABLE
    for queue in leaf.chain:
        queue.changes += 1
        _add_to(_held_in(queue, charge.held), charge.size, adding=adding)
        if not is_plain:
            _add_to(_part_of(queue, standing), charge.size, adding=adding)
    if charge.held is _PENDING:
        _count_priority(leaf, application, charge, adding=adding)
    elif people and application is not None:
        _count_people(state, application, leaf, charge.size, adding=adding)


def _add_to(tally: Tally, size: Resource, *, adding: bool) -> None:
    if adding:
        tally.add(size)
    else:
        tally.subtract(size)


def _held_in(queue: Queue, held: Held) -> Tally:
    """Counter of a queue for the pods that it takes quota for, or that wait."""
    if held is _PENDING:
        return queue.pending
    return queue.reserved if held is _RESERVED else queue.allocated


def _part_of(queue: Queue, standing: Standing) -> Tally:
    """Counter of a queue for a role in preemption, which is part of another counter."""
    if standing is Standing.PREEMPTING:
        return queue.preempting
    return queue.triggered if standing is Standing.TRIGGERED else queue.bypassed


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
    foreign = old.held is Held.OCCUPIED or new.held is Held.OCCUPIED
    return not foreign and old.node == new.node and old.size == new.size


def _count_on_node(state: State, uid: PodUid, charge: Charge, *, adding: bool) -> None:
    """Count a charge in or out on its node, or as reserved on no node yet."""
    if not charge.node:
        if charge.held is _RESERVED:
            _add_to(state.usage.afloat, charge.size, adding=adding)
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
    if charge.standing is _EVICTABLE and charge.queue is not None:
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
