"""REST-6 and REST-7 from the ledger."""

import pytest

from core.ids import AppId, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.workload.application import Application
from core.workload.gangs.progress import GangProgress, TaskGroupProgress
from extender.views.yunikorn_views import application_view, queue_view
from tests.builders import START, bind_called, filtered, make_gang, make_ledger, make_pod, make_queue


@pytest.fixture
def ledger() -> Ledger:
    """root.p.a with a bound, an admitted and a refused pod."""
    queue = make_queue("root.p.a", max={"vcore": 4000}, guaranteed={"vcore": 1000})
    made = make_ledger(make_queue("root.p", leaf=False), queue)
    made.apply(on.PodObserved(make_pod("bound", queue="root.p.a", cpu=1000, node="n1")), now=START)
    for name, cpu in (("admitted", 2000), ("refused", 2000)):
        made.apply(on.PodObserved(make_pod(name, queue="root.p.a", cpu=cpu, priority=7)), now=START)
        filtered(made, f"uid-{name}", now=START)
    bind_called(made, "uid-admitted", now=START)
    return made


@pytest.mark.rule("REST-6")
def test_a_leaf(ledger: Ledger) -> None:
    queue = ledger.view.tree.get("root.p.a")
    assert queue is not None
    assert queue_view(ledger.view, queue) == {
        "queuename": "root.p.a",
        "status": "Active",
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
        "isPreemptionFence": False,
        "isPriorityFence": False,
        "currentPriority": 7,
    }


@pytest.mark.rule("REST-6")
def test_the_whole_tree_names_the_partition_and_the_children(ledger: Ledger) -> None:
    view = queue_view(ledger.view, ledger.view.tree.root, subtree=True, partition=True)
    assert (view["partition"], view["isLeaf"], view["childNames"]) == ("default", False, ["root.p"])
    (parent,) = view["children"]
    assert [child["queuename"] for child in parent["children"]] == ["root.p.a"]
    assert "children" not in queue_view(ledger.view, ledger.view.tree.root)


@pytest.mark.rule("REST-6")
def test_a_queue_over_its_max_shows_a_negative_headroom(ledger: Ledger) -> None:
    ledger.apply(on.PodObserved(make_pod("more", queue="root.p.a", cpu=3000, node="n1")), now=START)
    queue = ledger.view.tree.get("root.p.a")
    assert queue is not None
    assert queue_view(ledger.view, queue)["headroom"]["vcore"] == -2000


@pytest.mark.rule("REST-7")
def test_an_application(ledger: Ledger) -> None:
    application = ledger.view.application(AppId("app-1", "default"))
    assert application is not None
    view = application_view(ledger.view, application)
    assert (view["applicationID"], view["partition"], view["queueName"]) == ("app-1", "default", "root.p.a")
    assert (view["usedResource"], view["pendingResource"]) == (
        {"pods": 2, "vcore": 3000},
        {"pods": 1, "vcore": 2000},
    )
    assert (view["applicationState"], view["maxRequestPriority"]) == ("Running", 7)
    assert [each["nodeId"] for each in view["allocations"]] == ["n1", "n1"]
    (request,) = view["requests"]
    assert (request["allocationKey"], request["priority"]) == ("uid-refused", "7")


@pytest.mark.rule("REST-7", "POD-8")
def test_a_member_of_a_task_group_and_a_placeholder() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("m", task_group="g")), now=START)
    ledger.apply(on.PodObserved(make_pod("tg", task_group="g", placeholder=True, node="n1")), now=START)
    application = ledger.view.application(AppId("app-1", "default"))
    assert application is not None
    view = application_view(ledger.view, application)
    (request,), (allocation,) = view["requests"], view["allocations"]
    assert (request["taskGroupName"], "placeholder" in request) == ("g", False)
    assert (allocation["taskGroupName"], allocation["placeholder"]) == ("g", True)
    assert "placeholderData" not in view


@pytest.mark.rule("REST-3", "REST-7")
def test_what_became_of_the_placeholders_of_each_group() -> None:
    """In order of definition; numbers that are zero are left out."""
    large, small = make_gang(cpu=2000, name="z").groups[0], make_gang(cpu=500, name="a").groups[0]
    groups = {
        "z": TaskGroupProgress(large, 2, count=2),
        "a": TaskGroupProgress(small, 3, count=3, replaced=1, timed_out=2),
    }
    ledger = make_ledger(make_queue("root.a"))
    application = Application(AppId("app-1", "default"), "root.a", gang_progress=GangProgress(groups, 900.0))
    assert application_view(ledger.view, application)["placeholderData"] == [
        {"taskGroupName": "z", "count": 2, "minResource": {"pods": 1, "vcore": 2000}},
        {
            "taskGroupName": "a",
            "count": 3,
            "minResource": {"pods": 1, "vcore": 500},
            "replaced": 1,
            "timedout": 2,
        },
    ]


@pytest.mark.rule("REST-7", "GANG-2", "GANG-8")
def test_what_placeholders_hold_is_not_used_and_the_originator_is_marked() -> None:
    ledger = make_ledger(make_queue("root.a"))
    replaced = {"task_group": "g", "replaces": PodUid("uid-tg-0")}
    for pod in (
        make_pod("tg-1", cpu=500, placeholder=True, node="n1"),
        make_pod("first", cpu=100),
        make_pod("member", cpu=400, node="n1", **replaced),
    ):
        ledger.apply(on.PodObserved(pod), now=START)
    application = ledger.view.application(AppId("app-1", "default"))
    assert application is not None
    view = application_view(ledger.view, application)
    assert view["usedResource"] == {"pods": 1, "vcore": 400}
    flags = ("originator", "placeholder", "placeholderUsed")
    shown = {
        each["allocationTags"]["kubernetes.io/meta/podName"]: {flag for flag in flags if flag in each}
        for each in (*view["requests"], *view["allocations"])
    }
    assert shown == {"first": {"originator"}, "tg-1": {"placeholder"}, "member": {"placeholderUsed"}}


@pytest.mark.rule("REST-7")
def test_a_rejected_application() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("lost", queue="root.nowhere")), now=START)
    application = ledger.view.application(AppId("app-1", "default"))
    assert application is not None
    view = application_view(ledger.view, application)
    assert (view["applicationState"], view["rejectedMessage"]) == (
        "Rejected",
        "PlacementFailed: no queue root.nowhere",
    )
