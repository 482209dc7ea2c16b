"""Belief: what is taken for true of a pod, by the sources that have told of it, and for how long (F-8).

Lists and watches count, but the body of a verb may be ahead of the watch. And a list may not show yet what
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
"""Seconds that a verb's body is believed before a list or watch shows the same."""

DOUBTED = 30.0
"""Seconds, at least, that the watch has to show what a list did not."""


# -- what is shown and told ------------------------------------------------------------------------------


def note_shown(record: PodRecord, facts: PodFacts) -> PodFacts:
    """Note what a list, the watch or a read shows of a pod, and return it with what lasts of its facts."""
    record.seen.shown = facts = lasting(record.seen.shown or record.facts, facts)
    return facts


def note_not_shown(record: PodRecord) -> None:
    """Note that a complete list lacks a pod."""
    record.seen.shown = None


def believe_shown(state: State, record: PodRecord) -> None:
    """Take a pod for what was shown of it, which must be something; no body is ahead of that any more."""
    if record.seen.provisional_until is not None:
        record.seen.provisional_until = None
        cancel_timer(state, TimerKind.PROVISIONAL, record.uid)
    record.facts = record.seen.shown or record.facts


def believe_told(record: PodRecord, facts: PodFacts) -> None:
    """Take a pod for what the body of a verb, or a read, has told of it."""
    record.facts = lasting(record.facts, facts)


def begin_provisional(state: State, record: PodRecord) -> None:
    """Believe a body for a while, or for a while more, though nothing has shown the same."""
    until = record.seen.provisional_until = state.now + PROVISIONAL
    set_timer(state, TimerKind.PROVISIONAL, record.uid, until)


def is_any_provisional(state: State) -> bool:
    """True if the body of a verb is believed of some pod. Cost: O(1)."""
    return is_any_set(state, TimerKind.PROVISIONAL)


def overdue_bodies(state: State) -> list[PodUid]:
    """Pods whose body is believed no longer, by uid; each is provisional until it is decided."""
    if not is_due(state, TimerKind.PROVISIONAL):
        return []
    until = timers_of(state, TimerKind.PROVISIONAL)
    return sorted(PodUid(str(uid)) for uid in until if has_come(until[uid], now=state.now))


def vouch(state: State, record: PodRecord) -> None:
    """Note that a pod exists whatever a list says that was requested before."""
    record.seen.vouched_in = state.pods.lists_begun


# -- acts of Paddock that are in doubt -------------------------------------------------------------------


def begin_doubt(state: State, record: PodRecord) -> None:
    """Doubt what is not shown of a pod once the watch had time enough to show it."""
    until = record.seen.doubted_until = state.now + DOUBTED
    set_timer(state, TimerKind.DOUBT, record.uid, until)


def end_doubt(state: State, record: PodRecord) -> None:
    """Doubt nothing of a pod."""
    record.seen.doubted_until = None
    cancel_timer(state, TimerKind.DOUBT, record.uid)


def end_doubt_if_shown(state: State, record: PodRecord) -> None:
    """End the doubt about a pod of which everything is shown by now."""
    if record.seen.doubted_until is not None and not is_not_shown(record):
        end_doubt(state, record)


def is_not_shown(record: PodRecord) -> bool:
    """True if something of a pod rests on acts of Paddock alone."""
    facts = record.facts
    bound = bool(record.placement.bound_to) and not facts.node
    evicted = record.preemption.eviction is not None and not facts.deleting
    opened = record.admission.opening and record.is_gated
    return record.seen.shown is None or bound or evicted or opened


def believe_binding(state: State, record: PodRecord) -> None:
    """Believe a Binding that was accepted just now: no list has been read since."""
    vouch(state, record)
    if record.seen.doubted_until is None:
        return
    if record.seen.shown is not None:
        end_doubt(state, record)
    else:
        begin_doubt(state, record)


def forget_belief(state: State, record: PodRecord) -> None:
    """Wait no more for what would show a pod that is gone."""
    if record.seen.provisional_until is not None:
        cancel_timer(state, TimerKind.PROVISIONAL, record.uid)
    if record.seen.doubted_until is not None:
        cancel_timer(state, TimerKind.DOUBT, record.uid)
