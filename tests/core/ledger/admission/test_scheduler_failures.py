"""Reports of kube-scheduler about attempts that it made before it could know of the turn (DESIGN-3)."""

from dataclasses import replace

import pytest

from core.decisions.decision import Admitted
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from tests.builders import START, filtered, make_ledger, make_pod, make_queue, woken

NO_CAPACITY = "0/1 nodes are available: 1 Insufficient cpu."
NO_PORT = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
BLOCKER = make_pod("blocker", node="n1", cpu=4000, app="blocker")


def freed() -> Ledger:
    """Free the capacity of one of two refused asks. The first has the turn."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 4000}))
    ledger.apply(on.PodObserved(BLOCKER), now=START)
    for name, created in (("first", 1.0), ("second", 2.0)):
        ledger.apply(on.PodObserved(make_pod(name, cpu=4000, app=name, created=created)), now=START)
        filtered(ledger, f"uid-{name}", now=START)
    ledger.apply(on.PodDeleted(BLOCKER.uid), now=START)
    assert woken(ledger, now=START) == ["uid-first"]
    return ledger


def says(ledger: Ledger, text: str, *, version: int) -> None:
    first = make_pod("first", cpu=4000, app="first", created=1.0, version=version, unscheduled=text)
    ledger.apply(on.PodObserved(first), now=START)


def test_a_failure_that_comes_before_the_wake_up_is_written_costs_no_turn() -> None:
    """kube-scheduler's watch was behind Paddock's, so it tried once more with the old usage."""
    ledger = freed()
    says(ledger, NO_CAPACITY, version=2)
    assert woken(ledger, now=START) == []
    assert ledger.view.has_turn(PodUid("uid-first"))


def test_one_that_comes_after_it_does() -> None:
    ledger = freed()
    ledger.apply(on.PodWoken(PodUid("uid-first"), reached=True), now=START)
    says(ledger, NO_PORT, version=2)
    assert woken(ledger, now=START) == ["uid-second"]


def test_a_failure_for_capacity_that_is_there_may_be_written_after_the_wake_up() -> None:
    """kube-scheduler began the attempt before it heard that the blocker was deleted."""
    ledger = freed()
    ledger.apply(on.PodWoken(PodUid("uid-first"), reached=True), now=START)
    says(ledger, NO_CAPACITY, version=2)
    assert woken(ledger, now=START) == []
    assert isinstance(filtered(ledger, "uid-first", now=START + 0.1), Admitted)


def test_an_ask_that_kube_scheduler_goes_on_to_find_no_capacity_for_has_its_turn_for_one_lease() -> None:
    ledger = freed()
    ledger.apply(on.PodWoken(PodUid("uid-first"), reached=True), now=START)
    says(ledger, NO_CAPACITY, version=2)
    ledger.apply(on.TimePassed(), now=START + 2)
    assert woken(ledger, now=START + 2) == ["uid-second"]


def test_an_attempt_that_broke_off_costs_no_turn_and_no_reserved_node() -> None:
    """kube-scheduler asked while no process answered, and writes so after the next process has begun.

    Victims were evicted for the ask, so another plan would evict more (DESIGN-4, CYC-2).
    """
    ledger = make_ledger(make_queue("root.a", max={"vcore": 4000}), listed=False)
    ask = make_pod("ask", cpu=4000, reserved_node="n1", triggered="plan", nominated="n1")
    rival = make_pod("rival", cpu=1000, created=2.0)
    for pod in (ask, rival):
        ledger.apply(on.PodObserved(pod), now=START)
    ledger.apply(on.PodsListed(frozenset({ask.uid, rival.uid})), now=START)
    filtered(ledger, "uid-rival", now=START)
    woken(ledger, now=START)
    assert ledger.view.has_turn(ask.uid)
    broke_off = replace(
        ask, version=2, nominated="", unscheduled="connection refused", attempt_broke_off=True
    )
    ledger.apply(on.PodObserved(broke_off), now=START)
    assert ledger.view.has_turn(ask.uid)
    assert ledger.view.reserved_nodes == {"n1": ask.uid}
    ledger.apply(on.PodObserved(replace(broke_off, version=3, unscheduled=NO_PORT)), now=START)
    assert ledger.view.has_turn(ask.uid)
    judged = replace(broke_off, version=4, unscheduled=f"{NO_PORT} {NO_PORT}", attempt_broke_off=False)
    ledger.apply(on.PodObserved(judged), now=START)
    assert not ledger.view.has_turn(ask.uid)
    assert ledger.view.reserved_nodes == {}


# -- pods that were refused before: by a former life of this ledger, or by another instance ---

REFUSED = "0/2 nodes are available: 2 QuotaExceeded: root.a max vcore=1. preemption: not helpful"
IN_TREE = "0/2 nodes are available: 2 Insufficient cpu. preemption: not helpful"


@pytest.mark.parametrize(("text", "woken_up"), [(REFUSED, ["uid-p"]), (IN_TREE, [])])
def test_only_one_that_we_refused_is_woken_after_a_restart(text: str, woken_up: list[str]) -> None:
    ledger = make_ledger(make_queue("root.a"), listed=False)
    ledger.apply(on.PodObserved(make_pod("p", unscheduled=text)), now=START)
    ledger.apply(on.PodsListed(frozenset({PodUid("uid-p")})), now=START)
    assert woken(ledger, now=START) == woken_up


def test_one_that_another_instance_refuses_is_woken_too() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    ledger.apply(on.PodObserved(make_pod("runs", node="n1")), now=START)
    ledger.apply(on.PodObserved(make_pod("p")), now=START)
    ledger.apply(on.PodObserved(make_pod("p", version=2, unscheduled=REFUSED)), now=START)
    assert woken(ledger, now=START) == []
    ledger.apply(on.PodDeleted(PodUid("uid-runs")), now=START + 5)
    assert woken(ledger, now=START + 5) == ["uid-p"]
