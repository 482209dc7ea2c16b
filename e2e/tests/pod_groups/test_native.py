"""Kubernetes' own PodGroups and ``spec.schedulingGroup``, where the API has them (COS-20 to COS-24)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, Object, message_of, node_of, path_of
from e2e.cluster.watching import PodCache
from e2e.programs.control_plane import ControlPlane
from e2e.programs.paddock import PaddockProcess
from e2e.stands.stand import (
    CONFIG_MAP,
    NAMESPACE,
    Stand,
    document,
    eventually,
    install,
    scheduler_config,
)
from e2e.tests.operation.test_shipped import stand_of
from e2e.tests.pod_groups.test_coscheduling import (
    PORT,
    TREE,
    events_of,
    refused_with,
    settled,
    until_timed_out,
    until_waiting,
)

SERVED = ("--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1alpha2=true")
"""Flags of kube-apiserver 1.36 that serve PodGroups and the field of pods that names one."""

GENERIC = ("--feature-gates=GenericWorkload=true",)
GANGS = ("--feature-gates=GenericWorkload=true,GangScheduling=true",)
ADVISED = ("--feature-gates=GenericWorkload=true,GangScheduling=true,SchedulerPopFromBackoffQ=false",)
SCHEDULERS = pytest.mark.parametrize(
    "flags", [(), GENERIC, GANGS], ids=["no gates", "GenericWorkload", "GangScheduling"]
)
"""Configurations of kube-scheduler: without groups, with groups tried as one, or with a plugin that waits."""

CONFIG = "kubeadm/scheduler-config-plain.yaml"
GATED = "gates/gate-managed-pods.yaml"
LISTED = "listed all objects of a kind"
KIND = "podgroups.scheduling.k8s.io"

pytestmark = pytest.mark.xdist_group("native pod groups")
"""A mark that gives all tests to one worker, since each worker would start a control plane of its own."""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """The control plane of this module, as the shared one has no alpha API."""
    async with ControlPlane(flags=SERVED) as running:
        yield running


# -- a gang ------------------------------------------------------------------------------------------------


@SCHEDULERS
@pytest.mark.parametrize("policies", [(), (GATED,)], ids=["refused", "gated"])
async def test_a_gang_starts_when_the_last_one_is_there(
    cluster: Cluster, flags: tuple[str, ...], policies: tuple[str, ...]
) -> None:
    """A gang with a missing member holds no other pod back. Its reports are kube-scheduler's affair."""
    async with Stand(cluster, TREE, policies=policies, scheduler_flags=flags) as stand:
        if policies:
            labels = {"metadata": {"labels": {"paddock.dev/gate": "true"}}}
            await cluster.patch(path_of("Namespace", name=cluster.namespace), labels)
        placed = Placed(stand)
        await cluster.add_nodes(1, cpu="4")
        await create_group(cluster, gang(3))
        *early, last = members(cluster, 3)
        await cluster.create_pods(early)
        await until_held(stand, "g-0", "g-1")
        await cluster.create_pod("alone", queue="root.a")
        await stand.pods.until(lambda: names_bound(stand.pods) == {"alone"}, "one that is in no group runs")
        await cluster.create(last)
        await stand.pods.until(lambda: len(names_bound(stand.pods)) == 4, "all three run")
        assert placed.before("g-2") == {"alone"}
        await eventually(lambda: _reports(cluster, by_scheduler=bool(flags)), "its status is as expected")
        await settled(stand)
        await nothing_went_wrong(stand)


async def _reports(cluster: Cluster, *, by_scheduler: bool) -> bool:
    found = await cluster.request("GET", path_of_group(cluster, "g"))
    conditions = found["status"].get("conditions", [])
    assert by_scheduler or not conditions
    managers = {each["manager"] for each in found["metadata"]["managedFields"]}
    return not by_scheduler or (bool(conditions) and "kube-scheduler" in managers)


