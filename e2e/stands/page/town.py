"""A cluster in which each view of the page has something to show, on the real control plane.

A full quota, an incomplete gang, an eviction, a reserved node, and a queue below its guarantee.
Two applications are rejected. Some names would be markup if they could.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

from e2e.cluster.client import Cluster, Object
from e2e.programs.control_plane import ControlPlane
from e2e.programs.processes import free_port
from e2e.stands.course import RESERVED, Place, Queues
from e2e.stands.front_door import serving
from e2e.stands.gangs import Job
from e2e.stands.stand import Stand, eventually
from e2e.stands.tenants import APP, USER_INFO

HOSTILE = "<img src=x onerror=document.title='owned'>"
"""An application's id, a user and a group."""
ODD = "constructor"
"""A pod's name, and a label, that every object of JavaScript has a member of."""
SETTINGS = {"paddock.markFailed": "false"}
GRACE = 2
"""Seconds for which an evicted pod stays, so that others see it leave."""
RANK = "above-others"
USER, TEAM = "ann", "research"
GANG = Job("gang", 3, queue="root.jobs", cpu="100m", timeout=900)

_SOON = {"preemption.delay": "1s"}


def _queue(*, cap: str = "", guaranteed: str = "", **more: Any) -> Object:
    amounts = {"max": cap, "guaranteed": guaranteed}
    resources = {name: {"vcore": amount} for name, amount in amounts.items() if amount}
    return {"resources": resources, **more} if resources else dict(more)


FULL = "root.unit.full"
QUEUES: Queues = {
    "root.unit": _queue(limits=[{"limit": "ann's", "users": [USER], "maxresources": {"vcore": "4"}}]),
    FULL: _queue(cap="1"),
    "root.contest": _queue(cap="400m"),
    "root.contest.poor": _queue(guaranteed="200m", properties=_SOON),
    "root.contest.rich": _queue(properties=_SOON),
    "root.starved": _queue(guaranteed="8", properties=_SOON),
    "root.jobs": _queue(cap="300m"),
    "root.large": {},
}


class Town:
    """The place, and the addresses of its page.

    ``base``: on loopback; ``rest``: on the port that asks for a token.
    """

    def __init__(self, place: Place, rest_port: int) -> None:
        self.place, self.cluster, self.stand = place, place.cluster, place.stand
        self.base = f"http://127.0.0.1:{place.stand.paddock.admin_port}/"
        self.rest = f"https://localhost:{rest_port}/"

    @property
    def namespace(self) -> str:
        return self.cluster.namespace

    def pod_view(self, name: str) -> str:
        """Address of the view of a pod."""
        return f"#/why/{self.namespace}/{name}"

    def app_view(self, app: str) -> str:
        """Address of the view of an application."""
        return f"#/application/{self.namespace}/{quote(app, safe='')}"

    async def answer(self, path: str) -> Any:
        """The value, or the text, of a path that answers."""
        status, text = await self.stand.paddock.get(path)
        assert status == 200, f"{path}: {status} {text}"
        try:
            return json.loads(text)
        except ValueError:
            return text

    async def until_refused(self, *names: str) -> None:
        await self.place.until_refused_by_scheduler(*names)

    # -- what there is to see ------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Let everything happen."""
        for at in range(1, 4):
            body = {"metadata": {"labels": {"e2e/node": f"n{at}"}}}
            await self.cluster.patch(f"/api/v1/nodes/n{at}", body)
        await self._fill_a_quota()
        await self._reserve_a_node()
        await self._evict()
        await self._begin_a_gang()
        await self.cluster.create_pod("starving", queue="root.starved", cpu="7")
        await self.cluster.create_pod("lost", queue="root.nowhere", app="lost")
        await self.until_refused("starving")

        async def rejected() -> bool:
            return bool(await self.answer("/ws/v1/partition/default/applications/rejected"))

        await eventually(rejected, "an application is rejected")

    async def _fill_a_quota(self) -> None:
        ann = {USER_INFO: json.dumps({"user": USER, "groups": [TEAM]})}
        await self.cluster.create_priority_class(RANK, 100, preempts=False)
        await self.cluster.create_pod("first", queue=FULL, app="first", annotations=ann)
        await self.place.until_bound("first")
        ranked = {"priorityClassName": RANK}
        await self.cluster.create_pod("waiting", queue=FULL, app="patient", annotations=ann, spec=ranked)
        odd = self.cluster.pod(ODD, queue=FULL, annotations={**ann, APP: HOSTILE}, labels={ODD: ODD})
        del odd["metadata"]["labels"][APP]
        await self.cluster.create(odd)
        info = {USER_INFO: json.dumps({"user": HOSTILE, "groups": [HOSTILE]})}
        await self.cluster.create_pod("evil", queue=FULL, app="evil", annotations=info)
        await self.until_refused("waiting", ODD, "evil")

    async def _reserve_a_node(self) -> None:
        """Three cores are free on each of three nodes, and the pod needs five."""
        for at in range(9):
            node = {"nodeSelector": {"e2e/node": f"n{at % 3 + 1}"}}
            await self.cluster.create_pod(f"hold-{at}", queue="root.hold", app="hold", spec=node)
        await self.place.until_bound(*(f"hold-{at}" for at in range(9)))
        await self.cluster.create_pod("large", queue="root.large", cpu="5")
        await self.until_refused("large")
        pods = self.place.pods
        await pods.until(lambda: pods.note("large", RESERVED), "a node is held for it")

    async def _evict(self) -> None:
        rich = [f"rich-{at}" for at in range(4)]
        for name in rich:
            await self.cluster.create_pod(
                name, queue="root.contest.rich", app="rich", cpu="100m", grace=GRACE
            )
        await self.place.until_bound(*rich)
        await self.cluster.create_pod("poor", queue="root.contest.poor", app="poor", cpu="100m")
        await self.place.until_bound("poor", timeout=45)

    async def _begin_a_gang(self) -> None:
        await self.cluster.create_pod("occupier", queue="root.jobs", app="occupier", cpu="100m")
        await self.place.until_bound("occupier")
        (first, *_) = GANG.manifests(self.cluster)
        await self.cluster.create(first)

        async def incomplete() -> bool:
            # Until the watch brings the pod, there is no such pod, and that is answered with 404.
            status, text = await self.stand.paddock.get(f"/debug/pods/{self.namespace}/{GANG.first}")
            found = json.loads(text) if status == 200 else {}
            progress: list[Mapping[str, int]] = found["gang"]["progress"] if found.get("gang") else []
            return [each["placeholdersBound"] for each in progress] == [2]

        await eventually(incomplete, "two of three placeholders have nodes", timeout=30)


@asynccontextmanager
async def page_town(control_plane: ControlPlane) -> AsyncIterator[Town]:
    """A town in which everything has happened. At its end the audit is clean."""
    async with Cluster(control_plane) as cluster:
        cluster.namespace = await cluster.create_namespace()
        rest_port = free_port()
        stand = Stand(
            cluster,
            {},
            config="sidecar/scheduler-config-plain.yaml",
            user="paddock",
            proxied=True,
            arguments=lambda _: serving("127.0.0.1", {"rest": rest_port}),
        )
        try:
            async with stand:
                await cluster.add_nodes(3, cpu="6", pods=1000)
                town = Town(Place(stand, QUEUES, SETTINGS), rest_port)
                await town.place.configure()
                await town.settle()
                yield town
                assert await stand.paddock.drifts() == []
        finally:
            await cluster.reset()
