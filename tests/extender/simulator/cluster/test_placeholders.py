"""Placeholders in the simulated cluster: creation, refusals, and their end with the owner."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.ids import AppId
from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder
from core.ledger.outcomes import CreationOutcome
from core.workload.gangs.gang import Gang
from core.workload.pod import OWN_GATE
from extender.simulator.cluster.effector import act
from extender.simulator.cluster.played_objects import Pod
from extender.simulator.scenario.objects import GATED
from extender.simulator.scenario.reader import scenario_from
from extender.simulator.simulation import Cluster
from extender.wire.annotations.gang import gang_from
from extender.wire.placeholder import PlaceholderSettings, TemplateParts, placeholder_pod
from tests.builders import make_placeholder
from tests.extender.simulator.cluster.one_node import HEAD

SCENARIO = (
    HEAD
    + """\
  priorityClasses: [{name: high, value: 7, preemptionPolicy: Never}]
steps:
  - at: 0s
    submit:
      - {name: first, app: app-1, queue: root.a, cpu: 1}
      - {name: slow, app: app-1, queue: root.a, cpu: 1, grace: 10s}
"""
)


def gang(**more: Any) -> Gang:
    group = {"name": "g", "minMember": 2, "minResource": {"cpu": "1"}, **more}
    found = gang_from({"yunikorn.apache.org/task-groups": json.dumps([group])})
    assert isinstance(found, Gang)
    return found


class Stage:
    """A cluster in which the pods of `SCENARIO` run."""

    def __init__(self, more: str = "") -> None:
        scenario = scenario_from(SCENARIO + more, file="s.yaml", folder=Path("/nowhere"))
        self.cluster = Cluster(scenario)
        for entry in scenario.steps[0].submit:
            self.cluster.submit(entry, entry.names[0])
        self.cluster.settle()
        self.outcomes: list[on.Event] = []

    def pod(self, name: str) -> Pod:
        pod = self.cluster.find_pod(name, even_if_deleted=True)
        assert pod is not None
        return pod

    def wish(self, name: str = "tg-0", *, owner: str = "first", **wanted: Any) -> CreatePlaceholder:
        values = {"gang": gang(), "uid": self.pod(owner).uid, "scheduler_name": "yunikorn", **wanted}
        return make_placeholder(name, **values)

    def create(self, wanted: CreatePlaceholder) -> on.PlaceholderCreated:
        """Request a placeholder in Paddock's name, and return how that ended."""
        world, creation_ended = self.cluster.world, self.outcomes
        anything = PlaceholderSettings(copied=TemplateParts(labels=True, annotations=True))
        act(wanted, world.api, world.budgets, world.onlooker, creation_ended.append, placeholders=anything)
        self.cluster.settle()
        end = creation_ended.pop()
        assert isinstance(end, on.PlaceholderCreated)
        return end


def creation_ended(outcome: CreationOutcome, why: str = "", name: str = "tg-0") -> on.PlaceholderCreated:
    return on.PlaceholderCreated(AppId("app-1", "default"), name, outcome, why)


@pytest.mark.rule("GANG-3", "GANG-8")
def test_a_placeholder_is_a_pod_that_is_placed_and_runs_for_ever() -> None:
    stage = Stage()
    assert stage.create(stage.wish(priority_class="high")) == creation_ended(CreationOutcome.DONE)
    pod = stage.pod("tg-0")
    assert (pod.node, pod.phase, pod.facts.placeholder) == ("n1", "Running", True)
    assert (pod.facts.owner, pod.facts.priority, pod.facts.never_preempts) == (
        stage.pod("first").uid,
        7,
        True,
    )
    assert pod.facts.created == stage.cluster.clock.seconds
    stage.cluster.advance(10**9, lambda: None)
    assert pod.phase == "Running"
    assert stage.cluster.recorder.since.placed == [stage.pod("first"), stage.pod("slow")]
    states = stage.cluster.recorder.pod_states(stage.cluster.api.pods.values())
    assert [name for name, state in states.items() if state["placeholder"]] == ["tg-0"]


@pytest.mark.rule("GANG-4", "GANG-20")
def test_asking_twice_makes_one_pod() -> None:
    stage = Stage()
    for _ in range(2):
        assert stage.create(stage.wish()) == creation_ended(CreationOutcome.DONE)
    assert len(stage.cluster.api.named["tg-0"]) == 1


