"""Placeholders: how they are made, when a gang starts, and what becomes of one that never does."""

from dataclasses import replace

import pytest

from core.ids import AppId, PodUid
from core.ledger import effects as do
from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder, MarkFailed
from core.ledger.ledger import Ledger
from core.ledger.outcomes import CreationOutcome
from core.queues.identity import Identity
from core.reasons import Code
from core.workload.formation import Phase, names_of
from core.workload.gang import Gang, GangPolicy, GangStyle, TaskGroup
from core.workload.pod import GANG
from core.workload.states import AppState
from tests.builders import START, make_gang, make_ledger, make_queue, usage
from tests.core.gang_play import GangPlay, sized


def with_policy(gang: Gang, style: GangStyle = GangStyle.SOFT, timeout: int = 0) -> Gang:
    return replace(gang, policy=GangPolicy(style, timeout))


def two_groups(first: int, second: int, *, cpu: int = 1000) -> Gang:
    groups = (TaskGroup("a", first, sized(1000)), TaskGroup("b", second, sized(cpu)))
    return Gang(groups, groups[0].size.times(first) + groups[1].size.times(second))


def play(*, max: int | None = None, leaf: str = "root.a") -> GangPlay:
    return GangPlay(make_ledger(make_queue(leaf, max={"vcore": max} if max else None)))


def waiting_gang(members: int = 3, **policy: object) -> GangPlay:
    world = play()
    gang = with_policy(make_gang(members), **policy)  # type: ignore[arg-type]
    world.create("m1", gang=gang, task_group="g")
    return world


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
    assert (made.app, made.namespace, made.queue) == ("app-1", "default", "root.a")


@pytest.mark.rule("GANG-3")
def test_names_follow_from_the_place_and_fit_into_a_label() -> None:
    group = TaskGroup("A_Group.With-A-Very-Long-Name", 300, sized(1))
    names = list(names_of(AppId("Spark.Application_" + "x" * 60), PodUid("u"), group))
    assert len(set(names)) == 300
    assert names == list(names_of(AppId("Spark.Application_" + "x" * 60), PodUid("u"), group))
    assert all(
        len(name) <= 63 and name.startswith("tg-spark-application-xxxxxxxxxx-a-group-w") for name in names
    )
    assert names[0] != next(iter(names_of(AppId("Spark.Application_" + "x" * 60), PodUid("v"), group)))


@pytest.mark.rule("GANG-3")
def test_names_of_the_example() -> None:
    (name,) = names_of(AppId("app0001"), PodUid("u"), TaskGroup("my-group", 1, sized(1)))
    assert name.startswith("tg-app0001-my-group-")
    assert len(name) == 30


@pytest.mark.rule("GANG-4")
def test_one_that_is_refused_makes_the_application_an_ordinary_one_in_either_style() -> None:
    for style in GangStyle:
        world = waiting_gang(3, style=style)
        world.failing.add("CreatePlaceholder")
        world.create("n1", app="app-2", gang=with_policy(make_gang(2), style), task_group="g")
        (name, *_) = world.formation("app-2").asked or world.formation("app-2").missing
        world.formation("app-2").asked.add(name)
        refused = on.PlaceholderCreated(AppId("app-2"), name, CreationOutcome.REFUSED, "exceeded quota")
        world.tell(refused)
        assert world.formation("app-2").phase is Phase.ORDINARY
        assert world.admitted("uid-n1")
        assert "PlaceholderCreateFailed" in world.events()


@pytest.mark.rule("GANG-4")
def test_those_that_are_there_go_when_another_one_is_refused() -> None:
    world = waiting_gang(3)
    world.formation().asked.add("tg-x")
    world.tell(on.PlaceholderCreated(AppId("app-1"), "tg-x", CreationOutcome.REFUSED, "no"))
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
        on.PlaceholderCreated(AppId("app-1"), asked[0].name, CreationOutcome.DONE), now=START
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
def test_it_is_told_of_each_that_has_a_node_once() -> None:
    world = waiting_gang(3)
    world.bind_placeholders(most=2)
    world.wait(3)
    told = [each for each in world.done if isinstance(each, do.PostEvent)]
    allocated = [each for each in told if each.action == "PlaceholderAllocated"]
    assert [(each.kind, each.warning) for each in allocated] == [("Pod", False)] * 2


@pytest.mark.rule("GANG-9", "GANG-10")
def test_nobody_of_the_application_is_placed_before_all_have_a_node() -> None:
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
    queue = world.ledger.snapshot.tree.get("root.a")
    assert queue is not None
    assert not queue.running
    world.bind_placeholders(most=1)
    assert queue.running == {"app-1"}
    world.delete(next(pod.uid for pod in world.placeholders() if pod.node))
    assert not queue.running


@pytest.mark.rule("GANG-9")
def test_a_size_that_was_changed_on_the_way_does_not_keep_it_from_starting() -> None:
    """A LimitRange adds what a placeholder does not say; YuniKorn's sum would never come out even (APP-4)."""
    world = waiting_gang(1)
    (placeholder,) = world.placeholders()
    world._show(replace(placeholder, size=sized(1500)))
    world.bind_placeholders()
    assert world.formation().phase is Phase.STARTED


# -- time-outs (GANG-15 to GANG-17) --------------------------------------------------------------------------


@pytest.mark.rule("GANG-15")
def test_the_time_runs_from_the_first_that_has_room_and_is_less_by_the_age_of_the_pod() -> None:
    world = play()
    gang = with_policy(make_gang(2), timeout=20)
    world.create("m1", gang=gang, task_group="g", created=START - 5)
    world.wait(100)
    assert world.formation().due is None
    world.bind_placeholders(most=1)
    assert world.formation().due == world.now + 15
    world.delete(next(pod.uid for pod in world.placeholders() if pod.node))
    assert world.formation().due is None


