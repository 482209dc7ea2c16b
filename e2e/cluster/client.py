"""Actions of a test on a cluster, and what it reads in an object."""

import asyncio
import copy
import itertools
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from e2e.cluster.kinds import KINDS
from e2e.cluster.reconnecting import DROPPED, persistent
from e2e.programs.control_plane import ControlPlane, unverified

RUN_LABEL = "e2e.paddock.dev/run"
RUN_FOR = "e2e.paddock.dev/run-for"
MERGE_PATCH = "application/merge-patch+json"
REPEATABLE = ("GET", "DELETE", "PATCH")
"""Methods of which a second request changes nothing that matters here."""

Object = dict[str, Any]

_RESET = (
    "Pod",
    "Node",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "PriorityClass",
    "ConfigMap",
)
_RESET_LAST = (
    "PodDisruptionBudget",
    "DaemonSet",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
)


class ApiFailure(RuntimeError):
    """A request that the API server refused."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


def path_of(kind: str, namespace: str = "", name: str = "") -> str:
    group, plural, namespaced = KINDS[kind]
    where = f"/namespaces/{namespace}" if namespaced and namespace else ""
    return f"{group}{where}/{plural}{'/' + name if name else ''}"


class Cluster:
    """The cluster's verbs as tests use them. Every object made carries the run's label."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.control_plane = control_plane
        self.run = uuid.uuid4().hex[:10]
        self.session = aiohttp.ClientSession(
            control_plane.url,
            connector=aiohttp.TCPConnector(ssl=unverified(), limit=64),
            headers={"Authorization": f"Bearer {control_plane.token('admin')}"},
        )
        self._names = itertools.count(1)
        self.namespace = "default"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.session.close()

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        user: str | None = None,
    ) -> Object:
        """Make one call, again if its connection drops. Raises `ApiFailure`."""
        headers = {"Content-Type": content_type}
        if user is not None:
            headers["Authorization"] = f"Bearer {self.control_plane.token(user)}"
        data = msgspec.json.encode(body) if body is not None else None

        async def call() -> Object:
            async with self.session.request(
                method, path, data=data, params=params, headers=headers
            ) as answer:
                return _body_of(answer.status, await answer.read())

        return await persistent(call, repeatable=method in REPEATABLE)

    # -- any object -------------------------------------------------------------------------------------

    async def create(self, thing: Object) -> Object:
        """POST an object with the label of this run. An object whose answer was lost is looked up."""
        metadata = thing.setdefault("metadata", {})
        metadata.setdefault("labels", {})[RUN_LABEL] = self.run
        path = path_of(thing["kind"], metadata.get("namespace", ""))
        try:
            return await self.request("POST", path, thing)
        except DROPPED:
            with suppress(ApiFailure):
                return await self.request("GET", f"{path}/{metadata['name']}")
            return await self.request("POST", path, thing)

    async def apply(self, thing: Object) -> Object:
        """Create an object, or replace the existing one."""
        try:
            return await self.create(thing)
        except ApiFailure as failure:
            if failure.status != 409:
                raise
        return await persistent(partial(self._replace, thing), repeatable=True)

    async def _replace(self, thing: Object) -> Object:
        """Replace an object as it is now, so that a second try meets no conflict with the first."""
        metadata = thing["metadata"]
        path = path_of(thing["kind"], metadata.get("namespace", ""), metadata["name"])
        there = await self.request("GET", path)
        metadata["resourceVersion"] = there["metadata"]["resourceVersion"]
        return await self.request("PUT", path, thing)

    async def patch(self, path: str, body: Object, *, user: str | None = None) -> Object:
        return await self.request("PATCH", path, body, content_type=MERGE_PATCH, user=user)

    async def create_namespace(self, annotations: Mapping[str, str] | None = None) -> str:
        """Create a namespace with a new name. Without a controller-manager none ever disappears."""
        name = f"e2e-{self.run}-{next(self._names)}"
        await self.create(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name, "annotations": dict(annotations or {})},
            }
        )
        return name

    async def ensure_namespace(self, name: str) -> None:
        with suppress(ApiFailure):
            await self.request(
                "POST",
                "/api/v1/namespaces",
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
            )

    async def configmap(self, namespace: str, name: str, data: Mapping[str, str]) -> Object:
        return await self.apply(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"namespace": namespace, "name": name},
                "data": dict(data),
            }
        )

    async def create_priority_class(self, name: str, value: int, *, preempts: bool = True) -> None:
        """Create a PriorityClass that pods may name from then on.

        ``preempts``: whether kube-scheduler may evict others for its pods.
        """
        await self.create(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                "preemptionPolicy": "PreemptLowerPriority" if preempts else "Never",
            }
        )
        until = time.monotonic() + 30
        while await self._lacks_class(name):
            assert time.monotonic() < until, f"no pod may name the PriorityClass {name}"
            await asyncio.sleep(0.05)

    async def _lacks_class(self, name: str) -> bool:
        """True while admission refuses a PriorityClass. Its own watch brings a new one a moment later."""
        probe = self.pod("probe", spec={"priorityClassName": name})
        try:
            await self.request("POST", path_of("Pod", self.namespace), probe, params={"dryRun": "All"})
        except ApiFailure as failure:
            return "no PriorityClass" in str(failure)
        return False

    # -- nodes ----------------------------------------------------------------------------------------------

    async def add_nodes(
        self,
        count: int,
        *,
        cpu: str = "32",
        memory: str = "64Gi",
        pods: int = 110,
        prefix: str = "n",
        **extended: str,
    ) -> list[str]:
        """Add nodes that are API objects only, ready and without the taint that admission gives them."""
        amounts = {"cpu": cpu, "memory": memory, "pods": str(pods), **extended}
        names = [f"{prefix}{at}" for at in range(1, count + 1)]
        await bounded((self._add_node(name, amounts) for name in names), most=32)
        return names

    async def _add_node(self, name: str, amounts: Mapping[str, str]) -> None:
        node = await self.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        path = path_of("Node", name=name)
        condition = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "played"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [condition]}
        await self.patch(path + "/status", {"status": status})
        await self.patch(path, {"spec": {"taints": None}})
        assert node["metadata"]["name"] == name

    async def remove_node(self, name: str) -> None:
        """Remove a node. Its pods stay as they are, since nothing here collects them."""
        await self.request("DELETE", path_of("Node", name=name))

    # -- pods -----------------------------------------------------------------------------------------------

    def pod(
        self,
        name: str,
        *,
        cpu: str = "1",
        memory: str | None = None,
        queue: str | None = None,
        app: str | None = None,
        scheduler_name: str = "yunikorn",
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        run_for: float | None = None,
        grace: int = 0,
        spec: Mapping[str, Any] | None = None,
    ) -> Object:
        """A manifest of one container. ``run_for``: seconds after which the kubelet lets it succeed.

        ``app``: by default one per queue, since the first pod of an application decides its queue (POD-5).
        """
        requests = {"cpu": cpu, **({"memory": memory} if memory else {})}
        keys = {"yunikorn.apache.org/queue": queue, "yunikorn.apache.org/app-id": app or _app_of(queue)}
        notes = dict(annotations or {})
        if run_for is not None:
            notes[RUN_FOR] = str(run_for)
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": namespace or self.namespace,
                "labels": {**{key: value for key, value in keys.items() if value}, **(labels or {})},
                "annotations": notes,
            },
            "spec": {
                "schedulerName": scheduler_name,
                "terminationGracePeriodSeconds": grace,
                "containers": [{"name": "c", "image": "pause", "resources": {"requests": requests}}],
                **(spec or {}),
            },
        }

    async def create_pod(self, name: str, **pod: Any) -> Object:
        return await self.create(self.pod(name, **pod))

    async def create_pods(self, manifests: Iterable[Object], *, most: int = 32) -> list[Object]:
        """Create all pods in order, a number of them at a time."""
        return await bounded((self.create(manifest) for manifest in manifests), most=most)

    async def delete_pod(self, name: str, namespace: str | None = None, *, grace: int = 0) -> None:
        path = path_of("Pod", namespace or self.namespace, name)
        await self.request("DELETE", path, {"gracePeriodSeconds": grace})

    # -- the end --------------------------------------------------------------------------------------------

    async def reset(self) -> None:
        """Delete what this run made, and wait until it is gone."""
        mutated = await self._left("MutatingAdmissionPolicy")
        for kind in (*_RESET, *_RESET_LAST):
            await self._delete_all(kind)
        until = time.monotonic() + 30
        while await self._left("Pod") or await self._left("Node"):
            assert time.monotonic() < until, "pods or nodes are still there after a reset"
            await asyncio.sleep(0.05)
        while mutated and await self.is_mutated():
            assert time.monotonic() < until, "policies are in force after a reset"
            await asyncio.sleep(0.05)

    async def is_mutated(self) -> bool:
        """True while policies change new pods. The API server notices policies once a second."""
        probe = self.pod("probe", queue="root.probe")
        made = await self.request(
            "POST", path_of("Pod", self.namespace), copy.deepcopy(probe), params={"dryRun": "All"}
        )
        requests = made["spec"]["containers"][0].get("resources", {}).get("requests", {})
        marked = any(name.startswith("paddock.dev/") for name in requests)
        notes = (
            made["metadata"].get("annotations", {}).keys() - probe["metadata"].get("annotations", {}).keys()
        )
        return marked or bool(made["spec"].get("schedulingGates")) or bool(notes)

    async def _mine(self, kind: str) -> list[Object]:
        """The objects of this run.

        Of pods also those that others made in its namespaces, such as placeholders.
        """
        if kind == "Pod":
            found = await self.request("GET", path_of(kind))
            return [each for each in found["items"] if self._is_mine(each["metadata"])]
        try:
            found = await self.request(
                "GET", path_of(kind), params={"labelSelector": f"{RUN_LABEL}={self.run}"}
            )
        except ApiFailure as failure:
            # An API server of an older minor does not know each kind.
            if failure.status != 404:
                raise
            return []
        items: list[Object] = found["items"]
        return items

    def _is_mine(self, metadata: Object) -> bool:
        labelled: bool = metadata.get("labels", {}).get(RUN_LABEL) == self.run
        return labelled or metadata.get("namespace", "").startswith(f"e2e-{self.run}-")

    async def _left(self, kind: str) -> bool:
        return bool(await self._mine(kind))

    async def _delete_all(self, kind: str) -> None:
        await bounded((self._delete(kind, item["metadata"]) for item in await self._mine(kind)), most=32)

    async def _delete(self, kind: str, metadata: Object) -> None:
        path = path_of(kind, metadata.get("namespace", ""), metadata["name"])
        if metadata.get("finalizers") and kind.startswith("Persistent"):
            await self.patch(path, {"metadata": {"finalizers": None}})
        with suppress(ApiFailure):
            await self.request("DELETE", path, {"gracePeriodSeconds": 0})


