"""Creation of placeholders, and the start of a gang (GANG-1 to GANG-10)."""

from dataclasses import replace

import pytest

from core.ids import AppId, PodUid
from core.ledger import effects as do
from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder
from core.ledger.outcomes import CreationOutcome
from core.reasons import Code
from core.workload.gangs.gang import Gang, GangStyle, TaskGroup
from core.workload.gangs.phase import GangPhase
from core.workload.gangs.progress import names_of
from core.workload.states import AppState
from tests.builders import START, make_gang, make_ledger, make_queue, usage
from tests.core.ledger.gangs.play import GangPlay, play, sized, waiting_gang, with_policy


def two_groups(first: int, second: int, *, cpu: int = 1000) -> Gang:
    groups = (TaskGroup("a", first, sized(1000)), TaskGroup("b", second, sized(cpu)))
    return Gang(groups, groups[0].size.times(first) + groups[1].size.times(second))


# -- making them (GANG-1 to GANG-5) --------------------------------------------------------------------------


@pytest.mark.rule("GANG-4")
def test_there_is_one_for_every_member_that_must_be() -> None:
    world = play()
    world.create("m1", gang=two_groups(2, 3), task_group="a")
    assert [pod.task_group for pod in world.placeholders()].count("a") == 2
    assert len(world.placeholders()) == 5
    assert world.counts() == [(2, 0, 0), (3, 0, 0)]
    assert "CreatingPlaceholders" in world.events()


@pytest.mark.rule("GANG-2", "GANG-3")
def test_they_belong_to_the_originator_and_take_after_it() -> None:
    world = play()
    world.create("m1", gang=make_gang(1), priority_class="high", pull_secrets=("s",), queue="root.a")
    (made,) = [each for each in world.done if isinstance(each, CreatePlaceholder)]
    assert (made.originator.uid, made.originator.name) == ("uid-m1", "m1")
    assert (made.originator.priority_class, made.originator.pull_secrets) == ("high", ("s",))
    assert (made.app.name, made.namespace, made.queue) == ("app-1", "default", "root.a")


@pytest.mark.rule("GANG-3")
def test_names_follow_from_the_place_and_fit_into_a_label() -> None:
    group = TaskGroup("A_Group.With-A-Very-Long-Name", 300, sized(1))
    names = list(names_of(AppId("Spark.Application_" + "x" * 60, "default"), PodUid("u"), group))
    assert len(set(names)) == 300
    assert names == list(names_of(AppId("Spark.Application_" + "x" * 60, "default"), PodUid("u"), group))
    assert all(
        len(name) <= 63 and name.startswith("tg-spark-application-xxxxxxxxxx-a-group-w") for name in names
    )
    assert names[0] != next(
        iter(names_of(AppId("Spark.Application_" + "x" * 60, "default"), PodUid("v"), group))
    )


@pytest.mark.rule("GANG-3")
def test_names_of_the_example() -> None:
    (name,) = names_of(AppId("app0001", "default"), PodUid("u"), TaskGroup("my-group", 1, sized(1)))
    assert name.startswith("tg-app0001-my-group-")
    assert len(name) == 30


@pytest.mark.rule("GANG-4")
def test_one_that_is_refused_makes_the_application_an_ordinary_one_in_either_style() -> None:
    for style in GangStyle:
        world = waiting_gang(3, style=style)
        world.failing.add("CreatePlaceholder")
        world.create("n1", app="app-2", gang=with_policy(make_gang(2), style), task_group="g")
        (name, *_) = world.gang_progress("app-2").asked or world.gang_progress("app-2").missing
        world.gang_progress("app-2").asked[name] = make_gang(2).groups[0]
        refused = on.PlaceholderCreated(
            AppId("app-2", "default"), name, CreationOutcome.REFUSED, "exceeded quota"
        )
        world.tell(refused)
        assert world.gang_progress("app-2").phase is GangPhase.ORDINARY
        assert world.admitted("uid-n1")
        assert "PlaceholderCreateFailed" in world.events()


@pytest.mark.rule("GANG-4")
def test_those_that_are_there_go_when_another_one_is_refused() -> None:
    world = waiting_gang(3)
    world.gang_progress().asked["tg-x"] = make_gang(3).groups[0]
    world.tell(on.PlaceholderCreated(AppId("app-1", "default"), "tg-x", CreationOutcome.REFUSED, "no"))
    assert world.placeholders() == []
    assert world.counts() == [(3, 0, 3)]
    assert world.admitted("uid-m1")


