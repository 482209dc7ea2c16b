"""Every scenario of this folder, and again with its rule switched off.

Scenarios about the order, gangs and preemption run a second time with gates, with the same result.

A scenario's ``why`` begins with the rule and names, in backquotes, the entry that shows it. `MUTATIONS`
switches each rule off, so that it answers as if it did not apply.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from extender.simulator.report.recording import Recording
from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import PodEntry
from extender.simulator.scenario.reader import read_scenario
from tests.scenarios.mutations.every_scenario import MUTATIONS
from tests.scenarios.mutations.seam import switch_off

HERE = Path(__file__).parent
FILES = sorted(path for path in HERE.glob("*.yaml"))
RULE = re.compile(r"(?P<rule>[A-Z]+-[0-9]+(\.[0-9]+)?): .*`(?P<entry>[^`]+)`")


class Play(NamedTuple):
    """``gates``: True for gates, whatever the file says. Turns are equal, and only their report differs."""

    path: Path
    gates: bool

    @property
    def id(self) -> str:
        return self.path.stem + "-with-gates" * self.gates

    @property
    def named(self) -> re.Match[str]:
        """The rule and the entry that ``why`` names."""
        found = RULE.match(read_scenario(self.path).why)
        assert found is not None, f"{self.id}: why must begin with a rule and name an entry in backquotes"
        return found

    def run(self) -> Recording:
        scenario = read_scenario(self.path)
        return run_scenario(replace(scenario, gates=scenario.gates or self.gates))


PLAYS = [Play(path, gates=False) for path in FILES]
WITH_GATES = (
    "closed-queue",
    "coscheduling-",
    "ended-",
    "execution-",
    "gang-",
    "guarantee-",
    "moved-",
    "order-",
    "quota-change",
    "required-node-",
    "timed-out-",
)
PLAYS += [Play(path, gates=True) for path in FILES if path.stem.startswith(WITH_GATES)]

every_play = pytest.mark.parametrize(
    "play", [pytest.param(play, id=play.id, marks=pytest.mark.rule(play.named["rule"])) for play in PLAYS]
)


@every_play
def test_it_happens_as_expected(play: Play) -> None:
    recording = play.run()
    assert recording.differences == ()
    assert recording.checks > 0


@pytest.mark.rule("F-2")
@pytest.mark.parametrize("path", [play.path for play in PLAYS if play.gates], ids=lambda path: path.stem)
def test_it_happens_so_where_gates_are_the_only_guard(path: Path) -> None:
    """With markers cut to ``preempt``, a turn is a charge from the opening of the gate on."""
    scenario = read_scenario(path)
    steps = tuple(replace(step, submit=tuple(map(_marked, step.submit))) for step in scenario.steps)
    assert run_scenario(replace(scenario, gates=True, steps=steps)).differences == ()


def _marked(entry: PodEntry) -> PodEntry:
    return entry if entry.node else replace(entry, requests={**entry.requests, "paddock.dev/preempt": "1"})


@pytest.mark.interpreted
@pytest.mark.corrupts_ledger
@every_play
def test_it_differs_without_its_rule(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    switch_off(MUTATIONS[play.path.stem], monkeypatch)
    entries = {difference.entry for difference in play.run().differences}
    wanted = play.named["entry"]
    assert any(entry == wanted or entry.startswith(wanted + ".") for entry in entries), entries


def test_every_scenario_has_a_mutation_and_no_other_is_left() -> None:
    assert {path.stem for path in FILES} == MUTATIONS.keys()
    assert len(FILES) >= 25


KEYS = """
apiVersion kind name why config settings delays watch bind gates scheduler percentageOfNodesToScore
podMaxBackoffSeconds cluster nodes count cpu memory pods labels taints unschedulable priorityClasses
value preemptionPolicy annotations namespaces podDisruptionBudgets namespace matchLabels maxUnavailable
controller end lift bar force move refused
steps at addNodes removeNodes cordon uncordon submit resize complete fail delete ungate restart
stopScheduler restartScheduler kill after nth app queue user groups resources priority priorityClass
taskGroups taskGroup schedulingPolicy podGroup minAvailable node age nodeSelector tolerations daemonSet
requiredNode runFor recreate grace schedulerName spec expect placed placedAnyOrder evicted running
pending phase reason nominatedNode message queues applications users exists placeholders configRejected
"""
"""Every key of the scenario format."""


def test_every_key_of_the_format_is_used_in_a_scenario() -> None:
    used: set[str] = set()
    for path in FILES:
        used |= set(_keys(yaml.safe_load(path.read_text())))
    assert set(KEYS.split()) - used == set()


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield str(key)
            yield from _keys(below)
    elif isinstance(value, list):
        for below in value:
            yield from _keys(below)
