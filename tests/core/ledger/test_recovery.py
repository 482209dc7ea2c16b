"""A standby that begins to act uses the records on the pods."""

from dataclasses import replace

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, EvictPod, NominateNode, WriteRecord
from core.ledger.ledger import Ledger
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.workload.pod import PREEMPTED_FOR, RESERVED_NODE, TRIGGERED
from tests.builders import START, make_ledger, make_node, make_pod, make_queue, record_of, reserved_on, woken

N1 = NodeName("n1")
ASK = make_pod("ask", queue="root.b", cpu=2000)
VICTIM = make_pod("victim", queue="root.a", cpu=2000, node="n1")
RECORDED = replace(ASK, reserved_node=N1, triggered="1-uid-ask", version=2)
MARKED = replace(VICTIM, preempted_for="uid-ask", preempted_why="because", version=2)


def standing_by(*later: object, listed: bool = True) -> Ledger:
    """A standby whose first list came before anything was written; ``later``: pods that it has seen since.

    ``listed``: False if that list has not ended yet.
    """
    ledger = make_ledger(make_queue("root.a"), make_queue("root.b"), listed=listed)
    for event in (
        on.ObjectObserved(on.NODES, make_node("n1", cpu=2000)),
        *map(on.PodObserved, (ASK, VICTIM)),
    ):
        ledger.apply(event, now=START)
    for pod in later:
        ledger.apply(on.PodObserved(pod), now=START)  # type: ignore[arg-type]
    return ledger


def took_over(ledger: Ledger) -> list[Effect]:
    return list(ledger.apply(on.ActingBegan(), now=START + 20))


def reserved(ledger: Ledger) -> dict[str, str]:
    return dict(ledger.view.reserved_nodes)


def victims(ledger: Ledger) -> list[str]:
    return [each.uid for each in ledger.view.pods() if each.preemption.preempted_for]


@pytest.mark.rule("PRE-20", "PRE-22")
def test_a_plan_continues_as_it_was_written() -> None:
    ledger = standing_by(RECORDED, MARKED)
    assert reserved(ledger) == {}
    (effect,) = took_over(ledger)
    assert isinstance(effect, EvictPod)
    assert (effect.uid, effect.preemptor, effect.why) == (VICTIM.uid, ASK.uid, "because")
    assert reserved(ledger) == {"n1": "uid-ask"}
    root = ledger.view.tree.root
    assert (root.preempting.get("vcore"), root.triggered.get("vcore")) == (2000, 2000)


def test_a_victim_that_is_on_its_way_out_is_not_evicted_again_and_the_node_is_nominated_then() -> None:
    ledger = standing_by(RECORDED, replace(MARKED, deleting=True))
    assert took_over(ledger) == []
    effects = [
        *ledger.apply(on.PodDeleted(VICTIM.uid), now=START + 21),
        *ledger.apply(on.CycleDue(), now=START + 21),
    ]
    assert [effect.node for effect in effects if isinstance(effect, NominateNode)] == ["n1"]


def test_one_that_this_instance_has_evicted_itself_is_not_evicted_again() -> None:
    """The instance lost the Lease for a moment, and the watch has not shown yet that the victim leaves."""
    ledger = standing_by(RECORDED, MARKED)
    took_over(ledger)
    ledger.apply(on.PodEvicted(VICTIM.uid, EvictionOutcome.DONE, Purpose.VICTIM, ASK.uid), now=START + 20)
    assert took_over(ledger) == []


@pytest.mark.rule("PRE-20")
def test_a_plan_of_which_only_a_part_was_written_evicts_no_pod() -> None:
    """The other victims are no longer known, so a new plan names them."""
    small = replace(MARKED, size=make_pod(cpu=1000).size)
    other = make_pod("other", queue="root.a", cpu=1000, node="n1")
    ledger = standing_by(RECORDED, small, other)
    assert not any(isinstance(effect, EvictPod) for effect in took_over(ledger))
    assert (reserved(ledger), victims(ledger)) == ({}, [])


@pytest.mark.rule("PRE-20")
def test_what_such_a_plan_has_sent_away_already_counts_for_the_next_one() -> None:
    small = replace(MARKED, size=make_pod(cpu=1000).size, deleting=True)
    other = make_pod("other", queue="root.a", cpu=1000, node="n1")
    ledger = standing_by(RECORDED, small, other)
    assert took_over(ledger) == [
        WriteRecord(ASK.uid, "default", "ask", ((TRIGGERED, None),), Purpose.WITHDRAWAL)
    ]
    assert reserved(ledger) == {"n1": "uid-ask"}
    assert ledger.view.coming(record_of(ledger, ASK.uid))["vcore"] == 1000


@pytest.mark.rule("PRE-20")
def test_a_mark_of_a_former_plan_of_the_same_ask_evicts_no_pod() -> None:
    """The crash prevented the removal of the record, and another plan is carried out now."""
    stale = replace(MARKED, uid=PodUid("uid-spared"), name="spared", preempted_plan="0-uid-ask", node="n2")
    ledger = standing_by(RECORDED, replace(MARKED, preempted_plan="1-uid-ask"), stale)
    effects = took_over(ledger)
    assert [effect.uid for effect in effects if isinstance(effect, EvictPod)] == [VICTIM.uid]
    assert (
        WriteRecord(stale.uid, "default", "spared", ((PREEMPTED_FOR, None),), Purpose.WITHDRAWAL) in effects
    )


