"""Pods bound per second if they come in groups by their labels, against the same pods without groups.

100 groups of 20 on 500 nodes are created member by member and group by group. kube-scheduler calls filter,
preempt and bind. Rounds alternate, and ratios are medians. The cost of a member is printed, too: calls of
kube-scheduler, and writes to the API server besides its Binding.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Iterator

from e2e.bench.worlds.arena import NODES, Arena, Finish, arena, extenders
from e2e.bench.worlds.report import ratio, show
from e2e.cluster.client import Cluster, Object
from e2e.cluster.watching import PodCache

ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "3"))
GROUPS, MEMBERS, QUEUES = 100, 20, 50
PODS = GROUPS * MEMBERS
NAME, LEAST = "pod-group.scheduling.x-k8s.io/name", "pod-group.scheduling.x-k8s.io/min-available"
WRITES = ("WakePod", "OpenGate", "PostEvent", "SetCondition", "WriteRecord", "NominateNode")

Round = dict[str, float]


async def run() -> None:
    """Print pods bound per second with and without groups, their ratio, and the cost of a member."""
    async with arena({f"q{at}": {"max": {"vcore": "1000"}} for at in range(QUEUES)}) as here:
        rounds: dict[bool, list[Round]] = {False: [], True: []}
        for _ in range(ROUNDS):
            for grouped in (False, True):
                rounds[grouped].append(await _bound(here, grouped=grouped))
        seconds = await here.paddock.metric("paddock_pod_group_seconds_sum")
        completed = await here.paddock.metric("paddock_pod_group_seconds_count")
        failed = await here.paddock.metric("paddock_pod_group_failures_total")
    show(
        "groups by labels",
        unit="pods/s from the first bound to the last",
        rounds=ROUNDS,
        nodes=NODES,
        groups=GROUPS,
        members=MEMBERS,
        **_figures("without groups", rounds[False]),
        **_figures("in groups", rounds[True]),
        ratio=ratio([each["rate"] for each in rounds[True]], [each["rate"] for each in rounds[False]]),
        seconds_until_a_group_could_be_bound=round(seconds / max(1.0, completed), 3),
        attempts_that_failed=failed,
    )


def _figures(name: str, rounds: list[Round]) -> dict[str, Round]:
    return {name: {key: round(statistics.median(each[key] for each in rounds), 2) for key in rounds[0]}}


def _pods(cluster: Cluster, *, grouped: bool) -> Iterator[Object]:
    for group in range(GROUPS):
        labels = {NAME: f"g{group}", LEAST: str(MEMBERS)} if grouped else {}
        for member in range(MEMBERS):
            queue = f"root.q{group % QUEUES}"
            yield cluster.pod(
                f"g{group}-{member}", cpu="100m", queue=queue, app=f"app-{group}", labels=labels
            )


async def _bound(here: Arena, *, grouped: bool) -> Round:
    """Run one round. Calls and writes are per pod."""
    cluster = here.cluster
    called = [*extenders(here.url, ("filter", "preempt")), *extenders(here.url, ("bind",))]
    called[1]["httpTimeout"] = "120s"
    scheduler = await here.scheduler(called)
    before = await _counted(here)
    async with PodCache(cluster, cluster.namespace) as pods:
        finish = Finish(pods)
        began = time.perf_counter()
        creating = asyncio.create_task(cluster.create_pods(_pods(cluster, grouped=grouped), most=64))
        await finish.until(PODS)
        await creating
        seconds = max(finish.bound.values()) - began
        after = await _counted(here)
        await scheduler.stop()
        await here.delete_pods(pods)
    costs = {name: (after[name] - before[name]) / PODS for name in before}
    return {"rate": finish.rate, "seconds from the first creation": seconds, **costs}


async def _counted(here: Arena) -> Round:
    metric = here.paddock.metric
    writes = [await metric("paddock_effects_total", effect=effect, outcome="done") for effect in WRITES]
    return {
        "filter calls": await metric("paddock_verb_seconds_count", verb="filter"),
        "bind calls": await metric("paddock_verb_seconds_count", verb="bind"),
        "writes besides Bindings": sum(writes),
    }
