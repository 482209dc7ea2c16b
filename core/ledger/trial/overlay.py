"""Copy of the state for a trial: what a cycle changes is copied, everything else is shared and only read."""

from collections.abc import Generator, Iterator, Sequence
from copy import copy
from dataclasses import replace

from core.ids import AppId, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleRequest
from core.ledger.state.applications import Applications
from core.ledger.state.node_reservation import NodeReservations
from core.ledger.state.podgroups import PodGroups
from core.ledger.state.state import State
from core.ledger.state.timers import Timers
from core.ledger.trial.change import Change
from core.ledger.trial.changed_queues import ChangedBook, ChangedQueues, changed_limits
from core.ledger.trial.turns import end_old_turns, shared_turns
from core.queues.properties import SortPolicy
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.states import STARTED

_PER_UNIT = 500
"""Nodes, and turns, that are copied in one unit of work."""


def overlay_of(state: State, change: Change) -> Generator[int, None, State]:
    """State after a change, for one trial, in steps of some units of work. Cost: O(turns), O(nodes)."""
    ended = list(_ended(state, change))
    completed = _completed(state, change)
    tree = ChangedQueues(
        state.config.tree, change, ((leaf, record.facts.size) for record, leaf, _ in ended), completed
    )
    book = ChangedBook(state.usage.book, completed)
    # Nodes and turns may come or go between two steps, so all of this is of one moment.
    free, nodes, turns = (
        state.usage.free_capacity.fork(),
        dict(state.cluster.nodes),
        shared_turns(state.turns),
    )
    units = 5 + (len(nodes) + len(turns.of)) // _PER_UNIT
    for record, leaf, application in ended:
        book.end(application.claimant, leaf.paths, record.facts.size)
        free.give_back(record.node, record.facts.size)
    if change.node is not None:
        nodes[change.node.name] = change.node
        free.add_node(change.node)
    limits = changed_limits(state.config.limits, change.raises)
    overlay = State(
        now=state.now,
        acts=state.acts,
        timers=Timers(),
        config=replace(state.config, tree=tree, limits=limits),
        pods=state.pods,
        cluster=replace(state.cluster, nodes=nodes),
        usage=replace(state.usage, book=book, free_capacity=free),
        applications=_applications(state.applications, ended),
        pending=state.pending,
        turns=turns,
        cycle=CycleRequest(running=True),
        unguarded=state.unguarded,
        reservations=NodeReservations(of=dict(state.reservations.of)),
        preemption=state.preemption,
        gangs=state.gangs,
        podgroups=_pod_groups(state.podgroups),
    )
    end_old_turns(state, overlay)
    try:
        yield units
    except BaseException:
        tree.dismantle()
        raise
    return overlay


Ended = tuple[PodRecord, Queue, Application]
"""Pod that ends, with its leaf and its application."""


def _ended(state: State, change: Change) -> Iterator[Ended]:
    for uid in change.ended:
        record = state.pods.records.get(uid)
        application = state.application_of(record) if record is not None else None
        leaf = state.config.tree.get(application.queue) if application and application.queue else None
        if record is not None and application is not None and leaf is not None:
            yield record, leaf, application


def _completed(state: State, change: Change) -> frozenset[AppId]:
    """Applications that lose their last pod."""
    ended: frozenset[PodUid] = frozenset(change.ended)
    return frozenset(
        application.id
        for _, _, application in _ended(state, change)
        if application.state in STARTED and application.pods <= ended
    )


def _applications(base: Applications, ended: Sequence[Ended]) -> Applications:
    """Applications with less usage where pods of them end, which counts in fair leaves (SORT-7)."""
    if not any(leaf.properties.sort_policy is SortPolicy.FAIR for _, leaf, _ in ended):
        return base
    known = dict(base.known)
    for record, _, application in ended:
        twin = copy(known[application.id])
        twin.used = twin.used.plus(record.facts.size.times(-1))
        known[application.id] = twin
    return replace(base, known=known)


def _pod_groups(groups: PodGroups) -> PodGroups:
    return PodGroups(known=groups.known, watched=groups.watched, terms=groups.terms, sources=groups.sources)
