"""`make attack`: a bounded round that prints each attack as held or not, and fails if one was not.

Further rounds play the same attacks with other random pods.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable

from e2e.attack import guarded
from e2e.attack.moves import MOVES
from e2e.attack.scene import Scene, scene
from e2e.cluster.client import ApiFailure, Cluster
from e2e.programs.control_plane import ControlPlane

MOVE_DEADLINE = 90.0


class Report:
    """Output of a round: a line for each attack, and how many were not held."""

    def __init__(self) -> None:
        self.held, self.lost = 0, 0

    async def note(self, finding: str, what: str, attack: Callable[[], Awaitable[str]]) -> None:
        began = time.monotonic()
        try:
            verdict, said = "held", await asyncio.wait_for(attack(), MOVE_DEADLINE)
            self.held += 1
        except (AssertionError, ApiFailure, TimeoutError) as error:
            verdict, said = "NOT HELD", f"{type(error).__name__}: {error}"
            self.lost += 1
        seconds = time.monotonic() - began
        print(f"attack: {verdict:8} {finding:8} {seconds:5.1f} s  {what}: {said}", flush=True)


async def _round(report: Report, rng: random.Random, only: str) -> None:
    async with ControlPlane() as control_plane, Cluster(control_plane) as cluster:
        cluster.namespace = await cluster.create_namespace()
        async with scene(cluster) as here, here.probed():
            for each in MOVES:
                if only in (each.finding, ""):
                    await report.note(
                        each.finding, each.what, lambda each=each: _played(here, each.play, rng)
                    )  # type: ignore[misc]
                    await here.cleared()
            await _guarded(report, here, only)
            await here.cleared()


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


async def attack(rounds: int, seed: int, only: str) -> int:
    report = Report()
    for number in range(seed, seed + rounds):
        print(f"attack: seed {number}", flush=True)
        await _round(report, random.Random(number), only)
    print(f"attack: {report.held} held, {report.lost} not held", flush=True)
    return 1 if report.lost else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make attack", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the id of one finding, such as F-10")
    chosen = parser.parse_args()
    return asyncio.run(attack(chosen.rounds, chosen.seed, chosen.only))


if __name__ == "__main__":
    sys.exit(main())
