"""Everything that stands between a pod and a node, with its figures."""

from dataclasses import replace

import pytest

from core.decisions.decision import Refused
from core.decisions.explanation import phrases
from core.decisions.explanation.explaining import explain_at_once
from core.decisions.explanation.obstacles import Found, obstacles_of
from core.decisions.explanation.values import Barrier, Obstacle
from core.decisions.gating import decide_gate
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.queues.limit_state import LimitKey, LimitKind, LimitState
from core.queues.spec import LimitSpec
from core.reasons import Code
from core.resource import Limit
from core.workload.gangs.gang import PodGroup
from core.workload.nodes.affinity import Constraints
from tests.builders import START, filtered, make_ledger, make_node, make_queue, record_of
from tests.core.decisions.explanation.scenes import ASK, BARRIERS, LIMITED, SCENES, asking, cycled, observed


def found(ledger: Ledger, uid: str = ASK, *, now: float = START) -> Found:
    steps = obstacles_of(ledger.view, record_of(ledger, uid), now=now)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def codes(ledger: Ledger, uid: str = ASK, *, now: float = START) -> list[Code | Barrier]:
    return [each.code for each in found(ledger, uid, now=now)[0]]


def of_code(ledger: Ledger, code: Code | Barrier, *, now: float = START) -> Obstacle:
    (only,) = (each for each in found(ledger, now=now)[0] if each.code is code)
    return only


@pytest.mark.parametrize("code", [*Code])
def test_every_refusal_code_is_an_obstacle_of_some_pod(code: Code) -> None:
    ledger, uid = SCENES[code]()
    assert code in codes(ledger, uid)


@pytest.mark.rule("FORMAT-10", "QUO-7", "UGM-8")
def test_all_limits_that_bind_are_named_and_not_only_the_first() -> None:
    limits = (
        LimitSpec(("alice",), (), Limit({"vcore": 1500})),
        LimitSpec((), ("dev",), Limit({"vcore": 1000})),
    )
    ledger = make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 2000}),
        replace(make_queue("root.p.a", max={"vcore": 1800}), limits=limits, max_applications=1),
    )
    observed(ledger, "runs", queue="root.p.a", node="n1", app="first", identity=LIMITED)
    observed(ledger, "ask", queue="root.p.a", app="second", identity=LIMITED, cpu=1500)
    states = [each.limit for each in found(cycled(ledger))[0]]
    a, p = "root.p.a", "root.p"
    assert states == [
        LimitState(LimitKey(LimitKind.QUEUE, a), 1, 1, 1),  # type: ignore[arg-type]
        LimitState(LimitKey(LimitKind.USER, a, "alice", "vcore"), 1500, 1000, 1500),  # type: ignore[arg-type]
        LimitState(LimitKey(LimitKind.GROUP, a, "dev", "vcore"), 1000, 1000, 1500),  # type: ignore[arg-type]
        LimitState(LimitKey(LimitKind.QUEUE, a, "", "vcore"), 1800, 1000, 1500),  # type: ignore[arg-type]
        LimitState(LimitKey(LimitKind.QUEUE, p, "", "vcore"), 2000, 1000, 1500),  # type: ignore[arg-type]
    ]
    assert [each.short for each in states if each] == [1, 1000, 1500, 700, 500]


def test_a_limit_that_only_turns_fill_makes_the_ask_wait_for_its_turn() -> None:
    ledger, _ = SCENES[Code.WAITING_FOR_TURN]()
    turn = of_code(ledger, Code.WAITING_FOR_TURN)
    assert turn.limit is not None
    assert (turn.limit.bound, turn.limit.used, turn.limit.short) == (1000, 1000, 1000)


@pytest.mark.rule("CYC-2")
def test_the_nearest_node_is_named_with_what_it_lacks() -> None:
    ledger, _ = SCENES[Code.UNSCHEDULABLE]()
    nowhere, counts = of_code(ledger, Code.UNSCHEDULABLE), found(ledger)[1].counts
    assert (nowhere.subject, nowhere.short) == ("n0", (("vcore", 500),))
    assert (counts.judged, counts.fitting, counts.unfit) == (2, 0, (("capacity", 2),))
    assert nowhere.text == "it needs 1500m cpu and fits on no node that admits it"


def test_a_reserved_node_names_the_pod_it_is_reserved_for_beside_the_text() -> None:
    ledger, _ = SCENES[Code.NODE_RESERVED]()
    reserved = of_code(ledger, Code.NODE_RESERVED)
    assert [(each.namespace, each.name) for each in reserved.others] == [("default", "owner")]
    assert "owner" not in reserved.text


