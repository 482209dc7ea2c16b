"""Answers to preempt calls: Paddock's plan when one is due, kube-scheduler's choice otherwise."""

import json
from dataclasses import replace

import pytest

from core.decisions.preemption.receipts import Plan
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import EvictPod, NominateNode, WriteRecord
from core.ledger.settings import LedgerSettings
from core.ledger.state.preemption import OFFERED_FOR
from core.workload.pod import PREEMPTED_FOR, TRIGGERED
from extender.engine.planner import SETTLED
from tests.builders import make_node, make_partition, make_pod, make_queue
from tests.extender.rigs import preempt_body
from tests.extender.verbs.preempt_stage import (
    DELAY,
    QUEUES,
    Stage,
    events,
    evictions,
    records,
    written,
)


@pytest.mark.rule("PRE-3", "PRE-20")
def test_a_plan_is_offered_once_it_is_due_and_our_victim_is_named() -> None:
    stage = Stage()
    stage.ask()
    stage.wait(DELAY - 1)
    assert stage.victims() == []
    stage.wait(1)
    assert stage.victims() == ["uid-v1"]
    assert stage.victims() == [], "while an offer stands no other is made"


def test_no_attempt_of_ours_comes_before_the_call_for_one_that_only_kube_scheduler_can_judge() -> None:
    stage = Stage()
    stage.ask()
    stage.wait(DELAY)
    stage.rig.engine.pass_time()
    stage.rig.engine.planner.finish()
    assert stage.victims() == ["uid-v1"]


@pytest.mark.rule("PRE-5")
def test_an_offer_that_is_not_taken_is_dropped() -> None:
    stage = Stage()
    stage.ask()
    stage.wait(DELAY)
    assert stage.victims() == ["uid-v1"]
    assert PodUid("uid-ask") in stage.rig.engine.view.offers
    stage.wait(OFFERED_FOR)
    stage.rig.engine.pass_time()
    assert PodUid("uid-ask") not in stage.rig.engine.view.offers
    assert stage.victims() == [], "the next attempt is due 15 s after the last"
    stage.wait(15 - OFFERED_FOR)
    assert stage.victims() == ["uid-v1"]


@pytest.mark.rule("F-12", "LAW-4")
@pytest.mark.parametrize("how", ["verb", "slice"])
def test_an_offer_counts_no_longer_than_its_time_even_if_no_timer_has_run(how: str) -> None:
    """If the loop is late, a later plan must not use the capacity of the expired plan's victims."""
    stage = Stage()
    stage.ask()
    stage.wait(DELAY)
    assert stage.victims() == ["uid-v1"]
    stage.wait(OFFERED_FOR - 0.1)
    stage.victims()
    assert PodUid("uid-ask") in stage.rig.engine.view.offers, "its time is not over"
    stage.wait(0.2)
    if how == "verb":
        stage.victims()
    else:
        stage.rig.engine.planner._step()
    assert PodUid("uid-ask") not in stage.rig.engine.view.offers


def test_an_offer_is_committed_when_its_first_victim_is_seen_to_go() -> None:
    stage = Stage()
    ask = stage.ask()
    stage.wait(DELAY)
    assert stage.victims() == ["uid-v1"]
    stage.rig.effects.clear()
    stage.learn(on.PodObserved(stage.victim(1, deleting=True, version=2)))
    (record,) = [each for each in stage.rig.effects if isinstance(each, WriteRecord)]
    assert record.uid == ask.uid
    assert dict(record.entries)[TRIGGERED]
    assert stage.rig.engine.view.reserved_nodes == {"n1": "uid-ask"}
    stage.learn(written(record, reached=True))
    stage.learn(on.PodDeleted(PodUid("uid-v1")))
    stage.rig.run_planned()
    assert [each for each in stage.rig.effects if isinstance(each, EvictPod)] == []
    assert [each.node for each in stage.rig.effects if isinstance(each, NominateNode)] == ["n1"]


@pytest.mark.parametrize("graceful", [True, False])
def test_a_victim_that_kube_scheduler_sends_away_has_its_receipt_too(graceful: bool) -> None:
    """The reason is in an Event and, while the pod exists, in the record that a restart needs."""
    stage = Stage()
    stage.ask()
    stage.wait(DELAY)
    assert stage.victims() == ["uid-v1"]
    if graceful:
        stage.learn(on.PodObserved(stage.victim(1, deleting=True, version=2)))
    else:
        stage.learn(on.PodDeleted(PodUid("uid-v1")))
    (ask,) = records(stage)
    stage.learn(written(ask, reached=True))
    marked = [each.uid for each in records(stage) if dict(each.entries).get(PREEMPTED_FOR)]
    assert marked == (["uid-v1"] if graceful else [])
    stage.learn(on.PodDeleted(PodUid("uid-v1")))
    said = next(each for each in events(stage) if each.reason == "Preempted")
    assert (said.name, said.message[:29]) == ("v1", "v1 gave 1 cpu to default/ask ")
    assert evictions(stage) == []


