"""Paddock killed after each effect of a preemption in turn (design section 4): it starts again, or one that
stood by goes on.

In the end the ask has its place, nobody was evicted twice, and nobody who need not go.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from extender.simulator import cluster
from extender.simulator.paddock import Paddock
from extender.simulator.reading import scenario_from
from extender.simulator.recording import Recording
from extender.simulator.run import run_scenario
from extender.simulator.scenario import Kill, Scenario
from tests.scenarios.standing_by import Pair

HEAD = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: two go for one
config:
  partitions:
    - name: default
      queues:
        - name: root
          submitacl: "*"
          queues: [{name: prod, resources: {guaranteed: {vcore: 5}}}, {name: test}]
cluster:
  nodes: [{name: n1, cpu: 3}]
"""
STEPS = """\
steps:
  - at: 0s
    submit: [{name: t, count: 3, app: t, queue: root.test, cpu: 1, node: n1, age: 20m, grace: GRACE}]
  - at: 2s
    submit: [{name: q, app: q, queue: root.prod, cpu: 2, age: 30s, MORE}]
  - at: 120s
"""
VICTIMS = {"t-1", "t-2"}


def played(grace: str, more: str, *, gates: bool) -> Scenario:
    steps = STEPS.replace("GRACE", grace).replace("MORE", more)
    scenario = scenario_from(HEAD + steps, file="s.yaml", folder=Path("/nowhere"))
    return replace(scenario, gates=gates)


PLAYS = {
    "at once": played("0s", "labels: {}", gates=False),
    "with grace": played("10s", "labels: {}", gates=False),
    "with grace and gates": played("10s", "labels: {}", gates=True),
    "on a required node": played("10s", "daemonSet: true, requiredNode: n1", gates=False),
}


def effects_of(scenario: Scenario) -> Counter[str]:
    """How often Paddock does what when it is left alone."""
    counted: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Paddock, "_count_effect", lambda self, name: counted.update([name]))
        run_scenario(scenario)
    return counted


def kills() -> Iterator[object]:
    for name, scenario in PLAYS.items():
        for effect, count in sorted(effects_of(scenario).items()):
            for nth in range(1, count + 1):
                yield pytest.param(scenario, Kill(effect, nth), id=f"{name}: {effect} {nth}")


def evicted(recording: Recording) -> Counter[str]:
    return Counter(each.pod for each in recording.timeline if each.kind == "evicted")


@pytest.mark.rule("PRE-20", "PRE-22")
@pytest.mark.parametrize("kind", [Paddock, Pair], ids=["restarted", "followed"])
@pytest.mark.parametrize(("scenario", "kill"), list(kills()))
def test_the_ask_gets_its_node_and_each_victim_goes_once(
    scenario: Scenario, kill: Kill, kind: type[Paddock], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "Paddock", kind)
    first, second, *rest = scenario.steps
    recording = run_scenario(replace(scenario, steps=(first, replace(second, kill=kill), *rest)))
    assert evicted(recording) == Counter(VICTIMS)
    assert recording.pods["q"]["node"] == "n1"


@pytest.mark.parametrize("scenario", PLAYS.values(), ids=PLAYS)
def test_there_is_something_to_be_killed_after(scenario: Scenario) -> None:
    assert {"WriteRecord", "EvictPod", "NominateNode"} <= effects_of(scenario).keys()
