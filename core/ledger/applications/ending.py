"""End of applications by order of an administrator (ACT-20 to ACT-24).

The order concerns the pods that the application had. They are evicted, deleted or marked Failed, each again
until it is gone. The application is Failing meanwhile, and then Failed. Its other pods form a new
application, which waits until the bar is over.
"""

from core.ids import AppId
from core.instants import has_come
from core.ledger import events as on
from core.ledger.applications.bars import (
    ending_of,
    may_be_of_daemon_set,
    next_bar_end,
    refusal_of_bar,
)
from core.ledger.applications.classification import place_again, take_in
from core.ledger.applications.lifecycle import fire, remove
from core.ledger.applications.membership import take_out
from core.ledger.applications.placement import check, place
from core.ledger.applications.rejection import MARKED_APART, mark_failed
from core.ledger.applications.timeouts.due import judge_later
from core.ledger.applications.timeouts.records import placed_at, recorded_through, withdraw_record
from core.ledger.effects import DeletePod, EvictPod
from core.ledger.gangs.release import AGAIN, delete, release
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.ledger.pods.binding import may_be_bound
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due, timer_at
from core.ledger.state.timers import ONLY_ONE, TimerKind
from core.ledger.touched import Rounds, touch, touch_dropped
from core.reasons import Code
from core.workload.application import Application
from core.workload.budget import covering
from core.workload.ending import Ending, Endings, concerns, got_node_after, is_left_failed
from core.workload.states import Move

ENDED = "ApplicationEnded"
"""Reason of Events on pods that an order concerns, and of their failure."""

TIMED_OUT = "ExecutionTimeout"
"""Reason of Events on pods whose application ran for too long, and of their failure (ACT-42)."""

BLOCKED = "EvictionBlocked"
"""Reason of the Event on a pod that a budget holds."""

LONGEST_WAIT = 60.0
"""Seconds between two evictions of a pod that fail, at most. They begin with `AGAIN`."""

_DOUBLED = 8
"""Times that the wait is doubled, at most."""


def end_applications(state: State, endings: Endings) -> Rounds:
    """Follow these orders, and no others (ACT-20).

    An order that is missing was lifted or is over.
    """
    before = state.applications.endings
    state.applications.endings = endings
    for app_id in sorted(endings):
        known, ending = before.get(app_id), endings[app_id]
        is_new = known is None or known.since != ending.since
        for each in (app_id, app_id._replace(recovered=True)):
            application = state.applications.known.get(each)
            if application is None:
                continue
            if application.ends:
                yield from _resume(state, application)
            elif is_new or _is_any_concerned(state, application):
                yield from _begin(state, application)
    for app_id in sorted(before.keys() - endings.keys()):
        for each in (app_id, app_id._replace(recovered=True)):
            if (application := state.applications.known.get(each)) is not None:
                yield from _succeed(state, application)
    yield from _lift(state)


def time_out(state: State, application: Application, ending: Ending) -> Rounds:
    """End an application whose time is over, as an order would (ACT-42)."""
    state.applications.timeouts = {**state.applications.timeouts, application.id: ending}
    yield from _begin(state, application)
    yield from _lift(state)


def resume_endings(state: State) -> Rounds:
    """Continue all orders, because this instance acts from now on and knows all pods."""
    for app_id in sorted(state.applications.known):
        application = state.applications.known.get(app_id)
        if application is not None and application.ends:
            _drop_unrecorded(state, application)
            yield from _resume(state, application)


def _drop_unrecorded(state: State, application: Application) -> None:
    """Drop a time-out of which no pod has the record any more, as a restart would.

    Its pods may have been of several applications of that id for the former leader. Then the time of only
    one of them was over.
    """
    timeouts = state.applications.timeouts
    if application.id not in timeouts or not state.config.settings.records_protected:
        return
    if recorded_through(state, application) is None:
        state.applications.timeouts = {key: each for key, each in timeouts.items() if key != application.id}


def follow_ending(state: State, record: PodRecord) -> Rounds:
    """Apply the order about a pod's application to the pod, as it is now known."""
    application = state.application_of(record)
    ending = ending_of(state, application) if application is not None else None
    if application is None or ending is None:
        return
    if not _is_concerned(state, record, ending):
        # It may have been, as one that was being bound until the bar was over.
        yield from _succeed(state, application)
        return
    if application.ends:
        _end_pod(state, record, ending)
        return
    yield from _begin(state, application)
    # A pod that no queue takes leaves its application, whose other pods form a new one (F-1).
    former = state.applications.known.get(application.id._replace(recovered=False))
    if former is not None and not former.ends and _is_any_concerned(state, former):
        yield from _begin(state, former)


