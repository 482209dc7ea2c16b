"""`make attack`: a bounded round that prints each attack as held or not, and fails if one was not.

An attack that gained nothing and could not be played to its end is played once more. The machine may have
been busy. Further rounds play the same attacks with other random pods.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable

from e2e.attack import guarded
from e2e.attack.moves import MOVES, Move
from e2e.attack.scene import Broken, Scene, scene
from e2e.cluster.client import ApiFailure, Cluster
from e2e.cluster.reconnecting import DROPPED
from e2e.programs.control_plane import ControlPlane
from e2e.verdict import judged

MOVE_DEADLINE = 180.0
HELD, NOT_HELD, UNKNOWN = "held", "NOT HELD", "UNKNOWN"


class Report:
    """Output of a round: a line for each attack, and the reasons why the round failed."""

    def __init__(self) -> None:
        self.held = 0
        self.reasons: list[str] = []

    async def note(
        self, finding: str, what: str, attack: Callable[[], Awaitable[str]], *, last: bool = True
    ) -> bool:
        """Play an attack, and return whether the outcome counts. ``last``: count an unknown one as well."""
        began = time.monotonic()
        verdict, text = await _outcome(attack)
        seconds = time.monotonic() - began
        print(f"attack: {verdict:8} {finding:8} {seconds:5.1f} s  {what}: {text}", flush=True)
        counts = last or verdict != UNKNOWN
        if verdict == HELD:
            self.held += 1
        elif counts:
            self.reasons.append(f"{verdict}: {finding}: {what}: {text}")
        return counts


async def _outcome(attack: Callable[[], Awaitable[str]]) -> tuple[str, str]:
    """The verdict on an attack, and why. Only `Broken` says that something was gained."""
    try:
        return HELD, await asyncio.wait_for(attack(), MOVE_DEADLINE)
    except Broken as error:
        return NOT_HELD, str(error)
    except (AssertionError, ApiFailure, *DROPPED) as error:
        return UNKNOWN, f"{type(error).__name__}: {error}"


async def _round(report: Report, rng: random.Random, only: str) -> None:
    async with ControlPlane() as control_plane, Cluster(control_plane) as cluster:
        cluster.namespace = await cluster.create_namespace()
        async with scene(cluster) as here, here.probed():
            for each in MOVES:
                if only in (each.finding, ""):
                    await _noted(report, here, each, rng)
            await _guarded(report, here, only)
            await here.cleared()


async def _noted(report: Report, here: Scene, move: Move, rng: random.Random) -> None:
    for last in (False, True):
        counts = await report.note(move.finding, move.what, lambda: _played(here, move.play, rng), last=last)
        await here.cleared()
        if counts:
            return


async def _played(
    here: Scene, play: Callable[[Scene, random.Random], Awaitable[None]], rng: random.Random
) -> str:
    await play(here, rng)
    return await here.judged()


async def _guarded(report: Report, here: Scene, only: str) -> None:
    """A cluster with every shipped policy in force."""
    await guarded.install(here)
    await guarded.prepare(here)
    for finding, what, ask in guarded.ASKS:
        if only in (finding, ""):
            await report.note(finding, f"policies: {what}", lambda ask=ask: guarded.refused(here, ask))  # type: ignore[misc]


async def attack(rounds: int, seed: int, only: str) -> list[str]:
    """Play rounds. Returns what was not held."""
    report = Report()
    for number in range(seed, seed + rounds):
        print(f"attack: seed {number}", flush=True)
        await _round(report, random.Random(number), only)
    print(f"attack: {report.held} held, {len(report.reasons)} not held", flush=True)
    return report.reasons


def main() -> int:
    parser = argparse.ArgumentParser(prog="make attack", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the id of one finding, such as F-10")
    chosen = parser.parse_args()
    return judged("attack", lambda: asyncio.run(attack(chosen.rounds, chosen.seed, chosen.only)))


if __name__ == "__main__":
    sys.exit(main())
