"""Outcomes of effects: the owner that continues, with concurrent writes, repetitions and late answers."""

from dataclasses import replace

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effect_outcomes import outcome_of
from core.ledger.effects import (
    DeletePod,
    Effect,
    EndWait,
    EvictPod,
    MarkFailed,
    NominateNode,
    OpenGate,
    PostEvent,
    ResolveGroups,
    SetCondition,
    WakePod,
    WriteRecord,
)
from core.ledger.ledger import Ledger
from core.ledger.outcomes import Answer, CreationOutcome, EvictionOutcome, Purpose
from core.workload.pod import PREEMPTED_FOR, REPLACES, RESERVED_NODE, TRIGGERED
from tests.builders import START, make_ledger, make_node, make_placeholder, make_pod, make_queue
from tests.core.ledger.gangs.play import hold_back, started

UID, N1 = PodUid("uid-p"), NodeName("n1")
ASK = make_pod("ask", queue="root.b", cpu=2000)
VICTIM = make_pod("victim", queue="root.a", cpu=2000, node="n1")
PLACE = (UID, "default", "p")
ENTRIES = ((RESERVED_NODE, "n1"), (TRIGGERED, "1-uid-p"))
CREATED = make_placeholder()


@pytest.mark.parametrize(
    ("effect", "reached", "outcome"),
    [
        (WakePod(*PLACE, "1"), Answer.DONE, on.PodWoken(UID, reached=True)),
        (OpenGate(*PLACE), Answer.NOT_FOUND, on.PodWoken(UID, reached=False)),
        (
            NominateNode(*PLACE, N1, Purpose.REPLACEMENT),
            Answer.DONE,
            on.NodeNominated(UID, N1, True, Purpose.REPLACEMENT),
        ),
        (
            WriteRecord(*PLACE, ENTRIES, Purpose.PLAN),
            Answer.FAILED,
            on.RecordWritten(UID, ENTRIES, False, Purpose.PLAN),
        ),
        (
            EvictPod(*PLACE, ASK.uid),
            Answer.BUDGET,
            on.PodEvicted(UID, EvictionOutcome.BUDGET, Purpose.VICTIM, ASK.uid),
        ),
        (
            DeletePod(*PLACE, purpose=Purpose.REPLACEMENT),
            Answer.NOT_FOUND,
            on.PodEvicted(UID, EvictionOutcome.NOT_FOUND, Purpose.REPLACEMENT),
        ),
        (
            DeletePod(*PLACE, purpose=Purpose.VICTIM),
            Answer.REFUSED,
            on.PodEvicted(UID, EvictionOutcome.FAILED, Purpose.VICTIM),
        ),
        (
            CREATED,
            Answer.REFUSED,
            on.PlaceholderCreated(CREATED.app, CREATED.name, CreationOutcome.REFUSED, "no"),
        ),
        (
            CREATED,
            Answer.NOT_FOUND,
            on.PlaceholderCreated(CREATED.app, CREATED.name, CreationOutcome.FAILED, "no"),
        ),
        (SetCondition(*PLACE, "K", True, "R", "m"), Answer.NOT_FOUND, on.GateReportFailed(UID)),
        (SetCondition(*PLACE, "K", True, "R", "m"), Answer.DONE, None),
        (MarkFailed(*PLACE, "R", "m"), Answer.FAILED, None),
        (PostEvent("Pod", "default", "p", UID, "R", "m"), Answer.FAILED, None),
        (ResolveGroups("u"), Answer.DONE, None),
        (EndWait(UID), Answer.DONE, None),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, Answer) else each.value,
)
def test_an_outcome_brings_back_what_its_effect_was_for(
    effect: Effect, reached: Answer, outcome: on.Event | None
) -> None:
    assert outcome_of(effect, reached, why="no") == outcome


def test_a_lost_answer_differs_from_a_refusal() -> None:
    assert outcome_of(OpenGate(*PLACE), Answer.FAILED, certain=False) == on.PodWoken(UID, False, False)


# -- written together ----------------------------------------------------------------------------------------


def planned(plan: str = "1-uid-ask") -> tuple[Ledger, WriteRecord]:
    """A plan for the ask that is to be written on it, with the node that is reserved."""
    ledger = make_ledger(make_queue("root.a"), make_queue("root.b"))
    for event in (
        on.ObjectObserved(on.NODES, make_node("n1", cpu=2000)),
        *map(on.PodObserved, (ASK, VICTIM)),
    ):
        ledger.apply(event, now=START)
    return ledger, commit(ledger, plan)


def commit(ledger: Ledger, plan: str) -> WriteRecord:
    chosen = (on.ChosenVictim(VICTIM.uid, "why"),)
    effects = ledger.apply(on.PlanCommitted(ASK.uid, plan, N1, chosen), now=START)
    (written,) = [each for each in effects if isinstance(each, WriteRecord) and each.purpose is Purpose.PLAN]
    return written


def end(ledger: Ledger, effect: Effect, reached: Answer) -> list[Effect]:
    outcome = outcome_of(effect, reached)
    assert outcome is not None
    return list(ledger.apply(outcome, now=START))


def victims(ledger: Ledger) -> list[str]:
    return [each.uid for each in ledger.view.pods() if each.preemption.preempted_for]


def test_a_plan_and_its_node_are_one_write_whose_failure_ends_both() -> None:
    ledger, written = planned()
    assert [key for key, _ in written.entries] == [RESERVED_NODE, TRIGGERED]
    end(ledger, written, Answer.FAILED)
    assert (dict(ledger.view.reserved_nodes), victims(ledger)) == ({}, [])