def note_left(state: State, app_id: AppId | None) -> Rounds:
    """Note that a pod of an application is gone, perhaps the last one that an order concerns."""
    application = state.applications.known.get(app_id) if app_id is not None else None
    if application is not None and application.ends:
        yield from _succeed(state, application)
    else:
        _drop_timeouts(state)


def endings_due(state: State) -> Rounds:
    """End the bars whose time is over, and try again to end pods."""
    if take_due(state, TimerKind.BAR_ENDS):
        yield from _lift(state)
    for uid in sorted(take_due(state, TimerKind.ENDING)):
        record = state.pods.records[uid]
        application = state.application_of(record)
        ending = ending_of(state, application) if application is not None and application.ends else None
        if application is None or ending is None:
            continue
        if _is_concerned(state, record, ending):
            _end_pod(state, record, ending)
        else:
            yield from _succeed(state, application)


def note_ended(state: State, event: on.PodEvicted) -> None:
    """Note how the eviction of a pod ended. One that failed is repeated after a back-off."""
    record = state.pods.records.get(event.uid)
    application = state.application_of(record) if record is not None else None
    if record is None or application is None or not application.ends:
        return
    wait = MARKED_APART
    if event.outcome is EvictionOutcome.BUDGET and not record.membership.evictions_refused:
        _report_budget(state, record)
    if event.outcome in (EvictionOutcome.BUDGET, EvictionOutcome.FAILED):
        wait = min(LONGEST_WAIT, AGAIN * 2 ** min(record.membership.evictions_refused, _DOUBLED))
        record.membership.evictions_refused += 1
    set_timer(state, TimerKind.ENDING, record.uid, state.now + wait)


# -- applications ----------------------------------------------------------------------------------------


def _begin(state: State, application: Application) -> Rounds:
    """End an application. Its pending pods wait from now on."""
    application.ends = True
    # The state of a rejected application stays as it is.
    judge_later(state, application.id)
    fire(state, application, Move.END)
    if application.queue is None:
        place(state, application)
    else:
        application.forced = True
        check(state, application)
    for uid in sorted(application.pods):
        touch(state, state.pods.records[uid])
    yield
    yield from _resume(state, application)


def _resume(state: State, application: Application) -> Rounds:
    ending = ending_of(state, application)
    live = [state.pods.records[uid] for uid in application.pods]
    # What tells a restart that the time is over stays for as long as others need it.
    live.sort(key=lambda each: (bool(each.facts.running_since), each.uid))
    for record in live:
        cancel_timer(state, TimerKind.ENDING, record.uid)
        if ending is not None and _is_concerned(state, record, ending):
            _end_pod(state, record, ending)
    yield from _succeed(state, application)


def _succeed(state: State, application: Application) -> Rounds:
    """End an application that has no pod left that an order concerns. Other pods form a new one.

    It counts nowhere until the bar is over, so a pod that may be bound already stays where it is charged.
    """
    if not application.ends or not state.pods.listed or _is_any_concerned(state, application):
        return
    rest = [state.pods.records[uid] for uid in application.pods]
    in_doubt = [record for record in rest if may_be_bound(record)]
    for record in in_doubt:
        set_timer(state, TimerKind.ENDING, record.uid, state.now + AGAIN)
    if in_doubt:
        return
    rest.sort(key=lambda record: (record.facts.placeholder, record.seq))
    for record in rest:
        touch_dropped(state, record)
    yield
    for record in rest:
        take_out(state, record, application)
    fire(state, application, Move.FAIL)
    remove(state, application)
    _drop_timeouts(state)
    for record in rest:
        withdraw_record(state, record, application)
        yield from take_in(state, record)
        touch(state, record)
        yield


def _lift(state: State) -> Rounds:
    """Place the applications whose bar is over, and time the end of the next bar."""
    _drop_timeouts(state)
    first = next_bar_end(state)
    if first is None:
        cancel_timer(state, TimerKind.BAR_ENDS, ONLY_ONE)
    else:
        set_timer(state, TimerKind.BAR_ENDS, ONLY_ONE, first)
    barred = [each for each in sorted(state.applications.unplaced) if _was_barred(state, each)]
    if barred:
        yield from place_again(state, barred)


