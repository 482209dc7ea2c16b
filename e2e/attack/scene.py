"""A cluster with a fair rival and a hostile tenant, and what must hold whatever the tenant does.

The tenant may put pods into one queue with a small max, in one namespace. Quotas are judged by what
kube-scheduler bound, as a watch shows it, and not by Paddock's own reports.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import yaml

from e2e.cluster.client import ApiFailure, Cluster, Object, is_terminal, message_of, node_of, path_of
from e2e.cluster.permissions import allow
from e2e.cluster.reconnecting import DROPPED
from e2e.cluster.sizing import size_of
from e2e.stands.course import Place, document_of, place
from e2e.stands.gangs import is_holder
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, eventually
from e2e.stands.tenants import checksum

TENANT, RIVAL = "tenant", "rival"
MINE, THEIRS = "root.mine", "root.theirs"
MOST = 4
"""Cores that the tenant's queue may use."""
ANSWERED_IN = 90.0
"""Seconds within which each pod is bound or refused, on a busy machine, too."""
STALL = 1.0
"""Seconds of CPU within which Paddock must answer any caller.

Wall time does not count, as the machine may be busy.
"""
CORES = 6
"""Cores of each of two nodes. The rival is guaranteed one node."""

STRATEGIC_PATCH = "application/strategic-merge-patch+json"
"""A patch that merges containers by name, since policies may have added to them."""
VERBS = ["create", "get", "list", "update", "patch", "delete"]
PODS = ("pods", "pods/status", "pods/resize", "pods/binding")
IDENTITY = ("identity/add-user-info.yaml", "identity/protect-user-info.yaml", "records/protect-records.yaml")


class Broken(AssertionError):
    """An attack that succeeded. The text says what it gained."""


@dataclass
class Gains:
    """The record of what kube-scheduler bound for the tenant, and which of the rival's pods were evicted."""

    tenant_namespace: str
    rival_namespace: str
    running: dict[str, int] = field(default_factory=dict)
    waited: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    most: int = 0
    evicted: list[str] = field(default_factory=list)
    ours: bool = True

    def on_pod(self, kind: str, pod: Object) -> None:
        meta = pod["metadata"]
        if meta["namespace"] == self.tenant_namespace:
            self._on_tenants(kind, pod)
        elif meta["namespace"] == self.rival_namespace and meta.get("deletionTimestamp"):
            self._on_rivals_end(pod)

    def _on_rivals_end(self, pod: Object) -> None:
        """Note the end of a rival's pod.

        A placeholder ends when a member of its own gang comes; a member of another gang counts as a gain.
        """
        if self.ours and not is_holder(pod):
            self.evicted.append(pod["metadata"]["name"])

    def _on_tenants(self, kind: str, pod: Object) -> None:
        """Note a tenant's pod. A pod that had a node from the beginning was forced there, not placed."""
        uid = pod["metadata"]["uid"]
        self.seen.add(pod["metadata"]["name"])
        if not node_of(pod):
            self.waited.add(uid)
        if kind == "DELETED" or is_terminal(pod):
            self.running.pop(uid, None)
        elif node_of(pod) and uid in self.waited:
            # The size at its Binding counts: a later resize is the tenant's own.
            self.running.setdefault(uid, size_of(pod).get("cpu", 0))
            self.most = max(self.most, sum(self.running.values()))


