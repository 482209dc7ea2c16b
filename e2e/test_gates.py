"""Pods held by Paddock's own scheduling gate, set by the shipped policy, on the real control plane."""

from e2e.cluster import Cluster, Object
from e2e.stand import Stand, eventually

POLICY = "gates/gate-managed-pods.yaml"
GATE = "paddock.dev/queue"
CONDITION = "paddock.dev/Admitted"


async def test_the_policy_gates_and_paddock_opens_in_turn(cluster: Cluster) -> None:
    """Opt-in by a label of the namespace; PodScheduled stays kube-scheduler's own."""
    async with Stand(cluster, {"a": {"max": {"vcore": "2"}}}, policies=(POLICY,)) as stand:
        await cluster.add_nodes(1)
        await _label(cluster, "true")
        await _until_gated(cluster)
        for name in ("p1", "p2", "p3"):
            await cluster.create_pod(name, queue="root.a", app=name)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two opened and bound")
        (left,) = (each["metadata"]["name"] for each in stand.pods.waiting())
        said = await eventually(lambda: _condition(cluster, left), "a condition")
        assert (said["status"], said["reason"]) == ("False", "QuotaExceeded")
        assert said["message"] == "QuotaExceeded: root.a max vcore=2"
        scheduled = await _condition(cluster, left, "PodScheduled")
        assert scheduled is not None
        assert scheduled["reason"] == "SchedulingGated"
        await cluster.delete_pod(stand.pods.bound()[0]["metadata"]["name"])
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2 and not stand.pods.waiting(), "the third")
        opened = await eventually(lambda: _opened(cluster, left), "the condition, true")
        assert opened["reason"] == "Admitted"
        await _label(cluster, None)
        await stand.audited()


async def _label(cluster: Cluster, value: str | None) -> None:
    body = {"metadata": {"labels": {"paddock.dev/gate": value}}}
    await cluster.patch(f"/api/v1/namespaces/{cluster.namespace}", body)


async def _until_gated(cluster: Cluster) -> None:
    """A new policy takes a moment: dry-run pods until one has the gate."""
    path = f"/api/v1/namespaces/{cluster.namespace}/pods"
    for _ in range(400):
        made = await cluster.request(
            "POST", path, cluster.pod("probe", queue="root.a"), params={"dryRun": "All"}
        )
        if any(gate["name"] == GATE for gate in made["spec"].get("schedulingGates", ())):
            return
    raise AssertionError("the policy gates no pod")


async def _opened(cluster: Cluster, pod: str) -> Object | None:
    said = await _condition(cluster, pod)
    return said if said is not None and said["status"] == "True" else None


async def _condition(cluster: Cluster, pod: str, kind: str = CONDITION) -> Object | None:
    found = await cluster.request("GET", f"/api/v1/namespaces/{cluster.namespace}/pods/{pod}")
    return next((each for each in found["status"].get("conditions", ()) if each["type"] == kind), None)
