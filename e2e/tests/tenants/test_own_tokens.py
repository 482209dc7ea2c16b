"""The owner of a pod against a tenant's own token, without any policy (F-1, F-15)."""

import json
from functools import partial

import pytest_asyncio
import yaml

from e2e.cluster.client import RUN_LABEL, Cluster, Object, message_of, node_of, path_of
from e2e.cluster.permissions import allow
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, eventually, eventually_equal
from e2e.stands.tenants import checksum

DOMAIN = "yunikorn.apache.org/"
APP, QUEUE, USER_INFO = DOMAIN + "app-id", DOMAIN + "queue", DOMAIN + "user.info"
GROUPS, POLICY = DOMAIN + "task-groups", DOMAIN + "schedulingPolicyParameters"
FOUR = {"a": {"max": {"vcore": "4"}}, "b": {}}
OVER = "QuotaExceeded: root.a max vcore=4"


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _permitted(cluster: Cluster) -> None:
    await _permit(cluster, "tenant", cluster.namespace)


async def test_a_node_name_opens_no_way_past_a_quota(cluster: Cluster) -> None:
    """F-1: waiting pods are placed by their own labels, while the forced pods run and after they are gone."""
    async with Stand(cluster, FOUR) as stand:
        await cluster.add_nodes(2)
        for name, node in (("forced", "n1"), ("lost", "no-such-node")):
            forced = cluster.pod(name, queue="root.nope", app="sly", spec={"nodeName": node})
            await _make(cluster, "tenant", forced)
        for at in range(8):
            await _make(cluster, "tenant", cluster.pod(f"w{at}", queue="root.a", app="sly"))
        await _four_run_and_the_others_are_refused(stand, 4)
        recovered = partial(_allocated, stand, "root.@recovery@")
        await eventually_equal(recovered, 2000, "the forced pods count in recovery")
        assert await stand.paddock.metric("paddock_recovered_pods_total") == 2
        for name in ("forced", "lost"):
            await _as(cluster, "tenant", "DELETE", name, {"gracePeriodSeconds": 0})
        for at in range(8, 12):
            await _make(cluster, "tenant", cluster.pod(f"w{at}", queue="root.a", app="sly"))
        await _four_run_and_the_others_are_refused(stand, 8)
        await eventually_equal(recovered, 0, "nothing is in recovery any more")
        await stand.audited()


async def test_an_id_of_another_namespace_opens_nothing(cluster: Cluster) -> None:
    """F-15: a rival with an application's id neither enters its queue nor gets its pods marked Failed."""
    elsewhere = await cluster.create_namespace()
    await _permit(cluster, "rival", elsewhere)
    async with Stand(cluster, FOUR) as stand:
        await cluster.add_nodes(2)
        await _in_force(stand, [{"name": "a", "submitacl": "alice", "resources": {"max": {"vcore": 4}}}])
        alice, mallory = _user("alice"), _user("mallory")
        await _make(cluster, "tenant", cluster.pod("own", queue="root.a", app="job", annotations=alice))
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "the tenant's own pod runs")
        rival = partial(cluster.pod, namespace=elsewhere, queue="root.a", annotations=mallory)
        await _make(cluster, "rival", rival("theirs", app="job"), elsewhere)
        await stand.pods.until(
            lambda: "AccessDenied" in message_of(stand.pods.named("theirs", elsewhere)),
            "the rival is refused",
        )
        await eventually(
            partial(_has_event, cluster, elsewhere, "theirs", "ApplicationOfAnother"), "an Event"
        )
        gang = json.dumps([{"name": "g", "minMember": 90, "minResource": {"cpu": "1"}}])
        hard = {GROUPS: gang, POLICY: "gangSchedulingStyle=Hard placeholderTimeoutInSeconds=1"}
        await _make(
            cluster,
            "rival",
            cluster.pod("hard", app="next", namespace=elsewhere, annotations=hard),
            elsewhere,
        )
        await _make(cluster, "tenant", cluster.pod("next", queue="root.a", app="next", annotations=alice))
        await stand.pods.until(
            lambda: node_of(stand.pods.named("next") or {"spec": {}}), "the tenant's next one runs"
        )
        story = await stand.paddock.story(cluster.namespace, "next")
        assert (story["application"], story["queue"]) == ("next", "root.a")
        assert story["applicationNamespace"] == cluster.namespace
        await stand.audited()


