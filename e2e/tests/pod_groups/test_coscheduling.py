"""Pods that start together by their labels, on a real kube-scheduler: all run, or none holds capacity."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from e2e.cluster.client import Cluster, Object, is_terminal, message_of, node_of
from e2e.stands.stand import Stand, eventually, eventually_equal
from e2e.stands.timing import took

NAME, LEAST = "pod-group.scheduling.x-k8s.io/name", "pod-group.scheduling.x-k8s.io/min-available"
TREE = {"a": {}}
PORT = {
    "containers": [
        {
            "name": "c",
            "image": "pause",
            "ports": [{"containerPort": 80, "hostPort": 80}],
            "resources": {"requests": {"cpu": "1"}},
        }
    ]
}
"""A port that each of them takes on its node. The ledger knows nothing of it, so the bind wait decides."""

WAIT = 13.0
"""Seconds that members of a group of three wait for each other (COS-5)."""


def members(cluster: Cluster, name: str, count: int, *, of: int | None = None, **pod: Any) -> list[Object]:
    labels = {NAME: name, LEAST: str(of or count)}
    return [
        cluster.pod(f"{name}-{at}", queue="root.a", app=name, labels=labels, **pod) for at in range(count)
    ]


def group_of(pod: Object) -> str:
    return str(pod["metadata"]["labels"].get(NAME, ""))


class Groups:
    """Members of each group with a node, and the time of the last Binding, as the watch shows them."""

    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self.bound: dict[str, set[str]] = {}
        self.moments: list[float] = [time.monotonic()]
        stand.pods.listeners.append(self._on_pod)

    def _on_pod(self, kind: str, pod: Object) -> None:
        known = self.bound.setdefault(group_of(pod), set())
        name = pod["metadata"]["name"]
        if node_of(pod) and name not in known:
            known.add(name)
            self.moments.append(time.monotonic())

    def sizes(self) -> Counter[str]:
        return Counter({name: len(pods) for name, pods in self.bound.items() if pods})

    @property
    def longest_stall(self) -> float:
        """The longest time in seconds in which no pod was given a node."""
        return max((after - at for at, after in zip(self.moments, self.moments[1:], strict=False)), default=0)

    async def until(self, sizes: dict[str, int], *, timeout: float = 20.0) -> None:
        await self.stand.pods.until(lambda: self.sizes() == sizes, f"bound are {sizes}", timeout=timeout)


async def until_waiting(stand: Stand, count: int) -> None:
    """Wait until that many pods wait in their bind calls."""

    async def ask() -> bool:
        return await stand.paddock.metric("paddock_binds_waiting") == count

    await eventually(ask, f"{count} wait in bind")


def refused_with(stand: Stand, code: str) -> Callable[[], bool]:
    return lambda: 0 < len(stand.pods.waiting()) == len(stand.pods.refused(code))


async def events_of(cluster: Cluster, reason: str) -> list[Object]:
    path = f"/api/v1/namespaces/{cluster.namespace}/events"
    found = await cluster.request("GET", path, params={"fieldSelector": f"reason={reason}"})
    items: list[Object] = found["items"]
    return items


async def settled(stand: Stand) -> None:
    """Wait until no pod waits in bind, nothing is reserved, and the counters equal the observer's."""

    async def quiet() -> bool:
        waiting = await stand.paddock.metric("paddock_binds_waiting")
        return waiting == 0 and await stand.paddock.metric("paddock_reservations") == 0

    await eventually(quiet, "nothing is under way")
    await stand.audited()
    assert stand.kubelet.refused == []


