"""Queues from the ledger."""

from dataclasses import replace

import pytest

from core.ids import QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.queue import Closure
from extender.rest.facts import Facts
from extender.rest.members import members
from extender.rest.model.queues import Queue
from extender.rest.projection.queues import one_queue, queue_tree
from extender.rest.projection.units import moment_text
from tests.builders import START, bind_called, filtered, make_ledger, make_partition, make_pod, make_queue


def shown(ledger: Ledger, path: str) -> Queue:
    queue = ledger.view.tree.get(QueuePath(path))
    assert queue is not None
    return one_queue(Facts(ledger.view), queue)


@pytest.fixture
def ledger() -> Ledger:
    """root.p.a with a bound pod, one whose Binding is on its way, and a refused one."""
    queue = make_queue("root.p.a", max={"vcore": 4000}, guaranteed={"vcore": 1000})
    made = make_ledger(make_queue("root.p", leaf=False), queue)
    made.apply(on.PodObserved(make_pod("bound", queue="root.p.a", cpu=1000, node="n1")), now=START)
    for name, cpu in (("admitted", 2000), ("refused", 2000)):
        made.apply(on.PodObserved(make_pod(name, queue="root.p.a", cpu=cpu, priority=7)), now=START)
        filtered(made, f"uid-{name}", now=START)
    bind_called(made, "uid-admitted", now=START)
    return made


@pytest.mark.rule("REST-6", "REST-31")
def test_a_leaf(ledger: Ledger) -> None:
    """With ``partition``, empty, and with a delay of 0s."""
    assert members(shown(ledger, "root.p.a")) == {
        "queuename": "root.p.a",
        "status": "Active",
        "partition": "",
        "isLeaf": True,
        "isManaged": True,
        "parent": "root.p",
        "maxResource": {"vcore": 4000},
        "guaranteedResource": {"vcore": 1000},
        "allocatedResource": {"pods": 2, "vcore": 3000},
        "pendingResource": {"pods": 1, "vcore": 2000},
        "headroom": {"memory": 2**40, "pods": 998, "vcore": 1000},
        "absUsedCapacity": {"vcore": 75},
        "runningApps": 1,
        "sortingPolicy": "fifo",
        "prioritySorting": True,
        "preemptionEnabled": True,
        "preemptionDelay": "30s",
        "quotaPreemptionDelay": "0s",
        "isPreemptionFence": False,
        "isPriorityFence": False,
        "currentPriority": 7,
    }


@pytest.mark.rule("ACT-14")
def test_a_closed_queue_and_those_below_it_drain_by_the_same_order(ledger: Ledger) -> None:
    order = Closure("ann", START, "night", START + 60)
    ledger.apply(on.ActionsRead({QueuePath("root.p"): order}), now=START)
    for path in ("root.p", "root.p.a"):
        seen = members(shown(ledger, path))
        assert seen["status"] == "Draining"
        closed = seen["paddockClosed"]
        assert (closed["queue"], closed["by"], closed["reason"]) == ("root.p", "ann", "night")
        assert (closed["since"], closed["until"]) == (moment_text(START), moment_text(START + 60))
    above = members(shown(ledger, "root"))
    assert (above["status"], "paddockClosed" in above) == ("Active", False)
    ledger.apply(on.ActionsRead({QueuePath("root.p"): Closure("ann", START)}), now=START)
    assert set(members(shown(ledger, "root.p.a"))["paddockClosed"]) == {"queue", "by", "since"}
    ledger.apply(on.ActionsRead({}), now=START)
    assert members(shown(ledger, "root.p.a"))["status"] == "Active"


@pytest.mark.rule("REST-6", "REST-31")
def test_the_partition_is_named_at_the_root_of_the_tree_alone(ledger: Ledger) -> None:
    root = queue_tree(Facts(ledger.view))
    assert (root.partition, root.is_leaf, root.child_names) == ("default", False, ("root.p",))
    (parent,) = root.children
    assert [child.queuename for child in parent.children] == ["root.p.a"]
    assert {parent.partition, *(child.partition for child in parent.children)} == {""}
    assert shown(ledger, "root").partition == ""
    assert shown(ledger, "root").children == ()


@pytest.mark.rule("REST-6", "REST-41")
def test_a_pod_between_filter_and_bind_is_pending(ledger: Ledger) -> None:
    """No node is known, so no node could count it."""
    ledger.apply(on.PodObserved(make_pod("next", queue="root.p.a", cpu=1000)), now=START)
    before = shown(ledger, "root.p.a").allocated_resource
    filtered(ledger, "uid-next", now=START)
    queue = ledger.view.tree.get("root.p.a")
    assert queue is not None
    assert queue.reserved.get("vcore") == 3000
    leaf = shown(ledger, "root.p.a")
    assert (leaf.allocated_resource, leaf.pending_resource["vcore"]) == (before, 3000)
    bind_called(ledger, "uid-next", now=START)
    assert shown(ledger, "root.p.a").allocated_resource["vcore"] == 4000


@pytest.mark.rule("REST-6")
def test_a_queue_over_its_max_shows_a_negative_headroom(ledger: Ledger) -> None:
    ledger.apply(on.PodObserved(make_pod("more", queue="root.p.a", cpu=3000, node="n1")), now=START)
    assert shown(ledger, "root.p.a").headroom["vcore"] == -2000


@pytest.mark.rule("REST-5", "REST-6")
def test_the_limit_of_the_root_is_the_size_of_the_cluster(ledger: Ledger) -> None:
    root = shown(ledger, "root")
    assert root.max_resource == {"memory": 2**40, "pods": 1000, "vcore": 100_000}
    assert root.abs_used_capacity == {"pods": 0, "vcore": 3}


@pytest.mark.rule("REST-49")
def test_when_evictions_for_a_lowered_max_begin() -> None:
    """In nanoseconds: the time of the document and the delay. The time stays while they run."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 9000}))
    ledger.apply(on.PodObserved(make_pod("p", cpu=6000, node="n1")), now=START)
    for cpu in (9000, 3000):
        small = replace(
            make_queue("root.a", max={"vcore": cpu}), properties={"quota.preemption.delay": "10s"}
        )
        partition = replace(make_partition(small), quota_preemption=True)
        ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    seen = []
    for at in (0, 10):
        ledger.apply(on.TimePassed(), now=START + at)
        queue = shown(ledger, "root.a")
        seen.append((queue.is_quota_preemption_running, queue.quota_preemption_start_time))
    starts = int(START + 10) * 10**9
    assert seen == [(False, starts), (True, starts)]
    assert shown(ledger, "root").quota_preemption_start_time == 0


@pytest.mark.rule("REST-25")
def test_children_are_sorted() -> None:
    ledger = make_ledger(make_queue("root.b"), make_queue("root.a"))
    root = queue_tree(Facts(ledger.view))
    assert root.child_names == ("root.a", "root.b")
    assert tuple(each.queuename for each in root.children) == root.child_names
