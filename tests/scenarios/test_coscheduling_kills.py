"""Paddock killed after each effect of a group's start in turn (COS-5, COS-6).

In the end all three run, though room for them was scarce, and nobody else's pod has gone.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from extender.simulator.paddock import Paddock
from extender.simulator.reading import scenario_from
from extender.simulator.run import run_scenario
from extender.simulator.scenario import Kill, Scenario

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


def played(bind: str, *, gates: bool) -> Scenario:
    scenario = scenario_from(TEXT.replace("BIND", bind), file="s.yaml", folder=Path("/nowhere"))
    return replace(scenario, gates=gates)


PLAYS = {
    "plain": played("0s", gates=False),
    "with gates": played("0s", gates=True),
    "slow bindings": played("300ms", gates=False),
    "slow bindings and gates": played("300ms", gates=True),
}


def effects_of(scenario: Scenario) -> Counter[str]:
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


def ended_well(scenario: Scenario) -> None:
    states = run_scenario(scenario).pods
    assert {name: states[name]["phase"] for name in states if name[0] in "fgh"} == {
        "first": "Succeeded",
        **{f"g-{at}": "Succeeded" for at in range(3)},
        **{f"h-{at}": "Running" for at in range(3)},
    }


@pytest.mark.rule("COS-5", "COS-6")
@pytest.mark.parametrize(("scenario", "kill"), list(kills()))
def test_all_start_in_the_end(scenario: Scenario, kill: Kill) -> None:
    first, *rest = scenario.steps
    ended_well(replace(scenario, steps=(replace(first, kill=kill), *rest)))


@pytest.mark.parametrize("scenario", PLAYS.values(), ids=PLAYS)
def test_there_is_something_to_be_killed_after(scenario: Scenario) -> None:
    effects = effects_of(scenario)
    assert effects["PostBinding"] >= 7
    assert effects.keys() & {"WakePod", "OpenGate"}
    ended_well(scenario)
