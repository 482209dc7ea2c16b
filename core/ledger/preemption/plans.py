"""Plans of asks: which one is under way for each, which of them are offers, and how many were carried out.

Below node reservations, because a plan ends with the node that is reserved for its ask.
"""

from collections.abc import Iterator

from core.ids import PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.state.preemption import Offer
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer
from core.ledger.state.timers import TimerKind
from core.ledger.touched import touch


def trigger(state: State, record: PodRecord, plan: str) -> None:
    """Begin to carry out a plan for an ask, which counts as placed from now on (DIV-14)."""
    record.preemption.triggered = plan
    record.preemption.plans += 1
    touch(state, record)


def note_offered(state: State, record: PodRecord, plan: Offer) -> None:
    """Note a plan that was offered to kube-scheduler and is not carried out yet."""
    record.preemption.triggered = plan.plan
    state.preemption.offers[record.uid] = plan
    set_timer(state, TimerKind.OFFER, record.uid, plan.until)
    touch(state, record)


def note_taken(state: State, record: PodRecord) -> None:
    """Note that the offer for an ask is carried out. There must be one."""
    del state.preemption.offers[record.uid]
    cancel_timer(state, TimerKind.OFFER, record.uid)


def end_plan(record: PodRecord) -> None:
    """Note that no plan is under way for an ask any more."""
    record.preemption.triggered = ""


def withdraw_offer(state: State, record: PodRecord) -> bool:
    """Withdraw the offer for an ask. Its victims are released later. Return True if there was one."""
    if state.preemption.offers.pop(record.uid, None) is None:
        return False
    cancel_timer(state, TimerKind.OFFER, record.uid)
    state.preemption.withdrawn[record.uid] = None
    return True


def take_withdrawn(state: State) -> Iterator[PodUid]:
    """Remove and return the asks whose offers were withdrawn."""
    while state.preemption.withdrawn:
        uid = next(iter(state.preemption.withdrawn))
        del state.preemption.withdrawn[uid]
        yield uid


def uncount_plan(record: PodRecord) -> None:
    """Leave out of the count a plan for which no pod was evicted."""
    record.preemption.plans -= 1


def remember_plan(record: PodRecord) -> None:
    """Believe the annotation of an ask about the plan that is carried out for it."""
    record.preemption.triggered, record.preemption.plans = (
        record.facts.triggered,
        bool(record.facts.triggered),
    )


def forget_plans(record: PodRecord) -> None:
    """Forget the plans of an ask: the one under way, and the number of earlier ones."""
    end_plan(record)
    record.preemption.plans = 0


def forget_offers(state: State) -> None:
    """Forget all offers, which another instance did not make."""
    for uid in state.preemption.offers:
        cancel_timer(state, TimerKind.OFFER, uid)
    state.preemption.offers.clear()
