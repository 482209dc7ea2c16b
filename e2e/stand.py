"""A cluster with Paddock in it, wired as `manifests/` ships it: role, configuration, queues."""

import copy
from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

import yaml

from e2e.binaries import ROOT
from e2e.cluster import Cluster, Object, PodCache
from e2e.control_plane import Scheduler
from e2e.kubelet import StubKubelet
from e2e.observer import Observer
from e2e.paddock import PaddockProcess
from e2e.proxy import ApiProxy

MANIFESTS = ROOT / "manifests"
NAMESPACE = "paddock-system"
CONFIG_MAP = "yunikorn-configs"
QUEUE = "yunikorn.apache.org/queue"

Tree = Mapping[str, Any]
"""Queues as a test writes them: name to ``{max: {…}, …children}``; ``max`` holds quantities."""


def manifest(path: str) -> list[Object]:
    """The objects of a shipped file."""
    return [each for each in yaml.safe_load_all((MANIFESTS / path).read_text()) if each]


def scheduler_config(path: str, url: str) -> Object:
    """A shipped configuration, its extenders pointed at ``url``, no election: the test runs one replica."""
    config: Object = copy.deepcopy(manifest(path)[0])
    config["leaderElection"] = {"leaderElect": False}
    config.pop("clientConnection", None)
    config["clientConnection"] = {"qps": 500, "burst": 1000}
    for extender in config["extenders"]:
        extender["urlPrefix"] = url
        for key in ("enableHTTPS", "tlsConfig"):
            extender.pop(key, None)
    return config


def document(tree: Tree) -> str:
    """A queues.yaml for a tree."""

    def queue(name: str, spec: Tree) -> Object:
        children = [queue(each, below) for each, below in spec.items() if each != "max"]
        found: Object = {"name": name}
        if "max" in spec:
            found["resources"] = {"max": dict(spec["max"])}
        if children:
            found["queues"] = children
        return found

    root = {"name": "root", "submitacl": "*", "queues": [queue(name, spec) for name, spec in tree.items()]}
    return yaml.safe_dump({"partitions": [{"name": "default", "queues": [root]}]})


def limits(tree: Tree, path: str = "root") -> dict[str, dict[str, int]]:
    """The maxima of a tree as the observer wants them."""
    from e2e.sizing import amount

    found: dict[str, dict[str, int]] = {}
    for name, spec in tree.items():
        if name == "max":
            renamed = {"cpu" if key == "vcore" else key: str(value) for key, value in spec.items()}
            found[path] = {key: amount(key, value) for key, value in renamed.items()}
        else:
            found |= limits(spec, f"{path}.{name}")
    return found


class Stand:
    """Everything running. Use as ``async with``; the observer's verdict is part of its end."""

    def __init__(
        self,
        cluster: Cluster,
        tree: Tree,
        *,
        config: str = "kubeadm/scheduler-config-plain.yaml",
        lease: str = "",
        proxied: bool = False,
        user: str = "paddock",
    ) -> None:
        self.cluster = cluster
        self._tree = tree
        self._config = config
        self._lease = lease
        self._proxied = proxied
        self._user = user
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
        self.observer = await enter(Observer(cluster, queue_of=queue_of, limits=limits(self._tree)))
        self.proxy = await enter(ApiProxy(cluster.control_plane.url))
        server = self.proxy.url if self._proxied else None
        self.paddock = PaddockProcess(
            cluster.control_plane.kubeconfig(self._user, server),
            cluster.control_plane.folder,
            arguments=[f"--lease={self._lease}"],
        )
        self._stack.push_async_callback(self.paddock.stop)
        await self.paddock.start()
        self.scheduler = await cluster.control_plane.scheduler(
            scheduler_config(self._config, self.paddock.url)
        )
        self._stack.push_async_callback(self.scheduler.stop)

    async def _install(self) -> None:
        for path in (
            "base/namespace.yaml",
            "base/service-account.yaml",
            "base/rbac.yaml",
            "kubeadm/rbac.yaml",
        ):
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
        """Nothing lost: what Paddock counts is what the observer counts, and the audit found no drift."""
        assert await self.paddock.metric("paddock_audit_drift") == 0
        for path in limits(self._tree):
            seen = self.observer.rules.recount(path).get("cpu", 0)
            assert await self._allocated(path) == seen, f"{path}: the observer sees {seen}"

    async def _allocated(self, path: str) -> float:
        return await self.paddock.metric("paddock_queue_allocated", queue=path, resource="vcore")


def queue_of(pod: Object) -> str | None:
    """The queue a test gave a pod, if it is of Paddock's profiles."""
    label = pod["metadata"].get("labels", {}).get(QUEUE)
    return str(label) if label else None
