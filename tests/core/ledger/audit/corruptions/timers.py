"""Ways to make timers wrong. No tests."""

from core.ids import AppId, PodUid
from core.ledger.state.timer_heap import set_timer
from core.ledger.state.timers import ONLY_ONE, TimerKind
from tests.builders import START
from tests.core.ledger.audit.corruptions.busy import Corruption

TIMERS: list[Corruption] = [
    (
        "timers.due",
        "timer of default/app-1",
        lambda state: state.timers.due.update(
            {(TimerKind.APPLICATION_STATE, AppId("app-1", "default")): 0.0}
        ),
    ),
    ("timers.due", "gang of default/gang is due", lambda state: state.timers.due.clear()),
    (
        "timers.due",
        "timer of stranger",
        lambda state: state.timers.due.update({(TimerKind.USER_GROUPS, "stranger"): START}),
    ),
    ("timers.heaps", "timers outside the heap", lambda state: state.timers.heaps.clear()),
    (
        "timers.due",
        "gang of default/ghost is due",
        lambda state: state.timers.due.update({(TimerKind.GANG, AppId("ghost", "default")): START}),
    ),
    (
        "timers.due",
        "end of reservation of uid-reserved",
        lambda state: state.timers.due.pop((TimerKind.RESERVATION, PodUid("uid-reserved"))),
    ),
    (
        "timers.due",
        "timer of ghost",
        lambda state: state.timers.due.update({(TimerKind.RESERVATION, PodUid("ghost")): START}),
    ),
    ("timers.due", "timers of offers", lambda state: set_timer(state, TimerKind.OFFER, "ghost", START)),
    (
        "timers.due",
        "timer of the first AGE",
        lambda state: set_timer(state, TimerKind.AGE, ONLY_ONE, START + 3600.0),
    ),
    (
        "timers.due",
        "timer of the first ATTEMPT",
        lambda state: set_timer(state, TimerKind.ATTEMPT, ONLY_ONE, START + 3600.0),
    ),
    (
        "timers.due",
        "timer of root.gone",
        lambda state: set_timer(state, TimerKind.QUOTA_RECLAIM, "root.gone", START),
    ),
    (
        "timers.due",
        "timers of reserved nodes",
        lambda state: set_timer(state, TimerKind.NODE_RESERVATION, "ghost", START),
    ),
]
