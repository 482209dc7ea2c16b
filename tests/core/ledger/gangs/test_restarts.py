"""A gang after a restart of Paddock, or after a standby begins to act (GANG-5, GANG-20).

Placeholders and replacements continue. Records count only on pods that existed before.
"""

from dataclasses import replace

import pytest

from core.ids import NO_NODE, NodeName, PodUid
from core.ledger import effects as do
from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder
from core.ledger.ledger import Ledger
from core.queues.users.identity import Identity
from core.workload.gangs.gang import GangStyle
from core.workload.gangs.phase import GangPhase
from core.workload.pod import GANG
from tests.builders import make_gang, make_ledger, make_queue, usage
from tests.core.ledger.gangs.play import hold_back, play, started, waiting_gang


def fresh() -> Ledger:
    return make_ledger(make_queue("root.a"), listed=False)


# -- placeholders --------------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-20")
def test_after_a_restart_only_those_that_are_missing_are_made() -> None:
    world = waiting_gang(4)
    world.bind_placeholders(most=2)
    names = {pod.name for pod in world.placeholders()}
    deleted = world.placeholders()[-1]
    del world.pods[deleted.uid]
    world.restarted(fresh())
    assert {pod.name for pod in world.placeholders()} == names
    assert len([each for each in world.done if isinstance(each, CreatePlaceholder)]) == 5
    world.bind_placeholders()
    assert world.gang_progress().phase is GangPhase.STARTED


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


# -- take-overs ----------------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-20")
@pytest.mark.parametrize("kind", ["DeletePod", "NominateNode", "WakePod"])
def test_a_take_over_goes_on_after_a_restart(kind: str) -> None:
    world = started(2)
    held = hold_back(world, kind)
    world.filter("uid-m1")
    world.filter("uid-m2")
    world.bind_placeholders()
    assert held
    del world._carry_out
    world.restarted(fresh())
    assert world.placeholders() == []
    assert world.gang_progress().phase is GangPhase.STARTED
    for uid in ("uid-m1", "uid-m2"):
        world.bind(uid)
    assert world.counts() == [(2, 2, 0)]
    assert usage(world.ledger, "root.a") == (2000, 0, 0)


@pytest.mark.rule("GANG-20")
def test_a_restart_between_the_first_member_and_the_others() -> None:
    world = started(2)
    world.bind_placeholders()
    world.bind("uid-m1")
    world.restarted(fresh())
    world.bind("uid-m2")
    assert world.counts() == [(2, 2, 0)]


def test_a_later_pod_that_claims_to_replace_one_is_not_believed() -> None:
    world = play()
    world.create("m1", gang=make_gang(1), task_group="g", replaces=PodUid("x"), reserved_node=NodeName("n1"))
    member = world.pods[PodUid("uid-m1")]
    assert (member.replaces, member.reserved_node) == ("", NO_NODE)
    assert not world.ledger.view.slots