@pytest.mark.rule("GANG-16", "APP-9")
def test_hard_the_waiting_members_fail() -> None:
    world = waiting_gang(3, style=GangStyle.HARD, timeout=20)
    world.create("m2", task_group="g")
    world.bind_placeholders(most=2)
    world.wait(20)
    assert world.placeholders() == []
    assert world.failed == {"uid-m1": "ResourceReservationTimeout", "uid-m2": "ResourceReservationTimeout"}
    assert usage(world.ledger, "root.a") == (0, 0, 0)
    ended = world.ledger.snapshot.ended_application(AppId("app-1"))
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
    """A pod of it was given a node by somebody else."""
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
    known = world.ledger.snapshot.ended_application(AppId("app-1")) or world.application()
    assert known.state is state
    assert bool(world.failed) is (style == "Hard")


@pytest.mark.rule("GANG-17")
def test_without_a_time_of_its_own_it_begins_whatever_its_age() -> None:
    world = play()
    world.create("m1", gang=make_gang(2), task_group="g", created=START - 5000)
    assert len(world.placeholders()) == 2


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
    ended = world.ledger.snapshot.ended_application(AppId("app-1"))
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
    ended = world.ledger.snapshot.ended_application(AppId("app-1"))
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


# -- restarts (GANG-5, GANG-20) ------------------------------------------------------------------------------


def fresh() -> Ledger:
    return make_ledger(make_queue("root.a"), listed=False)


@pytest.mark.rule("GANG-20")
def test_after_a_restart_only_those_that_are_missing_are_made() -> None:
    world = waiting_gang(4)
    world.bind_placeholders(most=2)
    names = {pod.name for pod in world.placeholders()}
    gone = world.placeholders()[-1]
    del world.pods[gone.uid]
    world.restarted(fresh())
    assert {pod.name for pod in world.placeholders()} == names
    assert len([each for each in world.done if isinstance(each, CreatePlaceholder)]) == 5
    world.bind_placeholders()
    assert world.formation().phase is Phase.STARTED


@pytest.mark.rule("GANG-5", "GANG-20")
def test_after_a_restart_a_gang_that_has_started_makes_none() -> None:
    world = waiting_gang(3)
    world.create("m2", task_group="g")
    world.bind_placeholders()
    world.bind("uid-m1")
    made = len(world.done)
    world.restarted(fresh())
    assert not [each for each in world.done[made:] if isinstance(each, CreatePlaceholder)]
    assert world.counts() == [(3, 1, 0)]
    world.bind("uid-m2")
    assert world.counts() == [(3, 2, 0)]


@pytest.mark.rule("GANG-20")
@pytest.mark.parametrize("style", list(GangStyle))
def test_after_a_restart_a_time_out_goes_on(style: GangStyle) -> None:
    world = waiting_gang(3, style=style, timeout=20)
    world.bind_placeholders(most=2)
    world.failing.add("DeletePod")
    world.wait(20)
    assert len(world.placeholders()) == 3
    world.failing.clear()
    world.restarted(fresh())
    world.wait(5)
    assert world.placeholders() == []
    assert bool(world.failed) is (style is GangStyle.HARD)
    assert world.failed or world.admitted("uid-m1")


@pytest.mark.rule("GANG-20", "ID-3")
def test_after_a_restart_the_user_is_that_of_the_pods_and_not_of_their_placeholders() -> None:
    world = waiting_gang(2)
    world.pods[PodUid("uid-m1")] = replace(world.pods[PodUid("uid-m1")], identity=Identity("alice", ()))
    world.bind_placeholders(most=1)
    placeholders = [pod for pod in world.pods.values() if pod.placeholder]
    members = [pod for pod in world.pods.values() if not pod.placeholder]
    for pod in placeholders:
        world.pods[pod.uid] = replace(pod, identity=Identity("system:paddock", ()))
    world.pods = {pod.uid: world.pods[pod.uid] for pod in (*placeholders, *members)}
    world.restarted(fresh())
    assert world.application().identity.user == "alice"
    assert usage(world.ledger, "root.a") == (1000, 0, 1000)


@pytest.mark.rule("GANG-20")
def test_one_that_stands_by_creates_nothing_and_goes_on_when_it_acts() -> None:
    world = play()
    world.tell(on.ActingEnded())
    world.create("m1", gang=make_gang(2), task_group="g")
    world.wait(10)
    assert not [each for each in world.done if isinstance(each, CreatePlaceholder)]
    world.tell(on.ActingBegan())
    assert len(world.placeholders()) == 2
    world.bind_placeholders(most=1)
    world.tell(on.ActingEnded())
    world.bind_placeholders()
    assert len(world.placeholders()) == 2
    world.tell(on.ActingBegan())
    assert world.placeholders() != []
    world.bind("uid-m1")
    assert world.counts() == [(2, 1, 0)]


@pytest.mark.rule("GANG-20")
def test_a_note_on_a_pod_that_came_later_is_not_believed_and_taken_off() -> None:
    world = play()
    world.create("m1", gang=make_gang(2), task_group="g", gang_noted="Ordinary")
    assert len(world.placeholders()) == 2
    assert world.pods[PodUid("uid-m1")].gang_noted == ""
    written = [each for each in world.done if isinstance(each, do.WriteRecord)]
    assert written[0].entries == ((GANG, None),)


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