@pytest.mark.timed
@pytest.mark.parametrize("policies", [(), ("gates/gate-managed-pods.yaml",)], ids=["refused", "gated"])
async def test_eight_start_when_the_last_one_is_there(cluster: Cluster, policies: tuple[str, ...]) -> None:
    async with Stand(cluster, TREE, policies=policies) as stand:
        if policies:
            labels = {"metadata": {"labels": {"paddock.dev/gate": "true"}}}
            await cluster.patch(f"/api/v1/namespaces/{cluster.namespace}", labels)
        groups = Groups(stand)
        await cluster.add_nodes(2, cpu="4")
        *early, last = members(cluster, "g", 8)
        await cluster.create_pods(early)
        await stand.pods.until(lambda: len(stand.pods.waiting()) == 7, "seven are there")
        if not policies:
            await stand.pods.until(refused_with(stand, "GangIncomplete"), "they are told that one is missing")
        await cluster.create(last)
        created = time.monotonic()
        await groups.until({"g": 8})
        took("eight bound after the last one was created", time.monotonic() - created, at_most=5)
        await settled(stand)


@pytest.mark.timed
async def test_twenty_groups_with_capacity_for_three(cluster: Cluster) -> None:
    """Their members are created in turn, one of each group after another."""
    async with Stand(cluster, TREE) as stand:
        groups = Groups(stand)
        await cluster.add_nodes(6, cpu="4")
        every = [members(cluster, f"g{at}", 8, run_for=0.5) for at in range(20)]
        started = time.monotonic()
        await cluster.create_pods(_in_turn(every))
        await stand.pods.until(
            lambda: sum(map(is_terminal, stand.pods.pods.values())) == 160, "all have finished", timeout=120
        )
        print(f"twenty groups of eight with room for three: {time.monotonic() - started:.1f} s")
        took("their longest stall", groups.longest_stall, at_most=18)
        assert groups.sizes() == {f"g{at}": 8 for at in range(20)}
        await settled(stand)


def _in_turn(groups: list[list[Object]]) -> Iterable[Object]:
    return (pod for row in zip(*groups, strict=True) for pod in row)


async def test_two_groups_that_would_starve_each_other(cluster: Cluster) -> None:
    """Four nodes with a port each, and two groups of three. Only kube-scheduler sees that ports are short."""
    async with Stand(cluster, TREE) as stand:
        groups = Groups(stand)
        await cluster.add_nodes(4)
        both = [members(cluster, name, 3, run_for=1, spec=PORT) for name in ("g", "h")]
        await cluster.create_pods(_in_turn(both), most=1)
        await stand.pods.until(
            lambda: sum(map(is_terminal, stand.pods.pods.values())) == 6, "all have finished", timeout=60
        )
        print(f"two groups that would starve each other: longest stall {groups.longest_stall:.1f} s")
        await settled(stand)


@asynccontextmanager
async def _two_waiting(cluster: Cluster) -> AsyncIterator[tuple[Stand, Groups]]:
    """Have two of three in their bind calls, and the third without a node."""
    async with Stand(cluster, TREE) as stand:
        groups = Groups(stand)
        await cluster.add_nodes(2)
        await cluster.create_pods(members(cluster, "g", 3, spec=PORT), most=1)
        await until_waiting(stand, 2)
        assert groups.sizes() == {}
        yield stand, groups
        await settled(stand)


async def _until_the_last_one_came(groups: Groups) -> None:
    """Give the third pod a node, and wait until all three are bound."""
    await groups.stand.cluster.add_nodes(1, prefix="late")
    await groups.until({"g": 3})


@pytest.mark.smoke("bind")
async def test_the_last_one_ends_the_wait(cluster: Cluster) -> None:
    async with _two_waiting(cluster) as (_, groups):
        await _until_the_last_one_came(groups)


async def test_paddock_killed_during_the_wait(cluster: Cluster) -> None:
    async with _two_waiting(cluster) as (stand, groups):
        await stand.paddock.restart()
        await until_waiting(stand, 2)
        assert groups.sizes() == {}
        await _until_the_last_one_came(groups)


async def test_kube_scheduler_killed_during_the_wait(cluster: Cluster) -> None:
    """The scheduler's connections break with it, so nothing is bound for one that has forgotten the pods."""
    async with _two_waiting(cluster) as (stand, groups):
        await stand.scheduler.kill()
        await until_waiting(stand, 0)
        assert groups.sizes() == {}
        await stand.scheduler.start()
        await until_waiting(stand, 2)
        await _until_the_last_one_came(groups)