@pytest.mark.rule("GANG-4")
def test_one_that_could_not_be_asked_for_is_asked_for_again() -> None:
    world = play()
    world.failing.add("CreatePlaceholder")
    world.create("m1", gang=make_gang(2), task_group="g")
    assert world.placeholders() == []
    world.failing.clear()
    world.wait(3)
    assert len(world.placeholders()) == 2


@pytest.mark.rule("GANG-4")
def test_many_are_not_asked_for_all_at_once() -> None:
    ledger = make_ledger(make_queue("root.a"))
    world = GangPlay(ledger)
    pod = world.create("m0", app="other")
    assert pod
    effects = ledger.apply(on.PodObserved(world.pods[pod]), now=START)
    gang = make_gang(250)
    first = replace(world.pods[pod], uid=PodUid("uid-x"), name="x", app_id="app-1", gang=gang)
    effects = ledger.apply(on.PodObserved(first), now=START)
    asked = [each for each in effects if isinstance(each, CreatePlaceholder)]
    assert len(asked) == 100
    effects = ledger.apply(
        on.PlaceholderCreated(AppId("app-1", "default"), asked[0].name, CreationOutcome.DONE), now=START
    )
    assert len([each for each in effects if isinstance(each, CreatePlaceholder)]) == 1


@pytest.mark.rule("GANG-4")
def test_one_deleted_by_hand_is_not_made_again() -> None:
    world = waiting_gang(3)
    world.delete(world.placeholders()[0].uid)
    world.wait(10)
    assert len(world.placeholders()) == 2
    assert world.counts() == [(3, 0, 1)]


# -- the start (GANG-8 to GANG-10) ---------------------------------------------------------------------------


@pytest.mark.rule("GANG-8")
def test_they_are_ordinary_asks_that_count_in_the_queue() -> None:
    world = waiting_gang(3)
    assert usage(world.ledger, "root.a") == (0, 0, 3000)
    world.bind_placeholders(most=2)
    assert usage(world.ledger, "root.a") == (2000, 0, 1000)


@pytest.mark.rule("REST-17")
def test_each_that_has_a_node_is_reported_once() -> None:
    world = waiting_gang(3)
    world.bind_placeholders(most=2)
    world.wait(3)
    reported = [each for each in world.done if isinstance(each, do.PostEvent)]
    allocated = [each for each in reported if each.action == "PlaceholderAllocated"]
    assert [(each.kind, each.warning) for each in allocated] == [("Pod", False)] * 2


@pytest.mark.rule("GANG-9", "GANG-10")
def test_no_pod_of_the_application_is_placed_before_all_have_a_node() -> None:
    world = waiting_gang(2)
    world.create("driver")
    world.bind_placeholders(most=1)
    assert world.refusal("uid-m1") is Code.GANG_INCOMPLETE
    assert world.refusal("uid-driver") is Code.GANG_INCOMPLETE
    assert world.application().state is AppState.ACCEPTED
    world.bind_placeholders()
    assert world.application().state is AppState.RUNNING
    assert world.admitted("uid-driver")
    assert "GangReservationComplete" in world.events()


@pytest.mark.rule("APP-15")
def test_it_counts_as_running_from_its_first_placeholder_on() -> None:
    world = waiting_gang(2)
    queue = world.ledger.view.tree.get("root.a")
    assert queue is not None
    assert not queue.running
    world.bind_placeholders(most=1)
    assert queue.running == {AppId("app-1", "default")}
    world.delete(next(pod.uid for pod in world.placeholders() if pod.node))
    assert not queue.running


@pytest.mark.rule("GANG-9")
def test_a_size_that_was_changed_on_the_way_does_not_keep_it_from_starting() -> None:
    """A LimitRange adds requests to a placeholder. YuniKorn's sums would then never be equal (APP-4)."""
    world = waiting_gang(1)
    (placeholder,) = world.placeholders()
    world._show(replace(placeholder, size=sized(1500)))
    world.bind_placeholders()
    assert world.gang_progress().phase is GangPhase.STARTED
