"""Replacement of a gang's placeholders by its members: the steps, and events between them."""

from dataclasses import replace

import pytest

from core.decisions.admission import NODE_RESERVED, decide_admission
from core.decisions.decision import Admitted, Refused
from core.ids import NO_NODE, NodeName, PodUid
from core.ledger import effects as do
from core.ledger import events as on
from core.ledger.effects import Effect
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord
from core.reasons import Code, SentRefusal
from core.workload.gangs.phase import GangPhase
from core.workload.nodes.affinity import Constraints
from core.workload.pod import OWN_GATE, REPLACES, RESERVED_NODE
from tests.builders import filtered, make_gang, make_ledger, make_node, make_queue, usage
from tests.core.ledger.gangs.play import GangPlay, hold_back, play, started


def kinds(effects: list[Effect]) -> list[str]:
    return [type(each).__name__ for each in effects if not isinstance(each, do.PostEvent | do.SetCondition)]


# -- the steps -----------------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-11", "GANG-12")
def test_a_member_is_marked_then_its_placeholder_goes_then_it_is_nominated_and_woken() -> None:
    world = started(1, needed=1)
    assert world.refusal("uid-m1") is Code.GANG_INCOMPLETE
    before = len(world.done)
    world.bind_placeholders()
    assert kinds(world.done[before:]) == [
        "WriteRecord",
        "WriteRecord",
        "DeletePod",
        "NominateNode",
        "WakePod",
    ]
    member = world.pods[PodUid("uid-m1")]
    assert (member.reserved_node, member.nominated) == ("n1", "n1")
    assert world.placeholders() == []
    world.bind("uid-m1")
    assert world.counts() == [(1, 1, 0)]


@pytest.mark.rule("GANG-12")
def test_a_gated_member_is_nominated_before_and_its_gate_is_opened_after() -> None:
    world = started(1, needed=1, gates=(OWN_GATE,))
    before = len(world.done)
    world.bind_placeholders()
    assert kinds(world.done[before:]) == [
        "WriteRecord",
        "WriteRecord",
        "NominateNode",
        "DeletePod",
        "OpenGate",
    ]
    assert world.pods[PodUid("uid-m1")].gates == ()


@pytest.mark.rule("GANG-12")
def test_the_pair_counts_once_at_every_step() -> None:
    world = started(1, needed=1)
    deletions = hold_back(world, "DeletePod")
    world.bind_placeholders()
    assert usage(world.ledger, "root.a") == (1000, 0, 0)
    assert len(deletions) == 1
    world.delete(world.placeholders()[0].uid)
    assert usage(world.ledger, "root.a") == (0, 1000, 0)
    world.bind("uid-m1")
    assert usage(world.ledger, "root.a") == (1000, 0, 0)


@pytest.mark.rule("GANG-12")
def test_what_a_smaller_member_does_not_need_is_free_again() -> None:
    """The worked example: placeholders of 2, members of 1."""
    world = GangPlay(make_ledger(make_queue("root.a", max={"vcore": 2000})))
    world.create("m1", cpu=1000, gang=make_gang(1, cpu=2000), task_group="g")
    world.bind_placeholders()
    assert usage(world.ledger, "root.a") == (0, 1000, 0)
    world.bind("uid-m1")
    world.create("other", app="app-2")
    assert world.admitted("uid-other")


@pytest.mark.rule("GANG-10")
def test_a_member_waits_while_its_placeholder_is_there() -> None:
    world = started(2)
    hold_back(world, "DeletePod")
    world.bind_placeholders()
    assert world.gang_progress().phase is GangPhase.STARTED
    assert world.refusal("uid-m1") is Code.WAITING_FOR_PLACEHOLDER


@pytest.mark.rule("GANG-12")
def test_it_is_admitted_to_that_node_only_and_others_only_beside_its_capacity() -> None:
    world = play(nodes=2)
    world.tell(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)))
    world.create("m1", gang=make_gang(1), task_group="g")
    world.create("other", app="app-2")
    world.create("small", app="app-2", cpu=0)
    world.bind_placeholders()
    both = (NodeName("n1"), NodeName("n2"))

    def besides(uid: str) -> tuple[NodeName, ...]:
        world.ledger.apply(on.FilterCalled(PodUid(uid)), now=world.now)
        verdict = decide_admission(world.ledger.view, PodUid(uid), now=world.now, offered=lambda: both)
        assert isinstance(verdict, Admitted), verdict
        return verdict.besides

    assert besides("uid-m1") == ("n2",)
    assert besides("uid-other") == ("n1",)
    assert besides("uid-small") == ()


# -- sizes and numbers ---------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-11")
def test_placeholders_smaller_than_a_member_go_and_it_is_placed_like_any_other() -> None:
    world = play()
    world.create("m1", cpu=2000, gang=make_gang(2), task_group="g")
    world.bind_placeholders()
    assert world.placeholders() == []
    assert world.counts() == [(2, 0, 2)]
    assert world.admitted("uid-m1")