@SCHEDULERS
async def test_a_gang_that_only_kube_scheduler_finds_no_node_for(
    cluster: Cluster, flags: tuple[str, ...]
) -> None:
    """Two of three have a free port: none is bound, and others get the capacity.

    With a third port all three run.
    """
    async with Stand(cluster, TREE, scheduler_flags=flags) as stand:
        placed = Placed(stand)
        await cluster.add_nodes(2)
        await create_group(cluster, gang(3))
        await cluster.create_pods(members(cluster, 3, spec=PORT), most=1)
        await stand.pods.until(lambda: any(map(message_of, stand.pods.waiting())), "one finds no node")
        whole = [cluster.pod(f"x-{at}", queue="root.a", app="x", cpu="32") for at in range(2)]
        await cluster.create_pods(whole)
        await stand.pods.until(
            lambda: names_bound(stand.pods) == {"x-0", "x-1"}, "whole nodes are given away"
        )
        for pod in whole:
            await cluster.delete_pod(pod["metadata"]["name"])
        await cluster.add_nodes(1, prefix="late")
        await stand.pods.until(lambda: len(names_bound(stand.pods)) == 3, "all three run", timeout=45)
        assert set(placed.order) == {"x-0", "x-1", "g-0", "g-1", "g-2"}
        print(f"kube-scheduler with {flags or 'no gates'}: {await filter_calls(stand):.0f} filter calls")
        await settled(stand)
        await nothing_went_wrong(stand)


async def test_a_scheduler_with_its_own_plugin_retries_a_group_with_pauses(cluster: Cluster) -> None:
    """The scheduler does not take pods out of their back-off when it is idle."""
    async with Stand(cluster, TREE, scheduler_flags=ADVISED) as stand:
        await cluster.add_nodes(2)
        await create_group(cluster, gang(3))
        await cluster.create_pods(members(cluster, 3, spec=PORT), most=1)
        await until_timed_out(stand, 1)
        assert await filter_calls(stand) < 300
        await cluster.add_nodes(1, prefix="late")
        await stand.pods.until(lambda: len(names_bound(stand.pods)) == 3, "all three run", timeout=45)
        await settled(stand)
        await nothing_went_wrong(stand)


async def test_paddock_killed_while_members_wait(cluster: Cluster) -> None:
    """PodGroups are known before pods: no member of a gang is taken for a single pod."""
    async with Stand(cluster, TREE) as stand:
        await cluster.add_nodes(2)
        await create_group(cluster, gang(3))
        await cluster.create_pods(members(cluster, 3, spec=PORT), most=1)
        await until_waiting(stand, 2)
        await stand.paddock.restart()
        await until_waiting(stand, 2)
        assert names_bound(stand.pods) == set()
        await cluster.add_nodes(1, prefix="late")
        await stand.pods.until(lambda: len(names_bound(stand.pods)) == 3, "all three run")
        await settled(stand)
        await nothing_went_wrong(stand)


async def test_a_group_made_late_then_deleted_then_made_anew(cluster: Cluster) -> None:
    """The policy of a group never changes (COS-22), and it stays while pods name it.

    A new one may ask for fewer.
    """
    async with Stand(cluster, TREE) as stand:
        await cluster.add_nodes(1)
        await cluster.create_pods(members(cluster, 2))
        await stand.pods.until(refused_with(stand, "its PodGroup is missing"), "they wait for it")
        await create_group(cluster, gang(3))
        await until_refused_with(stand, "min-available=3")
        with pytest.raises(ApiFailure, match="immutable"):
            await cluster.patch(path_of_group(cluster, "g"), {"spec": {"schedulingPolicy": gang(2)}})
        await cluster.request("DELETE", path_of_group(cluster, "g"))
        protected = await cluster.request("GET", path_of_group(cluster, "g"))
        assert "deletionTimestamp" in protected["metadata"]
        await until_held(stand, "g-0", "g-1")
        await cluster.patch(path_of_group(cluster, "g"), {"metadata": {"finalizers": None}})
        await until_refused_with(stand, "its PodGroup is missing")
        assert names_bound(stand.pods) == set()
        await create_group(cluster, gang(2))
        await stand.pods.until(lambda: len(names_bound(stand.pods)) == 2, "two are enough")
        await settled(stand)
        await nothing_went_wrong(stand)


