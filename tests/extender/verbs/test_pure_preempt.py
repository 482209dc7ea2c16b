"""What kube-scheduler is answered about evictions: our plan when one is due, for strangers its own choice."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from core.decisions.preemption.receipts import Plan
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.applications.forced import FORCED
from core.ledger.effects import EvictPod, NominateNode, PostEvent, WriteRecord
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.ledger.settings import LedgerSettings, PreemptionSettings
from core.ledger.state.preemption import OFFERED_FOR
from core.workload.pod import PREEMPTED_FOR, TRIGGERED, PodFacts
from extender.engine.planner import SETTLED, Planner
from tests.builders import make_ledger, make_node, make_partition, make_pod, make_queue
from tests.extender.rigs import Rig, preempt_body

QUEUES = (make_queue("root.a", guaranteed={"vcore": 2000}), make_queue("root.b"))
DELAY = 30.0


class Stage:
    """One node of two cores, both held by ``root.b``; an ask of ``root.a``, whose guarantee is free."""

    def __init__(self, *, listed: bool = True, **settings: bool) -> None:
        self.rig = Rig(ledger=make_ledger(*QUEUES, nodes=3, listed=listed))
        self.at = self.rig.engine.now
        preemption = PreemptionSettings(**settings)
        self.learn(on.Configured(make_partition(*QUEUES), LedgerSettings(preemption=preemption)))
        for name in ("n2", "n3"):
            self.learn(on.ObjectDeleted(on.NODES, NodeName(name)))
        self.learn(on.ObjectObserved(on.NODES, make_node("n1", cpu=2000)))
        for number in range(2):
            self.learn(on.PodObserved(self.victim(number)))

    def learn(self, event: on.Event) -> None:
        self.rig.engine.learn(event)

    def victim(self, number: int, **facts: Any) -> PodFacts:
        created = self.at - 100 + number
        return make_pod(f"v{number}", queue="root.b", app=f"b{number}", node="n1", created=created, **facts)

    def ask(self, **facts: Any) -> PodFacts:
        pod = make_pod("ask", queue="root.a", app="a", **{"created": self.at, "complex": True, **facts})
        self.learn(on.PodObserved(pod))
        return pod

    def wait(self, seconds: float) -> None:
        self.rig.time += seconds

    def preempt(self, name: str = "ask", **pod: Any) -> dict[str, Any]:
        body = preempt_body(name, {"n1": ["uid-v0"]}, version="0", **pod)
        answer: dict[str, Any] = json.loads(self.rig.verbs.preempt(body))
        return answer

    def victims(self, **pod: Any) -> list[str]:
        nodes = self.preempt(**pod).get("NodeNameToMetaVictims", {})
        return [each["UID"] for node in nodes.values() for each in node["Pods"]]


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
    """What is planned next must not take the room that its victims would have left (a loop that lags)."""
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
    assert stage.rig.engine.view.kept == {"n1": "uid-ask"}
    stage.learn(written(record, reached=True))
    stage.learn(on.PodDeleted(PodUid("uid-v1")))
    stage.rig.run_planned()
    assert [each for each in stage.rig.effects if isinstance(each, EvictPod)] == []
    assert [each.node for each in stage.rig.effects if isinstance(each, NominateNode)] == ["n1"]


@pytest.mark.parametrize("graceful", [True, False])
def test_a_victim_that_kube_scheduler_sends_away_has_its_receipt_too(graceful: bool) -> None:
    """As an Event; and, while it is still there, as the record that a restart needs."""
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
    (said,) = events(stage)
    assert (said.name, said.message[:38]) == ("v1", "Preempted by default/ask from applicat")
    assert evictions(stage) == []


def test_a_pod_that_was_bound_a_moment_ago_is_not_named_to_kube_scheduler() -> None:
    """It may not know of it yet; the plan is carried out here."""
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
    """Half of its guarantee is held by its queue, and nothing of that of the other. Only what the tick cannot
    judge is offered all the same: it has this call alone."""
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
    assert stage.rig.engine.view.kept == {"n1": "uid-ask", "n2": "uid-next"}
    assert stage.rig.audit() == ()


# -- carrying out what a tick has planned ----------------------------------------------------------------


def written(effect: WriteRecord, *, reached: bool) -> on.RecordWritten:
    return on.RecordWritten(effect.uid, effect.entries, reached, effect.purpose)


def committed(stage: Stage) -> None:
    stage.ask(complex=False)
    stage.wait(DELAY)
    stage.rig.effects.clear()
    stage.rig.engine.pass_time()
    stage.rig.engine.planner.finish()


def records(stage: Stage) -> list[WriteRecord]:
    return [each for each in stage.rig.effects if isinstance(each, WriteRecord)]


def evictions(stage: Stage) -> list[str]:
    return [str(each.uid) for each in stage.rig.effects if isinstance(each, EvictPod)]


def events(stage: Stage) -> list[PostEvent]:
    """Without what is said of each pod that is on a node when it is first seen."""
    told = [each for each in stage.rig.effects if isinstance(each, PostEvent)]
    return [each for each in told if each.reason != FORCED]


@pytest.mark.rule("PRE-20")
@pytest.mark.parametrize("answered_first", [True, False])
def test_a_victim_is_told_once_why_it_goes_also_when_it_is_gone_before_the_answer(
    answered_first: bool,
) -> None:
    stage = Stage()
    committed(stage)
    for _ in range(2):
        last = records(stage)[-1]
        stage.learn(written(last, reached=True))
    assert events(stage) == []
    news: list[on.Event] = [
        on.PodEvicted(PodUid("uid-v1"), EvictionOutcome.DONE, Purpose.VICTIM, PodUid("uid-ask")),
        on.PodObserved(stage.victim(1, deleting=True, version=2)),
        on.PodDeleted(PodUid("uid-v1")),
    ]
    for event in news if answered_first else news[2:]:
        stage.learn(event)
    (said,) = events(stage)
    assert (said.reason, said.name, said.uid) == ("Preempted", "v1", "uid-v1")
    assert said.message.startswith("Preempted by default/ask from application ")
    assert "LAW-5" in said.message


@pytest.mark.rule("PRE-20")
def test_after_a_restart_a_victim_is_told_what_is_written_on_it() -> None:
    stage = Stage(listed=False)
    stage.learn(on.PodDeleted(PodUid("uid-v1")))
    stage.ask(complex=False, reserved_node="n1", triggered="1-uid-ask")
    stage.learn(
        on.PodObserved(stage.victim(2, preempted_for="uid-ask", preempted_why="guarantee: LAW-5 as it was"))
    )
    listed = frozenset(PodUid(f"uid-{name}") for name in ("v0", "v2", "ask"))
    stage.learn(on.PodsListed(listed))
    assert evictions(stage) == ["uid-v2"]
    stage.learn(on.PodDeleted(PodUid("uid-v2")))
    (said,) = events(stage)
    assert said.message.endswith("guarantee: LAW-5 as it was")


@pytest.mark.rule("PRE-20")
def test_a_victim_whose_preemptor_is_gone_by_then_is_told_so() -> None:
    stage = Stage()
    committed(stage)
    for _ in range(2):
        last = records(stage)[-1]
        stage.learn(written(last, reached=True))
    stage.learn(on.PodDeleted(PodUid("uid-ask")))
    stage.learn(on.PodDeleted(PodUid("uid-v1")))
    (said,) = events(stage)
    assert said.message.startswith("Preempted by a pod that is gone by now. guarantee: ")


@pytest.mark.rule("PRE-20")
def test_each_step_waits_for_the_one_before() -> None:
    stage = Stage()
    committed(stage)
    (first,) = records(stage)
    assert (first.uid, evictions(stage)) == ("uid-ask", [])
    stage.learn(written(first, reached=True))
    second = records(stage)[-1]
    assert (second.uid, evictions(stage)) == ("uid-v1", [])
    assert str(dict(second.entries)[PREEMPTED_FOR]).startswith("uid-ask/")
    assert " guarantee: LAW-1 an originator" in str(dict(second.entries)[PREEMPTED_FOR])
    stage.learn(written(second, reached=True))
    assert evictions(stage) == ["uid-v1"]


@pytest.mark.parametrize("which", ["uid-ask", "uid-v1"])
def test_a_record_that_cannot_be_written_ends_the_plan(which: str) -> None:
    stage = Stage()
    committed(stage)
    (first,) = records(stage)
    stage.learn(written(first, reached=which != "uid-ask"))
    if which == "uid-v1":
        second = records(stage)[-1]
        stage.learn(written(second, reached=False))
    assert evictions(stage) == []
    view = stage.rig.engine.view
    assert view.kept == {}
    victim, ask = view.pod(PodUid("uid-v1")), view.pod(PodUid("uid-ask"))
    assert victim is not None
    assert ask is not None
    assert (victim.preemption.preempted_for, ask.preemption.triggered, ask.preemption.plans) == (None, "", 0)


@pytest.mark.parametrize("outcome", [EvictionOutcome.BUDGET, EvictionOutcome.FAILED])
def test_a_victim_that_may_not_go_is_spared_and_the_ask_tries_again(outcome: EvictionOutcome) -> None:
    stage = Stage()
    committed(stage)
    for _ in range(2):
        last = records(stage)[-1]
        stage.learn(written(last, reached=True))
    stage.learn(on.PodEvicted(PodUid("uid-v1"), outcome, Purpose.VICTIM, PodUid("uid-ask")))
    entries = {each.uid: dict(each.entries) for each in records(stage)[-2:]}
    assert entries[PodUid("uid-v1")] == {PREEMPTED_FOR: None}
    record = stage.rig.engine.view.pod(PodUid("uid-ask"))
    assert record is not None
    assert (record.preemption.triggered, record.preemption.plans, stage.rig.engine.view.kept) == (
        "",
        0,
        {},
    )


def test_a_plan_whose_ask_is_gone_evicts_nobody_any_more() -> None:
    stage = Stage()
    committed(stage)
    (first,) = records(stage)
    stage.learn(on.PodDeleted(PodUid("uid-ask")))
    stage.learn(written(first, reached=True))
    assert evictions(stage) == []
    assert stage.rig.audit() == ()


def test_an_instance_that_may_not_act_plans_nothing_until_it_may() -> None:
    stage = Stage()
    leading: list[bool] = []
    planned: list[str] = []
    calls: list[Callable[[], None]] = []
    engine = stage.rig.engine
    planner = Planner(
        lambda: engine.view,
        lambda event: planned.append(type(event).__name__),
        lambda: stage.rig.time,
        lambda _, call: calls.append(call),
        stage.rig.witness,
        lambda: bool(leading),
    )
    stage.ask(complex=False)
    stage.wait(DELAY)
    stage.rig.engine.pass_time()
    planner.wake()
    assert calls == []
    leading.append(True)
    planner.wake()
    while "PlanCommitted" not in planned:
        calls.pop()()
    assert planned == ["PreemptionTried", "PlanCommitted"]
