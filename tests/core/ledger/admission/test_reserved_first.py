"""CYC-2: queues with asks that have a reserved node go in their order, and the asks of a leaf by rank."""

import pytest

from core.ids import PodUid
from core.ledger import events as on
from tests.builders import START, drifts, make_ledger, make_node, make_queue
from tests.core.decisions.explanation.scenes import cycled, observed

NAMES = ("old", "young", "youngest")


def served(*, max: int, running: int, **of_oldest: object) -> list[str]:
    """The asks with turns, of three with a reserved node. The oldest is in a queue where a pod runs."""
    parent = make_queue("root.p", leaf=False, max={"vcore": max})
    ledger = make_ledger(parent, make_queue("root.p.busy"), make_queue("root.p.idle"), nodes=0)
    for name in ("n1", "n2", "n3", "n4"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=2000)), now=START)
    observed(ledger, "runs", queue="root.p.busy", app="first", cpu=running, node="n4")
    for at, name in enumerate(NAMES, 1):
        queue, facts = ("root.p.idle", {}) if at > 1 else ("root.p.busy", of_oldest)
        observed(ledger, name, queue=queue, app=name, created=float(at), reserved_node=f"n{at}", **facts)
    ledger.apply(on.ActingBegan(), now=START)
    cycled(ledger)
    assert drifts(ledger) == []
    return [each for each in NAMES if ledger.view.has_turn(PodUid(f"uid-{each}"))]


@pytest.mark.rule("CYC-2", "SORT-1")
def test_the_queue_with_the_smallest_share_goes_first_whatever_the_age_of_its_asks() -> None:
    assert served(max=2000, running=1000) == ["young"]


@pytest.mark.rule("CYC-2", "SORT-3")
def test_a_turn_counts_for_the_share_of_its_queue() -> None:
    assert served(max=2500, running=500) == ["old", "young"]
    assert served(max=3500, running=1500) == ["young", "youngest"]


@pytest.mark.rule("CYC-2", "SORT-1")
def test_the_queue_with_the_highest_priority_goes_first() -> None:
    assert served(max=2000, running=1000, priority=5) == ["old"]


@pytest.mark.rule("CYC-2")
def test_without_a_shared_limit_all_are_served() -> None:
    assert served(max=9000, running=1000) == [*NAMES]
