"""A whole server over a fake API server, for looking at its page: queues, applications, hostile names."""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from extender.kube.connection.client import connect
from tests.extender.app_bench import NODES, PODS, Server
from tests.extender.fake_api import FakeApi
from tests.extender.rigs import filter_body, pod_body

HOSTILE = "<img src=x onerror=document.title='owned'>"
"""An application's id that would be markup if it could."""

Queues = Iterable[tuple[str, dict[str, Any]]]


def tree_of(units: int, teams: int) -> list[dict[str, Any]]:
    """``units`` queues with so many below each. Of each unit's first the max is small."""
    return [
        {
            "name": f"unit{unit}",
            "queues": [
                {
                    "name": f"team{team}",
                    "resources": {"guaranteed": {"vcore": 1}, "max": {"vcore": 8 if team else 1}},
                }
                for team in range(teams)
            ],
        }
        for unit in range(units)
    ]


def document(queues: list[dict[str, Any]]) -> str:
    root = {"name": "root", "submitacl": "*", "queues": queues}
    return json.dumps({"partitions": [{"name": "default", "queues": [root]}]})


class PageWorld:
    """``server``: the server whose page is looked at; ``base``: address of its page."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.base = f"http://127.0.0.1:{server.admin}/"

    def pod(self, name: str, *, queue: str, app: str, node: str = "", created: str = "") -> None:
        body = pod_body(name, queue=queue, app=app)
        if created:
            body["metadata"]["creationTimestamp"] = created
        self.server.api.apply(PODS, {**body, "spec": {**body["spec"], "nodeName": node}})

    async def try_pod(self, name: str, *, queue: str, app: str) -> None:
        """kube-scheduler asks about a pod."""
        body = filter_body(name, queue=queue, app=app, version="9999999")
        await self.server.post("filter", body)

    def fill(self, applications: int, *, units: int, teams: int, nodes: int = 20) -> None:
        """Applications of one pod each; of each three one waits."""
        names = [f"n{number}" for number in range(nodes)]
        allocatable = {"cpu": "640", "memory": "256Gi", "pods": "2000"}
        for name in names:
            self.server.api.apply(NODES, {"metadata": {"name": name}, "status": {"allocatable": allocatable}})
        for at in range(applications):
            self.pod(
                f"p{at:05}",
                queue=f"root.unit{at % units}.team{at // units % teams}",
                app=f"app-{at:05}",
                node=names[at % nodes] if at % 3 else "",
                created="2026-01-02T00:00:00Z",
            )


@asynccontextmanager
async def page_world(folder: Path) -> AsyncIterator[PageWorld]:
    """A world whose server is not started yet."""
    api = await FakeApi().start()
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(json.dumps(api.kubeconfig()))
    async with await connect(kubeconfig=str(kubeconfig)) as client, ClientSession() as session:
        server = Server(api, client, session)
        try:
            yield PageWorld(server)
        finally:
            await server.stop()
    await api.stop()