async def test_a_label_that_is_changed_moves_no_charge(cluster: Cluster) -> None:
    """F-23: the change is reported when seen, and after a crash the pods count where they were."""
    async with Stand(cluster, {**FOUR, "b": {"max": {"vcore": "100"}}}) as stand:
        await cluster.add_nodes(2)
        for at in range(4):
            await _make(cluster, "tenant", cluster.pod(f"r{at}", queue="root.a", app="job"))
        await stand.pods.until(lambda: len(stand.pods.bound()) == 4, "four run")
        for at in range(4):
            labels = {QUEUE: "root.b", APP: "other"}
            path = path_of("Pod", cluster.namespace, f"r{at}")
            await cluster.patch(path, {"metadata": {"labels": labels}}, user="tenant")
        counted = partial(stand.paddock.metric, "paddock_relabelled_pods_total")
        await eventually_equal(counted, 4, "all are seen")
        await eventually(partial(_has_event, cluster, cluster.namespace, "r0", "Relabelled"), "an Event")
        assert (
            "stays in application job" in (await stand.paddock.story(cluster.namespace, "r0"))["relabelled"]
        )
        noted = partial(stand.pods.note, key="paddock.dev/application")
        await stand.pods.until(lambda: all(noted(f"r{at}") for at in range(4)), "what they were is on them")
        await stand.paddock.kill()
        await stand.paddock.start()
        await eventually_equal(partial(_allocated, stand, "root.a"), 4000, "they count where they were")
        assert await _allocated(stand, "root.b") == 0
        await _make(cluster, "tenant", cluster.pod("late", queue="root.a", app="job"))
        await stand.pods.until(lambda: OVER in message_of(stand.pods.named("late")), "one more is refused")
        assert await stand.paddock.drifts() == []


async def _four_run_and_the_others_are_refused(stand: Stand, refused: int) -> None:
    def found() -> bool:
        waiting = stand.pods.refused(OVER)
        running = [pod for pod in stand.pods.bound() if pod["metadata"]["name"].startswith("w")]
        return (len(running), len(waiting)) == (4, refused)

    await stand.pods.until(found, f"four run and {refused} are refused")


async def _permit(cluster: Cluster, user: str, namespace: str) -> None:
    verbs = ["create", "get", "update", "patch", "delete"]
    await allow(cluster, {"kind": "User", "name": user}, verbs, "pods", groups=[""], namespace=namespace)


async def _make(cluster: Cluster, user: str, pod: Object, namespace: str = "") -> None:
    """Create an object with the user's own token, labelled so that the test's end deletes it."""
    pod["metadata"]["labels"][RUN_LABEL] = cluster.run
    await cluster.request("POST", path_of("Pod", namespace or cluster.namespace), pod, user=user)


async def _as(cluster: Cluster, user: str, method: str, name: str, body: Object) -> None:
    await cluster.request(method, path_of("Pod", cluster.namespace, name), body, user=user)


def _user(name: str) -> dict[str, str]:
    return {USER_INFO: json.dumps({"user": name})}


async def _allocated(stand: Stand, queue: str) -> float:
    return await stand.paddock.metric("paddock_queue_allocated", queue=queue, resource="vcore")


async def _has_event(cluster: Cluster, namespace: str, pod: str, reason: str) -> bool:
    found = await cluster.request("GET", f"/api/v1/namespaces/{namespace}/events")
    return any(each["reason"] == reason and each["involvedObject"]["name"] == pod for each in found["items"])


async def _in_force(stand: Stand, queues: list[Object]) -> None:
    """Queues below a root to which no user may submit."""
    text = yaml.safe_dump(
        {"partitions": [{"name": "default", "queues": [{"name": "root", "queues": queues}]}]}
    )
    await stand.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": text})

    async def ask() -> bool:
        _, notes = await stand.paddock.get("/readyz?verbose")
        return f"configuration: {checksum(text)}" in notes.splitlines()

    await eventually(ask, "the queues are in force")
