"""Paddock killed after each effect of a gang in turn, and restarted at many moments (GANG-20).

In the end nodes and counts equal those of an undisturbed run, and no placeholder is left.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import Kill, Scenario, Step
from tests.scenarios.killing import effects_of, killed, kills, played

HEAD = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: three go together
config:
  partitions:
    - name: default
      queues: [{name: root, submitacl: "*", queues: [{name: a, resources: {max: {vcore: 3}}}]}]
delays: DELAYS
cluster:
  nodes: [{name: n1, cpu: 2}]
steps:
"""
SUBMIT = """\
  - at: 0s
    submit:
      - name: m
        count: 3
        app: gang
        queue: root.a
        cpu: 1
        taskGroup: g
        taskGroups: [{name: g, minMember: 3, minResource: {cpu: 1}}]
        schedulingPolicy: "placeholderTimeoutInSeconds=20 gangSchedulingStyle=STYLE"
"""
STARTED = """\
  - at: 10s
    addNodes: [{name: n2, cpu: 1}]
  - at: 15s
    expect:
      running: {m: 3}
      placeholders: {gang: 0}
      queues: {root.a: {allocatedResource: {pods: 3, vcore: 3000}, pendingResource: {pods: 0}}}
      applications:
        gang:
          applicationState: Running
          usedResource: {pods: 3, vcore: 3000}
          placeholderData: [{taskGroupName: g, count: 3, replaced: 3, timedout: 0}]
  - at: 60s
    expect: {running: {m: 3}, queues: {root.a: {allocatedResource: {pods: 3, vcore: 3000}}}}
"""
TOO_FEW = """\
  - at: 5s
    delete: [m-2]
  - at: 10s
    addNodes: [{name: n2, cpu: 1}]
  - at: 15s
    expect: {running: {m: 2}, placeholders: {gang: 1}}
  - at: 25s
    expect:
      running: {m: 2}
      placeholders: {gang: 0}
      queues: {root.a: {allocatedResource: {pods: 2, vcore: 2000}, pendingResource: {pods: 0}}}
      applications:
        gang:
          applicationState: Running
          placeholderData: [{taskGroupName: g, count: 3, replaced: 2, timedout: 1}]
"""
TIMED_OUT_SOFT = """\
  - at: 40s
    expect: {running: {m: 2}, placeholders: {gang: 0}, applications: {gang: {applicationState: Running}}}
  - at: 41s
    addNodes: [{name: n2, cpu: 1}]
  - at: 60s
    expect:
      running: {m: 3}
      placeholders: {gang: 0}
      queues: {root.a: {allocatedResource: {pods: 3, vcore: 3000}, pendingResource: {pods: 0}}}
"""
TIMED_OUT_HARD = """\
  - at: 40s
    expect:
      pods: {m-0: {phase: Failed}, m-1: {phase: Failed}, m-2: {phase: Failed}}
      placeholders: {gang: 0}
      queues: {root.a: {allocatedResource: {}, pendingResource: {}}}
"""


def play(steps: str, style: str, *, gates: bool, delays: str) -> Scenario:
    return played(HEAD.replace("DELAYS", delays) + SUBMIT.replace("STYLE", style) + steps, gates=gates)


LATE = "{watch: 200ms, bind: 300ms}"
WAYS = {
    "soft, started": (STARTED, "Soft"),
    "hard, started": (STARTED, "Hard"),
    "soft, with two of three members": (TOO_FEW, "Soft"),
    "hard, with two of three members": (TOO_FEW, "Hard"),
    "soft, timed out": (TIMED_OUT_SOFT, "Soft"),
    "hard, timed out": (TIMED_OUT_HARD, "Hard"),
}
PLAYS = {
    f"{name}{', late' * (delays == LATE)}{', gates' * gates}": play(steps, style, gates=gates, delays=delays)
    for name, (steps, style) in WAYS.items()
    for gates in (False, True)
    for delays in ("{}", LATE)
    if delays != LATE or steps != TOO_FEW
}


ONLY_REPORTED = {"PostEvent", "SetCondition"}


def restarted(scenario: Scenario, at: int) -> Scenario:
    """Scenario with a restart at a moment, in milliseconds, after the other steps of that moment."""
    steps = [each for each in scenario.steps if each.at <= at]
    later = [each for each in scenario.steps if each.at > at]
    return replace(scenario, steps=(*steps, Step(line=1, at=at, restart=True), *later))


MOMENTS = (0, 1000, 5000, 10_000, 12_000, 20_000, 21_000)
LATE_MOMENTS = (500, *range(10_000, 11_300, 100), *range(20_000, 20_700, 100))
"""Whenever news is under way. Not before the first Bindings are made: kube-scheduler forgets them when its
call breaks off, and then overfills the node, whoever broke it off."""


def moments() -> Iterator[object]:
    for name, scenario in PLAYS.items():
        for at in LATE_MOMENTS if scenario.delays.watch else MOMENTS:
            yield pytest.param(restarted(scenario, at), id=f"{name}: {at / 1000} s")


@pytest.mark.rule("GANG-20")
@pytest.mark.parametrize(("scenario", "kill"), list(kills(PLAYS, once=ONLY_REPORTED)))
def test_a_crash_changes_nothing(scenario: Scenario, kill: Kill) -> None:
    assert run_scenario(killed(scenario, kill)).differences == ()


@pytest.mark.rule("GANG-25")
@pytest.mark.parametrize("scenario", list(moments()))
def test_a_restart_changes_nothing(scenario: Scenario) -> None:
    assert run_scenario(scenario).differences == ()


@pytest.mark.parametrize("scenario", PLAYS.values(), ids=PLAYS)
def test_there_is_something_to_be_killed_after(scenario: Scenario) -> None:
    effects = effects_of(scenario)
    assert effects["CreatePlaceholder"] == effects["DeletePod"] == 3
    assert {"WriteRecord", "PostEvent"} <= effects.keys()
    recording = run_scenario(scenario)
    assert recording.differences == ()
    assert recording.checks > 0
