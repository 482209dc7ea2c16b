"""A cluster with Paddock in it, installed as `manifests/` ships it: role, configuration, queues."""

import asyncio
import copy
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import yaml

from e2e.cluster.client import Cluster, Object
from e2e.cluster.garbage import GarbageCollector
from e2e.cluster.kubelet import StubKubelet
from e2e.cluster.observer import Observer
from e2e.cluster.sizing import amount
from e2e.cluster.watching import PodCache
from e2e.programs.binaries import ROOT, binary
from e2e.programs.control_plane import Scheduler
from e2e.programs.paddock import PaddockProcess, StandbyError
from e2e.programs.proxy import ApiProxy

MANIFESTS = ROOT / "manifests"
NAMESPACE = "paddock-system"
CONFIG_MAP = "yunikorn-configs"
QUEUE = "yunikorn.apache.org/queue"

LEASE = "kube-system/kube-scheduler"
"""The Lease of the overlay `kubeadm`, whose role may read it."""
SIDECAR: Mapping[str, Any] = {
    "config": "sidecar/scheduler-config-plain.yaml",
    "lease": "kube-system/paddock-scheduler",
    "user": "paddock",
    "scheduler_user": "paddock",
    "elect": True,
}
"""The overlay `sidecar` as arguments of `Stand`: kube-scheduler has the account of Paddock."""
FIRST, SECOND = socket.gethostname(), "another-host"
"""Hosts of the Paddock that leads and of the standby."""

