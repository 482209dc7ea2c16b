"""Belief: which source is trusted about a pod, and for how long (F-8).

Lists and watches count. But the body of a verb may be ahead of the watch. And a list may not show yet what
Paddock has done to a pod.
"""

from core.ids import PodUid
from core.instants import has_come
from core.ledger.pods.record import PodRecord
from core.ledger.pods.update import lasting
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, is_any_set, is_due, set_timer, timers_of
from core.ledger.state.timers import TimerKind
from core.workload.pod import PodFacts

PROVISIONAL = 30.0
"""Seconds for which a verb's body is believed before a list or watch shows the same."""

DOUBTED = 30.0
"""Minimum number of seconds that the watch has to show what a list did not."""


# -- sources ---------------------------------------------------------------------------------------------


def note_shown(record: PodRecord, facts: PodFacts) -> PodFacts:
    """Note what a list, the watch or a read shows of a pod. Return the facts with their lasting part."""
    record.seen.shown = facts = lasting(record.seen.shown or record.facts, facts)
    return facts


def note_not_shown(record: PodRecord) -> None:
    """Note that a complete list lacks a pod."""
    record.seen.shown = None


def believe_shown(state: State, record: PodRecord) -> None:
    """Take the shown facts of a pod, of which there must be some. No body is ahead of them any more."""
    if record.seen.provisional_until is not None:
        record.seen.provisional_until = None
        cancel_timer(state, TimerKind.PROVISIONAL, record.uid)
    record.facts = record.seen.shown or record.facts


def believe_body(record: PodRecord, facts: PodFacts) -> None:
    """Take the facts of a pod from the body of a verb, or from a read."""
    record.facts = lasting(record.facts, facts)


def begin_provisional(state: State, record: PodRecord) -> None:
    """Believe a body for a limited time, or extend that time, before anything has shown the same."""
    until = record.seen.provisional_until = state.now + PROVISIONAL
    set_timer(state, TimerKind.PROVISIONAL, record.uid, until)


def is_any_provisional(state: State) -> bool:
    """True if the body of a verb is believed about some pod. Cost: O(1)."""
    return is_any_set(state, TimerKind.PROVISIONAL)


def overdue_bodies(state: State) -> list[PodUid]:
    """Pods whose body is not believed any longer, by uid. Each stays provisional until it is handled."""
    if not is_due(state, TimerKind.PROVISIONAL):
        return []
    until = timers_of(state, TimerKind.PROVISIONAL)
    return sorted(PodUid(str(uid)) for uid in until if has_come(until[uid], now=state.now))


def note_existence(state: State, record: PodRecord) -> None:
    """Note that a pod exists, whatever a list says that was requested earlier."""
    record.seen.exists_since_list = state.pods.lists_begun


# -- acts of Paddock that are in doubt -------------------------------------------------------------------


def begin_doubt(state: State, record: PodRecord) -> None:
    """Start to doubt the facts of a pod that are not shown, once the watch had enough time to show them."""
    until = record.seen.doubted_until = state.now + DOUBTED
    set_timer(state, TimerKind.DOUBT, record.uid, until)


def end_doubt(state: State, record: PodRecord) -> None:
    """End all doubt about a pod."""
    record.seen.doubted_until = None
    cancel_timer(state, TimerKind.DOUBT, record.uid)


def end_doubt_if_shown(state: State, record: PodRecord) -> None:
    """End the doubt about a pod if everything about it is shown by now."""
    if record.seen.doubted_until is not None and not is_not_shown(record):
        end_doubt(state, record)


def is_not_shown(record: PodRecord) -> bool:
    """True if something about a pod rests on acts of Paddock alone."""
    facts = record.facts
    bound = bool(record.placement.bound_to) and not facts.node
    evicted = record.preemption.eviction is not None and not facts.deleting
    opened = record.admission.opening and record.is_gated
    return record.seen.shown is None or bound or evicted or opened


def believe_binding(state: State, record: PodRecord) -> None:
    """Believe a Binding that was accepted just now, because no list has been read since."""
    note_existence(state, record)
    if record.seen.doubted_until is None:
        return
    if record.seen.shown is not None:
        end_doubt(state, record)
    else:
        begin_doubt(state, record)


def forget_belief(state: State, record: PodRecord) -> None:
    """Cancel the timers of a pod that was deleted."""
    if record.seen.provisional_until is not None:
        cancel_timer(state, TimerKind.PROVISIONAL, record.uid)
    if record.seen.doubted_until is not None:
        cancel_timer(state, TimerKind.DOUBT, record.uid)
