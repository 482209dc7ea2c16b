"""Applications with their requests and allocations from the ledger."""

from dataclasses import replace

import pytest

from core.ids import AppId, NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.resource import Resource
from core.workload.application import Application
from core.workload.gangs.progress import GangProgress, TaskGroupProgress
from extender.rest.facts import Facts
from extender.rest.members import members
from extender.rest.model.applications import NEVER_STARTED, NO_REQUEST, App, ResourceHistory
from extender.rest.projection.applications import (
    active_applications,
    app_from,
    completed_applications,
    placeholders_from,
    rejected_applications,
)
from tests.builders import START, bind_called, filtered, make_gang, make_ledger, make_pod, make_queue

SECOND = 1_000_000_000


def shown(ledger: Ledger, name: str = "app-1") -> App:
    application = ledger.view.application(AppId(name, "default"))
    assert application is not None
    return app_from(Facts(ledger.view), application)


@pytest.fixture
def ledger() -> Ledger:
    """A bound pod, one whose Binding is on its way, and a refused one."""
    made = make_ledger(make_queue("root.a", max={"vcore": 4000}))
    bound = make_pod("bound", cpu=1000, node="n1", created=START - 9, labels={"x": "1"})
    made.apply(on.PodObserved(bound), now=START)
    for name, cpu in (("admitted", 2000), ("refused", 2000)):
        made.apply(on.PodObserved(make_pod(name, cpu=cpu, priority=7, created=START)), now=START)
        filtered(made, f"uid-{name}", now=START)
    bind_called(made, "uid-admitted", now=START)
    return made


@pytest.mark.rule("REST-7", "REST-33")
def test_an_application(ledger: Ledger) -> None:
    found = members(shown(ledger))
    requests, allocations = found.pop("requests"), found.pop("allocations")
    assert found == {
        "applicationID": "app-1",
        "namespace": "default",
        "usedResource": {"pods": 2, "vcore": 3000},
        "pendingResource": {"pods": 1, "vcore": 2000},
        "partition": "default",
        "queueName": "root.a",
        "submissionTime": int(START - 9) * SECOND,
        "startTime": int(START) * 1000,
        "applicationState": "Running",
        "user": "nobody",
        "groups": ["nobody"],
        "stateLog": [
            {"time": int(START) * SECOND, "applicationState": "Accepted"},
            {"time": int(START) * SECOND, "applicationState": "Running"},
        ],
        "maxRequestPriority": 7,
        "resourceHistory": {},
    }
    assert [each["allocationKey"] for each in requests] == ["uid-refused"]
    assert [each["allocationKey"] for each in allocations] == ["uid-admitted", "uid-bound"]


@pytest.mark.rule("REST-35")
def test_an_allocation_is_as_late_as_its_binding(ledger: Ledger) -> None:
    bound = next(each for each in shown(ledger).allocations if each.allocation_key == "uid-bound")
    assert members(bound) == {
        "allocationKey": "uid-bound",
        "allocationTags": {
            "kubernetes.io/meta/namespace": "default",
            "kubernetes.io/meta/podName": "bound",
            "kubernetes.io/label/x": "1",
        },
        "requestTime": int(START - 9) * SECOND,
        "allocationTime": int(START) * SECOND,
        "allocationDelay": 9 * SECOND,
        "resource": {"pods": 1, "vcore": 1000},
        "priority": "0",
        "nodeId": "n1",
        "applicationId": "app-1",
        "originator": True,
    }


@pytest.mark.rule("REST-35")
def test_the_time_of_the_binding_is_the_one_that_the_pod_tells() -> None:
    """Seen late, such as after a restart, it was not bound late."""
    ledger = make_ledger(make_queue("root.a"))
    heard = make_pod("bound", node="n1", created=START - 9, scheduled_at=START - 7)
    ledger.apply(on.PodObserved(heard), now=START)
    (allocation,) = shown(ledger).allocations
    assert (allocation.allocation_time, allocation.allocation_delay) == (int(START - 7) * SECOND, 2 * SECOND)


@pytest.mark.rule("REST-34")
def test_a_request(ledger: Ledger) -> None:
    (request,) = shown(ledger).requests
    assert (request.priority, request.scheduling_attempted, request.originator) == ("7", True, False)
    untried = make_ledger(make_queue("root.a"))
    untried.apply(on.PodObserved(make_pod("new", unscheduled="0/1 nodes are available")), now=START)
    (request,) = shown(untried).requests
    assert (request.scheduling_attempted, request.triggered_scale_up) == (False, True)


@pytest.mark.rule("REST-7")
def test_one_that_waits_for_nothing_and_never_ran_says_so() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("new", priority=-(2**31) + 1)), now=START)
    assert shown(ledger).start_time == NEVER_STARTED
    ledger.apply(on.PodObserved(make_pod("bound", app="other", node="n1")), now=START)
    assert shown(ledger, "other").max_request_priority == NO_REQUEST == -2147483648


