"""The story of a gang's pod, with a refusal of its gang."""

from typing import Any

import pytest

from core.ledger import events as on
from core.ledger.effects import PostEvent
from core.ledger.ledger import Ledger
from core.workload.gangs.gang import Misdefined, PodGroup
from extender.kube.effects.bodies import event_body
from extender.views.journal import Journal
from extender.views.story import story_of
from tests.builders import START, make_gang, make_ledger, make_pod, make_queue


def story(ledger: Ledger, name: str) -> Any:
    found = story_of(ledger.view, Journal(), "default", name)
    assert found is not None
    return found


@pytest.mark.rule("GANG-6")
def test_a_gang_that_is_refused() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    ledger.apply(on.PodObserved(make_pod("p1", gang=make_gang(), task_group="g")), now=START)
    ledger.apply(on.PodObserved(make_pod("p2", task_group="h")), now=START)
    found = story(ledger, "p1")
    assert (found["verdict"]["code"], found["verdict"]["text"]) == (
        "GangTooLarge",
        "GangTooLarge: root.a max vcore=2, below the gang's 10",
    )
    assert found["gang"] == {
        "wrong": [],
        "memberOf": "g",
        "style": "Soft",
        "placeholderTimeoutSeconds": 900.0,
        "taskGroups": [{"name": "g", "members": 10, "size": {"pods": 1, "vcore": 1000}}],
        "total": {"pods": 10, "vcore": 10_000},
    }
    assert story(ledger, "p2")["gang"]["memberOf"] == ""


@pytest.mark.rule("POD-12", "COS-1")
def test_what_is_wrong_with_its_keys() -> None:
    ledger = make_ledger(make_queue("root.a"))
    broken = make_pod("p", gang=Misdefined("groups: broken"), pod_group=Misdefined("labels: broken"))
    ledger.apply(on.PodObserved(broken), now=START)
    assert story(ledger, "p")["gang"] == {"wrong": ["groups: broken", "labels: broken"]}


@pytest.mark.rule("COS-1")
def test_a_pod_of_a_lightweight_group() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("p", pod_group=PodGroup("solo", 3))), now=START)
    assert story(ledger, "p")["gang"] == {
        "wrong": [],
        "podGroup": "solo",
        "minAvailable": 3,
        "standing": "incomplete",
        "queue": "root.a",
        "members": {"pending": 1},
        "timeouts": 0,
    }


def test_a_pod_in_no_gang() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("p")), now=START)
    assert story(ledger, "p")["gang"] is None


@pytest.mark.rule("POD-12")
def test_the_event_of_a_broken_definition_names_reason_and_action() -> None:
    event = PostEvent("Pod", "default", "p", "u", "GangScheduling", "why", action="TaskGroupsError")
    body = event_body(event)
    assert b'"reason":"GangScheduling","action":"TaskGroupsError"' in body
    assert b'"type":"Warning"' in body
    assert b'"action"' not in event_body(PostEvent("Pod", "default", "p", "u", "ApplicationFailed", "why"))
