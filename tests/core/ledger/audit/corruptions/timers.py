"""Corruptions of timers. No tests."""

from collections.abc import Callable
from functools import partial

from core.ids import AppId, PodUid
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, timer_at
from core.ledger.state.timers import ONLY_ONE, TimerKey, TimerKind
from tests.builders import START
from tests.core.ledger.audit.corruptions.busy import Corruption

SET_IN_BUSY_LEDGER: list[tuple[TimerKind, TimerKey]] = [
    (TimerKind.GANG, AppId("gang", "default")),
    (TimerKind.RESERVATION, PodUid("uid-reserved")),
    (TimerKind.PROVISIONAL, PodUid("uid-provisional")),
    (TimerKind.ATTEMPT, ONLY_ONE),
    (TimerKind.AGE, ONLY_ONE),
]


def _lost(kind: TimerKind, key: TimerKey) -> Callable[[State], object]:
    return lambda state: cancel_timer(state, kind, key)


def _late(kind: TimerKind, key: TimerKey) -> Callable[[State], object]:
    def put_off(state: State) -> None:
        moment = timer_at(state, kind, key)
        assert moment is not None
        set_timer(state, kind, key, moment + 1.0)

    return put_off


TIMERS: list[Corruption] = [
    (
        "timers.due",
        "timer APPLICATION_STATE of default/app-1",
        lambda state: state.timers.due.update(
            {(TimerKind.APPLICATION_STATE, AppId("app-1", "default")): 0.0}
        ),
    ),
    ("timers.due", "timer GANG of default/gang", lambda state: state.timers.due.clear()),
    (
        "timers.due",
        "timer NAMESPACE of default/app-1",
        lambda state: set_timer(state, TimerKind.NAMESPACE, AppId("app-1", "default"), START),
    ),
    (
        "timers.due",
        "timer USER_GROUPS of stranger",
        lambda state: state.timers.due.update({(TimerKind.USER_GROUPS, "stranger"): START}),
    ),
    ("timers.heaps", "timers outside the heap", lambda state: state.timers.heaps.clear()),
    (
        "timers.due",
        "timer GANG of default/ghost",
        lambda state: state.timers.due.update({(TimerKind.GANG, AppId("ghost", "default")): START}),
    ),
    (
        "timers.due",
        "timer RESERVATION of uid-reserved",
        lambda state: state.timers.due.pop((TimerKind.RESERVATION, PodUid("uid-reserved"))),
    ),
    (
        "timers.due",
        "timer RESERVATION of ghost",
        lambda state: state.timers.due.update({(TimerKind.RESERVATION, PodUid("ghost")): START}),
    ),
    *[
        ("timers.due", f"timer {kind.name} of {uid}", partial(set_timer, kind=kind, key=uid, when=START))
        for kind in (TimerKind.PROVISIONAL, TimerKind.DOUBT)
        for uid in (PodUid("uid-waiting"), PodUid("ghost"))
    ],
    (
        "timers.due",
        "timer REJECTION of ghost",
        lambda state: set_timer(state, TimerKind.REJECTION, "ghost", START),
    ),
    ("timers.due", "timer OFFER of ghost", lambda state: set_timer(state, TimerKind.OFFER, "ghost", START)),
    (
        "timers.due",
        "timer AGE",
        lambda state: set_timer(state, TimerKind.AGE, ONLY_ONE, START + 3600.0),
    ),
    (
        "timers.due",
        "timer ATTEMPT",
        lambda state: set_timer(state, TimerKind.ATTEMPT, ONLY_ONE, START + 3600.0),
    ),
    (
        "timers.due",
        "timer QUOTA_RECLAIM of root.gone",
        lambda state: set_timer(state, TimerKind.QUOTA_RECLAIM, "root.gone", START),
    ),
    (
        "timers.due",
        "timer NODE_RESERVATION of ghost",
        lambda state: set_timer(state, TimerKind.NODE_RESERVATION, "ghost", START),
    ),
    (
        "timers.due",
        "timer TURN of uid-waiting",
        lambda state: set_timer(state, TimerKind.TURN, PodUid("uid-waiting"), START),
    ),
    (
        "timers.due",
        "timer REFUSED_TURN of uid-waiting",
        lambda state: set_timer(state, TimerKind.REFUSED_TURN, PodUid("uid-waiting"), START),
    ),
    (
        "timers.due",
        "timer UNADMITTED of uid-waiting",
        lambda state: set_timer(state, TimerKind.UNADMITTED, PodUid("uid-waiting"), START),
    ),
    ("timers.due", "timer UNPLACED of uid-ungated", _lost(TimerKind.UNPLACED, PodUid("uid-ungated"))),
    # For every kind of timer in a `busy_ledger`, one is lost or late.
    *[
        ("timers.due", f"timer {kind.name} of {key}", corrupted)
        for kind, key in SET_IN_BUSY_LEDGER
        for corrupted in (_lost(kind, key), _late(kind, key))
    ],
]