@pytest.mark.parametrize("purpose", [Purpose.WITHDRAWAL, Purpose.LABELS, Purpose.GANG_PHASE])
@pytest.mark.parametrize("reached", [True, False])
def test_keys_in_a_write_do_not_show_its_purpose(purpose: Purpose, reached: bool) -> None:
    ledger, written = planned()
    entries = (*written.entries, (PREEMPTED_FOR, "uid-ask"), (REPLACES, "uid-victim"))
    for uid in (ASK.uid, VICTIM.uid):
        event = on.RecordWritten(uid, entries, reached, purpose)  # type: ignore[arg-type]
        assert ledger.apply(event, now=START) == ()
    assert (dict(ledger.view.reserved_nodes), victims(ledger)) == ({"n1": "uid-ask"}, ["uid-victim"])


def test_a_link_and_its_node_are_one_write_of_one_owner() -> None:
    world = started(1, needed=1)
    held = hold_back(world, "WriteRecord")
    world.bind_placeholders()
    (link,) = [each for each in held if isinstance(each, WriteRecord) and REPLACES in dict(each.entries)]
    assert (link.purpose, [key for key, _ in link.entries]) == (
        Purpose.REPLACEMENT,
        [RESERVED_NODE, REPLACES],
    )
    before = len(world.done)
    world.tell(on.RecordWritten(link.uid, link.entries, True, Purpose.NODE_RESERVATION))
    assert world.done[before:] == [], "the reservation of a node is of another owner"
    world.tell(on.RecordWritten(link.uid, link.entries, True, link.purpose))
    assert isinstance(world.done[before], DeletePod)


# -- repeated after a restart --------------------------------------------------------------------------------


def test_an_eviction_that_a_restart_repeats_goes_on_with_the_plan() -> None:
    restarted = make_ledger(make_queue("root.a"), make_queue("root.b"), listed=False)
    recorded = replace(ASK, reserved_node=N1, triggered="1-uid-ask", version=2)
    marked = replace(VICTIM, preempted_for="uid-ask", preempted_why="why", version=2)
    restarted.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=2000)), now=START)
    for pod in (recorded, marked):
        restarted.apply(on.PodObserved(pod), now=START)
    effects = restarted.apply(on.PodsListed(frozenset({ASK.uid, VICTIM.uid})), now=START)
    (again,) = [each for each in effects if isinstance(each, EvictPod)]
    end(restarted, again, Answer.NOT_FOUND)
    record = restarted.view.pod(VICTIM.uid)
    assert record is not None
    assert record.preemption.eviction is EvictionOutcome.NOT_FOUND
    assert dict(restarted.view.reserved_nodes) == {"n1": "uid-ask"}


def test_a_deletion_that_a_failover_repeats_is_repeated_again_when_it_fails() -> None:
    world = started(1, needed=1)
    held = hold_back(world, "DeletePod")
    world.bind_placeholders()
    world.tell(on.ActingBegan())
    first, again = (each for each in held if isinstance(each, DeletePod))
    assert again == first
    for deletion in (first, again):
        world.tell(outcome_of(deletion, Answer.FAILED))  # type: ignore[arg-type]
    world.wait(5)
    assert [each for each in held if isinstance(each, DeletePod)][2:], "asked for once more"


# -- answered late -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reached", [Answer.DONE, Answer.FAILED])
def test_the_late_outcome_of_a_former_plan_leaves_the_plan_of_today_alone(reached: Answer) -> None:
    ledger, former = planned()
    end(ledger, former, Answer.FAILED)
    written = commit(ledger, "2-uid-ask")
    assert [each for each in end(ledger, former, reached) if isinstance(each, WriteRecord)] == []
    assert (dict(ledger.view.reserved_nodes), victims(ledger)) == ({"n1": "uid-ask"}, ["uid-victim"])
    writes = [each for each in end(ledger, written, Answer.DONE) if isinstance(each, WriteRecord)]
    assert [(each.uid, each.purpose) for each in writes] == [(VICTIM.uid, Purpose.VICTIM)]


def test_the_late_outcome_of_a_link_leaves_the_link_of_today_alone() -> None:
    world = started(1, needed=1)
    held = hold_back(world, "WriteRecord")
    world.bind_placeholders()
    (link,) = [each for each in held if isinstance(each, WriteRecord) and REPLACES in dict(each.entries)]
    former = tuple((key, "uid-of-before" if key == REPLACES else value) for key, value in link.entries)
    before = len(world.done)
    world.tell(on.RecordWritten(link.uid, former, False, Purpose.REPLACEMENT))
    assert world.done[before:] == []
    member = world.ledger.view.pod(link.uid)
    assert member is not None
    assert member.gang.slot is not None


def test_the_late_outcome_for_a_deleted_pod_is_ignored() -> None:
    ledger, written = planned()
    for pod in (ASK, VICTIM):
        ledger.apply(on.PodDeleted(pod.uid), now=START)
    for effect in (
        written,
        replace(written, uid=VICTIM.uid, entries=((PREEMPTED_FOR, "uid-ask"),), purpose=Purpose.VICTIM),
        NominateNode(ASK.uid, "default", "ask", N1, Purpose.NODE_RESERVATION),
        NominateNode(ASK.uid, "default", "ask", N1, Purpose.REPLACEMENT),
        EvictPod(VICTIM.uid, "default", "victim", ASK.uid),
        DeletePod(VICTIM.uid, "default", "victim", purpose=Purpose.REPLACEMENT),
    ):
        for reached in (Answer.DONE, Answer.FAILED):
            assert end(ledger, effect, reached) == []
