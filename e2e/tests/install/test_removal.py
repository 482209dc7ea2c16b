"""Removal: killed after each of its requests and started again, it leaves nothing that blocks anything.

The installation is made by Helm, with every policy. Paddock and kube-scheduler run as its service account
until the removal begins. `paddock uninstall` and `helm uninstall` run as the cluster's administrator. Played
is the namespace controller, of which `e2e/cluster/namespaces.py` says what it does.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster.admission import is_gated
from e2e.cluster.client import ApiFailure, Cluster, Object, node_of, path_of
from e2e.cluster.namespaces import delete_namespace, exists, kinds_after_retries, kinds_of
from e2e.cluster.watching import PodCache
from e2e.programs.control_plane import ControlPlane
from e2e.programs.paddock import NURSERY
from e2e.programs.processes import Program
from e2e.programs.proxy import ApiProxy
from e2e.stands.gangs import GATE, PLACEHOLDER, Job
from e2e.stands.installation.roles import rendered_objects
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, SIDECAR, Stand, document, eventually
from e2e.tests.install.commands import Shell

pytestmark = pytest.mark.xdist_group("removal")

ON = {"enabled": True}
QUEUES = {"a": {"max": {"vcore": "1"}}, "jobs": {"max": {"vcore": "4"}}}
VALUES: dict[str, Any] = {
    "mode": "sidecar",
    "gates": {"enabled": True, "everyNamespace": True},
    **dict.fromkeys(("identity", "adopt", "networkPolicy", "podDisruptionBudget", "resourceQuota"), ON),
    "mutation": {"require": True},
    "admin": ON,
    "queues": {"initial": document(QUEUES)},
}
MARKER = "paddock-installation"
OF_QUEUES = {CONFIG_MAP, MARKER, "paddock-initial-queues"}
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
MOST = 80
"""Requests of a removal that change something, at most."""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests, since policies of every kind apply to all namespaces."""
    async with ControlPlane() as running, Cluster(running) as cluster:
        await cluster.ensure_namespace(NAMESPACE)
        yield running


class Installed(Stand):
    """A stand that Helm has installed."""

    def __init__(self, cluster: Cluster, shell: Shell) -> None:
        super().__init__(cluster, QUEUES, **SIDECAR)
        self.shell = shell

    async def _install(self) -> None:
        await self.cluster.ensure_namespace(NAMESPACE)
        await self.shell.install("install", VALUES)
        # Paddock leads, and could copy the first queues, only once kube-scheduler holds its Lease.
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(QUEUES)})


async def used(cluster: Cluster, shell: Shell) -> None:
    """Install Paddock, let it hold pods back by gates and placeholders, and stop it."""
    async with Installed(cluster, shell) as stand:
        await cluster.add_nodes(1, cpu="8")
        await eventually(lambda: is_gated(cluster), "pods are gated", timeout=60)
        # Adopted pods get the scheduler name yunikorn, which none has after the removal.
        for name in ("runs", "waits", "waits-too"):
            await cluster.create_pod(name, queue="root.a", app="a", scheduler_name="paddock")
        for pod in Job("job", 3, members=1).manifests(cluster):
            await cluster.create(pod)
        await stand.pods.until(lambda: _node(stand.pods, "runs") == "n1", "one runs")
        # The gang has then made all three placeholders, of which its only member takes one.
        await stand.pods.until(lambda: _node(stand.pods, "job-0") == "n1", "a member runs")
        await stand.pods.until(lambda: len(_placeholders(stand.pods)) == 2, "a gang waits for members")
        await stand.pods.until(lambda: _is_gated(stand.pods, "waits"), "others are gated")
        await eventually(lambda: _has(cluster, MARKER), "Paddock has noted that there are queues")


async def _has(cluster: Cluster, name: str) -> bool:
    return name in await _config_maps(cluster)


def _webhook() -> Object:
    """The webhook that the chart renders for an API server without mutating policies."""
    made = rendered_objects({**VALUES, "mutation": {"by": "webhook"}})
    (found,) = (each for each in made if each["kind"] == "MutatingWebhookConfiguration")
    return found


def _placeholders(pods: PodCache) -> list[Object]:
    notes = ((pod, pod["metadata"].get("annotations") or {}) for pod in pods.pods.values())
    return [pod for pod, each in notes if each.get(PLACEHOLDER) == "true"]


def _node(pods: PodCache, name: str) -> str:
    pod = pods.named(name)
    return node_of(pod) if pod else ""


def _is_gated(pods: PodCache, name: str) -> bool:
    pod = pods.named(name)
    return pod is not None and {"name": GATE} in pod["spec"].get("schedulingGates", [])


class Removal:
    """`paddock uninstall` through a proxy, which ends it at a chosen request."""

    def __init__(self, cluster: Cluster, proxy: ApiProxy, folder: Path) -> None:
        self._proxy = proxy
        self._kubeconfig = cluster.control_plane.kubeconfig("admin", proxy.url)
        self._folder = folder
        self._numbers = itertools.count()

    def _start(self, *arguments: str) -> Program:
        asked = ["uninstall", f"--kubeconfig={self._kubeconfig}", f"--namespace={NAMESPACE}", *arguments]
        log = self._folder / f"uninstall-{next(self._numbers)}.log"
        made = Program(["paddock", *asked], log, spawn=partial(NURSERY[-1].fork, asked))
        made.start()
        return made

    async def run(self, *arguments: str) -> tuple[int, str]:
        """Exit code and output."""
        process = self._start(*arguments)
        code = await process.ended()
        assert code is not None
        return code, process.log.read_text()

    async def cut_off(self) -> bool:
        """Kill it after its next request that changes something. False if it came to its end."""
        reached = self._proxy.hold_next("DELETE|PATCH|POST|PUT", "")
        process = self._start("--yes")
        first = {asyncio.create_task(reached.wait()), asyncio.create_task(process.ended())}
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        for each in first:
            each.cancel()
        await process.kill()
        self._proxy.clear()
        return reached.is_set()


