"""Execution of plans from a tick: the writes, the evictions, the Events, and the end of a plan."""

from collections.abc import Callable

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.workload.pod import PREEMPTED_FOR
from extender.engine.planner import Planner
from tests.extender.verbs.preempt_stage import DELAY, Stage, committed, events, evictions, records, written


@pytest.mark.rule("PRE-20")
@pytest.mark.parametrize("answered_first", [True, False])
def test_a_victim_gets_its_reason_once_even_if_it_disappears_before_the_answer(
    answered_first: bool,
) -> None:
    stage = Stage()
    committed(stage)
    for _ in range(2):
        last = records(stage)[-1]
        stage.learn(written(last, reached=True))
    (begun,) = events(stage)
    assert (begun.reason, begun.name, begun.message) == ("Preempting", "ask", "default/v1 is evicted for it")
    assert not begun.warning
    updates: list[on.Event] = [
        on.PodEvicted(PodUid("uid-v1"), EvictionOutcome.DONE, Purpose.VICTIM, PodUid("uid-ask")),
        on.PodObserved(stage.victim(1, deleting=True, version=2)),
        on.PodDeleted(PodUid("uid-v1")),
    ]
    for event in updates if answered_first else updates[2:]:
        stage.learn(event)
    (_, said) = events(stage)
    assert (said.reason, said.name, said.uid) == ("Preempted", "v1", "uid-v1")
    assert said.message.startswith("v1 gave 1 cpu to default/ask of application a: root.a was below")
    assert "LAW-5" in said.message


@pytest.mark.rule("PRE-20")
def test_both_sides_name_only_queues_where_names_of_others_are_off() -> None:
    stage = Stage(names_others=False)
    committed(stage)
    for _ in range(2):
        stage.learn(written(records(stage)[-1], reached=True))
    stage.learn(on.PodDeleted(PodUid("uid-v1")))
    begun, said = events(stage)
    assert (begun.name, begun.message) == ("ask", "a pod of root.b is evicted for it")
    assert (said.name, said.message[:38]) == ("v1", "v1 gave 1 cpu to a pod of root.a: root")


@pytest.mark.rule("PRE-20")
def test_after_a_restart_a_victim_gets_the_reason_written_on_it() -> None:
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
def test_a_victim_whose_preemptor_disappeared_learns_that() -> None:
    stage = Stage()
    committed(stage)
    for _ in range(2):
        last = records(stage)[-1]
        stage.learn(written(last, reached=True))
    stage.learn(on.PodDeleted(PodUid("uid-ask")))
    stage.learn(on.PodDeleted(PodUid("uid-v1")))
    (_, said) = events(stage)
    assert said.message.startswith("v1 was evicted for a pod that does not exist any more: root.a was below")


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
    assert "; an originator: taken because" in str(dict(second.entries)[PREEMPTED_FOR])
    assert "(guarantee: LAW-1, LAW-2, " in str(dict(second.entries)[PREEMPTED_FOR])
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
    assert view.reserved_nodes == {}
    victim, ask = view.pod(PodUid("uid-v1")), view.pod(PodUid("uid-ask"))
    assert victim is not None
    assert ask is not None
    assert (victim.preemption.preempted_for, ask.preemption.triggered, ask.preemption.plans) == (None, "", 0)


@pytest.mark.parametrize("outcome", [EvictionOutcome.BUDGET, EvictionOutcome.FAILED])
def test_a_victim_that_may_not_be_evicted_is_spared_and_the_ask_asks_again(outcome: EvictionOutcome) -> None:
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
    assert (record.preemption.triggered, record.preemption.plans, stage.rig.engine.view.reserved_nodes) == (
        "",
        0,
        {},
    )


def test_a_plan_without_its_ask_evicts_no_pod_any_more() -> None:
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