async def test_the_basic_policy_makes_no_gang(cluster: Cluster) -> None:
    """The members come one by one, in any queue and of any priority, and no message is written."""
    async with Stand(cluster, {"a": {}, "b": {}}) as stand:
        await cluster.add_nodes(1)
        await _priority_class(cluster)
        await create_group(cluster, {"basic": {}})
        (first,) = members(cluster, 1)
        await cluster.create(first)
        await stand.pods.until(lambda: len(names_bound(stand.pods)) == 1, "the first runs")
        spec = {"priorityClassName": f"high-{cluster.run}"}
        second = members(cluster, 2, queue="root.b", app="b", spec=spec)[1]
        await cluster.create(second)
        await stand.pods.until(lambda: len(names_bound(stand.pods)) == 2, "the second runs")
        assert [each["message"] for each in await events_of(cluster, "GangScheduling")] == []
        await settled(stand)
        await nothing_went_wrong(stand)


async def _priority_class(cluster: Cluster) -> None:
    await cluster.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": f"high-{cluster.run}"},
            "value": 1000,
        }
    )


# -- permissions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [(), GANGS], ids=["no gates", "GangScheduling"])
@pytest.mark.parametrize("overlay", ["kubeadm", "sidecar"])
async def test_the_shipped_roles_are_enough(
    cluster: Cluster, overlay: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """The roles of Paddock and, in the sidecar, of a kube-scheduler that runs as the same account."""
    configuration = f"{overlay}/scheduler-config-plain.yaml"
    async with stand_of(cluster, configuration, tmp_path, scheduler_flags=flags) as stand:
        await cluster.add_nodes(1)
        await cluster.create_pods(members(cluster, 2))
        if not flags:
            await stand.pods.until(refused_with(stand, "its PodGroup is missing"), "they are refused")
        await until_held(stand, "g-0", "g-1")
        await create_group(cluster, gang(2))
        await stand.pods.until(lambda: len(names_bound(stand.pods)) == 2, "both run", timeout=45)
        assert len(listed(stand.paddock)) == 1
        await eventually(lambda: _reports(cluster, by_scheduler=bool(flags)), "its status is as expected")
        await stand.audited()
        await nothing_went_wrong(stand)


# -- an API that comes and goes ------------------------------------------------------------------------------


@pytest.mark.timeout(300)
async def test_an_api_server_that_learns_and_forgets_them() -> None:
    """Without the API a pod's field is dropped, nothing is watched and nothing is wrong.

    Paddock checks for it every minute. Pods that wait for their gang are free as soon as it disappears.
    """
    async with _bare() as (cluster, paddock):
        await cluster.create_pods(members(cluster, 1, group="f"))
        await until_bound(cluster, {"f-0"})
        assert listed(paddock) == warnings(paddock) == []
        await cluster.control_plane.restart_apiserver(flags=SERVED)
        await eventually(lambda: _is_listed(paddock), "Paddock has found them", timeout=90)
        found = warnings(paddock)
        assert [line for line in found if line.get("kind") == KIND] == []
        first, second = members(cluster, 2)
        await create_group(cluster, gang(2))
        await cluster.create(first)
        await _until_refused(cluster, "g-0")
        await cluster.create(second)
        await until_bound(cluster, {"f-0", "g-0", "g-1"})
        assert warnings(paddock) == found
        await create_group(cluster, gang(2), "h")
        await cluster.create_pods(members(cluster, 1, group="h"))
        await _until_refused(cluster, "h-0")
        await cluster.control_plane.restart_apiserver(flags=())
        await until_bound(cluster, {"f-0", "g-0", "g-1", "h-0"})


@asynccontextmanager
async def _bare() -> AsyncIterator[tuple[Cluster, PaddockProcess]]:
    """A control plane without watchers, which would not survive the restart."""
    async with ControlPlane() as control_plane, Cluster(control_plane) as cluster:
        cluster.namespace = await cluster.create_namespace()
        await install(cluster, "kubeadm")
        await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(TREE)})
        await cluster.add_nodes(1)
        paddock = PaddockProcess(
            control_plane.kubeconfig("paddock-certificate"), control_plane.folder, arguments=["--lease="]
        )
        try:
            await paddock.start()
            await control_plane.scheduler(scheduler_config(CONFIG, paddock.url))
            yield cluster, paddock
        finally:
            await paddock.stop()