async def bounded(calls: Iterable[Any], *, most: int) -> list[Any]:
    """Await all, with a bound on how many at a time. Results are in order."""
    gate = asyncio.Semaphore(most)

    async def one(call: Any) -> Any:
        async with gate:
            return await call

    return await asyncio.gather(*(one(call) for call in calls))


def _body_of(status: int, raw: bytes) -> Object:
    """The object in an answer. Raises `ApiFailure` for a refusal."""
    found: Object = msgspec.json.decode(raw) if raw.startswith(b"{") else {"text": raw.decode()}
    if status >= 300:
        raise ApiFailure(status, str(found.get("message", found))[:400])
    return found


def _app_of(queue: str | None) -> str | None:
    return f"app-of-{queue}" if queue else None


def node_of(pod: Object) -> str:
    node: str = pod["spec"].get("nodeName", "")
    return node


def is_terminal(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def condition(pod: Object, kind: str) -> Object | None:
    for each in pod.get("status", {}).get("conditions", ()):
        if each["type"] == kind:
            found: Object = each
            return found
    return None


def was_bound(pod: Object) -> bool:
    """True if a Binding put the pod on its node. A pod that is created with a node lacks this condition."""
    return (condition(pod, "PodScheduled") or {}).get("status") == "True"


def message_of(pod: Object | None) -> str:
    """The reason that kube-scheduler gives for a waiting pod."""
    found = condition(pod, "PodScheduled") if pod else None
    return str((found or {}).get("message", ""))
