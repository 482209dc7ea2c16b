"""Pods of rejected applications on the real API server: an Event, and phase Failed where wanted (APP-8)."""

from e2e.cluster.client import Cluster, Object
from e2e.stands.stand import NAMESPACE, Stand, document, eventually

TREE = {"a": {}}
TEXT = "PlacementFailed: no queue root.nowhere"


async def test_a_rejected_pod_waits_and_fails_when_that_is_switched_on(cluster: Cluster) -> None:
    """The status is written with the shipped role, and a pod of another application is left alone."""
    async with Stand(cluster, TREE) as stand:
        await cluster.add_nodes(1)
        await cluster.create_pod("lost", queue="root.nowhere", app="lost")
        await cluster.create_pod("fine", queue="root.a", app="fine")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "the other pod")
        event = await eventually(lambda: _event(cluster, "lost"), "an Event")
        assert (event["reason"], event["message"], event["type"]) == ("ApplicationFailed", TEXT, "Warning")
        assert (await _status(cluster, "lost"))["phase"] == "Pending"
        data = {"queues.yaml": document(TREE), "paddock.markFailed": "true"}
        await cluster.configmap(NAMESPACE, "yunikorn-configs", data)
        failed = await eventually(lambda: _failed(cluster, "lost"), "a failed pod")
        assert (failed["reason"], failed["message"]) == ("ApplicationRejected", TEXT)
        await cluster.create_pod("next", queue="root.nowhere", app="lost")
        await eventually(lambda: _failed(cluster, "next"), "the next one, failed at once")
        assert (await _status(cluster, "fine")).get("reason", "") == ""
        await stand.audited()


async def _event(cluster: Cluster, pod: str) -> Object | None:
    events = await cluster.request("GET", f"/api/v1/namespaces/{cluster.namespace}/events")
    of_paddock = (each for each in events["items"] if each.get("source") == {"component": "paddock"})
    return next((each for each in of_paddock if each["involvedObject"]["name"] == pod), None)


async def _failed(cluster: Cluster, pod: str) -> Object | None:
    status = await _status(cluster, pod)
    return status if status["phase"] == "Failed" else None


async def _status(cluster: Cluster, pod: str) -> Object:
    found = await cluster.request("GET", f"/api/v1/namespaces/{cluster.namespace}/pods/{pod}")
    status: Object = found["status"]
    return status