class Scene:
    """The cluster of the attacks.

    ``namespace``: the tenant's. ``rivals``: the rival's. ``stall``: seconds of CPU that Paddock used at most
    before it answered `/livez`, since `cleared`.
    """

    def __init__(self, here: Place, rivals: str) -> None:
        self.here, self.stand, self.cluster, self.pods = here, here.stand, here.cluster, here.pods
        self.namespace, self.rivals = here.cluster.namespace, rivals
        self.gains = Gains(self.namespace, rivals)
        self.stall = 0.0
        self.pods.listeners.append(self.gains.on_pod)

    # -- what the tenant does --------------------------------------------------------------------------------

    def pod(self, name: str, *, queue: str = MINE, app: str = "mine", **pod: Any) -> Object:
        return self.cluster.pod(name, queue=queue, app=app, **pod)

    async def submit(self, *manifests: Object, user: str = TENANT) -> None:
        """Create pods. Raises `ApiFailure` if the API server refuses one."""
        await asyncio.gather(
            *(
                self.cluster.request("POST", path_of("Pod", each["metadata"]["namespace"]), each, user=user)
                for each in manifests
            )
        )

    async def submit_many(self, prefix: str, count: int, **pod: Any) -> list[str]:
        names = [f"{prefix}-{at}" for at in range(count)]
        await self.submit(*(self.pod(name, **pod) for name in names))
        return names

    async def edit(self, name: str, change: Object, part: str = "") -> None:
        path = path_of("Pod", self.namespace, name) + part
        await self.cluster.request("PATCH", path, change, content_type=STRATEGIC_PATCH, user=TENANT)

    async def fill(self) -> list[str]:
        """Fill the queue honestly, as far as its max."""
        names = await self.submit_many("fair", MOST)
        await self.until_bound(*names)
        return names

    async def rival_runs(self, count: int, *, app: str = "theirs") -> list[str]:
        names = [f"rival-{at}" for at in range(count)]
        await self.submit(
            *(self.cluster.pod(name, queue=THEIRS, app=app, namespace=self.rivals) for name in names),
            user=RIVAL,
        )
        await self.pods.until(
            lambda: all(node_of(self.pods.named(name, self.rivals) or _NO_POD) for name in names),
            "the rival's pods run",
        )
        return names

    async def until_bound(self, *names: str) -> None:
        await self.pods.until(
            lambda: all(node_of(self.pods.named(name) or _NO_POD) for name in names), f"{names} are bound"
        )

    async def until_answered(self, *names: str) -> None:
        """Wait until each pod is bound or has a refusal."""

        def silent() -> list[str]:
            return [name for name in names if not self._is_answered(name)]

        try:
            await self.pods.until(lambda: not silent(), "all are answered", timeout=ANSWERED_IN)
        except AssertionError:
            raise Broken(f"{', '.join(silent())} got no answer") from None

    def _is_answered(self, name: str) -> bool:
        """True if a pod is bound, has a refusal, or no longer exists, as one whose owner does not exist."""
        pod = self.pods.named(name)
        return name in self.gains.seen if pod is None else bool(node_of(pod) or message_of(pod))

    # -- what must be true -----------------------------------------------------------------------------------

    async def judged(self) -> str:
        """Raise `Broken` if anything was gained."""
        if self.gains.most > MOST * 1000:
            raise Broken(f"{self.gains.most / 1000:g} cores were bound with a max of {MOST}")
        if self.gains.evicted:
            raise Broken(f"the rival lost {', '.join(sorted({*self.gains.evicted}))}")
        if not self.stand.paddock.running:
            raise Broken(f"Paddock is gone:\n{self.stand.paddock.tail()}")
        if drifts := await self.stand.paddock.drifts():
            raise Broken(f"the audit finds {drifts[:3]}")
        if self.stall > STALL:
            raise Broken(f"Paddock computed for {self.stall:.2f} s and answered nobody")
        return (
            f"at most {self.gains.most / 1000:g} of {MOST} cores, {self.stall:.2f} s of CPU between answers"
        )

    async def cleared(self) -> None:
        """Delete all pods and forget what was gained."""
        self.gains.ours = False
        await eventually(self._are_all_deleted, "all pods are gone", timeout=120)
        await eventually(self._holds_nothing, "Paddock holds nothing", timeout=120)
        self.pods.listeners.remove(self.gains.on_pod)
        self.gains, self.stall = Gains(self.namespace, self.rivals), 0.0
        self.pods.listeners.append(self.gains.on_pod)

    async def _are_all_deleted(self) -> bool:
        """Wait until no pod exists. Asked repeatedly, since a gang may have made placeholders meanwhile."""
        for namespace in (self.namespace, self.rivals):
            path = path_of("Pod", namespace)
            await self.cluster.request("DELETE", path, {"gracePeriodSeconds": 0})
        return not self.pods.pods

    async def _holds_nothing(self) -> bool:
        """True if Paddock answers and holds nothing."""
        metric = self.stand.paddock.metric
        try:
            held = [
                await metric("paddock_queue_allocated", queue=path, resource="vcore")
                for path in (MINE, THEIRS)
            ]
        except AssertionError:
            return False
        return not any(held)

    @asynccontextmanager
    async def probed(self) -> AsyncIterator[None]:
        """Ask `/livez` all the time during the block, and note the `stall`."""
        probing = asyncio.create_task(self._probe())
        try:
            yield
        finally:
            probing.cancel()

    async def _probe(self) -> None:
        url = f"http://127.0.0.1:{self.stand.paddock.admin_port}/livez"
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=120)) as session:
            while True:
                before = self.stand.paddock.cpu_seconds
                # A connection may drop on a busy machine. Whether Paddock ended is judged elsewhere.
                with suppress(*DROPPED):
                    async with session.get(url) as answer:
                        await answer.read()
                self.stall = max(self.stall, self.stand.paddock.cpu_seconds - before)
                await asyncio.sleep(0.02)


_NO_POD: Mapping[str, Any] = {"spec": {}}


@asynccontextmanager
async def scene(cluster: Cluster) -> AsyncIterator[Scene]:
    """Two nodes, two queues with access lists, and the policies of `IDENTITY`."""
    queues = {
        MINE: {"submitacl": TENANT, "resources": {"max": {"vcore": str(MOST)}}},
        THEIRS: {"submitacl": RIVAL, "resources": {"guaranteed": {"vcore": str(CORES)}}},
    }
    rivals = await cluster.create_namespace()
    async with place(cluster, queues, nodes=2, cores=CORES, policies=IDENTITY) as here:
        await _restrict(here)
        for user, namespace in ((TENANT, cluster.namespace), (RIVAL, rivals)):
            await allow(
                cluster, {"kind": "User", "name": user}, VERBS, *PODS, groups=[""], namespace=namespace
            )
        found = Scene(here, rivals)
        await eventually(lambda: _is_named(found), "the identity policy names a pod's user")
        yield found


async def _restrict(here: Place) -> None:
    """Let no user submit to the root, so that the access lists below it count."""
    document = document_of(here.queues)
    document["partitions"][0]["queues"][0]["submitacl"] = ""
    text = yaml.safe_dump(document)
    await here.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": text})

    async def in_force() -> bool:
        _, found = await here.stand.paddock.get("/readyz?verbose")
        return f"configuration: {checksum(text)}" in found.splitlines()

    await eventually(in_force, "the document is in force")


async def _is_named(found: Scene) -> bool:
    path = path_of("Pod", found.namespace)
    try:
        made = await found.cluster.request(
            "POST", path, found.pod("probe"), params={"dryRun": "All"}, user=TENANT
        )
    except ApiFailure:
        return False
    return "yunikorn.apache.org/user.info" in made["metadata"].get("annotations", {})
