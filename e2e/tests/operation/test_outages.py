"""Unmanaged pods do not suffer from an outage of Paddock, while pods of a queue wait for it."""

from e2e.cluster.client import Cluster, message_of
from e2e.stands.stand import Stand

QUEUES = {"a": {"max": {"vcore": "2"}}}
MARKED = {
    "containers": [
        {
            "name": "c",
            "image": "pause",
            "resources": {
                "requests": {
                    "cpu": "1",
                    **{f"paddock.dev/{verb}": "1" for verb in ("filter", "preempt", "bind")},
                },
                "limits": {f"paddock.dev/{verb}": "1" for verb in ("filter", "preempt", "bind")},
            },
        }
    ]
}
SCOPED = "kubeadm/scheduler-config-scoped.yaml"


async def test_an_unmanaged_pod_schedules_while_paddock_is_stopped(cluster: Cluster) -> None:
    async with Stand(cluster, QUEUES, config=SCOPED) as stand:
        await cluster.add_nodes(1)
        await stand.paddock.stop()
        await cluster.create_pod("mine", queue="root.a", spec=MARKED)
        await cluster.create_pod("foreign", scheduler_name="default-scheduler")
        await stand.pods.until(lambda: _is_bound(stand, "foreign"), "the unmanaged pod runs")
        assert not _is_bound(stand, "mine")
        await stand.paddock.start()
        await stand.pods.until(lambda: _is_bound(stand, "mine"), "the queued pod runs when Paddock is back")
        await stand.audited()


async def test_an_unmanaged_pod_schedules_while_paddock_is_not_synced(cluster: Cluster) -> None:
    """Namespaces are known, pods are not: filter is open for unmanaged pods and closed for the others."""
    async with Stand(cluster, QUEUES, proxied=True) as stand:
        await cluster.add_nodes(1)
        stand.proxy.freeze("/api/v1/nodes")
        await stand.paddock.kill()
        await stand.paddock.start(wait=False)
        await cluster.create_pod("mine", queue="root.a")
        await cluster.create_pod("foreign", scheduler_name="default-scheduler")
        await stand.pods.until(lambda: _is_bound(stand, "foreign"), "the unmanaged pod runs")
        await stand.pods.until(
            lambda: "NotReady" in message_of(stand.pods.named("mine")), "the other is told"
        )
        status, text = await stand.paddock.get("/readyz")
        assert (status, "waiting for" in text) == (503, True)
        stand.proxy.clear()
        await stand.pods.until(lambda: _is_bound(stand, "mine"), "the queued pod runs once it is synced")
        await stand.audited()


async def test_unmanaged_pods_pass_untouched_and_count_on_their_nodes(cluster: Cluster) -> None:
    async with Stand(cluster, QUEUES) as stand:
        await cluster.add_nodes(1, cpu="4")
        for at in range(3):
            await cluster.create_pod(f"foreign-{at}", scheduler_name="default-scheduler")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 3, "all three run above any quota")
        await cluster.create_pod("mine", queue="root.a")
        await stand.pods.until(lambda: _is_bound(stand, "mine"), "and the queued one beside them")
        # The observer has a watch of its own.
        used = {"cpu": 1000, "pods": 1}
        await stand.pods.until(lambda: stand.observer.rules.usage("root.a") == used, "one pod counts")
        await stand.audited()


def _is_bound(stand: Stand, name: str) -> bool:
    return any(pod["metadata"]["name"] == name for pod in stand.pods.bound())
