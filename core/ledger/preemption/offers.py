"""Offers: plans that kube-scheduler was offered and may carry out (DESIGN-4).

An offer counts as a plan in flight: its ask is triggered, its victims are preempting, its node is reserved.
Nothing is written about it, so a restart loses it. It ends when it is committed, after five seconds, or when
its ask needs no plan any more.
"""

from core.ids import PodUid
from core.ledger.node_reservation.reservation import note_reserved_node, release_node
from core.ledger.pods.record import PodRecord
from core.ledger.preemption.plans import note_offered, take_withdrawn
from core.ledger.preemption.victims import mark, running, unmark
from core.ledger.state.preemption import Offer, Stage
from core.ledger.state.state import State
from core.ledger.state.timer_heap import take_due
from core.ledger.state.timers import TimerKind
from core.ledger.touched import touch


def offer(state: State, record: PodRecord, plan: Offer) -> None:
    """Count an offered plan from now on.

    Does nothing if another plan is in flight for its ask or its node.
    """
    if (
        not record.is_ask
        or record.preemption.triggered
        or state.reservations.of.get(plan.node, record.uid) != record.uid
    ):
        return
    # Also if the node is the same: its annotation is removed, as the offer may be withdrawn.
    release_node(state, record)
    note_reserved_node(state, record, plan.node)
    note_offered(state, record, plan)
    for victim, why in running(state, plan.victims):
        mark(state, victim, record.uid, why, stage=Stage.OFFERED)


def drop_offers(state: State) -> None:
    """Withdraw the offers that were not taken in time, in the order in which they were made."""
    over = set(take_due(state, TimerKind.OFFER))
    for uid in [each for each in state.preemption.offers if each in over]:
        release_node(state, state.pods.records[uid])


def spare_withdrawn(state: State) -> None:
    """Restore the asks and victims of withdrawn offers to their state before the offer."""
    for uid in take_withdrawn(state):
        for each in sorted(state.preemption.victims.get(uid, ())):
            if state.preemption.victims[uid][each] is Stage.OFFERED:
                _spare(state, each)
        if uid in state.pods.records:
            touch(state, state.pods.records[uid])


def _spare(state: State, uid: PodUid) -> None:
    victim = state.pods.records[uid]
    unmark(state, victim)
    touch(state, victim)
