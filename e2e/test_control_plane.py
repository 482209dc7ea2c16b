"""The suite's own parts do what they say, against the real programs."""

from e2e.cluster import Cluster, PodCache, node_of
from e2e.control_plane import ControlPlane
from e2e.kubelet import StubKubelet

PLAIN = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


async def test_a_plain_scheduler_places_a_pod_and_the_kubelet_runs_it(
    control_plane: ControlPlane, cluster: Cluster, pods: PodCache, kubelet: StubKubelet
) -> None:
    await cluster.add_nodes(2)
    scheduler = await control_plane.scheduler(PLAIN)
    await cluster.create_pod("short", scheduler_name="default-scheduler", run_for=0.2)
    await cluster.create_pod("long", scheduler_name="default-scheduler", grace=1)
    await pods.until(lambda: _phase(pods, "short") == "Succeeded", "short has succeeded")
    await pods.until(lambda: _phase(pods, "long") == "Running", "long is running")
    await cluster.delete_pod("long", grace=1)
    await pods.until(lambda: pods.named("long") is None, "long is gone after its grace period")
    await scheduler.stop()


async def test_the_kubelet_refuses_what_does_not_fit(
    cluster: Cluster, pods: PodCache, kubelet: StubKubelet
) -> None:
    await cluster.add_nodes(1, cpu="1", prefix="small")
    await cluster.create_pod("big", cpu="2", spec={"nodeName": "small1"})
    await pods.until(lambda: _phase(pods, "big") == "Failed", "big is refused")
    assert kubelet.refused == ["big"]
    pod = pods.named("big")
    assert pod is not None
    assert (node_of(pod), pod["status"]["reason"]) == ("small1", "OutOfcpu")


def _phase(pods: PodCache, name: str) -> str:
    pod = pods.named(name)
    return pod["status"]["phase"] if pod else ""
