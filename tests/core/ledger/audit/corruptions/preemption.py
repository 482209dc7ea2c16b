"""Corruptions of node reservations and preemption. No tests."""

from core.ids import NodeName, PodUid
from core.ledger.state.preemption import Offer, Stage
from tests.builders import (
    START,
)
from tests.core.ledger.audit.corruptions.busy import Corruption

PREEMPTION: list[Corruption] = [
    (
        "reservations.of",
        "reserved node of uid-waiting",
        lambda state: setattr(
            state.pods.records[PodUid("uid-waiting")].node_reservation, "node", NodeName("n1")
        ),
    ),
    (
        "preemption.victims",
        "victims of ghost/uid-bound",
        lambda state: state.preemption.victims.update({PodUid("ghost"): {PodUid("uid-bound"): Stage.CHOSEN}}),
    ),
    (
        "preemption.victims",
        "victims of uid-triggered/uid-victim",
        lambda state: state.preemption.victims.clear(),
    ),
    (
        "preemption.victims",
        "offered victims of uid-triggered",
        lambda state: state.preemption.victims[PodUid("uid-triggered")].update(
            {PodUid("uid-victim"): Stage.OFFERED}
        ),
    ),
    (
        "preemption.offers",
        "offer of uid-waiting",
        lambda state: state.preemption.offers.update(
            {PodUid("uid-waiting"): Offer("1-a", NodeName("n1"), (), START)}
        ),
    ),
    (
        "preemption.attempts",
        "attempt of ghost",
        lambda state: state.preemption.attempts.update({PodUid("ghost"): START}),
    ),
    (
        "preemption.trying",
        "attempt of ghost",
        lambda state: state.preemption.trying.update({PodUid("ghost"): None}),
    ),
    (
        "reservations.young",
        "age of ghost",
        lambda state: state.reservations.young.update({PodUid("ghost"): START}),
    ),
    ("reservations.aged", "age of ghost", lambda state: state.reservations.aged.add(PodUid("ghost"))),
    (
        "reservations.of",
        "reservation of n1",
        lambda state: state.reservations.of.update({NodeName("n1"): PodUid("uid-waiting")}),
    ),
]