async def test_a_member_deleted_while_it_waits(cluster: Cluster) -> None:
    async with _two_waiting(cluster) as (stand, groups):
        await stand.pods.until(lambda: len(stand.pods.refused("free ports")) == 1, "the third has no port")
        held = [pod for pod in stand.pods.waiting() if "free ports" not in message_of(pod)]
        await cluster.delete_pod(held[0]["metadata"]["name"])
        await until_waiting(stand, 0)
        await stand.pods.until(refused_with(stand, "GangIncomplete"), "the others are told")
        await cluster.add_nodes(1, prefix="late")
        await cluster.create({**members(cluster, "g", 4, of=3, spec=PORT)[3]})
        await groups.until({"g": 3})


@pytest.mark.timed
async def test_a_wait_in_vain_and_the_rest_after_it(cluster: Cluster) -> None:
    async with _two_waiting(cluster) as (stand, groups):
        began = time.monotonic()
        await until_timed_out(stand, 1)
        # Reports of the wait's begin may be late, so it is measured from before the pods were created.
        assert time.monotonic() - groups.moments[0] > WAIT
        took("the wait in vain", time.monotonic() - began, at_most=14.5)
        await cluster.add_nodes(1, prefix="late")
        added = time.monotonic()
        await groups.until({"g": 3})
        took("bound after the node that was missing came", time.monotonic() - added, at_most=10)

        async def reported() -> int:
            return len(await events_of(cluster, "PodGroupTimeout"))

        await eventually_equal(reported, 1, "an Event says so")


async def until_timed_out(stand: Stand, count: int) -> None:
    async def ask() -> bool:
        return await stand.paddock.metric("paddock_pod_group_failures_total", why="timeout") == count

    await eventually(ask, f"{count} waits were in vain", timeout=20)


@asynccontextmanager
async def _killed_between(cluster: Cluster, *, nodes: int, cpu: str) -> AsyncIterator[tuple[Stand, Groups]]:
    """Have one of three bound, and Paddock killed before it heard of that or of the other two."""
    async with Stand(cluster, TREE, proxied=True) as stand:
        groups = Groups(stand)
        await cluster.add_nodes(nodes, cpu=cpu)
        done = stand.proxy.hold_next("POST", "/g-0/binding$", "")
        stand.proxy.drop_next("POST", "/g-[12]/binding$", n=2)
        await cluster.create_pods(members(cluster, "g", 3))
        await asyncio.wait_for(done.wait(), 20)
        await stand.paddock.kill()
        stand.proxy.clear()
        await groups.until({"g": 1})
        yield stand, groups
        await settled(stand)


async def test_paddock_killed_between_two_bindings(cluster: Cluster) -> None:
    """The others follow, before pods of other groups."""
    async with _killed_between(cluster, nodes=1, cpu="3") as (stand, groups):
        assert groups.sizes() == {"g": 1}
        await cluster.create_pods(cluster.pod(f"x{at}", queue="root.a", app="x") for at in range(2))
        await stand.paddock.start()
        await groups.until({"g": 3})
        assert not any(pod["metadata"]["name"].startswith("x") for pod in stand.pods.bound())


async def test_a_group_that_stays_on_nodes_in_part_is_reported(cluster: Cluster) -> None:
    """No node takes the others after the crash. The bound one stays, and an Event reports it."""
    async with _killed_between(cluster, nodes=3, cpu="1") as (stand, groups):
        for pod in stand.pods.waiting():
            await cluster.delete_pod(pod["metadata"]["name"])
        await cluster.create(members(cluster, "g", 2, of=3, cpu="2")[1])
        await stand.paddock.start()

        async def is_reported() -> bool:
            return bool(await events_of(cluster, "GangDegraded"))

        await eventually(is_reported, "the Event is there", timeout=25)
        (event,) = await events_of(cluster, "GangDegraded")
        assert (event["type"], event["involvedObject"]["name"]) == ("Warning", "g-0")
        assert groups.sizes() == {"g": 1}
        assert await stand.paddock.metric("paddock_pod_groups", standing="degraded") == 1
