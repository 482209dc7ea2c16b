"""A controller that recreates every victim at once: preemption still comes to an end.

A minute of such a controller stands for five: the delay before an ask may preempt is a second, not half a
minute. PADDOCK_E2E_LOOP_SECONDS=300 plays all five.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from e2e.cluster.client import Cluster, Object
from e2e.stands.preemption import Contest, contest, queue
from e2e.stands.stand import QUEUE, queue_of

ROUNDS = float(os.environ.get("PADDOCK_E2E_LOOP_SECONDS", "60"))
"""Seconds for which the controller goes on."""

QUIET = 20.0
"""Seconds without an eviction at the end; an ask is tried again every 15 s."""

CORES = 12

MIXED = {
    "root.a": (5, 0),
    "root.b": (3, 0),
    "root.c": (2, 7),
    "root.free": (0, 5),
}
"""Guaranteed cores, and pods of one core that run at the start."""

TOO_MUCH = {"root.a": (8, 2), "root.b": (8, 4), "root.c": (0, 6)}
"""Guarantees above the size of the cluster."""


@pytest.mark.timeout(ROUNDS + QUIET + 100.0)
@pytest.mark.parametrize("start", [MIXED, TOO_MUCH], ids=["mixed", "over-committed"])
async def test_a_controller_that_re_creates_victims_is_no_endless_loop(
    cluster: Cluster, start: dict[str, tuple[int, int]]
) -> None:
    """Every queue wants the whole cluster.

    There are at most as many evictions as guarantees lacked at the start.
    """
    lacked = sum(max(0, guaranteed - running) for guaranteed, running in start.values())
    queues = {path: queue(guaranteed=guaranteed) for path, (guaranteed, _) in start.items()}
    async with contest(cluster, queues, nodes=2, cores=CORES // 2) as here:
        for path, (_, running) in start.items():
            await here.run(f"{path[5:]}-first", running, queue=path)
        async with _recreated(here) as made:
            began = time.monotonic()
            await cluster.create_pods(
                cluster.pod(f"{path[5:]}-{at}", queue=path) for path in start for at in range(CORES)
            )
            last = await _until_quiet(here, began)
        held = Counter(queue_of(pod) for pod in here.pods.bound())
        print(
            f"{len(here.exits.left)} evictions of at most {lacked}, the last after {last - began:.0f} s; "
            f"{len(made)} made anew; they hold {dict(sorted(held.items()))}"
        )
        assert 0 < len(here.exits.left) <= lacked
        assert len(made) == len(here.exits.left)
        assert {*here.exits.receipts} == {*here.exits.left}
        assert sum(held.values()) == CORES
        if sum(guaranteed for guaranteed, _ in start.values()) <= CORES:
            assert all(held[path] >= guaranteed for path, (guaranteed, _) in start.items())


async def _until_quiet(here: Contest, began: float) -> float:
    """Wait until no pod is evicted any more, and return when the last one was.

    The controller has then gone on long enough, at the end without effect.
    """
    seen, last = 0, began
    while time.monotonic() < max(began + ROUNDS, last + QUIET):
        assert time.monotonic() < began + 3 * ROUNDS, here.exits.left
        if len(here.exits.left) > seen:
            seen, last = len(here.exits.left), time.monotonic()
        await asyncio.sleep(0.2)
    return last


@asynccontextmanager
async def _recreated(here: Contest) -> AsyncIterator[list[str]]:
    """Submit another pod of its queue at once for every pod that leaves, as a Deployment would."""
    made: list[str] = []
    tasks: set[asyncio.Task[Object]] = set()
    ended: set[str] = set()

    def on_pod(kind: str, pod: Object) -> None:
        metadata = pod["metadata"]
        leaves = kind == "DELETED" or metadata.get("deletionTimestamp")
        if not leaves or metadata["uid"] in ended:
            return
        ended.add(metadata["uid"])
        made.append(f"again-{len(made)}")
        again = here.cluster.create_pod(made[-1], queue=metadata["labels"][QUEUE])
        tasks.add(asyncio.create_task(again))

    here.pods.listeners.append(on_pod)
    try:
        yield made
        for task in tasks:
            await task
    finally:
        here.pods.listeners.remove(on_pod)