def _drop_timeouts(state: State) -> None:
    """Forget the time-outs whose application has ended and whose bar is over."""
    known = state.applications.known
    ending = {each for each in state.applications.timeouts if each in known and known[each].ends}
    left = {
        app_id: each
        for app_id, each in state.applications.timeouts.items()
        if app_id in ending or not has_come(each.until, now=state.now)
    }
    if len(left) < len(state.applications.timeouts):
        state.applications.timeouts = left


def _was_barred(state: State, app_id: AppId) -> bool:
    application = state.applications.known[app_id]
    refusal = application.refusal
    waits = refusal is not None and refusal.code is Code.APPLICATION_ENDED
    return waits and refusal_of_bar(state, application) is None


# -- pods ------------------------------------------------------------------------------------------------


def _is_concerned(state: State, record: PodRecord, ending: Ending) -> bool:
    """True for a pod that must go.

    A pending one whose controller would replace it only waits. One that got its node after the bar may run.
    """
    facts = record.facts
    if not concerns(ending, facts, of_daemon_set=may_be_of_daemon_set(state, record)):
        return False
    if record.node:
        return ending.timed_out or not _got_node_after(state, record, ending)
    return may_be_bound(record) or facts.placeholder or is_left_failed(facts)


def _got_node_after(state: State, record: PodRecord, ending: Ending) -> bool:
    """True for a pod that got its node after the bar: by our own clock if Paddock's POST bound it."""
    if record.placement.bound_to:
        return has_come(ending.until, now=record.placement.placed_at or state.now)
    return got_node_after(ending, placed_at(state, record), skew=state.clock_skew)


def _is_any_concerned(state: State, application: Application) -> bool:
    ending = ending_of(state, application)
    return ending is not None and ends_any(state, application, ending)


def ends_any(state: State, application: Application, ending: Ending) -> bool:
    """True if an order concerns a pod of an application. Cost: O(its pods)."""
    return any(_is_concerned(state, state.pods.records[uid], ending) for uid in application.pods)


def _end_pod(state: State, record: PodRecord, ending: Ending) -> None:
    """Have a pod evicted, deleted or marked Failed, unless that was requested already."""
    facts, is_asked = record.facts, timer_at(state, TimerKind.ENDING, record.uid) is not None
    if is_asked or facts.deleting or not (state.acts and state.pods.listed):
        return
    wait = MARKED_APART
    if facts.placeholder:
        _release(state, record)
    elif record.node:
        evict_pod(state, record, ending)
    elif may_be_bound(record):
        # The API server may bind it yet. Then it is evicted.
        wait = AGAIN
    else:
        mark_failed(state, record, TIMED_OUT if ending.timed_out else ENDED, _text(ending))
    set_timer(state, TimerKind.ENDING, record.uid, state.now + wait)


def _release(state: State, record: PodRecord) -> None:
    if record.gang.released:
        delete(state, record)
    elif not record.gang.yields_to:
        release(state, record)


def evict_pod(state: State, record: PodRecord, ending: Ending) -> None:
    """Have a running pod evicted, or deleted by force, and say so once."""
    facts, why = record.facts, _text(ending)
    if not record.membership.evictions_refused:
        post(state, record, TIMED_OUT if ending.timed_out else ENDED, why)
    pod = (facts.uid, facts.namespace, facts.name)
    if ending.force:
        emit(state, DeletePod(*pod, why=why, purpose=Purpose.ENDING))
    else:
        emit(state, EvictPod(*pod, why=why, purpose=Purpose.ENDING))


def _text(ending: Ending) -> str:
    if ending.timed_out:
        return f"its application is ended by its execution time-out: {ending.reason}"
    return f"its application was ended by {ending.by}{f': {ending.reason}' if ending.reason else ''}"


def _report_budget(state: State, record: PodRecord) -> None:
    """Report on a pod which budget holds it."""
    facts = record.facts
    found = covering(state.cluster.budgets, facts.namespace, facts.labels)
    named = ", ".join(sorted(each.name for each in found)) or "unknown"
    post(state, record, BLOCKED, f"its application was ended, and PodDisruptionBudget {named} forbids it")
