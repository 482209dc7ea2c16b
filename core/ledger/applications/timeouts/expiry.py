"""Execution time-outs: their Events, and the end of an application whose time is over (ACT-40 to ACT-46)."""

from math import inf, nextafter

from core.durations import duration_text
from core.instants import has_come, rfc3339
from core.ledger.applications.ending import ends_any, time_out
from core.ledger.applications.timeouts.due import (
    held_back,
    judge_all_later,
    judge_later,
    latest_now,
    take_unjudged,
)
from core.ledger.applications.timeouts.limits import bar_of, limit_of
from core.ledger.applications.timeouts.records import (
    carriers,
    carry,
    heard_through,
    is_safe,
    recover_execution,
)
from core.ledger.pods.reports import post
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due
from core.ledger.state.timers import TimerKind
from core.ledger.touched import Rounds
from core.workload.application import Application
from core.workload.ending import Ending
from core.workload.states import AppState
from core.workload.timeouts.execution import Execution, asked_for, end_announced, shortest, warned_from

NEAR = "ExecutionTimeoutNear"
"""Reason of the Event when most of an application's time is over."""

SHORTENED = "ExecutionTimeoutShortened"
"""Reason of the Event when the time of a running application becomes shorter."""

UNREAD = "ExecutionTimeoutUnread"
"""Reason of the Event on an originator whose annotation cannot be read."""

EVENTS_APART = 30.0
"""Seconds between two Events about a shorter time, because a user could cause thousands."""

_SHOWN = 64


def recover_executions(state: State) -> None:
    """Find since when all applications run, because all pods are known, or because this instance acts now."""
    for app_id in sorted(state.applications.known):
        recover_execution(state, state.applications.known[app_id])
    judge_all_later(state)


def judge_executions(state: State) -> Rounds:
    """Judge the time-outs of the applications that the event was about, and time what comes next."""
    for app_id in take_unjudged(state):
        application = state.applications.known.get(app_id)
        if application is None:
            continue
        if state.pods.listed and application.running_since is not None:
            yield from _judge(state, application, application.running_since)
            if state.applications.known.get(app_id) is not application:
                # It has ended. Another one of its id is judged for itself.
                continue
        due = execution_due(state, application)
        if due is None:
            cancel_timer(state, TimerKind.EXECUTION, app_id)
        else:
            set_timer(state, TimerKind.EXECUTION, app_id, due)


def executions_due(state: State) -> None:
    """Warn of ends that are near, and note those that have come."""
    for app_id in take_due(state, TimerKind.EXECUTION):
        application = state.applications.known[app_id]
        judge_later(state, app_id)
        execution, since = application.execution, application.running_since
        if execution is None or since is None or not _is_counted(application, execution):
            continue
        now, ends = state.now - held_back(state), execution.ends or 0.0
        if not execution.warned and has_come(warned_from(since, ends), now=now):
            execution.warned = True
            left = duration_text(max(0, round(ends - now)))
            _tell(state, application, NEAR, f"its application is ended in {left}, by its execution time-out")
        if has_come(ends, now=now):
            execution.through = max(state.pods.records[uid].facts.created for uid in application.pods)


def execution_due(state: State, application: Application) -> float | None:
    """Time at which something about an application's time-out is due, or None."""
    execution, since = application.execution, application.running_since
    if execution is None or since is None or not state.acts:
        return None
    moments = [] if execution.write_at is None else [execution.write_at]
    if execution.ends is not None and _is_counted(application, execution):
        first = execution.ends if execution.warned else warned_from(since, execution.ends)
        moments.append(first + held_back(state))
    return min(moments, default=None)


def _is_counted(application: Application, execution: Execution) -> bool:
    """True while the end may come. An application that completes ends by itself (APP-5)."""
    is_over = execution.ends is None or execution.through is not None or application.ends
    return not is_over and application.state is not AppState.COMPLETING and bool(application.pods)


def _judge(state: State, application: Application, since: float) -> Rounds:
    execution = application.execution or Execution()
    if not application.ends and execution.through is None and application.queue is not None:
        _announce(state, application, execution, since)
    application.execution = None if execution.is_blank else execution
    carry(state, application, execution)
    if application.ends or not application.pods:
        return
    if not state.acts:
        yield from _follow(state, application, execution, since)
    elif execution.through is not None and is_safe(state, application, execution):
        yield from time_out(state, application, _ending(state, application, execution, since))


def _follow(state: State, application: Application, execution: Execution, since: float) -> Rounds:
    """End an application as the acting instance does, so that what it leaves is a new one here, too."""
    execution.through = heard_through(state, application)
    ending = _ending(state, application, execution, since)
    if execution.through is not None and ends_any(state, application, ending):
        yield from time_out(state, application, ending)


def _announce(state: State, application: Application, execution: Execution, since: float) -> None:
    """Find the end of an application's time, and report if it comes sooner than was announced."""
    _hear(state, application, execution)
    limit, known = limit_of(state, application, execution), execution.ends
    if limit is None:
        execution.ends = None
        return
    is_new = since >= state.now
    execution.ends = end_announced(since + limit, known, is_new=is_new, now=latest_now(state))
    if execution.ends == known:
        return
    execution.warned = False
    if known is not None and execution.ends < known and _may_tell(state, execution):
        execution.shortened_at = state.now
        at = rfc3339(execution.ends)
        text = f"its application is ended at {at}, since its execution time-out is shorter"
        _tell(state, application, SHORTENED, text)


def _hear(state: State, application: Application, execution: Execution) -> None:
    """Take up the time that the originator asks for, which only becomes shorter."""
    first = application.originator
    record = state.pods.records.get(first[2]) if first is not None else None
    if record is None or not record.facts.execution_timeout:
        return
    text = record.facts.execution_timeout
    asked = asked_for(text)
    execution.asked = shortest((execution.asked, asked))
    if asked is None and not execution.complained and state.acts:
        execution.complained = True
        why = f"{text[:_SHOWN]!a} is no duration above zero, such as 2h, and counts as absent"
        post(state, record, UNREAD, f"its execution time-out {why}")


def _may_tell(state: State, execution: Execution) -> bool:
    last = execution.shortened_at
    return last is None or has_come(last + EVENTS_APART, now=state.now)


def _tell(state: State, application: Application, reason: str, text: str) -> None:
    found = carriers(state, application)
    if found and state.acts:
        post(state, found[0], reason, text)


def _ending(state: State, application: Application, execution: Execution, since: float) -> Ending:
    ran = duration_text(max(0, round((execution.ends or since) - since)))
    ordered = state.applications.endings.get(application.id._replace(recovered=False))
    # It follows any order, even one that was given right now, or by a clock that is ahead. If the order
    # counted, which may concern no pod, what it leaves would be ended again and again.
    given = max(state.now, nextafter(ordered.since, inf)) if ordered is not None else state.now
    return Ending(
        by="",
        since=given,
        until=state.now + bar_of(state, application),
        through=execution.through or 0.0,
        queue=application.queue or "",
        reason=f"it has run for {ran}",
        timed_out=True,
    )
