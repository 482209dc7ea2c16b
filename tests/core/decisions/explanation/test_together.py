"""Explanations of applications with their gangs, and of pod groups."""

from collections.abc import Generator
from typing import TypeVar

from core.decisions.explanation import phrases
from core.decisions.explanation.together import explain_application, explain_pod_group
from core.decisions.explanation.values import Members, PodStanding, TogetherExplanation
from core.ids import AppId
from core.ledger.ledger import Ledger
from core.workload.gangs.gang import PodGroup
from core.workload.pod import OWN_GATE
from tests.builders import START, make_ledger, make_queue
from tests.core.decisions.explanation.scenes import asking, cycled, observed
from tests.core.ledger.gangs.play import started

T = TypeVar("T")


def result(steps: Generator[int, None, T]) -> T:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


def application(
    ledger: Ledger, name: str = "app-1", namespace: str = "default"
) -> TogetherExplanation | None:
    return result(explain_application(ledger.view, AppId(name, namespace), "default", now=START))


def crowded() -> Ledger:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    observed(ledger, "runs", node="n1")
    for number in range(3):
        observed(ledger, f"ask{number}", created=10.0 - number, gates=(OWN_GATE,))
    return cycled(ledger)


def test_the_first_pending_pod_stands_for_the_application() -> None:
    """The oldest has its turn, so the next one is explained."""
    found = application(crowded())
    assert found is not None
    assert dict(found.pods) == {PodStanding.BOUND: 1, PodStanding.PENDING: 3}
    assert found.first is not None
    assert (found.first.name, found.phase) == ("ask1", "Running")
    assert phrases.verdict_together(found) == "its first pending pod waits: WaitingForTurn: root.a"


def test_an_unknown_one_has_no_explanation() -> None:
    assert application(crowded(), "none") is None
    assert result(explain_pod_group(crowded().view, "default", "none", now=START)) is None


def test_pods_of_other_namespaces_are_only_counted() -> None:
    ledger = crowded()
    found = result(explain_application(ledger.view, AppId("app-1", "default"), "elsewhere", now=START))
    assert found is not None
    assert (found.first, sum(count for _, count in found.pods)) == (None, 4)


def test_a_refused_application_says_why() -> None:
    found = application(asking(queue="root.nope"))
    assert found is not None
    assert found.text
    assert phrases.verdict_together(found) == found.text


def test_a_gang_shows_its_task_groups() -> None:
    world = started(2)
    found = next(
        application(world.ledger, each.id.name, each.id.namespace)
        for each in list(world.ledger.view.applications())
        if each.gang_progress is not None
    )
    assert found is not None
    (group,) = found.members
    assert (group.needed, found.gang_phase) == (2, "Reserving")


def test_a_pod_group_shows_how_many_members_it_lacks() -> None:
    ledger = asking(pod_group=PodGroup("g", 3))
    found = result(explain_pod_group(ledger.view, "default", "g", now=START))
    assert found is not None
    assert found.members == (Members("g", 3, 0, 1),)
    assert (found.phase, found.first is not None) == ("incomplete", True)
