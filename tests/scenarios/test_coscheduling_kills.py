"""Paddock killed after each effect of a group's start in turn (COS-5, COS-6).

In the end all three run, though capacity for them was scarce, and no other pod was evicted.
"""

import pytest

from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import Kill, Scenario
from tests.scenarios.killing import effects_of, killed, kills, played

TEXT = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: three start together
config:
  partitions:
    - name: default
      queues: [{name: root, submitacl: "*", queues: [{name: a, resources: {max: {vcore: 4}}}]}]
delays: {bind: BIND}
cluster:
  nodes: [{name: n1, cpu: 2}, {name: n2, cpu: 2}]
steps:
  - at: 0s
    submit:
      - {name: first, app: first, queue: root.a, cpu: 2, runFor: 5s}
      - {name: g, count: 3, app: g, queue: root.a, cpu: 1, podGroup: {name: g, minAvailable: 3}}
      - {name: h, count: 3, app: h, queue: root.a, cpu: 1, podGroup: {name: h, minAvailable: 3}}
  - at: 60s
  - at: 61s
    complete: [g-0, g-1, g-2]
  - at: 180s
"""

AT_ONCE, SLOWLY = TEXT.replace("BIND", "0s"), TEXT.replace("BIND", "300ms")
PLAYS = {
    "plain": played(AT_ONCE, gates=False),
    "with gates": played(AT_ONCE, gates=True),
    "slow bindings": played(SLOWLY, gates=False),
    "slow bindings and gates": played(SLOWLY, gates=True),
}


def ended_well(scenario: Scenario) -> None:
    states = run_scenario(scenario).pods
    assert {name: states[name]["phase"] for name in states if name[0] in "fgh"} == {
        "first": "Succeeded",
        **{f"g-{at}": "Succeeded" for at in range(3)},
        **{f"h-{at}": "Running" for at in range(3)},
    }


@pytest.mark.rule("COS-5", "COS-6")
@pytest.mark.parametrize(("scenario", "kill"), list(kills(PLAYS)))
def test_all_start_in_the_end(scenario: Scenario, kill: Kill) -> None:
    ended_well(killed(scenario, kill))


@pytest.mark.parametrize("scenario", PLAYS.values(), ids=PLAYS)
def test_there_is_something_to_be_killed_after(scenario: Scenario) -> None:
    effects = effects_of(scenario)
    assert effects["PostBinding"] >= 7
    assert effects.keys() & {"WakePod", "OpenGate"}
    ended_well(scenario)
