"""Lifecycle of applications: moves, timers, and the consequences of a state (APP).

An application counts as running while it is Starting or Running, or while a placeholder of it holds capacity.
It counts in its queues, for its user and for its group (QUO-13, UGM-8, APP-15). Its last pod leaves it
Completing, and a new pod may resume it.
"""

from core.ids import QueuePath
from core.ledger.admission.requests import request_cycle
from core.ledger.applications.ended import expire_ended, note_ended
from core.ledger.applications.index import unfile_application
from core.ledger.applications.moves.orders import end_order
from core.ledger.applications.timeouts.due import judge_later, latest_now
from core.ledger.gangs.due import disarm, touch_gang
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due
from core.ledger.state.timers import TimerKind
from core.ledger.usage.counters import count_running, regroup
from core.queues.properties import SortPolicy
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.gangs.phase import GangPhase
from core.workload.gangs.progress import numbers_of
from core.workload.states import AppState, Move, next_state

COMPLETING_FOR = 30.0
"""Seconds from the end of the last pod to Completed (APP-5)."""

STARTING_FOR = 300.0
"""Longest time in state Starting, in seconds (SORT-8)."""

_TIMERS = {AppState.COMPLETING: COMPLETING_FOR, AppState.STARTING: STARTING_FOR}


def fire(state: State, application: Application, move: Move) -> None:
    """Make a move, with its consequences. A move that leads nowhere is ignored (APP-2)."""
    before, after = application.state, next_state(application.state, move)
    if after is before:
        return
    counted = application.started
    application.enter(after, now=state.now)
    _note_running(state, application, after)
    cancel_timer(state, TimerKind.APPLICATION_STATE, application.id)
    ends = state_ends(application)
    if ends is not None:
        set_timer(state, TimerKind.APPLICATION_STATE, application.id, ends)
    leaf = _leaf(state, application)
    if leaf is None:
        return
    if AppState.COMPLETING in (before, after):
        note_completing(leaf, application)
    if application.started != counted:
        _count(state, application, leaf, runs=application.started)
    if leaf.properties.sort_policy is SortPolicy.STATE_AWARE:
        # Another application may be let in (SORT-8).
        request_cycle(state, CycleReason.APPLICATION_CHANGED)


def _note_running(state: State, application: Application, entered: AppState) -> None:
    """Note since when an application runs. No later state sets that back (ACT-41)."""
    if entered is AppState.RUNNING and application.running_since is None:
        application.running_since = latest_now(state)
    if application.running_since is not None:
        judge_later(state, application.id)


def state_ends(application: Application) -> float | None:
    """Time at which the state of an application ends by itself. None for a state that does not."""
    seconds = _TIMERS.get(application.state)
    return None if seconds is None else application.since + seconds


def note_completing(leaf: Queue, application: Application) -> None:
    """Note whether an application completes without any pod, so that its queue may be changed."""
    completes = application.state is AppState.COMPLETING and not application.pods
    (leaf.completing.add if completes else leaf.completing.discard)(application.id)


def _count(state: State, application: Application, leaf: Queue, *, runs: bool) -> None:
    count_running(state, application, leaf, runs=runs)
    if not runs:
        # Another application may run in its place (QUO-13, UGM-8).
        request_cycle(state, CycleReason.APPLICATION_CHANGED)
    for queue in leaf.chain:
        (queue.running.add if runs else queue.running.discard)(application.id)


def _allocated(state: State, application: Application) -> None:
    """Note that a pod got capacity (APP-3).

    In a ``stateaware`` leaf, the first makes the application Starting.
    """
    if application.state is AppState.NEW:
        fire(state, application, Move.RUN)
    leaf = _leaf(state, application)
    aware = leaf is not None and leaf.properties.sort_policy is SortPolicy.STATE_AWARE
    first = application.state is AppState.ACCEPTED and not application.starts_at_once
    fire(state, application, Move.START if aware and first else Move.RUN)


def run(state: State, application: Application) -> None:
    """Run an application whose placeholders have, or had before a restart, their nodes (APP-3)."""
    if application.state is AppState.NEW:
        fire(state, application, Move.RUN)
    fire(state, application, Move.RUN)


def _placeholder_placed(state: State, application: Application) -> None:
    """Note that a placeholder got capacity.

    The first makes the application count as running (APP-15, GANG-15).
    """
    if application.state is AppState.NEW:
        fire(state, application, Move.RUN)
    counted = application.started
    application.holding += 1
    leaf, gang_progress = _leaf(state, application), application.gang_progress
    if leaf is not None and not counted:
        _count(state, application, leaf, runs=True)
    if gang_progress is not None and gang_progress.due is None and gang_progress.phase is GangPhase.RESERVING:
        gang_progress.due = state.now + gang_progress.lifetime
        touch_gang(state, application.id)


