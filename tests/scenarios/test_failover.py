"""Scenarios in which Paddock is restarted or killed, played once more with a standby.

The standby takes over instead of a restart, and the results must be equal.
"""

from pathlib import Path

import pytest

from extender.simulator import simulation
from extender.simulator.run import run_scenario
from extender.simulator.scenario.reader import read_scenario
from tests.scenarios.mutations.seam import answering, switch_off
from tests.scenarios.standing_by import Pair

FILES = [
    path
    for path in sorted(Path(__file__).parent.glob("*.yaml"))
    if any(step.restart or step.kill for step in read_scenario(path).steps)
    # A restart loses the time since which a queue is above its max, and the queue of an application if that
    # queue was removed. A standby knows both.
    and path.stem
    not in (
        "quota-change-after-a-restart",
        "restart-with-a-removed-queue",
        "moved-application-whose-queue-goes",
    )
]

NEED_NOTHING_TAKEN_UP = {
    "application-across-namespaces-of-one-user",
    "application-of-another-namespace",
    "closed-queue",
    "closed-queue-opens-by-itself",
    "closed-queue-that-returns",
    "placement-of-what-waits-beside-a-bound-pod",
    "ended-application-and-a-daemon-set",
    "ended-application-lifted",
    "moved-application",
    "moved-gang",
    "coscheduling-killed-between-two-bindings",
    "coscheduling-restart-loses-waits",
    "gang-in-a-fair-queue",
    "gang-restarted-with-its-originator",
    "gang-that-runs-outlives-a-restart",
    "killed-right-after-a-binding",
    "guarantee-killed-after-a-victim-was-marked",
    "guarantee-killed-after-the-ask-was-marked",
    "restart-forgets-nothing",
}
"""Scenarios whose effects are on no object, are shown by the watch, or lead to the same new plan."""

NOTHING_TAKEN_UP = answering("leadership_begins", ())


@pytest.fixture(autouse=True)
def _somebody_stands_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "Paddock", Pair)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_a_failover_is_like_a_restart(path: Path) -> None:
    recording = run_scenario(read_scenario(path))
    assert recording.differences == ()
    assert recording.checks > 0


@pytest.mark.interpreted
@pytest.mark.corrupts_ledger
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_it_is_not_when_nothing_is_taken_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switch_off(NOTHING_TAKEN_UP, monkeypatch)
    differs = bool(run_scenario(read_scenario(path)).differences)
    assert differs is (path.stem not in NEED_NOTHING_TAKEN_UP)