def test_a_pod_that_was_bound_a_moment_ago_is_not_named_to_kube_scheduler() -> None:
    """kube-scheduler may not know the victim yet, so Paddock carries out the plan."""
    stage = Stage()
    ask = stage.ask(created=stage.at - DELAY)
    stage.learn(on.PodDeleted(PodUid("uid-v1")))
    stage.learn(on.PodObserved(replace(stage.victim(2), created=stage.at)))
    assert stage.victims() == []
    assert [each.uid for each in stage.rig.effects if isinstance(each, WriteRecord)] == [ask.uid]
    assert SETTLED == 1.0


@pytest.mark.rule("PRE-4")
def test_nothing_is_offered_to_one_that_never_preempts() -> None:
    stage = Stage()
    stage.ask(never_preempts=True)
    stage.wait(DELAY)
    assert stage.preempt() == {}


def test_for_a_pod_in_no_queue_kube_schedulers_choice_stands() -> None:
    stage = Stage()
    stranger = {"name": "stranger", "scheduler": "default-scheduler", "queue": ""}
    assert stage.victims(**stranger) == ["uid-v0"]


def test_guarantees_can_be_made_to_hold_against_pods_in_no_queue() -> None:
    stage = Stage(protect_from_foreign=True)
    stage.learn(
        on.PodObserved(replace(stage.victim(0), queue="root.a", app_id="a0", uid=PodUid("uid-w"), name="w"))
    )
    stranger = {"name": "stranger", "scheduler": "default-scheduler", "queue": ""}
    assert stage.victims(**stranger) == ["uid-v0"]
    body = preempt_body("stranger", {"n1": ["uid-w"]}, version="0", scheduler="default-scheduler", queue="")
    assert json.loads(stage.rig.verbs.preempt(body)) == {"NodeNameToMetaVictims": {}}


# -- offers beside others --------------------------------------------------------------------------------


@pytest.mark.rule("F-14")
@pytest.mark.parametrize("complex", [False, True])
def test_an_ask_whose_queue_goes_later_is_offered_nothing_while_others_are_due(complex: bool) -> None:
    """The queue uses half of its guarantee, and the other queue uses none of its own.

    An ask that the tick cannot judge is still offered a plan, since this call is its only chance.
    """
    stage = Stage()
    queues = (*QUEUES, make_queue("root.c", guaranteed={"vcore": 2000}))
    stage.learn(on.Configured(make_partition(*queues), LedgerSettings()))
    stage.learn(on.PodDeleted(PodUid("uid-v0")))
    stage.learn(on.PodObserved(make_pod("held", queue="root.a", node="n1", created=stage.at - 100)))
    stage.ask(complex=complex)
    stage.learn(on.PodObserved(make_pod("poor", queue="root.c", app="c", created=stage.at)))
    stage.wait(DELAY)
    stage.rig.engine.pass_time()
    assert stage.victims() == (["uid-v1"] if complex else [])
    stage.rig.engine.planner.finish()
    planned = [pod for pod, _, outcome in stage.rig.witness.plans if isinstance(outcome, Plan)]
    assert planned == ["default/ask" if complex else "default/poor"]


@pytest.mark.rule("F-12")
def test_several_offers_stand_at_once_and_none_names_the_victim_of_another() -> None:
    stage = Stage()
    stage.ask()
    stage.learn(on.PodObserved(make_pod("next", queue="root.a", app="next", created=stage.at, complex=True)))
    stage.learn(on.ObjectObserved(on.NODES, make_node("n2", cpu=1000)))
    other = make_pod("w", queue="root.b", app="w", node="n2", created=stage.at - 100)
    stage.learn(on.PodObserved(other))
    stage.wait(DELAY)
    body = preempt_body("next", {"n1": ["uid-v0"], "n2": ["uid-w"]}, version="0")
    assert stage.victims() == ["uid-v1"]
    answer = json.loads(stage.rig.verbs.preempt(body))["NodeNameToMetaVictims"]
    assert {node: [each["UID"] for each in named["Pods"]] for node, named in answer.items()} == {
        "n2": ["uid-w"]
    }
    assert stage.rig.engine.view.reserved_nodes == {"n1": "uid-ask", "n2": "uid-next"}
    assert stage.rig.audit() == ()