async def test_killed_after_each_request_it_ends_and_nothing_is_held(
    cluster: Cluster, pods: PodCache, tmp_path: Path
) -> None:
    shell = Shell(cluster, tmp_path)
    await used(cluster, shell)
    await cluster.request("POST", WEBHOOKS, _webhook())
    with pytest.raises(ApiFailure, match="503"):
        await kinds_of(cluster)
    async with ApiProxy(cluster.control_plane.url) as proxy:
        removal = Removal(cluster, proxy, tmp_path)
        code, printed = await removal.run()
        assert (code, "Nothing was changed. Run this again with --yes." in printed) == (1, True), printed
        cuts = 0
        while await removal.cut_off():
            cuts += 1
            await eventually(lambda: _is_taken(cluster), f"after request {cuts} pods can be created")
            assert cuts < MOST, "it begins the same again and again"
        print(f"killed after each of {cuts} requests")
        code, printed = await removal.run("--yes")
        assert (code, "Nothing is left to do here" in printed) == (0, True), printed
        await shell.helm("uninstall", "paddock", f"--namespace={NAMESPACE}")
        await nothing_is_held(cluster, pods, shell)
        assert OF_QUEUES & await _config_maps(cluster) == {CONFIG_MAP, MARKER}
        code, printed = await removal.run("--yes", "--purge")
        assert (code, OF_QUEUES & await _config_maps(cluster)) == (0, set()), printed
    await namespaces_can_be_deleted(cluster)


async def test_helm_alone_leaves_gates_and_placeholders_that_a_removal_takes_later(
    cluster: Cluster, pods: PodCache, tmp_path: Path
) -> None:
    """docs/how-to/operate.md names what remains: no namespace is blocked, but gated pods wait."""
    shell = Shell(cluster, tmp_path)
    await used(cluster, shell)
    await shell.helm("uninstall", "paddock", f"--namespace={NAMESPACE}")
    assert await kinds_after_retries(cluster)

    await eventually(lambda: _is_plain(cluster), "new pods are as their users write them", timeout=60)
    assert _node(pods, "runs") == "n1"
    assert [name for name in ("runs", "waits", "waits-too") if _is_gated(pods, name)] == [
        "waits",
        "waits-too",
    ]
    assert len(_placeholders(pods)) == 2
    assert await cluster.request("GET", path_of("Lease", "kube-system", "paddock-scheduler"))
    assert await _config_maps(cluster) & OF_QUEUES == {CONFIG_MAP, MARKER}
    async with ApiProxy(cluster.control_plane.url) as proxy:
        code, printed = await Removal(cluster, proxy, tmp_path).run("--yes", "--purge")
    assert code == 0, printed
    await nothing_is_held(cluster, pods, shell)
    assert await _config_maps(cluster) & OF_QUEUES == set()


async def _is_plain(cluster: Cluster) -> bool:
    """True if a new pod is neither changed nor refused. What requires gates may go after what sets them."""
    try:
        return await _is_taken(cluster) and not await cluster.is_mutated()
    except ApiFailure:
        return False


async def _is_taken(cluster: Cluster) -> bool:
    """True if a new pod of a queue is not refused."""
    pod = cluster.pod("probe", queue="root.a")
    try:
        await cluster.request("POST", path_of("Pod", cluster.namespace), pod, params={"dryRun": "All"})
    except ApiFailure:
        return False
    return True


async def nothing_is_held(cluster: Cluster, pods: PodCache, shell: Shell) -> None:
    """The cluster's plain kube-scheduler places what waits, and new pods are as their users write them."""
    assert await kinds_after_retries(cluster)
    assert "paddock.dev" not in await shell.kubectl("api-resources", "--no-headers")
    assert not await cluster.is_mutated()
    assert _placeholders(pods) == []
    for name in ("waits", "waits-too"):
        pod = pods.named(name)
        assert pod is not None
        assert pod["spec"].get("schedulingGates", []) == []
    profiles = [{"schedulerName": name} for name in ("default-scheduler", "paddock", "yunikorn")]
    scheduler = await cluster.control_plane.scheduler(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": profiles,
        }
    )
    await cluster.create_pod("new", scheduler_name="default-scheduler", annotations={"paddock.dev/wake": "x"})
    waiting = ("waits", "waits-too", "new")
    await pods.until(lambda: all(_node(pods, name) for name in waiting), "all are placed", timeout=30)
    await scheduler.stop()


async def namespaces_can_be_deleted(cluster: Cluster) -> None:
    for name in (cluster.namespace, NAMESPACE):
        await delete_namespace(cluster, name)
        assert not await exists(cluster, name)


async def _config_maps(cluster: Cluster) -> set[str]:
    found = await cluster.request("GET", path_of("ConfigMap", NAMESPACE))
    return {each["metadata"]["name"] for each in found["items"]}
