"""Quotas on the real control plane: pods really wait, and the observer is always on."""

import asyncio
import time

import pytest

from e2e.cluster.client import Cluster, Object, message_of, node_of
from e2e.stands.stand import NAMESPACE, Stand, eventually
from e2e.stands.timing import took

TWO = {"a": {"max": {"vcore": "2"}}}
REFUSED = "QuotaExceeded: root.a max vcore=2"


async def test_a_pod_in_a_queue_runs(cluster: Cluster) -> None:
    async with Stand(cluster, TWO) as stand:
        await cluster.add_nodes(2)
        await cluster.create_pod("p", queue="root.a")
        await stand.pods.until(lambda: node_of(stand.pods.named("p") or {"spec": {}}), "p is bound")
        await stand.audited()


@pytest.mark.timed
@pytest.mark.smoke("filter", "quota")
async def test_three_pods_over_a_quota_of_two(cluster: Cluster) -> None:
    """The third pod has a reason in its status, figures in its story, and runs when another finishes."""
    async with Stand(cluster, TWO) as stand:
        await cluster.add_nodes(2)
        for name in ("p1", "p2", "p3"):
            await cluster.create_pod(name, queue="root.a")
        await _two_run_and_one_waits(stand)
        waiting = stand.pods.waiting()[0]["metadata"]["name"]
        story = await stand.paddock.story(cluster.namespace, waiting)
        assert story["verdict"]["code"] == "QuotaExceeded"
        assert story["verdict"]["headroom"]["vcore"] == 0
        await _free_one(cluster, stand)
        await stand.audited()


@pytest.mark.timed
async def test_freed_and_raised_quota_among_300_refused_pods(cluster: Cluster) -> None:
    """The pods of one queue are served at once although 300 of another wait."""
    tree = {**TWO, "crowd": {"max": {"vcore": "1"}}}
    async with Stand(cluster, tree) as stand:
        await cluster.add_nodes(4)
        await cluster.create_pods(cluster.pod(f"crowd-{at}", queue="root.crowd") for at in range(301))
        await stand.pods.until(
            lambda: len(stand.pods.refused("QuotaExceeded")) == 300,
            "300 are refused",
        )
        for name in ("p1", "p2", "p3", "p4"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(
            lambda: len(stand.pods.bound()) == 3 and len(stand.pods.refused(REFUSED)) == 2,
            "two of four, and one of the crowd; two are refused",
        )
        mine = [pod for pod in stand.pods.bound() if pod["metadata"]["name"].startswith("p")]
        before, deleted = time.monotonic(), mine[0]["metadata"]["name"]
        await cluster.delete_pod(deleted)
        await stand.pods.until(
            lambda: stand.pods.named(deleted) is None and _bound(stand, "p") == 2,
            "a freed slot is taken",
            timeout=10,
        )
        freed = time.monotonic() - before
        before = time.monotonic()
        await stand.configure({"a": {"max": {"vcore": "3"}}, "crowd": {"max": {"vcore": "1"}}})
        await stand.pods.until(lambda: _bound(stand, "p") == 3, "a raised quota is used", timeout=10)
        raised = time.monotonic() - before
        took("with 300 refused, a freed slot is taken", freed, at_most=2)
        took("with 300 refused, a raised quota is used", raised, at_most=2)
        assert await stand.paddock.metric("paddock_effects_total", effect="WakePod", outcome="done") > 0
        await stand.audited()


async def test_the_parents_max_binds_both_children(cluster: Cluster) -> None:
    tree = {"team": {"max": {"vcore": "3"}, "x": {"max": {"vcore": "2"}}, "y": {"max": {"vcore": "2"}}}}
    async with Stand(cluster, tree) as stand:
        await cluster.add_nodes(2)
        for at in range(3):
            await cluster.create_pod(f"x{at}", queue="root.team.x", app="x")
            await cluster.create_pod(f"y{at}", queue="root.team.y", app="y")
        await stand.pods.until(
            lambda: len(stand.pods.bound()) == len(stand.pods.refused("QuotaExceeded")) == 3,
            "three of six run and the others are refused",
        )
        assert stand.pods.refused("root.team max")
        await stand.audited()


async def test_a_resized_pod_counts_at_once(cluster: Cluster) -> None:
    """RES-8, F-24: above the queue's max nothing is evicted, nothing more is admitted, and it is reported."""
    async with Stand(cluster, {"a": {"max": {"vcore": "4"}}}) as stand:
        await cluster.add_nodes(1)
        pod = await cluster.create_pod("grows", queue="root.a", cpu="1")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "it runs")
        resources = {"name": "c", "resources": {"requests": {"cpu": "5"}}}
        path = f"/api/v1/namespaces/{cluster.namespace}/pods/grows/resize"
        await cluster.request(
            "PATCH",
            path,
            {"spec": {"containers": [resources]}},
            content_type="application/strategic-merge-patch+json",
        )
        await _until_allocated(stand, "root.a", 5000)
        await cluster.create_pod("late", queue="root.a", cpu="1")
        await stand.pods.until(lambda: "QuotaExceeded" in message_of(stand.pods.named("late")), "refused")
        assert [each["metadata"]["uid"] for each in stand.pods.bound()] == [pod["metadata"]["uid"]]
        over = await stand.paddock.metric("paddock_queue_over_max", queue="root.a", resource="vcore")
        assert over == 1000
        events = await eventually(lambda: _events(cluster, "grows", "OverMax"), "an Event")
        assert [each["message"].partition(" Nothing")[0] for each in events] == [
            "queue root.a is above its max: vcore by 1."
        ]
        await cluster.delete_pod("grows")
        await stand.pods.until(lambda: node_of(stand.pods.named("late")), "below the max it goes on")
        assert await stand.paddock.metric("paddock_over_max", kind="queue") == 0
        await stand.audited()


