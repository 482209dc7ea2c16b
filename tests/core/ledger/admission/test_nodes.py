"""Nodes that fit an ask. A turn needs one (DESIGN-3, CYC-7)."""

import json
from dataclasses import replace
from typing import Any

import pytest

from core.decisions.decision import Refused
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import OpenGate
from core.ledger.ledger import Ledger
from core.reasons import Code
from core.resource import Resource
from core.workload.nodes.affinity import ANYWHERE, Constraints, Requirement, Term, Toleration, admits, why_not
from core.workload.nodes.free_capacity import FreeCapacity
from core.workload.nodes.node import NodeFacts, Taint
from extender.wire.translate import NODE, POD, node_from, pod_from
from tests.builders import START, filtered, make_ledger, make_node, make_pod, make_queue, woken

DEDICATED = Taint("dedicated", "gpu", "NoSchedule")
NODE_N1 = replace(make_node(), labels={"zone": "a", "disk": "ssd", "cores": "8"})


def needs(key: str, operator: str, *values: str) -> Constraints:
    return Constraints(terms=(Term((Requirement(key, operator, values),), ()),))


def tolerates(key: str = "", operator: str = "Equal", value: str = "", effect: str = "") -> Constraints:
    return Constraints(tolerations=(Toleration(key, operator, value, effect),))


@pytest.mark.parametrize(
    ("constraints", "taken"),
    [
        (ANYWHERE, True),
        (Constraints(selector=(("zone", "a"),)), True),
        (Constraints(selector=(("zone", "a"), ("disk", "hdd"))), False),
        (needs("zone", "In", "a", "b"), True),
        (needs("zone", "In", "b"), False),
        (needs("rack", "NotIn", "b"), True),
        (needs("zone", "NotIn", "a"), False),
        (needs("zone", "Exists"), True),
        (needs("rack", "Exists"), False),
        (needs("rack", "DoesNotExist"), True),
        (needs("cores", "Gt", "4"), True),
        (needs("cores", "Lt", "8"), False),
        (needs("zone", "Gt", "4"), False),
        (needs("zone", "Near", "a"), False),
        (Constraints(terms=()), False),
        (Constraints(terms=(Term((), ()),)), False),
        (Constraints(terms=(Term((), ()), *needs("zone", "Exists").terms)), True),  # type: ignore[misc]
        (Constraints(terms=(Term((), (Requirement("metadata.name", "In", ("n1",)),)),)), True),
        (Constraints(terms=(Term((), (Requirement("metadata.name", "In", ("n2",)),)),)), False),
    ],
)
def test_selectors_and_affinity(constraints: Constraints, taken: bool) -> None:
    assert admits(NODE_N1, constraints) is taken


@pytest.mark.parametrize(
    ("constraints", "taken"),
    [
        (ANYWHERE, False),
        (tolerates("dedicated", "Equal", "gpu", "NoSchedule"), True),
        (tolerates("dedicated", "Equal", "gpu"), True),
        (tolerates("dedicated", "Equal", "cpu"), False),
        (tolerates("dedicated", "Exists"), True),
        (tolerates("", "Exists"), True),
        (tolerates("", "Equal", "gpu"), False),
        (tolerates("dedicated", "Exists", "", "NoExecute"), False),
        (tolerates("other", "Exists"), False),
    ],
)
def test_taints(constraints: Constraints, taken: bool) -> None:
    assert admits(replace(NODE_N1, taints=(DEDICATED,)), constraints) is taken
    assert admits(replace(NODE_N1, taints=(DEDICATED._replace(effect="PreferNoSchedule"),)), constraints)


def test_what_speaks_against_a_node_first() -> None:
    cordoned = replace(NODE_N1, unschedulable=True, taints=(DEDICATED,))
    nowhere = Constraints(selector=(("zone", "b"),))
    assert why_not(cordoned, nowhere) == "cordon"
    assert why_not(replace(cordoned, unschedulable=False), nowhere) == "taint"
    assert why_not(NODE_N1, nowhere) == "affinity"
    everything = Constraints(tolerations=(Toleration("", "Exists", "", ""),))
    assert why_not(cordoned, everything) == ""


