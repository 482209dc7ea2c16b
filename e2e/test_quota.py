"""A queue's quota really holds pods back, on the real control plane; the observer is always on."""

import time

from e2e.cluster import Cluster, is_terminal, message_of, node_of
from e2e.stand import Stand

TWO = {"a": {"max": {"vcore": "2"}}}


async def test_a_pod_in_a_queue_runs(cluster: Cluster) -> None:
    async with Stand(cluster, TWO) as stand:
        await cluster.add_nodes(2)
        await cluster.create_pod("p", queue="root.a")
        await stand.pods.until(lambda: node_of(stand.pods.named("p") or {"spec": {}}), "p is bound")
        await stand.audited()


async def test_three_pods_over_a_quota_of_two(cluster: Cluster) -> None:
    """One waits with the reason in its status, and runs within 2 s of one finishing."""
    async with Stand(cluster, TWO) as stand:
        await cluster.add_nodes(2)
        for name in ("p1", "p2", "p3"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two are bound")
        await stand.pods.until(
            lambda: "QuotaExceeded: root.a max vcore=2" in message_of(stand.pods.waiting()[0]),
            "the third says why",
        )
        waiting = stand.pods.waiting()[0]["metadata"]["name"]
        story = await stand.paddock.story(cluster.namespace, waiting)
        assert story["verdict"]["code"] == "QuotaExceeded"
        assert story["verdict"]["headroom"]["vcore"] == 0
        before = time.monotonic()
        await cluster.delete_pod(stand.pods.bound()[0]["metadata"]["name"])
        await stand.pods.until(lambda: not stand.pods.waiting(), "the third runs", timeout=10)
        print(f"a freed slot was taken after {time.monotonic() - before:.3f} s")
        assert time.monotonic() - before < 2
        await stand.audited()


def _finished(stand: Stand) -> int:
    return sum(is_terminal(pod) for pod in stand.pods.pods.values())
