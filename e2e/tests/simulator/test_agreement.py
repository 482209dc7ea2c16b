"""The simulator and the real control plane play the same scenarios and must end alike.

Compared are placements as (pod, node) pairs, evictions, and each pod's refusal codes in order. Where they
differ the simulator is wrong.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from e2e.cluster.client import Cluster
from e2e.stands.player import Player, outcome_of, tree_of
from e2e.stands.stand import Stand
from extender.simulator.run import run_scenario
from extender.simulator.scenario.reader import read_scenario

FILES = sorted((Path(__file__).parent / "agreement").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_the_simulator_agrees_with_the_real_thing(cluster: Cluster, path: Path) -> None:
    scenario = read_scenario(path)
    recording = run_scenario(scenario)
    assert recording.differences == ()
    simulated = outcome_of(recording)
    assert simulated.placed
    late = bool(scenario.delays.watch or scenario.delays.bind)
    async with Stand(cluster, tree_of(scenario.config.text), proxied=late) as stand:
        real = await Player(scenario, stand).play(simulated)
    assert real.placed == simulated.placed
    assert real.evicted == simulated.evicted
    expected = _lasting(simulated.codes)
    found = _lasting(real.codes)
    assert (_without_first_call(found, expected) if real.evicted else found) == expected


def _without_first_call(
    codes: Mapping[str, list[str]], expected: Mapping[str, object]
) -> dict[str, list[str]]:
    """The codes without a quota refusal of pods that the simulator admits at their first call.

    The simulator evicts others for a new pod before kube-scheduler asks. In reality either may come first.
    """
    return {pod: found for pod, found in codes.items() if pod in expected or found != ["QuotaExceeded"]}


def test_only_a_first_refusal_by_quota_may_come_before_the_plan() -> None:
    found = {"agent": ["QuotaExceeded"], "low": ["QuotaExceeded"], "other": ["NodeReserved"]}
    assert _without_first_call(found, {"low": []}) == {"low": ["QuotaExceeded"], "other": ["NodeReserved"]}


def _lasting(codes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The codes without waits for a turn: cycles take no time in the simulator, and milliseconds in reality.

    Equal codes before and after such a wait count as one refusal.
    """
    lasting = {pod: [code for code in codes if code != "WaitingForTurn"] for pod, codes in codes.items()}
    return {pod: [code for code, _ in groupby(codes)] for pod, codes in lasting.items() if codes}


def test_a_wait_for_a_turn_makes_no_second_refusal_of_one() -> None:
    waited = {"low": ["QuotaExceeded", "WaitingForTurn", "QuotaExceeded"], "high": ["WaitingForTurn"]}
    assert _lasting(waited) == {"low": ["QuotaExceeded"]}
    assert _lasting({"p": ["QuotaExceeded", "NodeReserved", "QuotaExceeded"]})["p"][1:] == [
        "NodeReserved",
        "QuotaExceeded",
    ]


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 12
