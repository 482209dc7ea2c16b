"""The end of a gang after its time-out, or after it lost its placeholders or its members."""

import pytest

from core.ids import PodUid
from core.ledger.effects import CreatePlaceholder, MarkFailed
from core.reasons import Code
from core.workload.gangs.gang import GangStyle
from core.workload.states import AppState
from tests.builders import START, make_gang, usage
from tests.core.ledger.gangs.play import GangPlay, play, waiting_gang, with_policy

# -- time-outs (GANG-15 to GANG-17) --------------------------------------------------------------------------


@pytest.mark.rule("GANG-15")
def test_the_time_runs_from_the_first_with_capacity_and_is_less_by_the_age_of_the_pod() -> None:
    world = play()
    gang = with_policy(make_gang(2), timeout=20)
    world.create("m1", gang=gang, task_group="g", created=START - 5)
    world.wait(100)
    assert world.gang_progress().due is None
    world.bind_placeholders(most=1)
    assert world.gang_progress().due == world.now + 15
    world.delete(next(pod.uid for pod in world.placeholders() if pod.node))
    assert world.gang_progress().due is None


@pytest.mark.rule("GANG-16", "APP-9")
def test_hard_the_waiting_members_fail() -> None:
    world = waiting_gang(3, style=GangStyle.HARD, timeout=20)
    world.create("m2", task_group="g")
    world.bind_placeholders(most=2)
    world.wait(20)
    assert world.placeholders() == []
    assert world.failed == {"uid-m1": "ResourceReservationTimeout", "uid-m2": "ResourceReservationTimeout"}
    assert usage(world.ledger, "root.a") == (0, 0, 0)
    ended = world.ledger.view.identities.ended("app-1")
    assert ended is not None
    assert ended.state is AppState.FAILED
    assert world.events().count("PlaceholderTimeOut") == 3
    assert world.events().count("GangSchedulingFailed") == 1


@pytest.mark.rule("GANG-16")
def test_hard_the_note_is_written_before_anything_is_taken_back() -> None:
    world = waiting_gang(2, style=GangStyle.HARD, timeout=5)
    world.bind_placeholders(most=1)
    world.failing.add("WriteRecord")
    world.wait(6)
    assert len(world.placeholders()) == 2
    assert world.refusal("uid-m1") is Code.RESERVATION_TIMEOUT
    world.failing.clear()
    world.wait(15)
    assert world.placeholders() == []
    assert world.failed


@pytest.mark.rule("GANG-16", "APP-9")
def test_one_that_runs_already_does_not_fail() -> None:
    """Another scheduler gave a node to a pod of the gang."""
    world = waiting_gang(3, style=GangStyle.HARD, timeout=20)
    world.bind_placeholders(most=1)
    world.create("m2", task_group="g", node="n1")
    world.wait(20)
    assert world.placeholders() == []
    assert world.failed == {}
    assert world.application().state is AppState.RUNNING
    assert world.admitted("uid-m1")


@pytest.mark.rule("GANG-16")
def test_soft_the_members_go_like_any_others() -> None:
    world = waiting_gang(3, timeout=20)
    world.bind_placeholders(most=2)
    world.wait(20)
    assert world.placeholders() == []
    assert world.application().state is AppState.ACCEPTED
    assert world.counts() == [(3, 0, 3)]
    assert world.pods[PodUid("uid-m1")].gang_noted == "Ordinary"
    assert world.admitted("uid-m1")
    world.bind("uid-m1")
    assert world.application().state is AppState.RUNNING


@pytest.mark.rule("GANG-16")
def test_after_the_start_what_is_left_is_taken_back() -> None:
    world = waiting_gang(3, timeout=20)
    world.bind_placeholders()
    world.bind("uid-m1")
    world.wait(21)
    assert world.placeholders() == []
    assert world.counts() == [(3, 1, 2)]
    world.create("m2", task_group="g")
    assert world.admitted("uid-m2")


@pytest.mark.rule("GANG-17")
@pytest.mark.parametrize(("style", "state"), [("Hard", AppState.FAILED), ("Soft", AppState.ACCEPTED)])
def test_none_is_made_when_the_time_is_over_before(style: str, state: AppState) -> None:
    world = play()
    gang = with_policy(make_gang(2), GangStyle(style), timeout=20)
    world.create("m1", gang=gang, task_group="g", created=START - 21)
    assert not [each for each in world.done if isinstance(each, CreatePlaceholder)]
    assert "PlaceholderTimeout" in world.events()
    known = world.ledger.view.identities.ended("app-1") or world.application()
    assert known.state is state
    assert bool(world.failed) is (style == "Hard")


@pytest.mark.rule("GANG-17")
def test_without_a_time_of_its_own_it_begins_whatever_its_age() -> None:
    world = play()
    world.create("m1", gang=make_gang(2), task_group="g", created=START - 5000)
    assert len(world.placeholders()) == 2


def test_marking_is_repeated_while_a_pod_stays() -> None:
    world = waiting_gang(2, style=GangStyle.HARD, timeout=5)
    ledger = world.ledger
    world.bind_placeholders(most=1)
    world.wait(4)
    world._carry_out = lambda effect, *, reached: (  # type: ignore[method-assign]
        None if isinstance(effect, MarkFailed) else GangPlay._carry_out(world, effect, reached=reached)
    )
    world.wait(40)
    marked = [each for each in world.done if isinstance(each, MarkFailed)]
    assert len(marked) == 2
    assert ledger is world.ledger


# -- what is lost (GANG-18, GANG-21) -------------------------------------------------------------------------


@pytest.mark.rule("GANG-18")
def test_a_gang_that_lost_all_of_them_ends_as_if_its_time_were_over() -> None:
    world = waiting_gang(2, style=GangStyle.HARD)
    for pod in world.placeholders():
        world.delete(pod.uid)
    assert world.failed == {"uid-m1": "ResourceReservationTimeout"}


@pytest.mark.rule("GANG-21")
def test_no_placeholder_outlives_the_pods_they_are_for() -> None:
    world = waiting_gang(3)
    world.bind_placeholders(most=2)
    world.delete("uid-m1")
    assert world.placeholders() == []
    assert world.application().state is AppState.COMPLETING
    world.wait(31)
    ended = world.ledger.view.identities.ended("app-1")
    assert ended is not None
    assert ended.state is AppState.COMPLETED


@pytest.mark.rule("GANG-14", "APP-6")
def test_what_is_left_when_the_work_is_done_goes_after_thirty_seconds() -> None:
    world = waiting_gang(3)
    world.bind_placeholders()
    world.bind("uid-m1")
    world.delete("uid-m1")
    assert world.application().state is AppState.COMPLETING
    assert len(world.placeholders()) == 2
    world.wait(29)
    assert len(world.placeholders()) == 2
    world.wait(2)
    assert world.placeholders() == []
    ended = world.ledger.view.identities.ended("app-1")
    assert ended is not None
    assert ended.state is AppState.COMPLETED


@pytest.mark.rule("APP-3")
def test_a_pod_that_comes_while_it_completes_takes_it_up_again() -> None:
    world = waiting_gang(3)
    world.bind_placeholders()
    world.bind("uid-m1")
    world.delete("uid-m1")
    world.create("m2", task_group="g")
    assert world.application().state is AppState.RUNNING
    world.bind("uid-m2")
    assert world.counts() == [(3, 2, 0)]