def test_they_are_read_from_the_objects() -> None:
    required = {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
            }
        ]
    }
    spec = {
        "nodeSelector": {"disk": "ssd"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
        "tolerations": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}],
    }
    pod = pod_from(POD.decode(json.dumps({"metadata": {"uid": "u", "name": "p"}, "spec": spec})))
    field = Requirement("metadata.name", "In", ("n1",))
    assert pod.constraints == Constraints(
        (("disk", "ssd"),),
        (Term((Requirement("zone", "In", ("a",)),), (field,)),),
        (Toleration("dedicated", "Equal", "gpu", "NoSchedule"),),
    )
    body = {
        "metadata": {"name": "n1", "labels": {"disk": "ssd", "zone": "a"}},
        "spec": {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]},
    }
    assert admits(node_from(NODE.decode(json.dumps(body))), pod.constraints)
    plain = pod_from(POD.decode(b'{"metadata": {"uid": "u"}, "spec": {}}'))
    assert plain.constraints is ANYWHERE


# -- room --------------------------------------------------------------------------------------------------


def free_capacity_of(**cores: int) -> tuple[FreeCapacity, dict[NodeName, NodeFacts]]:
    free, nodes = FreeCapacity(), {}
    for name, amount in cores.items():
        node = make_node(name, cpu=amount, memory=1000, pods=10)
        nodes[node.name] = node
        free.add_node(node)
    return free, nodes


def size(cpu: int, memory: int = 0) -> Resource:
    return Resource({"vcore": cpu, "memory": memory, "pods": 1})


def test_the_node_that_is_left_with_the_least_then_by_name() -> None:
    free, nodes = free_capacity_of(b=4, a=4, c=2, d=8)
    found = [free.tightest(size(cpu), ANYWHERE, nodes) for cpu in (1, 2, 3, 5, 9)]
    assert found == ["c", "c", "a", "d", None]
    free.take(NodeName("c"), size(2))
    assert free.tightest(size(1), ANYWHERE, nodes) == "a"
    free.give_back(NodeName("c"), size(2))
    assert free.tightest(size(1), ANYWHERE, nodes) == "c"


def test_every_resource_must_fit_and_free_capacity_may_be_below_zero() -> None:
    free, nodes = free_capacity_of(a=4, b=8)
    free.take(NodeName("a"), size(1, 900))
    assert free.tightest(size(1, 200), ANYWHERE, nodes) == "b"
    free.take(NodeName("b"), size(9))
    assert free.free_on(NodeName("b"))["vcore"] == -1
    free.give_back(NodeName("b"), size(9))
    assert free.free_on(NodeName("b"))["vcore"] == 8
    assert free.tightest(Resource({"vcore": 1, "gpu": 1}), ANYWHERE, nodes) is None


def test_a_removed_node_takes_nothing() -> None:
    free, nodes = free_capacity_of(a=4)
    free.drop_node(NodeName("a"))
    free.drop_node(NodeName("a"))
    free.take(NodeName("a"), size(1))
    assert free.tightest(size(1), ANYWHERE, nodes) is None


# -- turns -------------------------------------------------------------------------------------------------


def pending(ledger: Ledger, name: str, cpu: int, **facts: object) -> str:
    pod = make_pod(name, cpu=cpu, app=name, **facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START)
    filtered(ledger, pod.uid, now=START)
    return pod.uid


@pytest.mark.rule("CYC-7")
def test_an_ask_that_no_node_takes_holds_no_pod_up() -> None:
    """All nodes together have capacity for it, and none alone."""
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=4000)), now=START)
    blockers = [make_pod(f"b{at}", node=f"n{at}", cpu=3000, app="b") for at in (1, 2)]
    for blocker in blockers:
        ledger.apply(on.PodObserved(blocker), now=START)
    woken(ledger, now=START)
    large = pending(ledger, "large", 5000, priority=9)
    small = pending(ledger, "small", 3000)
    ledger.apply(on.PodDeleted(blockers[0].uid), now=START)
    assert woken(ledger, now=START) == [small]
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n3", cpu=8000)), now=START)
    assert woken(ledger, now=START) == [large]


