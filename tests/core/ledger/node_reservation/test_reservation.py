"""Node reservations: for which ask, on which node, against which pods, and for how long (CYC-2, CYC-6)."""

from dataclasses import replace

import pytest

from core.decisions.admission import decide_admission
from core.decisions.decision import Admitted, Refused
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, NominateNode, OpenGate, WriteRecord
from core.ledger.ledger import Ledger
from core.ledger.node_reservation.reservation import RESERVED_AT_MOST
from core.ledger.node_reservation.search import RESERVED_AFTER, left_on
from core.ledger.outcomes import Purpose
from core.ledger.settings import LedgerSettings
from core.reasons import Code
from core.resource import Resource
from core.workload.nodes.affinity import Constraints
from core.workload.pod import OWN_GATE, PREEMPTED_FOR, RESERVED_NODE, TRIGGERED, PodFacts
from tests.builders import (
    START,
    bind_called,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
    record_of,
)

AGED = START - RESERVED_AFTER
LARGE = make_pod("large", cpu=3000, app="large", created=AGED)


def cluster(*cpus: int, listed: bool = True) -> Ledger:
    """A node for each of ``cpus``, n1 and so on. A third is free, and a pod holds each other third."""
    ledger = make_ledger(make_queue("root.a"), nodes=0, listed=listed)
    for at, cpu in enumerate(cpus, 1):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(f"n{at}", cpu=cpu)), now=START)
        for number in range(2):
            ledger.apply(on.PodObserved(on_node(at, number, cpu // 3)), now=START)
    return ledger


def on_node(at: int, number: int, cpu: int) -> PodFacts:
    return make_pod(f"s{at}-{number}", cpu=cpu, app="small", node=f"n{at}")


def passed(ledger: Ledger, *, at: float = 0.0) -> list[Effect]:
    """Run all requested cycles and return their effects."""
    effects: list[Effect] = list(ledger.apply(on.TimePassed(), now=START + at))
    while ledger.view.cycle_wanted:
        effects += ledger.apply(on.CycleDue(), now=START + at)
    return effects


def reserved(ledger: Ledger) -> dict[str, str]:
    return {str(node): str(uid) for node, uid in ledger.view.reserved_nodes.items()}


def written(effects: list[Effect]) -> list[tuple[str, str | None]]:
    return [
        (str(each.uid), dict(each.entries)[RESERVED_NODE])
        for each in effects
        if isinstance(each, WriteRecord)
    ]


def reserving() -> Ledger:
    """Three nodes of three cores, one of them free on each; n1 is reserved for an ask of three."""
    ledger = cluster(3000, 3000, 3000)
    ledger.apply(on.PodObserved(LARGE), now=START)
    assert written(passed(ledger)) == [("uid-large", "n1")]
    assert reserved(ledger) == {"n1": "uid-large"}
    return ledger


# -- for which ask ---------------------------------------------------------------------------------------


@pytest.mark.rule("CYC-6")
def test_a_node_is_reserved_once_the_ask_is_two_seconds_old() -> None:
    ledger = cluster(3000, 3000, 3000)
    ledger.apply(on.PodObserved(replace(LARGE, created=START)), now=START)
    assert passed(ledger) == []
    assert ledger.view.next_due() == START + RESERVED_AFTER
    assert passed(ledger, at=RESERVED_AFTER - 0.01) == []
    assert written(passed(ledger, at=RESERVED_AFTER)) == [("uid-large", "n1")]


@pytest.mark.rule("CYC-6")
def test_none_is_reserved_in_a_cluster_that_is_merely_full() -> None:
    """Capacity that a pod frees on this node serves the next ask with a turn."""
    ledger = cluster(3000, 3000)
    ledger.apply(on.PodObserved(LARGE), now=START)
    passed(ledger)
    assert reserved(ledger) == {}


def test_capacity_on_a_node_that_does_not_take_the_ask_does_not_count() -> None:
    ledger = cluster(3000, 3000)
    ledger.apply(
        on.ObjectObserved(on.NODES, replace(make_node("n3", cpu=9000), unschedulable=True)), now=START
    )
    ledger.apply(on.PodObserved(LARGE), now=START)
    passed(ledger)
    assert reserved(ledger) == {}


@pytest.mark.rule("CYC-6")
def test_none_is_reserved_that_would_not_take_the_ask_when_empty() -> None:
    ledger = cluster(2700, 2700, 2700, 2700)
    ledger.apply(on.PodObserved(LARGE), now=START)
    passed(ledger)
    assert reserved(ledger) == {}


def test_none_is_reserved_where_unmanaged_pods_leave_too_little() -> None:
    ledger = cluster(3000, 3000, 3000, 3000)
    foreign = make_pod("foreign", cpu=500, scheduler_name="x", app="", queue="", node="n1")
    ledger.apply(on.PodObserved(foreign), now=START)
    ledger.apply(on.PodObserved(LARGE), now=START)
    passed(ledger)
    assert reserved(ledger) == {"n2": "uid-large"}


def test_none_is_reserved_for_an_ask_that_its_queue_has_no_capacity_for() -> None:
    ledger = cluster(3000, 3000, 3000)
    less = make_partition(make_queue("root.a", max={"vcore": 8000}))
    ledger.apply(on.Configured(less, LedgerSettings()), now=START)
    ledger.apply(on.PodObserved(LARGE), now=START)
    passed(ledger)
    assert reserved(ledger) == {}


def test_at_most_half_of_the_nodes_are_reserved() -> None:
    ledger = cluster(3000, 3000, 3000, 3000, 3000)
    for number in range(5):
        pod = make_pod(f"large-{number}", cpu=3000, app="large", created=AGED)
        ledger.apply(on.PodObserved(pod), now=START)
    passed(ledger)
    assert reserved(ledger) == {"n1": "uid-large-0"}
    for at in range(5):
        ledger.apply(on.ObjectObserved(on.NODES, make_node("n9", cpu=1 + at)), now=START)
        passed(ledger)
    assert reserved(ledger) == {"n1": "uid-large-0", "n2": "uid-large-1", "n3": "uid-large-2"}


# -- which node ------------------------------------------------------------------------------------------


@pytest.mark.rule("CYC-6")
@pytest.mark.parametrize(
    ("free", "asked", "left"),
    [
        ({"vcore": 8, "memory": 10}, {"vcore": 4, "memory": 10}, 0.5),
        ({"vcore": 8, "memory": 10, "gpu": 2}, {"vcore": 4, "memory": 10}, 1.5),
        ({"vcore": 3}, {"vcore": 4}, 0.0),
        ({"vcore": -1, "memory": 4}, {"vcore": 4, "memory": 1}, 0.75),
        ({"vcore": 0}, {}, 0.0),
    ],
)
def test_what_an_ask_would_leave(free: dict[str, int], asked: dict[str, int], left: float) -> None:
    assert left_on(free, Resource(asked)) == left


@pytest.mark.rule("CYC-6")
def test_the_node_with_the_least_left_is_reserved() -> None:
    """Three cores are free on n1 and n2, and five are requested there, so neither node has ``vcore`` left."""
    ledger = cluster(9000, 9000, 3000)
    ledger.apply(on.PodObserved(make_pod("more", cpu=1, memory=2**39, app="small", node="n2")), now=START)
    pod = make_pod("large", cpu=5000, memory=2**39, app="large", created=AGED)
    ledger.apply(on.PodObserved(pod), now=START)
    passed(ledger)
    assert reserved(ledger) == {"n2": "uid-large"}


@pytest.mark.rule("CYC-6")
def test_a_node_that_does_not_admit_the_ask_is_not_reserved() -> None:
    ledger = cluster(3000, 3000, 3000, 3000)
    for name in ("n2", "n3", "n4"):
        node = replace(make_node(name, cpu=3000), labels={"disk": "ssd"})
        ledger.apply(on.ObjectObserved(on.NODES, node), now=START)
    picky = replace(LARGE, constraints=Constraints(selector=(("disk", "ssd"),)))
    ledger.apply(on.PodObserved(picky), now=START)
    passed(ledger)
    assert reserved(ledger) == {"n2": "uid-large"}


# -- from whom -------------------------------------------------------------------------------------------


@pytest.mark.rule("CYC-2")
def test_filter_leaves_a_reserved_node_to_its_pod() -> None:
    ledger = reserving()
    ledger.apply(on.PodObserved(make_pod("other", cpu=500, app="other")), now=START)
    passed(ledger)
    offered = (NodeName("n1"), NodeName("n2"))
    verdict = decide_admission(ledger.view, PodUid("uid-other"), now=START, offered=lambda: offered)
    assert isinstance(verdict, Admitted)
    assert verdict.besides == ("n1",)
    own = decide_admission(ledger.view, LARGE.uid, now=START, in_turn=False, offered=lambda: offered)
    assert isinstance(own, Admitted)
    assert own.besides == ()


@pytest.mark.rule("CYC-2")
def test_one_that_is_offered_reserved_nodes_only_is_refused_and_keeps_its_turn() -> None:
    ledger = reserving()
    ledger.apply(
        on.PodObserved(replace(make_pod("other", cpu=500, app="other"), gates=(OWN_GATE,))), now=START
    )
    passed(ledger)
    uid = PodUid("uid-other")
    assert ledger.view.has_turn(uid)
    verdict = decide_admission(ledger.view, uid, now=START, offered=lambda: (NodeName("n1"),))
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.NODE_RESERVED
    for event in verdict.events:
        ledger.apply(event, now=START)
    assert ledger.view.has_turn(uid)


def test_no_pod_has_a_turn_on_a_node_reserved_for_another() -> None:
    """Two cores are free on n1, one each on the others."""
    ledger = reserving()
    ledger.apply(on.PodDeleted(PodUid("uid-s1-0")), now=START)
    ledger.apply(on.PodObserved(replace(make_pod("other", cpu=2000, app="o"), gates=(OWN_GATE,))), now=START)
    assert [each for each in passed(ledger) if isinstance(each, OpenGate)] == []


@pytest.mark.rule("DESIGN-6")
def test_a_gate_stays_shut_while_an_ask_without_filter_could_go_to_a_reserved_node() -> None:
    ledger = reserving()
    gated = replace(make_pod("other", cpu=500, app="other"), gates=(OWN_GATE,), asks_filter=False)
    ledger.apply(on.PodObserved(gated), now=START)
    assert [each for each in passed(ledger) if isinstance(each, OpenGate)] == []
    ledger.apply(on.PodDeleted(LARGE.uid), now=START)
    assert [each.uid for each in passed(ledger) if isinstance(each, OpenGate)] == ["uid-other"]


def test_a_bind_call_without_reservation_is_refused_a_reserved_node() -> None:
    ledger = reserving()
    ledger.apply(on.PodObserved(make_pod("other", cpu=500, app="other")), now=START)
    verdict = bind_called(ledger, "uid-other", "n1", now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.NODE_RESERVED


# -- until when ------------------------------------------------------------------------------------------


@pytest.mark.rule("CYC-2")
def test_the_ask_is_nominated_when_there_is_capacity_and_not_before() -> None:
    ledger = reserving()
    ledger.apply(on.PodDeleted(PodUid("uid-s1-0")), now=START)
    assert passed(ledger) == []
    ledger.apply(on.PodDeleted(PodUid("uid-s1-1")), now=START)
    assert passed(ledger) == [
        NominateNode(LARGE.uid, "default", "large", NodeName("n1"), Purpose.NODE_RESERVATION)
    ]
    assert ledger.view.has_turn(LARGE.uid)
    filtered(ledger, LARGE.uid, now=START)
    bind_called(ledger, LARGE.uid, "n1", now=START)
    assert reserved(ledger) == {"n1": "uid-large"}
    effects = list(ledger.apply(on.PodBound(LARGE.uid, NodeName("n1")), now=START))
    assert written(effects) == [("uid-large", None)]
    assert reserved(ledger) == {}


@pytest.mark.rule("CYC-2")
def test_a_node_is_given_up_after_two_hours() -> None:
    ledger = reserving()
    ledger.apply(on.PodDeleted(PodUid("uid-s2-0")), now=START + RESERVED_AT_MOST - 1)
    passed(ledger, at=RESERVED_AT_MOST - 1)
    assert "n1" in reserved(ledger)
    ledger.apply(on.PodDeleted(PodUid("uid-s3-0")), now=START + RESERVED_AT_MOST)
    assert ("uid-large", None) in written(passed(ledger, at=RESERVED_AT_MOST))


@pytest.mark.rule("CYC-2")
def test_the_ask_takes_capacity_elsewhere_and_the_node_is_free() -> None:
    ledger = reserving()
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n4", cpu=4000)), now=START)
    effects = passed(ledger)
    assert written(effects) == [("uid-large", None)]
    assert reserved(ledger) == {}
    assert ledger.view.has_turn(LARGE.uid)


@pytest.mark.parametrize(
    "event",
    [
        on.PodDeleted(LARGE.uid),
        on.PodObserved(replace(LARGE, deleting=True, version=2)),
        on.PodObserved(replace(LARGE, gates=("other.example/gate",), version=2)),
        on.ObjectDeleted(on.NODES, NodeName("n1")),
        on.ObjectObserved(on.NODES, replace(make_node("n1", cpu=3000), unschedulable=True)),
        on.ObjectObserved(on.NODES, make_node("n1", cpu=2900)),
    ],
    ids=["gone", "leaving", "gated by another", "no node", "cordoned", "too small"],
)
def test_a_node_that_does_not_help_is_not_reserved(event: on.Event) -> None:
    ledger = reserving()
    ledger.apply(event, now=START)
    passed(ledger)
    assert "n1" not in reserved(ledger)


def test_an_ask_that_finds_no_place_with_its_turn_gives_the_node_up() -> None:
    ledger = reserving()
    for uid in ("uid-s1-0", "uid-s1-1"):
        ledger.apply(on.PodDeleted(PodUid(uid)), now=START)
    passed(ledger)
    nominated = replace(LARGE, nominated=NodeName("n1"), version=2)
    ledger.apply(on.PodObserved(nominated), now=START)
    refused = replace(nominated, unscheduled="0/2 nodes: no volume", version=3)
    effects = list(ledger.apply(on.PodObserved(refused), now=START))
    assert reserved(ledger) == {}
    assert [each.node for each in effects if isinstance(each, NominateNode)] == [""]


def test_a_reservation_that_cannot_be_written_ends() -> None:
    """Another instance may be the one that acts."""
    ledger = reserving()
    ledger.apply(
        on.RecordWritten(LARGE.uid, ((RESERVED_NODE, "n1"),), False, Purpose.NODE_RESERVATION), now=START
    )
    assert reserved(ledger) == {}


def test_a_nomination_of_ours_does_not_stop_the_time_of_a_reservation() -> None:
    ledger = reserving()
    for uid in ("uid-s1-0", "uid-s1-1"):
        ledger.apply(on.PodDeleted(PodUid(uid)), now=START)
    passed(ledger)
    ledger.apply(on.PodObserved(replace(LARGE, nominated=NodeName("n1"), version=2)), now=START)
    filtered(ledger, LARGE.uid, now=START)
    record = ledger.view.pod(LARGE.uid)
    assert record is not None
    assert record.admission.reservation is not None
    assert record.admission.reservation.running_since == START


# -- after a restart -------------------------------------------------------------------------------------


def restarted(*pods: PodFacts) -> tuple[Ledger, list[Effect]]:
    """A ledger whose first list has those pods."""
    ledger = cluster(3000, 3000, 3000, listed=False)
    effects: list[Effect] = []
    for pod in pods:
        effects += ledger.apply(on.PodObserved(pod), now=START)
    known = frozenset(each.uid for each in ledger.view.pods())
    return ledger, effects + list(ledger.apply(on.PodsListed(known), now=START))


def test_a_restart_finds_the_node_reserved_again() -> None:
    with_reservation = replace(LARGE, reserved_node=NodeName("n1"), nominated=NodeName("n1"))
    ledger, effects = restarted(with_reservation)
    assert reserved(ledger) == {"n1": "uid-large"}
    assert len(ledger.view.reserved) == 0
    assert (effects, passed(ledger)) == ([], [])


def test_a_record_on_a_pod_that_keeps_nothing_is_taken_off() -> None:
    node = NodeName("n1")
    bound = make_pod("bound", cpu=100, app="x", node="n1", reserved_node=node)
    twin = make_pod("twin", reserved_node=node)
    ledger, effects = restarted(bound, replace(LARGE, reserved_node=node), twin)
    assert written(effects) == [("uid-bound", None), ("uid-twin", None)]
    assert reserved(ledger) == {"n1": "uid-large"}


def test_no_user_can_reserve_a_node_by_writing_so_on_a_pod() -> None:
    ledger = cluster(3000, 3000, 3000)
    forged = make_pod("forged", reserved_node=NodeName("n1"), triggered="1-x", preempted_for="uid-s1-0")
    (effect,) = ledger.apply(on.PodObserved(forged), now=START)
    assert isinstance(effect, WriteRecord)
    assert dict(effect.entries) == {RESERVED_NODE: None, TRIGGERED: None, PREEMPTED_FOR: None}
    assert reserved(ledger) == {}
    assert record_of(ledger, forged.uid).preemption.preempted_for is None
