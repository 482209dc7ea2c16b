"""ACT-30 to ACT-34: where an order keeps an application, and for how long it stays in force."""

from dataclasses import replace

import pytest

from core.ids import RECOVERY_QUEUE, AppId, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec
from core.workload.moving import MoveOrder
from core.workload.pod import NamespaceFacts, PodFacts
from tests.builders import (
    START,
    bind_called,
    drifts,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
)

APP = AppId("app-1", "default")
ORDER = MoveOrder("ann", START, QueuePath("root.b"), QueuePath("root.a"), "nobody")
A, B = make_queue("root.a"), make_queue("root.b")


def restarted(document: PartitionSpec, *pods: PodFacts) -> Ledger:
    """A ledger that has just read its objects, with an order about an application."""
    ledger = Ledger()
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1")), now=START)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")), now=START)
    ledger.apply(on.Configured(document, LedgerSettings()), now=START)
    ledger.apply(on.ActionsRead({}, {}, {APP: ORDER}), now=START)
    ledger.apply(on.PodsListBegun(), now=START)
    for pod in pods:
        ledger.apply(on.PodObserved(pod), now=START)
    ledger.apply(on.PodsListed(frozenset(pod.uid for pod in pods)), now=START)
    return ledger


@pytest.mark.rule("ACT-33")
def test_an_order_stays_while_running_pods_count_in_the_recovery_queue() -> None:
    runs = make_pod("runs", queue="root.a", node="n1")
    ledger = restarted(make_partition(A), runs)
    assert [each.queue for each in ledger.view.applications()] == [RECOVERY_QUEUE]
    assert not ledger.view.moves.is_over(APP)
    ledger.apply(on.PodDeleted(runs.uid), now=START + 1)
    ledger.apply(on.TimePassed(), now=START + 60)
    assert ledger.view.moves.is_over(APP)
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-33", "ACT-34")
def test_an_order_ends_with_the_last_part_of_an_application() -> None:
    """Further pods form an application of the id in a queue, which ends before the other part."""
    runs, waits = make_pod("runs", queue="root.a", node="n1"), make_pod("waits", queue="root.a")
    ledger = restarted(make_partition(A), runs, waits)
    ledger.apply(on.Configured(make_partition(A, B), LedgerSettings()), now=START + 1)
    assert {each.queue for each in ledger.view.applications()} == {RECOVERY_QUEUE, "root.b"}
    for pod in (waits, runs):
        assert not ledger.view.moves.is_over(APP)
        ledger.apply(on.PodDeleted(pod.uid), now=START + 2)
        ledger.apply(on.TimePassed(), now=START + 60)
    assert ledger.view.moves.is_over(APP)
    later = make_pod("later", queue="root.a")
    ledger.apply(on.PodObserved(later), now=START + 61)
    assert [each.queue for each in ledger.view.applications()] == ["root.a"]
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-40")
def test_the_time_out_of_the_new_queue_holds_at_once() -> None:
    timed = replace(B, properties={"application.execution.timeout": "10m"})
    ledger = make_ledger(A, timed)
    ledger.apply(on.PodObserved(make_pod("p", queue="root.a", node="n1")), now=START)
    assert ledger.view.next_due() is None
    ledger.apply(on.ActionsRead({}, {}, {APP: ORDER}), now=START + 1)
    assert ledger.view.next_due() == START + 540
    ledger.apply(on.ActionsRead({}, {}, {APP: replace(ORDER, queue=QueuePath("root.a"))}), now=START + 2)
    assert ledger.view.next_due() is None
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-33", "ACT-34")
def test_an_order_that_a_standby_heard_of_before_the_end_of_a_former_application_counts() -> None:
    ledger = make_ledger(A, B)
    ledger.apply(on.ActingEnded(), now=START)
    former, later = make_pod("former", queue="root.a"), make_pod("later", queue="root.a", node="n1")
    ledger.apply(on.PodObserved(former), now=START)
    ledger.apply(on.ActionsRead({}, {}, {APP: ORDER}), now=START + 100)
    ledger.apply(on.PodDeleted(former.uid), now=START + 101)
    ledger.apply(on.TimePassed(), now=START + 132)
    ledger.apply(on.PodObserved(later), now=START + 132)
    ledger.apply(on.ActingBegan(), now=START + 133)
    assert not ledger.view.moves.is_over(APP)
    assert [each.queue for each in ledger.view.applications()] == ["root.b"]
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-32")
def test_an_application_is_not_moved_while_a_binding_without_an_answer_may_have_bound_its_pod() -> None:
    ledger = make_ledger(A, B)
    pod = make_pod("p", queue="root.a")
    ledger.apply(on.PodObserved(pod), now=START)
    filtered(ledger, pod.uid, now=START)
    bind_called(ledger, pod.uid, now=START)
    ledger.apply(on.BindFailed(pod.uid, certain=False), now=START + 1)
    ledger.apply(on.ActionsRead({}, {}, {APP: ORDER}), now=START + 2)
    held = ledger.view.charge_of(pod.uid)
    assert (held and held.queue) == "root.a"
    ledger.apply(on.TimePassed(), now=START + 100)
    ledger.apply(on.TimePassed(), now=START + 110)
    assert [each.queue for each in ledger.view.applications()] == ["root.b"]
    assert drifts(ledger) == []
