"""The suite's own parts do what they claim, against the real programs."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.cluster.client import Cluster, Object, node_of, path_of
from e2e.cluster.kubelet import StubKubelet
from e2e.cluster.watching import PodCache
from e2e.programs.control_plane import ControlPlane
from e2e.programs.nursery import Nursery
from e2e.programs.paddock import PaddockProcess

PLAIN = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


async def test_a_plain_scheduler_places_a_pod_and_the_kubelet_runs_it(
    control_plane: ControlPlane, cluster: Cluster, pods: PodCache, kubelet: StubKubelet
) -> None:
    await cluster.add_nodes(2)
    scheduler = await control_plane.scheduler(PLAIN)
    await cluster.create_pod("short", scheduler_name="default-scheduler", run_for=0.2)
    await cluster.create_pod("long", scheduler_name="default-scheduler", grace=3)
    await pods.until(lambda: _phase(pods, "short") == "Succeeded", "short has succeeded")
    await pods.until(lambda: _phase(pods, "long") == "Running", "long is running")
    asked = time.monotonic()
    await cluster.delete_pod("long", grace=3)
    await pods.until(lambda: pods.named("long") is None, "long is gone after its grace period")
    assert time.monotonic() - asked > 1.5, "the API counts the grace period in whole seconds"
    await scheduler.stop()


async def test_the_kubelet_refuses_what_does_not_fit(
    cluster: Cluster, pods: PodCache, kubelet: StubKubelet
) -> None:
    await cluster.add_nodes(1, cpu="1", prefix="small")
    await cluster.create_pod("forced", cpu="2", spec={"nodeName": "small1"})
    await pods.until(lambda: _phase(pods, "forced") == "Failed", "a pod that names the node is refused")
    assert kubelet.refused == [], "no Binding put it there"
    await cluster.create_pod("big", cpu="2", scheduler_name="nobody")
    await _bind(cluster, "big", "small1")
    await pods.until(lambda: _phase(pods, "big") == "Failed", "big is refused")
    assert kubelet.refused == ["big"]
    pod = pods.named("big")
    assert pod is not None
    assert (node_of(pod), pod["status"]["reason"]) == ("small1", "OutOfcpu")


async def test_a_pod_that_ends_as_soon_as_it_is_bound_takes_no_capacity(
    cluster: Cluster, pods: PodCache, kubelet: StubKubelet
) -> None:
    """Both events come in one piece of the watch, as for a placeholder that completed its gang."""
    await cluster.add_nodes(1, cpu="1")
    await cluster.create_pod("first", cpu="500m", spec={"nodeName": "n1"})
    await pods.until(lambda: _phase(pods, "first") == "Running", "the node is known")
    brief = cluster.pod("brief", cpu="500m", spec={"nodeName": "n1"})
    brief["metadata"]["uid"] = "brief"
    for kind in ("ADDED", "DELETED"):
        kubelet._on_pod(kind, brief)
    await cluster.create_pod("next", cpu="500m", spec={"nodeName": "n1"})
    await pods.until(lambda: _phase(pods, "next") in ("Running", "Failed"), "the next one was looked at")
    assert (_phase(pods, "next"), kubelet.refused) == ("Running", [])


@pytest.mark.parametrize(
    ("node", "pod", "reason"),
    [
        ({"cpu": "1"}, {"cpu": "2"}, "OutOfcpu"),
        ({"memory": "1Gi"}, {"memory": "2Gi"}, "OutOfmemory"),
        ({"pods": 0}, {}, "OutOfpods"),
    ],
)
async def test_a_pod_bound_before_its_node_is_known_is_measured_when_it_is(
    cluster: Cluster, pods: PodCache, kubelet: StubKubelet, node: Object, pod: Object, reason: str
) -> None:
    await cluster.create_pod("early", **pod)
    await _bind(cluster, "early", "late1")
    await pods.until(lambda: pods.bound(), "early is bound")
    assert _phase(pods, "early") == "Pending"
    await cluster.add_nodes(1, prefix="late", **node)
    await pods.until(lambda: _phase(pods, "early") == "Failed", "early is refused")
    assert (pods.named("early") or {})["status"]["reason"] == reason


async def test_the_kubelet_leaves_the_nodes_of_others_alone(
    control_plane: ControlPlane, cluster: Cluster, pods: PodCache, kubelet: StubKubelet
) -> None:
    async with Cluster(control_plane) as other:
        other.namespace = await other.create_namespace()
        await other.add_nodes(1, prefix="foreign")
        await other.create_pod("theirs", spec={"nodeName": "foreign1"})
        await cluster.add_nodes(1)
        await cluster.create_pod("ours", spec={"nodeName": "n1"})
        await pods.until(lambda: _phase(pods, "ours") == "Running", "ours, created later, runs")
        theirs = pods.named("theirs", other.namespace)
        assert theirs is not None
        assert theirs["status"]["phase"] == "Pending"
        await other.reset()


async def test_a_metric_of_a_dead_process_is_an_error_and_not_a_zero(tmp_path: Path) -> None:
    paddock = PaddockProcess(tmp_path / "none", tmp_path)
    with pytest.raises(AssertionError, match="answered 0"):
        await paddock.metric("paddock_audit_drift")


def test_a_forked_paddock_ends_like_a_child_of_ones_own(tmp_path: Path) -> None:
    """The end has an exit code, comes by a signal, and leaves its output in the log."""
    unreachable = {"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}]}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    people = [{"name": "u", "user": {"token": "t"}}]
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        json.dumps({**unreachable, "contexts": [context], "current-context": "c", "users": people})
    )
    arguments = ["serve", f"--kubeconfig={kubeconfig}", "--verbs-port=0", "--admin-port=0"]
    with Nursery() as nursery:
        refused = nursery.fork(["serve", "--no-such-flag"], tmp_path / "refused")
        killed, left = (nursery.fork(arguments, tmp_path / "log") for _ in range(2))
        killed.kill()
        _until(lambda: refused.poll() is not None and killed.poll() is not None)
        assert (refused.poll(), killed.poll(), left.poll()) == (2, -signal.SIGKILL, None)
        assert "--no-such-flag" in (tmp_path / "refused").read_text()
        killed.kill()
    _until(lambda: _is_dead(left.pid))


def _is_dead(pid: int) -> bool:
    """True if a process is dead, or waits only to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until, "it goes on"
        time.sleep(0.01)


async def _bind(cluster: Cluster, name: str, node: str) -> None:
    """Bind as a scheduler does, by the pod's subresource."""
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    await cluster.request("POST", path_of("Pod", cluster.namespace, name) + "/binding", body)


def _phase(pods: PodCache, name: str) -> str:
    pod = pods.named(name)
    return pod["status"]["phase"] if pod else ""