def _placeholder_removed(state: State, application: Application) -> None:
    """Note that a placeholder lost its capacity. With the last one, their time stops (GANG-15)."""
    application.holding -= 1
    if application.holding:
        return
    leaf = _leaf(state, application)
    if leaf is not None and not application.started:
        _count(state, application, leaf, runs=False)
    if application.gang_progress is not None:
        application.gang_progress.due = None
        touch_gang(state, application.id)


def note_quota_held(state: State, record: PodRecord, *, holds_now: bool) -> None:
    """Note for its application that a pod holds quota now, or does not hold it any more.

    Quota of a placeholder does not count for the application itself (GANG-8).
    """
    application = state.application_of(record)
    if application is None:
        return
    if record.facts.placeholder:
        (_placeholder_placed if holds_now else _placeholder_removed)(state, application)
    elif holds_now:
        _allocated(state, application)
    if holds_now and _was_let_in(state, record):
        application.let_in = True


def _was_let_in(state: State, record: PodRecord) -> bool:
    """True if a pod got its capacity from Paddock, and was not bound by others."""
    promised = (
        record.admission.reservation is not None or record.gang.slot is not None or record.admission.opening
    )
    return promised or record.uid in state.turns.of


def idle(state: State, application: Application) -> None:
    """Complete an application that has only placeholders left, which are no work (APP-3)."""
    idles = len(application.pods) == len(application.holders)
    if idles and application.queue is not None and application.state is not AppState.COMPLETING:
        fire(state, application, Move.COMPLETE)


def emptied(state: State, application: Application) -> None:
    """Complete an application without pods, or remove it if it never had a queue (APP-13)."""
    if application.state is AppState.RESUMING:
        fire(state, application, Move.RUN)
    elif application.state is AppState.FAILING:
        fire(state, application, Move.FAIL)
    if application.queue is None or application.state is AppState.FAILED:
        end_order(state, application.id)
        remove(state, application)
    elif application.state is not AppState.COMPLETING:
        fire(state, application, Move.COMPLETE)
    elif application.gang_progress is not None and application.gang_progress.left:
        complete(state, application)
    elif (leaf := _leaf(state, application)) is not None:
        note_completing(leaf, application)


def pass_time(state: State) -> None:
    """Handle states that ended, and forget applications that ended long ago."""
    for app_id in take_due(state, TimerKind.APPLICATION_STATE):
        application = state.applications.known[app_id]
        if application.state is AppState.STARTING:
            fire(state, application, Move.RUN)
        elif application.holders:
            # Remaining placeholders are deleted first (APP-6). A pod may claim to be one without any gang.
            if application.gang_progress is not None:
                application.gang_progress.left = True
                touch_gang(state, app_id)
            set_timer(state, TimerKind.APPLICATION_STATE, app_id, state.now + COMPLETING_FOR)
        else:
            complete(state, application)
    expire_ended(state)


def leave_parents(state: State) -> None:
    """Complete the completing applications of a leaf that becomes a parent."""
    for queue in list(state.config.tree):
        if not queue.is_leaf:
            for app_id in sorted(queue.completing):
                complete(state, state.applications.known[app_id])


def complete(state: State, application: Application) -> None:
    """End an application that completes."""
    fire(state, application, Move.COMPLETE)
    remove(state, application)


def change_queue(state: State, application: Application, leaf: Queue) -> None:
    """Have an application belong to another leaf. The charges of its pods follow when these are settled."""
    old, counts = _leaf(state, application), application.started
    if old is not None:
        if counts:
            _count(state, application, old, runs=False)
        old.applications.discard(application.id)
        old.completing.discard(application.id)
    regroup(state, application, state.config.limits.group_for(leaf.paths, application.groups or ()))
    application.queue = leaf.path
    leaf.applications.add(application.id)
    note_completing(leaf, application)
    if counts:
        _count(state, application, leaf, runs=True)
    if application.running_since is not None:
        # Other time-outs count there.
        judge_later(state, application.id)


def remove(state: State, application: Application) -> None:
    """Remove an application from its queue. An ended one is remembered, to be shown (APP-14)."""
    unfile_application(state, application)
    cancel_timer(state, TimerKind.APPLICATION_STATE, application.id)
    cancel_timer(state, TimerKind.EXECUTION, application.id)
    disarm(state, application.id)
    leaf = _leaf(state, application)
    if leaf is not None:
        leaf.applications.discard(application.id)
        leaf.completing.discard(application.id)
    if application.ended:
        end_order(state, application.id)
        application.gang = None
        if application.gang_progress is not None:
            application.gang_progress = numbers_of(application.gang_progress)
        note_ended(state, application)


def _leaf(state: State, application: Application) -> Queue | None:
    path: QueuePath | None = application.queue
    return state.config.tree.get(path) if path is not None else None
