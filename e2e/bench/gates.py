"""Pods bound per second if they come with gates that Paddock opens, against a loop that only opens gates.

All pods exist before the start: 1,500 in 50 queues, on 500 nodes. Then Paddock, or the loop, is started.
Within a pair kube-scheduler's configuration is the same. One pair is without an extender, where a gate is the
only guard. The other is with filter and preempt. Rounds alternate, and each side goes first equally often.
The ratios are medians.
"""

import os
import statistics
from typing import Protocol

from e2e.bench.worlds.arena import GATED, LEAVES, NODES, Arena, Finish, arena, extenders
from e2e.bench.worlds.echo import start_echo
from e2e.bench.worlds.opener import Opener
from e2e.bench.worlds.report import ratio, show
from e2e.cluster.client import Cluster, Object, message_of
from e2e.cluster.watching import PodCache
from extender.kube.effects.effector import RATE, WORKERS

ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "3"))
PODS = 1_500
TARGET = 0.95

_ALL = {"no extender": (), "filter and preempt": ("filter", "preempt")}
GUARDS = {guard: _ALL[guard] for guard in os.environ.get("PADDOCK_BENCH_GUARDS", ",".join(_ALL)).split(",")}
"""Guards to measure. Pairs differ by a quarter, and a long row of one kind takes half the time."""


class Opens(Protocol):
    """A process that opens gates. ``cpu_seconds``: CPU time that it has used."""

    async def start(self) -> None: ...

    async def stop(self) -> object: ...

    @property
    def cpu_seconds(self) -> float: ...


Rates = dict[str, list[float]]


async def run() -> None:
    """Print pods bound per second, the ratios, and the opener's CPU time, in microseconds per pod."""
    async with arena({f"q{at}": {"max": {"vcore": "1000"}} for at in range(LEAVES)}) as here:
        await here.paddock.stop()
        echo = start_echo(here.cluster.control_plane, here.stack)
        opener = Opener(here.cluster.control_plane, here.cluster.namespace)
        here.stack.push_async_callback(opener.stop)
        rates: Rates = {"no gates": [(await _bound(here, []))[0]]}
        cpu: Rates = {}
        both: list[tuple[str, Opens, str]] = [
            ("bare loop", opener, echo),
            ("paddock", here.paddock, here.url),
        ]
        for _ in range(ROUNDS):
            for guard, verbs in GUARDS.items():
                for name, opens, url in both:
                    rate, used = await _bound(here, extenders(url, verbs) if verbs else [], opens=opens)
                    await opens.stop()
                    rates.setdefault(f"{name}, {guard}", []).append(rate)
                    cpu.setdefault(f"{name}, {guard}", []).append(used / PODS * 1e6)
            # etcd grows with every pod, so each side goes first equally often.
            both.reverse()
    _show(rates, cpu)


async def _bound(here: Arena, called: list[Object], *, opens: Opens | None = None) -> tuple[float, float]:
    """Pods bound per second from the first to the last, and CPU seconds of ``opens`` from its start on.

    ``opens`` is started when all else is ready. Without it the pods have no gates.
    """
    cluster, spec = here.cluster, GATED if opens is not None else {}
    async with PodCache(cluster, cluster.namespace) as pods:
        finish = Finish(pods)
        queues = (f"root.q{at % LEAVES}" for at in range(PODS))
        manifests = (
            cluster.pod(f"p{at}", cpu="100m", queue=queue, spec=spec) for at, queue in enumerate(queues)
        )
        await cluster.create_pods(manifests, most=64)
        scheduler = await here.scheduler(called)
        before = 0.0
        if opens is not None:
            await _until_at_work(cluster, pods)
            await opens.start()
            before = opens.cpu_seconds
        await finish.until(PODS)
        used = opens.cpu_seconds - before if opens is not None else 0.0
        await scheduler.stop()
        await here.delete_pods(pods)
    return finish.rate, used


async def _until_at_work(cluster: Cluster, pods: PodCache) -> None:
    """Wait until kube-scheduler tries pods. A gate opened earlier would give its opener a head start."""
    created = await cluster.create_pod("nowhere", spec={"nodeSelector": {"nowhere": "ever"}})
    uid = created["metadata"]["uid"]
    await pods.until(lambda: uid in pods.pods and message_of(pods.pods[uid]), "one was tried", timeout=60)
    await cluster.delete_pod("nowhere")
    await pods.until(lambda: uid not in pods.pods, "it is gone")


def _show(rates: Rates, cpu: Rates) -> None:
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
            for guard in GUARDS
        },
        cpu_us_per_pod={name: round(statistics.median(each)) for name, each in cpu.items()},
    )
