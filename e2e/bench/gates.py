"""Pods bound per second when they come with gates and Paddock opens them, against a loop that merely opens.

All pods are there before anything begins: 1,500 in 50 queues, on 500 nodes. Then Paddock is started, or the
loop is told to begin. kube-scheduler's configuration is the same in a pair: without an extender, where a gate
is the only guard, and with filter and preempt. Rounds in alternation, median ratios.
"""

import os
import statistics
from collections.abc import Awaitable, Callable

from e2e.bench.arena import GATED, LEAVES, NODES, Arena, Finish, arena, extenders
from e2e.bench.echo import start_echo
from e2e.bench.opener import Opener
from e2e.bench.report import ratio, show
from e2e.cluster import Object, PodCache
from extender.kube.effector import RATE, WORKERS

ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "3"))
PODS = 1_500
TARGET = 0.95
VERBS = ("filter", "preempt")

Release = Callable[[], Awaitable[None]]


async def run() -> None:
    """Print pods bound per second, and the ratios."""
    async with arena({f"q{at}": {"max": {"vcore": "1000"}} for at in range(LEAVES)}) as here:
        await here.paddock.stop()
        control_plane = here.cluster.control_plane
        echo = start_echo(control_plane, here.stack)
        opener = Opener(control_plane, here.stack, here.cluster.namespace)
        rates = {"no gates": [await _bound(here, [])]}
        for _ in range(ROUNDS):
            for guard, of_loop, of_paddock in (
                ("no extender", [], []),
                ("filter and preempt", extenders(echo, VERBS), extenders(here.url, VERBS)),
            ):
                rate = await _bound(here, of_loop, release=opener.go)
                await opener.halt()
                rates.setdefault(f"bare loop, {guard}", []).append(rate)
                rate = await _bound(here, of_paddock, release=here.paddock.start)
                await here.paddock.stop()
                rates.setdefault(f"paddock, {guard}", []).append(rate)
    show(
        "gates",
        unit="pods/s",
        target=TARGET,
        rounds=ROUNDS,
        nodes=NODES,
        pods=PODS,
        gates_a_second_at_most=RATE,
        gates_at_once_at_most=WORKERS,
        **{name: round(statistics.median(each), 1) for name, each in rates.items()},
        ratios={
            f"paddock/bare loop, {guard}": ratio(rates[f"paddock, {guard}"], rates[f"bare loop, {guard}"])
            for guard in ("no extender", "filter and preempt")
        },
    )


async def _bound(here: Arena, called: list[Object], *, release: Release | None = None) -> float:
    """Pods bound per second from the first to the last. ``release``: lets those with gates go."""
    cluster = here.cluster
    spec = GATED if release is not None else {}
    async with PodCache(cluster, cluster.namespace) as pods:
        finish = Finish(pods)
        await cluster.create_pods(
            (
                cluster.pod(f"p{at}", cpu="100m", queue=f"root.q{at % LEAVES}", spec=spec)
                for at in range(PODS)
            ),
            most=64,
        )
        scheduler = await here.scheduler(called)
        if release is not None:
            await release()
        await finish.until(PODS)
        await scheduler.stop()
        await here.delete_pods(pods)
    return finish.rate