async def test_an_invalid_edit_keeps_the_old_configuration_and_says_so(cluster: Cluster) -> None:
    async with Stand(cluster, TWO) as stand:
        await cluster.add_nodes(1)
        bad = "partitions:\n- name: default\n  queues:\n  - name: root\n    resource: {}\n"
        await cluster.configmap(NAMESPACE, "yunikorn-configs", {"queues.yaml": bad})
        error = await eventually(lambda: _last_error(stand), "an error")
        assert "resource" in error
        assert (await stand.paddock.get("/readyz"))[0] == 200
        assert await stand.paddock.metric("paddock_reloads_total", fate="refused") == 1
        await eventually(lambda: _event_on_config_map(cluster), "an Event")
        for name in ("p1", "p2", "p3"):
            await cluster.create_pod(name, queue="root.a")
        await _two_run_and_one_waits(stand)
        await stand.audited()


async def test_a_volume_that_binds_late_keeps_the_quota(cluster: Cluster) -> None:
    """PreBind takes 40 s, longer than a reservation: its quota must not be given to another pod."""
    async with Stand(cluster, {"a": {"max": {"vcore": "1"}}}) as stand:
        await cluster.add_nodes(1)
        await _late_volume(cluster)
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "late"}}]
        await cluster.create_pod("slow", queue="root.a", spec={"volumes": volumes})
        await eventually(lambda: _selected_node(cluster), "PreBind begins")
        await cluster.create_pod("quick", queue="root.a")
        await stand.pods.until(lambda: "QuotaExceeded" in message_of(stand.pods.named("quick")), "refused")
        await asyncio.sleep(40)  # the test shows that nothing happens in this time
        assert stand.pods.bound() == []
        await _bind_claim(cluster)
        await stand.pods.until(lambda: _bound(stand, "slow") == 1, "slow is bound")
        assert "QuotaExceeded" in message_of(stand.pods.named("quick"))
        await stand.audited()


# -- steps ---------------------------------------------------------------------------------------------------


def _bound(stand: Stand, prefix: str) -> int:
    return sum(pod["metadata"]["name"].startswith(prefix) for pod in stand.pods.bound())


async def _two_run_and_one_waits(stand: Stand) -> None:
    await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two are bound")
    await stand.pods.until(lambda: len(stand.pods.refused(REFUSED)) == 1, "the third says why")


async def _free_one(cluster: Cluster, stand: Stand) -> None:
    before = time.monotonic()
    await cluster.delete_pod(stand.pods.bound()[0]["metadata"]["name"])
    await stand.pods.until(lambda: not stand.pods.waiting(), "the third runs", timeout=10)
    took("a freed slot is taken", time.monotonic() - before, at_most=2)


async def _until_allocated(stand: Stand, queue: str, amount: int) -> None:
    async def ask() -> bool:
        held = await stand.paddock.metric("paddock_queue_allocated", queue=queue, resource="vcore")
        return held == amount

    await eventually(ask, f"{queue} holds {amount}")


async def _last_error(stand: Stand) -> str:
    _, text = await stand.paddock.get("/readyz?verbose")
    lines = [each for each in text.splitlines() if each.startswith("last configuration error: ")]
    return lines[0].partition(": ")[2] if lines else ""


async def _event_on_config_map(cluster: Cluster) -> str:
    found = await cluster.request("GET", f"/api/v1/namespaces/{NAMESPACE}/events")
    return next(
        (
            each["message"]
            for each in found["items"]
            if each["reason"] == "ConfigurationRefused" and each["involvedObject"]["kind"] == "ConfigMap"
        ),
        "",
    )


async def _late_volume(cluster: Cluster) -> None:
    await cluster.create(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": f"late-{cluster.run}"},
            "provisioner": "example.com/none",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    )
    await cluster.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "late", "namespace": cluster.namespace},
            "spec": {
                "storageClassName": f"late-{cluster.run}",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    )


async def _selected_node(cluster: Cluster) -> str:
    """The annotation that kube-scheduler writes on the claim in PreBind, for a provisioner."""
    claim = await cluster.request("GET", _claim(cluster))
    return str(claim["metadata"].get("annotations", {}).get("volume.kubernetes.io/selected-node", ""))


async def _bind_claim(cluster: Cluster) -> None:
    """Bind a claim, as the volume controller does."""
    volume = f"late-{cluster.run}"
    claim = await cluster.request("GET", _claim(cluster))
    await cluster.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {
                "name": volume,
                "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"},
            },
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": volume,
                "hostPath": {"path": "/late"},
                "claimRef": {
                    "kind": "PersistentVolumeClaim",
                    "namespace": cluster.namespace,
                    "name": "late",
                    "uid": claim["metadata"]["uid"],
                },
            },
        }
    )
    done = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    await cluster.patch(_claim(cluster), {"metadata": {"annotations": done}, "spec": {"volumeName": volume}})
    await cluster.patch(
        _claim(cluster) + "/status", {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
    )


def _claim(cluster: Cluster) -> str:
    return f"/api/v1/namespaces/{cluster.namespace}/persistentvolumeclaims/late"


async def _events(cluster: Cluster, pod: str, reason: str) -> list[Object]:
    path = f"/api/v1/namespaces/{cluster.namespace}/events"
    items: list[Object] = (await cluster.request("GET", path))["items"]
    return [each for each in items if (each["involvedObject"]["name"], each["reason"]) == (pod, reason)]
