"""Paddock killed after each effect of a preemption in turn (DESIGN-4), with a restart or a failover.

In the end the ask is placed. No pod was evicted twice, and none unnecessarily.
"""

from collections import Counter

import pytest

from extender.simulator import simulation
from extender.simulator.paddock import Paddock
from extender.simulator.report.recording import Recording
from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import Kill, Scenario
from tests.scenarios.killing import effects_of, killed, kills, played
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


def play(grace: str, more: str, *, gates: bool) -> Scenario:
    return played(HEAD + STEPS.replace("GRACE", grace).replace("MORE", more), gates=gates)


PLAYS = {
    "at once": play("0s", "labels: {}", gates=False),
    "with grace": play("10s", "labels: {}", gates=False),
    "with grace and gates": play("10s", "labels: {}", gates=True),
    "on a required node": play("10s", "daemonSet: true, requiredNode: n1", gates=False),
}


def evicted(recording: Recording) -> Counter[str]:
    return Counter(each.pod for each in recording.timeline if each.kind == "evicted")


@pytest.mark.rule("PRE-20", "PRE-22")
@pytest.mark.parametrize("kind", [Paddock, Pair], ids=["restarted", "followed"])
@pytest.mark.parametrize(("scenario", "kill"), list(kills(PLAYS)))
def test_the_ask_gets_its_node_and_each_victim_goes_once(
    scenario: Scenario, kill: Kill, kind: type[Paddock], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulation, "Paddock", kind)
    recording = run_scenario(killed(scenario, kill, step=1))
    assert evicted(recording) == Counter(VICTIMS)
    assert recording.pods["q"]["node"] == "n1"


@pytest.mark.parametrize("scenario", PLAYS.values(), ids=PLAYS)
def test_there_is_something_to_be_killed_after(scenario: Scenario) -> None:
    assert {"WriteRecord", "EvictPod", "NominateNode"} <= effects_of(scenario).keys()
