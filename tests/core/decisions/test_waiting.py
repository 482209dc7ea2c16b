"""Sentences that say why a pod waits, and for what (E5)."""

from dataclasses import replace

import pytest

from core.decisions.explain import explain
from core.decisions.waiting import NODES_READ
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.workload.nodes.affinity import Constraints
from core.workload.nodes.node import Taint
from core.workload.pod import OWN_GATE
from tests.builders import START, make_ledger, make_node, make_partition, make_pod, make_queue, reserved_on
from tests.effort import effort


def message(ledger: Ledger, name: str) -> str:
    record = ledger.view.pod(PodUid(f"uid-{name}"))
    assert record is not None
    return explain(ledger.view, record).message


def passed(ledger: Ledger) -> None:
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START)


def on_nodes(*nodes: object) -> Ledger:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for each in nodes:
        ledger.apply(on.ObjectObserved(on.NODES, each), now=START)  # type: ignore[arg-type]
    return ledger


def asks(ledger: Ledger, name: str, **facts: object) -> None:
    pod = make_pod(name, app=name, gates=(OWN_GATE,), **facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START)
    passed(ledger)


def test_e5_a_queue_that_is_full_is_named_with_its_limit() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
    asks(ledger, "waits")
    assert message(ledger, "waits") == "root.a has too little capacity left for it: max vcore=1"
    assert message(ledger, "running") == ""


def test_e5_pods_before_it_are_counted() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    for number in range(4):
        asks(ledger, f"p{number}", created=float(number), cpu=1500)
    # The first pod has its turn, and holds its capacity until it has a node.
    assert message(ledger, "p3") == "it waits for root.a: 3 pods before it"


@pytest.mark.rule("CYC-2")
def test_e5_an_ask_that_no_node_takes_is_explained_by_reason() -> None:
    here = Constraints(selector=(("zone", "a"),))
    ledger = on_nodes(
        replace(make_node("n1", cpu=1000), labels={"zone": "a"}),
        replace(make_node("n2", cpu=4000), labels={"zone": "b"}),
        replace(make_node("n3", cpu=4000), labels={"zone": "a"}, taints=(Taint("k", "v", "NoSchedule"),)),
    )
    asks(ledger, "large", cpu=2000, constraints=here)
    assert message(ledger, "large") == (
        "it needs 2 cpu and fits on no node that its affinity admits"
        " (1 not admitted by its affinity, 1 tainted)"
    )
    asks(ledger, "nowhere", cpu=1, constraints=Constraints(selector=(("zone", "c"),)))
    assert message(ledger, "nowhere") == "no node admits it: 2 not admitted by its affinity, 1 tainted"


@pytest.mark.rule("CYC-2")
def test_e5_nodes_are_read_for_a_sentence_only_where_few_may_be_counted() -> None:
    tainted = [
        replace(make_node(f"n{at}", cpu=1000), taints=(Taint("k", "v", "NoSchedule"),))
        for at in range(NODES_READ + 1)
    ]
    few, many = on_nodes(*tainted[1:]), on_nodes(*tainted)
    for ledger in (few, many):
        asks(ledger, "waits", cpu=500)
    assert message(few, "waits") == f"no node admits it: {NODES_READ} tainted"
    assert message(many, "waits") == "it needs 500m cpu, which no node has free for it"
    assert 3 * effort(lambda: message(many, "waits")) < effort(lambda: message(few, "waits"))


@pytest.mark.rule("CYC-6")
def test_e5_the_pod_is_named_for_which_a_node_is_reserved() -> None:
    ledger = on_nodes(make_node("n1", cpu=4000), make_node("n2", cpu=4000))
    for name, cpu, node in (("small", 3000, "n1"), ("other", 3500, "n2")):
        ledger.apply(on.PodObserved(make_pod(name, app="others", cpu=cpu, node=node)), now=START)
    asks(ledger, "large", cpu=1400)
    reserved_on(ledger, PodUid("uid-large"), "n1")
    asks(ledger, "next", cpu=700)
    assert message(ledger, "large") == "node n1 is reserved for it but still lacks capacity"
    assert message(ledger, "next") == "each node that could take it is reserved for default/large"
    settings = LedgerSettings(names_others=False)
    ledger.apply(on.Configured(make_partition(make_queue("root.a")), settings), now=START)
    passed(ledger)
    assert message(ledger, "next") == "each node that could take it is reserved for a pod of root.a"


@pytest.mark.rule("CYC-2")
def test_e5_a_reserved_node_is_not_said_to_lack_what_it_has() -> None:
    ledger = on_nodes(make_node("n1", cpu=4000), make_node("n2", cpu=4000))
    ledger.apply(on.PodObserved(make_pod("small", app="others", cpu=3000, node="n1")), now=START)
    asks(ledger, "large", cpu=1400)
    reserved_on(ledger, PodUid("uid-large"), "n1")
    ledger.apply(on.PodDeleted(PodUid("uid-small")), now=START)
    assert message(ledger, "large") == "node n1 is reserved for it and has the capacity"
