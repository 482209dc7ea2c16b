"""Asks in back-off are checked again at their time, however many others are in back-off."""

from dataclasses import replace
from typing import Any

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.workload.gangs.gang import PodGroup
from core.workload.pod import OWN_GATE
from tests.builders import START, make_ledger, make_node, make_pod, make_queue, woken

A = make_queue("root.a")
NO_CAPACITY = "0/1 nodes are available: 1 node(s) didn't have free ports"


def created(ledger: Ledger, *names: str, at: float = START, **facts: Any) -> None:
    """Create pods behind Paddock's gate, so that a cycle gives them their turns."""
    for name in names:
        ledger.apply(on.PodObserved(make_pod(name, gates=(OWN_GATE,), **facts)), now=at)
    woken(ledger, now=at)


def find_no_node(ledger: Ledger, *names: str, at: float, **facts: Any) -> None:
    """Report for each ask with a turn that it fits on no node, so that it backs off for two seconds."""
    assert have_turns(ledger) >= set(names)
    for name in names:
        ledger.apply(on.PodWoken(PodUid(f"uid-{name}"), reached=True), now=at)
        pod = make_pod(name, version=2, unscheduled=NO_CAPACITY, **facts)
        ledger.apply(on.PodObserved(pod), now=at)
    woken(ledger, now=at)


def time_passes(ledger: Ledger, *, until: float) -> None:
    """Let time pass. The ledger is called only when it says that something is due."""
    while (due := ledger.view.next_due()) is not None and due <= until:
        ledger.apply(on.TimePassed(), now=due)
        woken(ledger, now=due)


def have_turns(ledger: Ledger) -> set[str]:
    names = (str(uid).removeprefix("uid-") for uid in ledger.view.turns)
    return set(names)


@pytest.mark.rule("CYC-7")
def test_asks_in_back_off_beside_each_other() -> None:
    ledger = make_ledger(A)
    created(ledger, "p", "q", "r")
    for late, name in enumerate("pqr"):
        find_no_node(ledger, name, at=START + 0.6 * late)
    assert have_turns(ledger) == set()
    time_passes(ledger, until=START + 2)
    assert have_turns(ledger) == {"p"}
    time_passes(ledger, until=START + 3.3)
    assert "r" in have_turns(ledger)


@pytest.mark.rule("CYC-7")
def test_many_in_back_off_are_checked_together() -> None:
    ledger = make_ledger(A)
    names = [f"p{at}" for at in range(40)]
    created(ledger, *names)
    for late, name in enumerate(names):
        find_no_node(ledger, name, at=START + late / 100)
    time_passes(ledger, until=START + 2)
    assert have_turns(ledger) == {"p0"}
    assert ledger.view.next_due() == START + 2.5
    time_passes(ledger, until=START + 2.5)
    assert have_turns(ledger) == set(names)


@pytest.mark.rule("COS-6")
def test_a_group_in_back_off_beside_an_ask() -> None:
    """The ask's time is over first."""
    ledger = make_ledger(A)
    group = PodGroup("g", 3)
    created(ledger, "p", "q", "r", pod_group=group)
    created(ledger, "s", app="other")
    find_no_node(ledger, "p", "q", "r", at=START, pod_group=group)
    find_no_node(ledger, "s", at=START, app="other")
    (known,) = ledger.view.pod_groups()
    rest = known.backs_off_until
    assert rest is not None
    assert rest > START + 2.5
    time_passes(ledger, until=START + 2)
    assert have_turns(ledger) == {"s"}
    time_passes(ledger, until=rest)
    assert have_turns(ledger) >= {"p", "q", "r"}


@pytest.mark.rule("CYC-4")
def test_an_application_in_back_off_beside_an_ask() -> None:
    backoff = {"application.unschedasks.backoff": "2", "application.unschedasks.backoff.delay": "5s"}
    ledger = make_ledger(replace(A, properties=backoff), nodes=0)
    for name in ("n1", "n2", "n3", "n4"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=1000)), now=START)
    woken(ledger, now=START)
    for at, name in enumerate("pq"):
        created(ledger, name, app="job", cpu=1100 + at, priority=5)
    created(ledger, "r", app="job")
    created(ledger, "s", app="other")
    assert have_turns(ledger) == {"s"}
    find_no_node(ledger, "s", at=START, app="other")
    time_passes(ledger, until=START + 4)
    ledger.apply(on.PodDeleted(PodUid("uid-p")), now=START + 4)
    woken(ledger, now=START + 4)
    assert "r" not in have_turns(ledger)
    time_passes(ledger, until=START + 5)
    assert "r" in have_turns(ledger)
