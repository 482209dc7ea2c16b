"""Common parts of the tests that kill Paddock after each of its effects in turn. No tests."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from extender.simulator.paddock import Paddock
from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import Kill, Scenario
from extender.simulator.scenario.reader import scenario_from


def played(text: str, *, gates: bool) -> Scenario:
    """``text``: a scenario file; ``gates``: whether its pods come behind gates."""
    return replace(scenario_from(text, file="s.yaml", folder=Path("/nowhere")), gates=gates)


def effects_of(scenario: Scenario) -> Counter[str]:
    """Number of effects of each kind in an undisturbed run."""
    counted: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Paddock, "_count_effect", lambda self, name: counted.update([name]))
        run_scenario(scenario)
    return counted


def kills(plays: Mapping[str, Scenario], *, once: Collection[str] = ()) -> Iterator[object]:
    """Parameters for every effect of every play: the play, and the effect after which Paddock is killed.

    ``once``: effects of which the first is enough.
    """
    for name, scenario in plays.items():
        for effect, count in sorted(effects_of(scenario).items()):
            for nth in range(1, 2 if effect in once else count + 1):
                yield pytest.param(scenario, Kill(effect, nth), id=f"{name}: {effect} {nth}")


def killed(scenario: Scenario, kill: Kill, *, step: int = 0) -> Scenario:
    """``step``: the step from which effects are counted."""
    before, (chosen, *after) = scenario.steps[:step], scenario.steps[step:]
    return replace(scenario, steps=(*before, replace(chosen, kill=kill), *after))
