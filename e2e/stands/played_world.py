"""A whole server over a fake API server, with pods and calls of kube-scheduler that are played."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession

from extender.kube.connection.client import connect
from tests.extender.app_bench import PODS, Server
from tests.extender.fake_api import FakeApi
from tests.extender.rigs import filter_body, pod_body


class PlayedWorld:
    """``server``: the server, and the API server that it watches."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def pod(self, name: str, *, queue: str, app: str, node: str = "", created: str = "") -> None:
        body = pod_body(name, queue=queue, app=app)
        if created:
            body["metadata"]["creationTimestamp"] = created
        self.server.api.apply(PODS, {**body, "spec": {**body["spec"], "nodeName": node}})

    async def try_pod(self, name: str, *, queue: str, app: str) -> None:
        """kube-scheduler asks about a pod."""
        body = filter_body(name, queue=queue, app=app, version="9999999")
        await self.server.post("filter", body)


@asynccontextmanager
async def played_world(folder: Path) -> AsyncIterator[PlayedWorld]:
    """A world whose server is not started yet."""
    api = await FakeApi().start()
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(json.dumps(api.kubeconfig()))
    async with await connect(kubeconfig=str(kubeconfig)) as client, ClientSession() as session:
        server = Server(api, client, session)
        try:
            yield PlayedWorld(server)
        finally:
            await server.stop()
    await api.stop()
