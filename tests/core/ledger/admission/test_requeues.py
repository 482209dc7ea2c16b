"""Why a scheduling cycle does not admit an ask that it checked."""

from dataclasses import replace

import pytest

from core.decisions.explain import explain
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.state.admission import RequeueReason
from core.workload.gangs.gang import GroupSource, PodGroup
from tests.builders import START, make_ledger, make_node, make_pod, make_queue, woken


def ledger_of(*, cpu: int, maximum: int | None = None, **properties: str) -> Ledger:
    """A queue on two nodes."""
    queue = make_queue("root.a", max={"vcore": maximum} if maximum else None)
    ledger = make_ledger(replace(queue, properties=properties), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=cpu)), now=START)
    return ledger


def requeued(ledger: Ledger, name: str) -> RequeueReason | None:
    woken(ledger, now=START)
    record = ledger.view.pod(PodUid(f"uid-{name}"))
    assert record is not None
    return explain(ledger.view, record).requeued


@pytest.mark.parametrize(
    ("cpu", "maximum", "reason"),
    [
        (8000, 1500, RequeueReason.NO_HEADROOM),
        (1500, None, RequeueReason.NO_NODE),
        (8000, None, None),
    ],
    ids=["the queue is full", "no single node has the capacity", "it has its turn"],
)
def test_an_ask_has_the_reason_that_stops_it(
    cpu: int, maximum: int | None, reason: RequeueReason | None
) -> None:
    ledger = ledger_of(cpu=cpu, maximum=maximum)
    ledger.apply(on.PodObserved(make_pod("one", cpu=2000)), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n3", cpu=100)), now=START)
    assert requeued(ledger, "one") is reason
    assert dict(ledger.view.cycle.requeues) == ({reason: 1} if reason else {})


def test_a_member_of_an_incomplete_pod_group_waits_for_the_group() -> None:
    ledger = ledger_of(cpu=8000)
    group = PodGroup("g", 2, GroupSource.LABELS)
    ledger.apply(on.PodObserved(make_pod("one", pod_group=group)), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n3", cpu=100)), now=START)
    assert requeued(ledger, "one") is RequeueReason.POD_GROUP


def test_asks_that_are_requeued_together_are_counted_once() -> None:
    ledger = ledger_of(cpu=900)
    for name in ("one", "two", "three"):
        ledger.apply(on.PodObserved(make_pod(name)), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n3", cpu=100)), now=START)
    assert [requeued(ledger, name) for name in ("one", "two", "three")] == 3 * [RequeueReason.NO_NODE]
    assert sum(ledger.view.cycle.requeues.values()) == 1


def test_a_cycle_over_all_asks_forgets_the_reasons_of_former_ones() -> None:
    ledger = ledger_of(cpu=1500)
    ledger.apply(on.PodObserved(make_pod("one", cpu=2000)), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n3", cpu=100)), now=START)
    assert requeued(ledger, "one") is RequeueReason.NO_NODE
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n4", cpu=4000)), now=START)
    assert requeued(ledger, "one") is None
    assert not ledger.view.cycle.requeued
