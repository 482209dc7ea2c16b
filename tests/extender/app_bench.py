"""The whole server with a fake API server, for tests of its life and of its command line."""

import asyncio
import atexit
import gc
import io
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import structlog
from aiohttp import ClientConnectorError, ClientSession

from extender.app import App, Options
from extender.http.server import Address
from extender.kube.connection.client import ApiClient, connect
from extender.telemetry.logs import configure_logs
from tests.extender.fake_api import FakeApi
from tests.extender.rigs import pod_body

NAMESPACES = "/api/v1/namespaces"
NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/paddock-system/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


def document(vcore: int = 2) -> str:
    queues = "".join(
        f"\n          - {{name: {name}, resources: {{max: {{vcore: {vcore}}}}}}}" for name in "ab"
    )
    root = "      - name: root\n        submitacl: '*'\n        queues:"
    return f"partitions:\n  - name: default\n    queues:\n{root}{queues}\n"


PORTS_RESERVED = 64
"""Ports that a process of tests reserves. A test needs a few."""

_reserved: deque[socket.socket] = deque()


def unused_port() -> int:
    """A port that the kernel gives to no other process meanwhile, for one server that is to listen on it.

    A socket that is bound and does not listen reserves the port. A server with SO_REUSEADDR may listen there.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    _reserved.append(reserved)
    if len(_reserved) > PORTS_RESERVED:
        _reserved.popleft().close()
    return int(reserved.getsockname()[1])


@atexit.register
def _release() -> None:
    while _reserved:
        _reserved.pop().close()


class Server:
    """An app with a fake API server that has a node and the documents. ``log``: its log lines."""

    def __init__(self, api: FakeApi, client: ApiClient, session: ClientSession) -> None:
        self.api = api
        self.client = client
        self.session = session
        self.stream = io.StringIO()
        self.verbs, self.admin = unused_port(), unused_port()
        self.task: asyncio.Task[None] | None = None
        self.app: App | None = None
        api.apply(NAMESPACES, {"metadata": {"name": "default"}})
        api.apply(
            NODES, {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "64", "pods": "110"}}}
        )

    def configure(self, queues: str, **settings: str) -> None:
        data = {"queues.yaml": queues, **{key.replace("__", "."): each for key, each in settings.items()}}
        self.api.apply(CONFIG_MAPS, {"metadata": {"name": "yunikorn-configs"}, "data": data})

    def pod(self, name: str, *, node: str = "", queue: str = "root.a", app: str = "app-1") -> None:
        body = pod_body(name, queue=queue, app=app)
        self.api.apply(PODS, {**body, "spec": {**body["spec"], "nodeName": node}})

    def start(self, **options: Any) -> None:
        log = configure_logs(self.stream)
        addresses = Address("127.0.0.1", self.verbs), Address("127.0.0.1", self.admin)
        self.app = App(Options(*addresses, namespace="paddock-system", **options), self.client, log)
        self.task = asyncio.create_task(self.app.run())

    async def started(self, **options: Any) -> None:
        """Start and become ready."""
        self.start(**options)
        assert self.app is not None
        async with asyncio.timeout(5):
            await self.app.synced.wait()

    async def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()
            with suppress(asyncio.CancelledError):
                await self.task

    async def get(self, path: str) -> tuple[int, str]:
        async with self.session.get(f"http://127.0.0.1:{self.admin}{path}") as response:
            return response.status, await response.text()

    async def post(self, verb: str, body: bytes) -> Any:
        async with self.session.post(f"http://127.0.0.1:{self.verbs}/v1/{verb}", data=body) as response:
            return json.loads(await response.read())

    def logged(self, event: str) -> list[dict[str, Any]]:
        lines = map(json.loads, self.stream.getvalue().splitlines())
        return [line for line in lines if line["event"] == event]

    async def until_shown(self, path: str, *texts: str) -> str:
        """Request a path of the admin port until the answer has all the texts."""
        shown = ""
        with suppress(TimeoutError):
            async with asyncio.timeout(30):
                while not all(text in shown for text in texts):
                    with suppress(ClientConnectorError):
                        _, shown = await self.get(path)
                    await asyncio.sleep(0.005)
        assert all(text in shown for text in texts), shown
        return shown


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Callable[[FakeApi], str]:
    def write(api: FakeApi) -> str:
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(api.kubeconfig()))
        return str(path)

    return write


@pytest.fixture
async def server(kubeconfig: Callable[[FakeApi], str]) -> AsyncIterator[Server]:
    api = await FakeApi().start()
    async with await connect(kubeconfig=kubeconfig(api)) as client, ClientSession() as session:
        made = Server(api, client, session)
        yield made
        await made.stop()
    await api.stop()


@pytest.fixture(autouse=True)
def undone() -> Iterator[None]:
    """Undo the changes that a start makes to the process."""
    yield
    gc.unfreeze()
    structlog.reset_defaults()