INSTALLED = (
    *("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
)

T = TypeVar("T")
Tree = Mapping[str, Any]
"""Queues as a test writes them: name to ``{max: {…}, guaranteed: {…}, properties: {…}, …children}``.

``max`` and ``guaranteed`` hold quantities.
"""
AMOUNTS, OWN = ("max", "guaranteed"), ("max", "guaranteed", "properties")
"""Keys of a queue in a `Tree` that are its own, and no child's."""


def manifest(path: str) -> list[Object]:
    """The objects of a shipped file."""
    return [each for each in yaml.safe_load_all((MANIFESTS / path).read_text()) if each]


@cache
def rendered_text(overlay: str) -> str:
    """An overlay as ``kubectl apply -k`` would send it."""
    command = [str(binary("kubectl")), "kustomize", str(MANIFESTS / overlay)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def rendered(overlay: str) -> list[Object]:
    return [each for each in yaml.safe_load_all(rendered_text(overlay)) if each]


async def install(cluster: Cluster, overlay: str) -> None:
    """Create the objects of an overlay, except its workloads."""
    for thing in rendered(overlay):
        if thing["kind"] in INSTALLED:
            await cluster.apply(thing)


def scheduler_config(
    path: str, url: str, *, elect: bool = False, tls: Mapping[str, str] | None = None
) -> Object:
    """A shipped configuration with its extenders pointed at ``url``.

    ``elect``: keep its leader election; otherwise the one replica leads at once. ``tls``: keys of
    ``tlsConfig`` beside the file's own.
    """
    config: Object = copy.deepcopy(manifest(path)[0])
    config["clientConnection"].pop("kubeconfig", None)
    if not elect:
        config["leaderElection"] = {"leaderElect": False}
    for extender in config["extenders"]:
        extender["urlPrefix"] = url
        if tls:
            extender |= {"enableHTTPS": True, "tlsConfig": {**extender.get("tlsConfig", {}), **tls}}
    return config


def document(tree: Tree) -> str:
    """A queues.yaml for a tree."""

    def queue(name: str, spec: Tree) -> Object:
        children = [queue(each, below) for each, below in spec.items() if each not in OWN]
        found: Object = {"name": name}
        if amounts := {key: dict(spec[key]) for key in AMOUNTS if key in spec}:
            found["resources"] = amounts
        if "properties" in spec:
            found["properties"] = dict(spec["properties"])
        if children:
            found["queues"] = children
        return found

    root = {"name": "root", "submitacl": "*", "queues": [queue(name, spec) for name, spec in tree.items()]}
    return yaml.safe_dump({"partitions": [{"name": "default", "queues": [root]}]})


def limits(tree: Tree, path: str = "root") -> dict[str, dict[str, int]]:
    """The maxima of a tree in the observer's form."""
    found: dict[str, dict[str, int]] = {}
    for name, spec in tree.items():
        if name == "max":
            renamed = {"cpu" if key == "vcore" else key: str(value) for key, value in spec.items()}
            found[path] = {key: amount(key, value) for key, value in renamed.items()}
        elif name not in OWN:
            found |= limits(spec, f"{path}.{name}")
    return found


@dataclass(frozen=True)
class Tls:
    """Certificates for both ends, made by `certificates`. The server's has ``server_name``."""

    folder: Path
    server_name: str

    @property
    def arguments(self) -> tuple[str, ...]:
        return (
            f"--tls-cert={self.folder / 'server.crt'}",
            f"--tls-key={self.folder / 'server.key'}",
            f"--tls-client-ca={self.folder / 'ca.crt'}",
        )

    @property
    def of_scheduler(self) -> Mapping[str, str]:
        return {
            "caFile": str(self.folder / "ca.crt"),
            "certFile": str(self.folder / "client.crt"),
            "keyFile": str(self.folder / "client.key"),
            "serverName": self.server_name,
        }


def certificates(folder: Path, server_name: str) -> Tls:
    """Create an authority, a server of that name and a client with openssl."""
    folder.mkdir(exist_ok=True)

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    openssl(*new, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=ca")
    for name in ("server", "client"):
        openssl(
            *new,
            *("-CA", "ca.crt", "-CAkey", "ca.key", "-keyout", f"{name}.key", "-out", f"{name}.crt"),
            *("-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{server_name}"),
            *("-addext", "basicConstraints=critical,CA:FALSE"),
        )
    return Tls(folder, server_name)


class Stand:
    """Everything running, as an async context manager. Its end includes the observer's verdict."""

    def __init__(
        self,
        cluster: Cluster,
        tree: Tree,
        *,
        config: str = "kubeadm/scheduler-config-plain.yaml",
        lease: str = "",
        proxied: bool = False,
        user: str = "paddock-certificate",
        scheduler_user: str = "scheduler",
        elect: bool = False,
        tls: Tls | None = None,
        policies: tuple[str, ...] = (),
        scheduler_flags: tuple[str, ...] = (),
        arguments: Callable[[int], Sequence[str]] = lambda _: (),
    ) -> None:
        """``arguments``: further flags of each Paddock, by its number from 0 on."""
        self.cluster = cluster
        self._tree = tree
        self._arguments = arguments
        self._paddocks = 0
        self._config = config
        self._lease = lease
        self._proxied = proxied
        self._users = (user, scheduler_user)
        self._elect = elect
        self._tls = tls
        self._policies = policies
        self._scheduler_flags = scheduler_flags
        self._stack = AsyncExitStack()
        self.scheduler: Scheduler
        self.paddock: PaddockProcess
        self.pods: PodCache
        self.kubelet: StubKubelet
        self.observer: Observer
        self.proxy: ApiProxy

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def _start(self) -> None:
        cluster, enter = self.cluster, self._stack.enter_async_context
        await self._install()
        self.pods = await enter(PodCache(cluster))
        self.kubelet = await enter(StubKubelet(cluster))
        await enter(GarbageCollector(cluster))
        self.observer = await enter(Observer(cluster, queue_of=queue_of, limits=limits(self._tree)))
        self.proxy = await enter(ApiProxy(cluster.control_plane.url))
        self.paddock = await self.another_paddock()
        self.scheduler = await self._scheduler_of(self.paddock)

    async def another_paddock(self, *, host: str = "") -> PaddockProcess:
        """Another Paddock that is ready, until the end. ``host``: as in `PaddockProcess`."""
        control_plane = self.cluster.control_plane
        paddock = PaddockProcess(
            control_plane.kubeconfig(self._users[0], self.proxy.url if self._proxied else None),
            control_plane.folder,
            arguments=[
                f"--lease={self._lease}",
                *(self._tls.arguments if self._tls else ()),
                *self._arguments(self._paddocks),
            ],
            host=host,
        )
        self._paddocks += 1
        self._stack.push_async_callback(paddock.stop)
        await paddock.start()
        return paddock

    async def _scheduler_of(self, paddock: PaddockProcess) -> Scheduler:
        config = scheduler_config(
            self._config,
            paddock.url.replace("http:", "https:") if self._tls else paddock.url,
            elect=self._elect,
            tls=self._tls.of_scheduler if self._tls else None,
        )
        scheduler = await self.cluster.control_plane.scheduler(
            config, user=self._users[1], flags=self._scheduler_flags
        )
        self._stack.push_async_callback(scheduler.stop)
        return scheduler

    async def lead(self, host: str) -> None:
        """Let the kube-scheduler of that host hold the Lease from now on."""
        namespace, _, name = self._lease.partition("/")
        lease = {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"holderIdentity": f"{host}_e2e"},
        }
        await self.cluster.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", **lease})

    async def stand_by(self) -> PaddockProcess:
        """Let the running one lead, and start another one as a standby."""
        await self.lead(FIRST)
        second = await self.another_paddock(host=SECOND)

        async def leads() -> bool:
            return await self.paddock.metric("paddock_leading") == 1

        await eventually(leads, "the first one leads")
        assert await second.metric("paddock_leading") == 0
        return second

    async def fail_over(self, to: PaddockProcess) -> None:
        """Let a host die with its Paddock and its kube-scheduler, and start the other's kube-scheduler."""
        await self.paddock.kill()
        await self.scheduler.kill()
        self.proxy.clear()
        self.paddock = to
        await self.lead(SECOND)
        self.scheduler = await self._scheduler_of(to)

    async def _install(self) -> None:
        """Install the configuration's overlay without its workloads, then the queues."""
        await install(self.cluster, self._config.partition("/")[0])
        for path in self._policies:
            for thing in manifest(path):
                await self.cluster.apply(thing)
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(self._tree)})

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and isinstance(error, Exception):
            error.add_note(f"paddock:\n{self.paddock.tail()}" if hasattr(self, "paddock") else "not started")
        await self._stack.__aexit__(kind, error, trace)

    async def configure(self, tree: Tree) -> None:
        """Edit the ConfigMap; the observer takes the new maxima from now on."""
        self._tree = tree
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(tree)})
        self.observer.set_limits(limits(tree))

    async def audited(self) -> None:
        """Wait until Paddock's counts equal the observer's, and the audit finds no drift.

        Each has a watch of its own, and either may be behind.
        """
        for path in limits(self._tree):
            await eventually_equal(
                partial(self._difference, path), 0, f"{path} as the observer sees it", timeout=30
            )
        assert await self.paddock.drifts() == []

    async def _difference(self, path: str) -> float:
        allocated = await self._allocated(path)
        return allocated - self.observer.rules.recount(path).get("cpu", 0)

    async def _allocated(self, path: str) -> float:
        return await self.paddock.metric("paddock_queue_allocated", queue=path, resource="vcore")


def queue_of(pod: Object) -> str | None:
    """The queue that a test gave a pod, if it is of Paddock's profiles."""
    label = pod["metadata"].get("labels", {}).get(QUEUE)
    return str(label) if label else None


async def _answer_of(ask: Callable[[], Awaitable[T]]) -> T | None:
    """The answer; None while an instance that was asked does not lead yet."""
    try:
        return await ask()
    except StandbyError:
        return None


async def eventually(ask: Callable[[], Awaitable[T]], what: str, *, timeout: float = 15.0) -> T:
    """Ask until the answer is true, for what no watch shows."""
    until = time.monotonic() + timeout
    while not (found := await _answer_of(ask)):
        assert time.monotonic() < until, f"after {timeout} s still not: {what}"
        await asyncio.sleep(0.05)
    return found


async def eventually_equal(
    ask: Callable[[], Awaitable[object]], wanted: object, what: str, *, timeout: float = 15.0
) -> None:
    """Ask until the answer is as wanted, for reports that depend on Paddock's own watch."""
    until = time.monotonic() + timeout
    while (found := await _answer_of(ask)) != wanted:
        assert time.monotonic() < until, f"after {timeout} s still {found!r}, not {wanted!r}: {what}"
        await asyncio.sleep(0.05)