def test_a_node_that_becomes_fit_is_capacity() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, replace(make_node(), unschedulable=True)), now=START)
    woken(ledger, now=START)
    first = make_pod("first", gates=("paddock.dev/queue",))
    ledger.apply(on.PodObserved(first), now=START)
    assert ledger.apply(on.CycleDue(), now=START) == ()
    ledger.apply(on.ObjectObserved(on.NODES, replace(make_node(), version=2)), now=START)
    (opened,) = ledger.apply(on.CycleDue(), now=START)
    assert getattr(opened, "uid", "") == first.uid


def test_two_turns_are_not_counted_on_the_same_capacity() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=3000)), now=START)
    woken(ledger, now=START)
    gates = ("paddock.dev/queue",)
    for name in ("one", "two", "three"):
        ledger.apply(on.PodObserved(make_pod(name, cpu=2000, app=name, gates=gates)), now=START)
    effects = ledger.apply(on.CycleDue(), now=START)
    assert len([each for each in effects if isinstance(each, OpenGate)]) == 2


def beside_an_idle_node() -> tuple[Ledger, PodUid]:
    """Nodes with one core for the waiting asks, held by a pod, and many cores where they cannot run."""
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, replace(make_node("closed"), unschedulable=True)), now=START)
    blocker = make_pod("blocker", node="n1", cpu=1000, app="blocker")
    ledger.apply(on.PodObserved(blocker), now=START)
    for name, priority in (("high", 9), ("low", 0)):
        pod = make_pod(name, cpu=1000, app=name, priority=priority)
        ledger.apply(on.PodObserved(pod), now=START)
    woken(ledger, now=START)
    return ledger, blocker.uid


def code_of(ledger: Ledger, uid: str) -> Code | None:
    answer = filtered(ledger, uid, now=START)
    return answer.refusal.code if isinstance(answer, Refused) else None


def test_the_capacity_of_a_turn_is_held_on_its_node() -> None:
    """The cluster as a whole has capacity for both."""
    ledger, blocker = beside_an_idle_node()
    ledger.apply(on.PodDeleted(blocker), now=START)
    woken(ledger, now=START)
    assert code_of(ledger, "uid-low") is Code.WAITING_FOR_TURN
    assert code_of(ledger, "uid-high") is None


def test_freed_capacity_of_a_node_is_not_for_the_first_caller() -> None:
    """Asks that found no node wait until a cycle has checked them again."""
    ledger, blocker = beside_an_idle_node()
    ledger.apply(on.PodDeleted(blocker), now=START)
    assert code_of(ledger, "uid-low") is Code.WAITING_FOR_TURN
    assert code_of(ledger, "uid-high") is Code.WAITING_FOR_TURN
    assert woken(ledger, now=START) == ["uid-high"]


def test_a_pod_that_fits_a_node_does_not_wait_with_those_that_do_not() -> None:
    ledger, blocker = beside_an_idle_node()
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2", cpu=500)), now=START)
    woken(ledger, now=START)
    for name in ("one", "two"):
        ledger.apply(on.PodObserved(make_pod(name, cpu=100, app=name)), now=START)
    assert code_of(ledger, "uid-one") is None
    ledger.apply(on.PodDeleted(blocker), now=START)
    assert code_of(ledger, "uid-two") is Code.WAITING_FOR_TURN
    assert woken(ledger, now=START) == ["uid-two"]
    assert ledger.view.has_turn(PodUid("uid-high"))


SHUT = {
    "cordoned": {"unschedulable": True},
    "for others": {"taints": (Taint("for", "others", "NoSchedule"),)},
    "leaving": {"taints": (Taint("leaving", "", "NoExecute"),)},
}


@pytest.mark.parametrize("shut", SHUT.values(), ids=[*SHUT])
def test_capacity_where_no_pod_may_run_does_not_count_before_the_first_cycle(
    shut: dict[str, Any],
) -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, replace(make_node("shut", cpu=9000), **shut)), now=START)
    woken(ledger, now=START)
    for name, priority in (("low", 0), ("high", 9)):
        ledger.apply(on.PodObserved(make_pod(name, cpu=1000, app=name, priority=priority)), now=START)
    assert code_of(ledger, "uid-low") is Code.WAITING_FOR_TURN


