"""Gangs that have ended or never started leave nothing in the ledger."""

from dataclasses import replace

import pytest

from core.ids import AppId, PodUid
from core.ledger import events as on
from core.ledger.gangs.failure import TIMED_OUT
from core.workload.gangs.gang import GangPolicy, GangStyle, PlaceholderTemplate
from core.workload.gangs.phase import GangPhase
from core.workload.states import AppState
from tests.builders import START, make_gang, make_ledger, make_queue
from tests.core.ledger.gangs.play import GangPlay


@pytest.mark.rule("APP-5", "GANG-20")
def test_a_gang_that_is_over_is_not_checked_when_its_time_comes() -> None:
    """The placeholder had no node when the process began, so the loss of a node does not end its time."""
    world = GangPlay(make_ledger(make_queue("root.a"), listed=False))
    gang = make_gang(2)
    world.create("m1", gang=gang, task_group="g", node="n1")
    world.create("m2", gang=gang, task_group="g")
    world.create("tg-1", gang=gang, task_group="g", placeholder=True, owner="uid-m1")
    world.tell(on.PodsListed(frozenset(world.pods)))
    assert world.gang_progress().phase is GangPhase.STARTED
    for uid in ("uid-tg-1", "uid-m2", "uid-m1"):
        world.delete(uid)
    world.wait(31)
    assert world.ledger.view.application(AppId("app-1", "default")) is None
    world.wait(900)


@pytest.mark.rule("APP-6")
def test_an_application_without_a_gang_waits_for_whoever_says_to_be_its_placeholder() -> None:
    world = GangPlay(make_ledger(make_queue("root.a")))
    world.create("m1")
    world.create("p1", placeholder=True)
    world.bind("uid-p1")
    world.delete("uid-m1")
    world.wait(31)
    world.tell(on.PodObserved(world.pods[PodUid("uid-p1")]))
    world.delete("uid-p1")
    world.wait(31)
    assert world.ledger.view.application(AppId("app-1", "default")) is None


@pytest.mark.rule("GANG-16")
@pytest.mark.parametrize("style", [GangStyle.SOFT, GangStyle.HARD])
def test_a_gang_whose_time_is_up_waits_ten_seconds_for_an_unseen_placeholder(
    style: GangStyle,
) -> None:
    """The API server made it, and it disappeared before any watch could show it."""
    world = GangPlay(make_ledger(make_queue("root.a")))
    world.hidden = 1
    policy = GangPolicy(style, 5)
    world.create("m1", gang=replace(make_gang(2), policy=policy), task_group="g")
    (seen,) = world.placeholders()
    world.bind(seen.uid)
    world.wait(6)
    assert (world.gang_progress().phase.shown, world.placeholders()) == (
        "Failing" if style is GangStyle.HARD else "Resuming",
        [],
    )
    world.wait(6)
    if style is GangStyle.HARD:
        assert world.failed == {"uid-m1": TIMED_OUT}
    else:
        assert world.admitted("uid-m1")


@pytest.mark.rule("GANG-17")
def test_placeholders_that_are_not_made_are_not_reported() -> None:
    world = GangPlay(make_ledger(make_queue("root.a")))
    gang = replace(make_gang(2), policy=GangPolicy(timeout=20))
    world.create("m1", gang=gang, task_group="g", created=START - 21)
    assert "CreatingPlaceholders" not in world.events()


@pytest.mark.rule("APP-14")
def test_a_gang_that_is_over_retains_its_numbers_and_not_its_texts() -> None:
    """Ten thousand ended applications are shown for three days, and an annotation may have 256 KB."""
    world = GangPlay(make_ledger(make_queue("root.a")))
    gang = make_gang(1)
    template = PlaceholderTemplate(annotations={"long": "x" * 200_000})
    group = replace(gang.groups[0], template=template)
    world.create("m1", gang=replace(gang, groups=(group,), written="x" * 200_000), task_group="g")
    world.bind_placeholders()
    world.bind("uid-m1")
    world.delete("uid-m1")
    world.wait(31)
    ended = world.ledger.view.identities.ended("app-1")
    assert ended is not None
    assert ended.gang_progress is not None
    (progress,) = ended.gang_progress.groups.values()
    assert (progress.count, progress.replaced, progress.group.size) == (1, 1, group.size)
    assert (ended.gang, progress.group.template) == (None, PlaceholderTemplate())


@pytest.mark.rule("APP-3")
def test_an_application_whose_last_pod_was_a_placeholder_taken_back_completes() -> None:
    world = GangPlay(make_ledger(make_queue("root.a")))
    policy = GangPolicy(timeout=5)
    world.create("m1", gang=replace(make_gang(2), policy=policy), task_group="g")
    world.failing |= {"CreatePlaceholder", "DeletePod"}
    world.bind_placeholders(most=1)
    world.wait(6)
    assert world.application().state is AppState.RESUMING
    world.delete("uid-m1")
    for pod in world.placeholders():
        world.delete(pod.uid)
    assert world.application().state is AppState.COMPLETING
    world.wait(31)
    assert world.ledger.view.application(AppId("app-1", "default")) is None