@pytest.mark.rule("GANG-13")
def test_six_members_for_three_placeholders() -> None:
    world = started(6, needed=3)
    world.bind_placeholders()
    for number in range(6):
        world.bind(f"uid-m{number + 1}")
    assert world.counts() == [(3, 3, 0)]
    assert usage(world.ledger, "root.a") == (6000, 0, 0)


@pytest.mark.rule("GANG-13")
def test_a_member_of_no_group_is_placed_once_the_gang_has_started() -> None:
    world = started(1, needed=2)
    world.create("other", task_group="unknown")
    assert world.refusal("uid-other") is Code.GANG_INCOMPLETE
    world.bind_placeholders()
    assert world.admitted("uid-other")
    assert len(world.placeholders()) == 1


@pytest.mark.rule("GANG-11")
def test_one_that_may_not_run_there_gets_another_node_beside() -> None:
    world = started(1, needed=1, nodes=2, constraints=Constraints(selector=(("zone", "b"),)))
    world.tell(on.ObjectObserved(on.NODES, replace(make_node("n2"), labels={"zone": "b"})))
    world.bind_placeholders()
    member = world.pods[PodUid("uid-m1")]
    assert member.nominated == "n2"
    world.bind("uid-m1", "n2")
    assert world.counts() == [(1, 1, 0)]


@pytest.mark.rule("GANG-11")
def test_one_for_which_there_is_no_node_waits_until_there_is() -> None:
    world = started(1, needed=1, constraints=Constraints(selector=(("zone", "b"),)))
    world.bind_placeholders()
    assert world.refusal("uid-m1") is Code.WAITING_FOR_PLACEHOLDER
    assert len(world.placeholders()) == 1
    world.tell(on.ObjectObserved(on.NODES, replace(make_node("n2"), labels={"zone": "b"})))
    world.wait(3)
    assert world.pods[PodUid("uid-m1")].nominated == "n2"


# -- what can come between -----------------------------------------------------------------------------------


@pytest.mark.rule("GANG-18")
def test_a_placeholder_that_somebody_deletes_is_one_slot_less() -> None:
    world = started(0, needed=3)
    world.create("m1", gang=make_gang(3), task_group="g")
    for pod in world.placeholders():
        world.bind(pod.uid)
    assert world.counts() == [(3, 0, 0)]
    (spare, *_) = world.placeholders()
    world.delete(spare.uid)
    world.bind("uid-m1")
    assert world.counts() == [(3, 1, 1)]


@pytest.mark.rule("GANG-11")
def test_a_member_that_goes_before_its_placeholder_leaves_it_to_another() -> None:
    world = started(2)
    held = hold_back(world, "WriteRecord")
    world.bind_placeholders()
    assert held
    linked = [uid for uid in ("uid-m1", "uid-m2") if world.ledger.view.slots]
    assert linked
    world.delete("uid-m1")
    world.create("m3", task_group="g")
    assert len(world.placeholders()) == 2
    assert world.counts() == [(2, 0, 0)]


@pytest.mark.rule("GANG-12")
@pytest.mark.parametrize(
    ("tried", "patience"), [(True, 40), (False, 300)], ids=["tried, and silent since", "never tried"]
)
def test_capacity_that_a_member_does_not_take_is_given_back(tried: bool, patience: int) -> None:
    """The member has ten seconds after kube-scheduler tried it, and 30 more if that is silent then.

    It has longer while kube-scheduler is busy.
    """
    world = started(1, needed=1)
    world.bind_placeholders()
    if tried:
        # An in-tree plugin refuses the pod, so filter is not called.
        unscheduled = replace(world.pods[PodUid("uid-m1")], unscheduled="0/1 nodes are available: 1 taint")
        world._show(unscheduled)
    world.wait(patience - 1)
    assert usage(world.ledger, "root.a") == (0, 1000, 0)
    world.wait(2)
    assert usage(world.ledger, "root.a") == (0, 0, 1000)
    assert world.counts() == [(1, 0, 1)]
    assert world.ledger.view.gang_tally.cancelled == 1
    assert world.pods[PodUid("uid-m1")].replaces == ""
    assert world.ledger.view.reserved_nodes == {"n1": "uid-m1"}
    assert world.admitted("uid-m1")


@pytest.mark.rule("GANG-12")
def test_an_open_bind_call_holds_the_capacity() -> None:
    world = started(1, needed=1)
    world.bind_placeholders()
    assert isinstance(filtered(world.ledger, "uid-m1", now=world.now), Admitted)
    world.tell(on.BindCalled(PodUid("uid-m1"), NodeName("n1")))
    world.wait(20)
    assert usage(world.ledger, "root.a") == (0, 1000, 0)
    assert world.ledger.view.gang_tally.cancelled == 0


@pytest.mark.parametrize(("has_volumes", "cancelled"), [(False, 1), (True, 0)])
def test_volumes_that_bind_late_keep_the_slot_of_their_pod(has_volumes: bool, cancelled: int) -> None:
    """F-27: before Kubernetes 1.35 the member shows no nominated node meanwhile."""
    world = started(1, needed=1, has_volumes=has_volumes)
    world.bind_placeholders()
    world.tell(on.PodObserved(replace(world.pods[PodUid("uid-m1")], nominated=NO_NODE, version=50)))
    assert world.admitted("uid-m1")
    world.wait(2)
    assert world.admitted("uid-m1")
    world.wait(18)
    assert world.ledger.view.gang_tally.cancelled == cancelled