@pytest.mark.parametrize("shut", SHUT.values(), ids=[*SHUT])
def test_no_pod_is_held_when_tolerating_pods_have_capacity_on_a_cordoned_node(
    shut: dict[str, Any],
) -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, replace(make_node("shut", cpu=9000), **shut)), now=START)
    woken(ledger, now=START)
    tolerant = make_pod("tolerant", cpu=9000, constraints=tolerates(operator="Exists"))
    for pod in (make_pod("plain", cpu=1000), tolerant):
        ledger.apply(on.PodObserved(pod), now=START)
    assert code_of(ledger, "uid-plain") is None
    assert code_of(ledger, "uid-tolerant") is None


def test_pods_admitted_before_are_subtracted_from_free_capacity() -> None:
    """The admitted pod has no node yet. An overcommitted node does not reduce the capacity of the others."""
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=1000)), now=START)
    ledger.apply(
        on.ObjectObserved(on.NODES, replace(make_node("shut", cpu=9000), unschedulable=True)), now=START
    )
    ledger.apply(on.PodObserved(make_pod("too-large", node="n1", cpu=1500, app="b")), now=START)
    woken(ledger, now=START)
    ledger.apply(on.PodObserved(make_pod("first", cpu=600)), now=START)
    assert code_of(ledger, "uid-first") is None
    for name in ("second", "third"):
        ledger.apply(on.PodObserved(make_pod(name, cpu=300)), now=START)
    assert code_of(ledger, "uid-second") is Code.WAITING_FOR_TURN
    ledger.apply(on.PodDeleted(PodUid("uid-third")), now=START)
    assert woken(ledger, now=START) == ["uid-second"]


@pytest.mark.rule("CYC-4")
@pytest.mark.parametrize(
    ("large", "threshold", "backs_off"),
    [(2, 2, True), (2, 3, False), (1, 2, False), (3, 2, True), (2, 0, False)],
)
@pytest.mark.parametrize("together", [True, False])
def test_an_application_backs_off_when_so_many_of_its_asks_found_no_node(
    large: int, threshold: int, backs_off: bool, together: bool
) -> None:
    """With a threshold of n, n asks alone never back off. There must be one more ask to check."""
    backoff = {
        "application.unschedasks.backoff": str(threshold),
        "application.unschedasks.backoff.delay": "10s",
    }
    ledger = make_ledger(replace(make_queue("root.a"), properties=backoff), nodes=0)
    for name in ("n1", "n2", "n3", "n4"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=1000)), now=START)
    woken(ledger, now=START)
    gates = ("paddock.dev/queue",)
    for at in range(large):
        pod = make_pod(f"large{at}", cpu=1100 + at, app="job", gates=gates, priority=5)
        ledger.apply(on.PodObserved(pod), now=START)
    if not together:
        woken(ledger, now=START)
    small = make_pod("small", cpu=500, app="job", gates=gates)
    ledger.apply(on.PodObserved(small), now=START)
    opened = [getattr(effect, "uid", "") for effect in ledger.apply(on.CycleDue(), now=START)]
    assert opened == ([] if backs_off else [small.uid])
    if backs_off:
        assert ledger.view.next_due() == START + 10
        ledger.apply(on.PodDeleted(PodUid("uid-large0")), now=START + 1)
        ledger.apply(on.PodDeleted(PodUid("uid-large1")), now=START + 1)
        ledger.apply(on.PodDeleted(PodUid("uid-large2")), now=START + 1)
        assert ledger.apply(on.CycleDue(), now=START + 1) == ()
        ledger.apply(on.TimePassed(), now=START + 10)
        (effect,) = ledger.apply(on.CycleDue(), now=START + 10)
        assert getattr(effect, "uid", "") == small.uid


def test_a_reader_follows_the_nodes_and_counts_its_own_work() -> None:
    capacity = FreeCapacity()
    capacity.add_node(make_node("n1", cpu=1000))
    reader, size = capacity.reading(), Resource({"vcore": 1000})
    nodes = {NodeName("n1"): make_node("n1", cpu=1000)}
    assert reader.tightest(size, ANYWHERE, nodes) == "n1"
    assert (reader.work > 0, capacity.work) == (True, 0)
    capacity.take(NodeName("n1"), size)
    assert reader.tightest(size, ANYWHERE, nodes) is None