# -- obstacles without a refusal code ------------------------------------------------------------------------


def test_a_gate_of_another_party_is_named() -> None:
    gate = of_code(asking(gates=("example.com/wait",)), Barrier.FOREIGN_GATE)
    assert gate.text == "gates of others hold it: example.com/wait"


def test_a_message_of_kube_scheduler_is_repeated_and_paddocks_own_is_not() -> None:
    theirs = "0/1 nodes are available: 1 node(s) had volume node affinity conflict."
    assert of_code(asking(unscheduled=theirs), Barrier.KUBE_SCHEDULER).text == theirs
    assert codes(asking(unscheduled="0/1 nodes are available: 1 WaitingForTurn: root.a.")) == []


@pytest.mark.parametrize("barrier", [*Barrier])
def test_every_other_obstacle_is_one_of_some_pod(barrier: Barrier) -> None:
    ledger, uid = BARRIERS[barrier]()
    assert barrier in codes(ledger, uid)


def test_an_ask_in_back_off_says_until_when() -> None:
    ledger, _ = BARRIERS[Barrier.BACK_OFF]()
    assert of_code(ledger, Barrier.BACK_OFF).until == START + 2.0
    assert Barrier.BACK_OFF not in codes(ledger, now=START + 2.0)


def test_a_bound_pod_has_no_obstacle() -> None:
    ledger = asking()
    observed(ledger, "ask", node="n1", version=2)
    assert found(ledger)[0] == ()


def test_what_is_unmanaged_has_none_either() -> None:
    assert codes(asking(scheduler_name="other", app="", queue="")) == []


def test_an_ask_with_a_node_reserved_for_it_says_what_that_lacks() -> None:
    ledger, _ = SCENES[Code.NODE_RESERVED]()
    (own,) = (each for each in found(ledger, PodUid("uid-owner"))[0] if each.code is Barrier.OWN_NODE)
    assert (own.subject, own.short) == ("n1", (("vcore", 1000),))


@pytest.mark.rule("CYC-2")
def test_an_own_node_with_the_capacity_is_no_obstacle() -> None:
    """Only the limit holds the pod, whose node has become free."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    observed(ledger, "runs", cpu=1000, app="first", node="n1")
    observed(ledger, "ask", cpu=500, app="mine", reserved_node="n1")
    ledger.apply(on.ActingBegan(), now=START)
    assert record_of(ledger, "uid-ask").node_reservation.node == "n1"
    assert codes(ledger) == [Code.QUOTA_EXCEEDED]


@pytest.mark.rule("COS-4", "GANG-6")
def test_an_incomplete_pod_group_that_is_too_large_has_both_obstacles() -> None:
    ledger = asking(make_queue("root.a", max={"vcore": 1000}), cpu=600, pod_group=PodGroup("g", 2))
    large, incomplete = found(ledger)[0]
    assert (large.code, incomplete.code) == (Code.GANG_TOO_LARGE, Code.GANG_INCOMPLETE)
    assert (incomplete.needed, incomplete.free) == ((("members", 2),), (("members", 1),))


def test_the_nodes_of_a_pod_with_a_selector_are_counted_by_reason() -> None:
    ledger = asking(constraints=Constraints((("zone", "a"),)))
    ledger.apply(on.ObjectObserved(on.NODES, replace(make_node("n2"), unschedulable=True)), now=START)
    nowhere, counts = of_code(cycled(ledger), Code.UNSCHEDULABLE), found(ledger)[1].counts
    assert counts.by_reason == {"affinity": 1, "cordon": 1}
    assert nowhere.text == "no node admits it: 1 not admitted by its affinity, 1 cordoned"


VERDICTS = {*Code} - {Code.NOT_READY, Code.NODE_RESERVED, Code.UNSCHEDULABLE}
"""Codes that filter answers for any node. Others come from the nodes that it is offered."""


@pytest.mark.parametrize("code", [*Code])
def test_the_verdict_is_what_users_read_on_the_pod(code: Code) -> None:
    """The text that filter answers, or that the condition of a gated pod has."""
    ledger, uid = SCENES[code]()
    explained = explain_at_once(ledger.view, PodUid(uid), now=START)
    record = record_of(ledger, uid)
    assert explained is not None
    if record.is_gated:
        held = decide_gate(ledger.view, record.uid, now=START)
        said = held.sent.text if held is not None else ""
    else:
        answer = filtered(ledger, uid, now=START)
        said = answer.refusal.text if isinstance(answer, Refused) else ""
    waits = bool(said) and explained.remedies is not None
    assert phrases.verdict_on(explained) == said if waits else code not in VERDICTS