@pytest.mark.rule("GANG-12")
def test_an_unmanaged_pod_that_takes_the_capacity_ends_the_replacement_at_once() -> None:
    world = play(nodes=2)
    world.tell(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)))
    world.create("m1", gang=make_gang(1), task_group="g")
    world.bind_placeholders()
    world.create("foreign", scheduler_name="x", app="", queue="", node="n1")
    assert world.ledger.view.gang_tally.cancelled == 1
    assert world.counts() == [(1, 0, 1)]
    world.wait(3)
    world.bind("uid-m1", "n2")
    assert usage(world.ledger, "root.a") == (1000, 0, 0)


@pytest.mark.rule("GANG-19")
def test_a_node_that_is_lost_ends_the_take_over() -> None:
    world = started(1, needed=1, nodes=2)
    hold_back(world, "DeletePod")
    world.bind_placeholders()
    world.tell(on.ObjectDeleted(on.NODES, NodeName("n1")))
    world.delete(world.placeholders()[0].uid)
    assert world.counts() == [(1, 0, 1)]
    assert world.admitted("uid-m1")
    assert world.pods[PodUid("uid-m1")].replaces == ""


@pytest.mark.rule("GANG-12")
def test_a_wake_up_that_was_lost_is_repeated() -> None:
    world = started(1, needed=1)
    world.filter("uid-m1")
    world.bind_placeholders()
    woken = kinds(world.done).count("WakePod")
    verdict = filtered(world.ledger, "uid-m1", now=world.now)
    assert isinstance(verdict, Admitted)
    world.tell(on.PodRefused(PodUid("uid-m1"), *_refused_node()))
    world.wait(3)
    assert kinds(world.done).count("WakePod") == woken + 1
    world.wait(6)
    assert kinds(world.done).count("WakePod") == woken + 1


@pytest.mark.rule("GANG-12")
def test_an_attempt_before_the_capacity_was_there_proves_nothing() -> None:
    world = started(1, needed=1)
    world.filter("uid-m1")
    world.bind_placeholders()
    world.wait(20)
    assert world.ledger.view.gang_tally.cancelled == 0
    for _ in range(2):
        world.filter("uid-m1")
        world.tell(on.PodRefused(PodUid("uid-m1"), *_refused_node()))
        world.wait(6)
    assert world.ledger.view.gang_tally.cancelled == 1


def _refused_node() -> tuple[object, object]:
    return NODE_RESERVED, SentRefusal(NODE_RESERVED.text, NODE_RESERVED.code, 1)


@pytest.mark.rule("GANG-12")
@pytest.mark.parametrize("kind", ["WriteRecord", "DeletePod"])
def test_a_step_that_could_not_be_done_is_tried_again(kind: str) -> None:
    world = started(1, needed=1)
    world.failing.add(kind)
    world.bind_placeholders()
    world.wait(5)
    assert len(world.placeholders()) == 1
    assert usage(world.ledger, "root.a") == (1000, 0, 0)
    world.failing.clear()
    world.wait(5)
    assert world.placeholders() == []
    world.bind("uid-m1")
    assert world.counts() == [(1, 1, 0)]


@pytest.mark.rule("GANG-20")
def test_a_link_whose_answer_was_lost_is_taken_off_again() -> None:
    """The record may have been written. A later start would reserve capacity that no member needs."""
    world = started(1, needed=1)
    held = hold_back(world, "WriteRecord")
    world.bind_placeholders()
    (link,) = [each for each in held if isinstance(each, do.WriteRecord) and REPLACES in dict(each.entries)]
    world.tell(on.RecordWritten(link.uid, link.entries, False, link.purpose))
    assert held[-1] == replace(
        link, entries=((RESERVED_NODE, None), (REPLACES, None)), purpose=Purpose.WITHDRAWAL
    )


def test_a_refusal_before_is_of_no_account() -> None:
    world = started(1, needed=1)
    assert isinstance(world.filter("uid-m1"), Refused)
    world.bind_placeholders()
    assert world.admitted("uid-m1")


@pytest.mark.rule("GANG-11")
def test_capacity_on_another_node_is_held_before_its_placeholder_is_deleted() -> None:
    world = started(1, needed=1, nodes=2, constraints=Constraints(selector=(("zone", "b"),)))
    world.tell(on.ObjectObserved(on.NODES, replace(make_node("n2", cpu=1000), labels={"zone": "b"})))
    hold_back(world, "DeletePod")
    world.bind_placeholders()
    assert usage(world.ledger, "root.a") == (1000, 0, 0)
    assert world.ledger.view.charge_of(PodUid("uid-m1")) is not None
    assert not world.ledger.view.fits_beside(_other(world), NodeName("n2"))


def _other(world: GangPlay) -> PodRecord:
    record = world.ledger.view.pod(world.create("other", app="app-2"))
    assert record is not None
    return record
