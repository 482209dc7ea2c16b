"""Quota reservations: quota of a pod from the answer of filter until it is bound (DESIGN-3)."""

from core.ids import NodeName
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due
from core.ledger.state.timers import TimerKind
from core.ledger.touched import touch
from core.workload.ask import Reservation


def reserve(state: State, record: PodRecord, reservation: Reservation) -> None:
    """Reserve the quota of a pod, in place of an earlier reservation."""
    record.admission.reservation = reservation
    state.usage.reserved.add(record.uid)
    ends = reservation.ends
    if ends is None:
        cancel_timer(state, TimerKind.RESERVATION, record.uid)
    else:
        set_timer(state, TimerKind.RESERVATION, record.uid, ends)


def give_back(state: State, record: PodRecord) -> None:
    """End the reservation of a pod, if it has one."""
    if record.admission.reservation is not None:
        record.admission.reservation = None
        state.usage.reserved.discard(record.uid)
        cancel_timer(state, TimerKind.RESERVATION, record.uid)


def run_or_stop(state: State, record: PodRecord, *, runs: bool) -> None:
    """Have the time of a pod's reservation run, or stand still, from now on."""
    held = record.admission.reservation
    if held is not None and runs is not (held.running_since is not None):
        reserve(state, record, held.running(runs, now=state.now))


def shorten(state: State, record: PodRecord, seconds: float) -> None:
    """Leave a pod's reservation at most ``seconds``."""
    held = record.admission.reservation
    if held is not None:
        reserve(state, record, held.cut_to(seconds, now=state.now))


def expect_on(record: PodRecord, node: NodeName) -> None:
    """Count a pod's reservation on a node until its Binding names the real one. ``NO_NODE``: on none."""
    record.admission.noted = node


def expire_reservations(state: State) -> None:
    """End the reservations whose time is over."""
    for uid in sorted(take_due(state, TimerKind.RESERVATION)):
        record = state.pods.records[uid]
        give_back(state, record)
        touch(state, record)