@pytest.mark.rule("GANG-4")
def test_a_stranger_of_the_name_is_a_refusal() -> None:
    stage = Stage()
    stage.create(stage.wish(owner="slow"))
    why = "pod {} is there already and is no placeholder of this gang"
    assert stage.create(stage.wish()) == creation_ended(CreationOutcome.REFUSED, why.format("tg-0"))
    end = stage.create(stage.wish("slow"))
    assert end == creation_ended(CreationOutcome.REFUSED, why.format("slow"), "slow")


@pytest.mark.rule("GANG-4")
@pytest.mark.parametrize(
    ("defined", "why"),
    [
        ({"labels": {"a": "not valid"}}, "metadata.labels: Invalid value: 'not valid' of a"),
        ({"labels": {"a b": "x"}}, "metadata.labels: Invalid value: 'a b'"),
        ({"labels": {"A.b/c": "x"}}, "metadata.labels: Invalid value: 'A.b/c'"),
        ({"annotations": {"/x": "x"}}, "metadata.annotations: Invalid value: '/x'"),
        ({"minResource": {"vcore": "1"}}, "requests[vcore]: must be a standard resource type"),
        ({"minResource": {"nvidia.com/gpu": "1500m"}}, "requests[nvidia.com/gpu]: must be an integer"),
    ],
)
def test_what_the_api_server_does_not_take_is_refused(defined: dict[str, Any], why: str) -> None:
    stage = Stage()
    end = stage.create(stage.wish(gang=gang(**defined)))
    assert end.outcome is CreationOutcome.REFUSED
    assert end.why.endswith(why)
    assert stage.cluster.find_pod("tg-0", even_if_deleted=True) is None


@pytest.mark.rule("GANG-4")
def test_a_missing_class_is_refused() -> None:
    stage = Stage()
    end = stage.create(stage.wish(priority_class="gone"))
    assert end == creation_ended(CreationOutcome.REFUSED, "no PriorityClass with name gone was found")


def test_what_it_takes_is_taken() -> None:
    stage = Stage()
    defined = gang(
        labels={"example.com/a": "", "b": "x_y.z"},
        annotations={"Example.com/A": "any text"},
        minResource={"cpu": "10m", "memory": "1Mi", "example.com/gpu": "0", "hugepages-2Mi": "0"},
    )
    assert stage.create(stage.wish(gang=defined)) == creation_ended(CreationOutcome.DONE)


@pytest.mark.rule("GANG-3", "DESIGN-6")
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("gates", ["", "gates: true"])
def test_the_gate_is_there_once(gates: str, gated: bool) -> None:
    stage = Stage(gates)
    wanted = stage.wish(gated=gated)
    stage.cluster.world.api.post_pod(_posted(wanted))
    expected = (OWN_GATE,) if gates or gated else ()
    pod = stage.pod("tg-0")
    assert pod.facts.gates == expected
    assert (GATED in pod.body["status"].get("conditions", [])) == bool(expected)


@pytest.mark.rule("GANG-14", "GANG-21")
def test_it_is_deleted_with_its_owner() -> None:
    stage = Stage()
    for name, owner in (("tg-0", "first"), ("tg-1", "first"), ("tg-2", "slow")):
        stage.create(stage.wish(name, owner=owner))
    for name in ("first", "slow"):
        stage.cluster.api.delete(stage.pod(name))
    stage.cluster.settle()
    assert [stage.pod(name).exists for name in ("tg-0", "tg-1", "tg-2")] == [False, False, True]
    stage.cluster.advance(20_000, lambda: None)
    assert not stage.pod("tg-2").exists
    assert stage.cluster.recorder.since.evicted == []


@pytest.mark.rule("GANG-14")
def test_it_stays_when_its_owner_has_only_ended() -> None:
    stage = Stage()
    stage.create(stage.wish())
    stage.cluster.api.finish(stage.pod("first"), "Succeeded")
    stage.cluster.settle()
    assert stage.pod("tg-0").exists


@pytest.mark.rule("GANG-14")
def test_it_does_not_outlive_an_owner_that_went_before() -> None:
    stage = Stage()
    wanted = stage.wish()
    stage.cluster.api.delete(stage.pod("first"))
    assert stage.create(wanted) == creation_ended(CreationOutcome.DONE)
    assert not stage.pod("tg-0").exists


def _posted(wanted: CreatePlaceholder) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(placeholder_pod(wanted, PlaceholderSettings())))
    return found