def test_a_mark_that_was_made_for_a_plan_that_does_not_stand_is_taken_off() -> None:
    ledger = standing_by(MARKED)
    (effect,) = took_over(ledger)
    assert effect == WriteRecord(
        VICTIM.uid, "default", "victim", ((PREEMPTED_FOR, None),), Purpose.WITHDRAWAL
    )
    assert ledger.view.tree.root.preempting.get("vcore") == 0


def test_what_this_instance_believed_and_is_written_no_more_is_forgotten() -> None:
    """The record was in its first list, and the former acting instance has removed it since."""
    ledger = standing_by(listed=False)
    ledger.apply(on.PodDeleted(VICTIM.uid), now=START)
    seen = replace(RECORDED, uid=PodUid("uid-other"), name="other")
    ledger.apply(on.PodObserved(seen), now=START)
    ledger.apply(on.PodsListed(frozenset(each.uid for each in ledger.view.pods())), now=START)
    assert reserved(ledger) == {"n1": "uid-other"}
    ledger.apply(
        on.PodObserved(replace(seen, reserved_node=NodeName(""), triggered="", version=3)), now=START
    )
    assert took_over(ledger) == []
    assert reserved(ledger) == {}
    assert ledger.view.tree.root.triggered.get("vcore") == 0


def test_the_record_of_an_ask_that_has_its_place_is_taken_off() -> None:
    ledger = standing_by(replace(RECORDED, node="n1"))
    assert took_over(ledger) == [
        WriteRecord(ASK.uid, "default", "ask", ((RESERVED_NODE, None), (TRIGGERED, None)), Purpose.WITHDRAWAL)
    ]


def test_an_ask_under_way_to_a_node_that_we_did_not_write_is_given_a_reservation() -> None:
    ledger = standing_by(replace(ASK, nominated=N1, version=2))
    took_over(ledger)
    assert len(ledger.view.reserved) == 1


def test_a_nomination_of_ours_is_known_again() -> None:
    ledger = standing_by(replace(RECORDED, nominated=N1), replace(MARKED, deleting=True))
    took_over(ledger)
    record = ledger.view.pod(ASK.uid)
    assert record is not None
    assert (record.node_reservation.nominated, len(ledger.view.reserved)) == (N1, 0)


def test_no_pod_backs_off_because_another_instance_was_asked() -> None:
    ledger = standing_by()
    record = record_of(ledger, ASK.uid)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2", cpu=2000)), now=START)
    woken(ledger, now=START)
    failed = replace(ASK, unscheduled="0/2 nodes are available: 2 node(s) didn't have free ports", version=2)
    ledger.apply(on.PodObserved(failed), now=START)
    assert (record.admission.overlooked, record.admission.passed_over, record.admission.backs_off_until) == (
        2,
        True,
        START + 2,
    )
    took_over(ledger)
    assert (record.admission.overlooked, record.admission.passed_over, record.admission.backs_off_until) == (
        0,
        False,
        None,
    )


def test_before_the_first_list_there_is_nothing_to_take_up() -> None:
    ledger = Ledger()
    assert took_over(ledger) == []
    ledger = standing_by(listed=False)
    ledger.apply(on.PodObserved(RECORDED), now=START)
    assert took_over(ledger) == []


@pytest.mark.parametrize("instance", ["stands by", "acts"])
def test_after_a_failed_node_reservation_the_search_pauses(instance: str) -> None:
    """A standby would otherwise search without end."""
    ledger = standing_by()
    record = record_of(ledger, ASK.uid)
    reserved_on(ledger, ASK.uid, N1)
    assert reserved(ledger) == {"n1": "uid-ask"}
    reached = instance == "acts"
    ledger.apply(
        on.RecordWritten(ASK.uid, ((RESERVED_NODE, "n1"),), reached, Purpose.NODE_RESERVATION), now=START
    )
    assert record.node_reservation.searched_at == (None if reached else START)


@pytest.mark.parametrize("how", [on.PodObserved, on.PodOffered])
def test_what_a_pod_says_of_itself_that_came_later_is_taken_off_whoever_shows_it_first(
    how: type[on.PodObserved] | type[on.PodOffered],
) -> None:
    """kube-scheduler often asks about a pod before the watch shows it."""
    ledger = make_ledger(make_queue("root.b"))
    effects = list(ledger.apply(how(replace(ASK, reserved_node=N1)), now=START))
    effects += ledger.apply(on.PodObserved(replace(ASK, reserved_node=N1)), now=START)
    taken_off = [each.entries for each in effects if isinstance(each, WriteRecord)]
    assert (taken_off, reserved(ledger)) == ([((RESERVED_NODE, None),)], {})


@pytest.mark.rule("GANG-20")
def test_what_is_written_on_a_pod_is_believed_before_the_first_list_whoever_shows_it_first() -> None:
    """A bind call may come right after a start, and reads its pod."""
    ledger = make_ledger(make_queue("root.b"), listed=False)
    recorded = replace(ASK, reserved_node=N1)
    ledger.apply(on.PodOffered(recorded), now=START)
    ledger.apply(on.PodObserved(recorded), now=START)
    ledger.apply(on.PodsListed(frozenset({ASK.uid})), now=START)
    assert reserved(ledger) == {"n1": "uid-ask"}