async def until_bound(cluster: Cluster, names: set[str], *, timeout: float = 30.0) -> None:
    async def ask() -> bool:
        return {name for name, pod in (await _pods(cluster)).items() if node_of(pod)} == names

    await eventually(ask, f"on nodes are {sorted(names)}", timeout=timeout)


async def _until_refused(cluster: Cluster, name: str) -> None:
    async def ask() -> bool:
        return "GangIncomplete" in message_of((await _pods(cluster))[name])

    await eventually(ask, f"{name} is refused")


async def _pods(cluster: Cluster) -> dict[str, Object]:
    found = await cluster.request("GET", path_of("Pod", cluster.namespace))
    return {pod["metadata"]["name"]: pod for pod in found["items"]}


async def _is_listed(paddock: PaddockProcess) -> bool:
    return bool(listed(paddock))


# -- what is made, and what is seen --------------------------------------------------------------------------


def path_of_group(cluster: Cluster, name: str = "") -> str:
    path = f"/apis/scheduling.k8s.io/v1alpha2/namespaces/{cluster.namespace}/podgroups"
    return f"{path}/{name}" if name else path


async def create_group(cluster: Cluster, policy: Object, name: str = "g") -> None:
    group = {"metadata": {"name": name}, "spec": {"schedulingPolicy": policy}}
    await cluster.request("POST", path_of_group(cluster), group)


def gang(least: int) -> Object:
    return {"gang": {"minCount": least}}


def members(
    cluster: Cluster, count: int, *, group: str = "g", spec: Object | None = None, **pod: Any
) -> list[Object]:
    whole = {**(spec or {}), "schedulingGroup": {"podGroupName": group}}
    pod = {"queue": "root.a", "app": group, **pod}
    return [cluster.pod(f"{group}-{at}", spec=whole, **pod) for at in range(count)]


def names_bound(pods: PodCache) -> set[str]:
    return {pod["metadata"]["name"] for pod in pods.bound()}


class Placed:
    """Pods in the order in which they got a node, by the watch.

    Also the pods that had one when a pod was created.
    """

    def __init__(self, stand: Stand) -> None:
        self.order: list[str] = []
        self._before: dict[str, set[str]] = {}
        stand.pods.listeners.append(self._on_pod)

    def _on_pod(self, _: str, pod: Object) -> None:
        name = pod["metadata"]["name"]
        self._before.setdefault(name, set(self.order))
        if node_of(pod) and name not in self.order:
            self.order.append(name)

    def before(self, name: str) -> set[str]:
        """Pods that had a node when that pod came."""
        return self._before[name]


async def filter_calls(stand: Stand) -> float:
    return await stand.paddock.metric("paddock_verb_seconds_count", verb="filter")


async def until_held(stand: Stand, *names: str) -> None:
    """Wait until only their own group holds them back."""

    async def ask() -> bool:
        stories = [await stand.paddock.story(stand.cluster.namespace, name) for name in names]
        return all((story.get("verdict") or {}).get("code") == "GangIncomplete" for story in stories)

    await eventually(ask, f"{names} wait for their group")


async def until_refused_with(stand: Stand, text: str) -> None:
    """Wait for a reason in their stories: another text on the pod is delayed by half a minute."""

    async def ask() -> bool:
        names = [pod["metadata"]["name"] for pod in stand.pods.waiting()]
        stories = [await stand.paddock.story(stand.cluster.namespace, name) for name in names]
        return bool(stories) and all(text in (each.get("verdict") or {}).get("text", "") for each in stories)

    await eventually(ask, f"they are told: {text}")


def listed(paddock: PaddockProcess) -> list[Object]:
    """The number of times PodGroups were listed, by its log."""
    return [line for line in paddock.logs() if line.get("event") == LISTED and line.get("kind") == KIND]


def warnings(paddock: PaddockProcess) -> list[Object]:
    return [line for line in paddock.logs() if line.get("level") not in ("debug", "info")]


async def nothing_went_wrong(stand: Stand) -> None:
    """Assert that the shipped role was enough, and that all writes were accepted."""
    assert warnings(stand.paddock) == []
    assert await stand.paddock.metric("paddock_effects_total", outcome="failed") == 0