@pytest.mark.rule("REST-7")
def test_nodes_held_for_it_are_its_reservations(ledger: Ledger) -> None:
    assert "reservations" not in members(shown(ledger))
    refused = make_pod("refused", cpu=2000, priority=7, created=START, version=2, nominated=NodeName("n1"))
    ledger.apply(on.PodObserved(refused), now=START)
    found = shown(ledger)
    assert (found.has_reserved, found.reservations) == (True, ("uid-refused",))


@pytest.mark.rule("REST-3", "REST-7")
def test_a_backoff_ends_at_a_moment_in_text() -> None:
    application = Application(AppId("app-1", "default"), "root.a", backs_off_until=START + 0.5)
    ledger = make_ledger(make_queue("root.a"))
    found = app_from(Facts(ledger.view), application)
    assert found.backoff_deadline == "1970-01-12T13:46:40.500Z"
    later = replace(application, backs_off_until=START)
    assert app_from(Facts(ledger.view), later).backoff_deadline == "1970-01-12T13:46:40Z"


@pytest.mark.rule("REST-7", "POD-8")
def test_a_member_of_a_task_group_and_a_placeholder() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("m", task_group="g")), now=START)
    ledger.apply(on.PodObserved(make_pod("tg", task_group="g", placeholder=True, node="n1")), now=START)
    found = shown(ledger)
    (request,), (allocation,) = found.requests, found.allocations
    assert (request.task_group_name, request.placeholder) == ("g", False)
    assert (allocation.task_group_name, allocation.placeholder) == ("g", True)
    assert found.placeholder_data == ()


@pytest.mark.rule("REST-3", "REST-7")
def test_what_became_of_the_placeholders_of_each_group() -> None:
    """In order of definition; numbers that are zero are left out."""
    large, small = make_gang(cpu=2000, name="z").groups[0], make_gang(cpu=500, name="a").groups[0]
    groups = {
        "z": TaskGroupProgress(large, 2, count=2),
        "a": TaskGroupProgress(small, 3, count=3, replaced=1, timed_out=2),
    }
    assert [members(each) for each in placeholders_from(GangProgress(groups, 900.0))] == [
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
    for pod in (
        make_pod("tg-1", cpu=500, placeholder=True, node="n1"),
        make_pod("first", cpu=100),
        make_pod("member", cpu=400, node="n1", task_group="g", replaces=PodUid("uid-tg-0")),
    ):
        ledger.apply(on.PodObserved(pod), now=START)
    found = shown(ledger)
    assert found.used_resource == {"pods": 1, "vcore": 400}
    flags = ("originator", "placeholder", "placeholderUsed")
    heard = {
        each.allocation_key: {flag for flag in flags if flag in members(each)}
        for each in (*found.requests, *found.allocations)
    }
    assert heard == {
        "uid-first": {"originator"},
        "uid-tg-1": {"placeholder"},
        "uid-member": {"placeholderUsed"},
    }


@pytest.mark.rule("REST-7", "REST-32", "REST-42")
def test_a_rejected_application() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("lost", queue="root.nowhere")), now=START)
    for _ in range(2):
        facts = Facts(ledger.view)
        (found,) = (app_from(facts, each) for each in rejected_applications(facts))
        assert (found.application_state, found.queue_name) == ("Rejected", "root.nowhere")
        assert found.rejected_message == "PlacementFailed: no queue root.nowhere"
        assert found.finished_time == int(START) * SECOND
        assert (found.requests, active_applications(facts), completed_applications(facts)) == ((), [], [])
        ledger.apply(on.PodDeleted(PodUid("uid-lost")), now=START + 5)


@pytest.mark.rule("REST-42")
def test_one_that_has_completed_is_shown_beside_a_later_one_of_its_id() -> None:
    ledger = make_ledger(make_queue("root.a"))
    for name, at in (("p", START), ("r", START + 100)):
        ledger.apply(on.PodObserved(make_pod(name, node="n1", created=at)), now=at)
        ledger.apply(on.PodDeleted(PodUid(f"uid-{name}")), now=at + 10)
        ledger.apply(on.TimePassed(), now=at + 50)
    ledger.apply(on.PodObserved(make_pod("q")), now=START + 200)
    facts = Facts(ledger.view)
    ended = [app_from(facts, each) for each in completed_applications(facts)]
    assert [(each.application_id, each.application_state) for each in ended] == [("app-1", "Completed")] * 2
    assert ended[0].finished_time < ended[1].finished_time
    assert (ended[0].allocations, ended[0].used_resource) == ((), {})
    assert len(active_applications(facts)) == 1


class Remembered:
    """A past with something in it."""

    def peak(self, application: Application) -> Resource:
        return Resource({"vcore": 7})

    def history(self, application: Application) -> ResourceHistory:
        return ResourceHistory(resource_usage={"small": {"vcore": 3}})

    def reasons(self, uid: PodUid) -> tuple[()]:
        return ()


@pytest.mark.rule("REST-7")
def test_what_the_ledger_does_not_keep_comes_from_the_past(ledger: Ledger) -> None:
    application = ledger.view.application(AppId("app-1", "default"))
    assert application is not None
    found = app_from(Facts(ledger.view, past=Remembered()), application)
    assert found.max_used_resource == {"vcore": 7}
    assert members(found)["resourceHistory"] == {"resourceUsage": {"small": {"vcore": 3}}}
