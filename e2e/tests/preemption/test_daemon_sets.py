"""F-10: a forged reference to a DaemonSet evicts no pod."""

from uuid import uuid4

from e2e.cluster.client import Cluster, Object, message_of, path_of
from e2e.cluster.daemon_sets import QUEUE, bound_to, daemon_set, of_daemon_set
from e2e.cluster.permissions import allow
from e2e.stands.preemption import Contest, contest, queue
from e2e.stands.stand import eventually

QUEUES = {QUEUE: queue(), "root.work": queue(guaranteed=4)}


async def test_a_forged_owner_evicts_no_pod_and_a_daemon_set_gets_its_capacity(cluster: Cluster) -> None:
    """The tenant's own token allows anything with pods in its namespace."""
    async with contest(cluster, QUEUES, nodes=1, cores=4) as here:
        verbs = ["create", "get", "update", "patch", "delete"]
        await allow(cluster, {"kind": "User", "name": "tenant"}, verbs, "pods", groups=[""])
        work = await here.run("work", 4, queue="root.work", node="n1")
        agents = await cluster.create(daemon_set(cluster, "agents"))
        forged = _forged(cluster, agents["metadata"]["uid"])
        for pod in forged:
            await cluster.request("POST", path_of("Pod", cluster.namespace), pod, user="tenant")
        for pod in forged:
            await _until_it_waits(here, pod["metadata"]["name"])
        assert await here.stand.paddock.metric("paddock_pods_of_no_daemon_set") == len(forged) - 1
        assert here.exits.left == []
        made = of_daemon_set(cluster, "made", node="n1", uid=agents["metadata"]["uid"])
        await cluster.request("POST", path_of("Pod", cluster.namespace), made, user="daemon-set-controller")
        await here.until_bound("made")
        assert here.exits.left == [work[-1]]
        await here.until_evicted(1)
        await here.stand.audited()


def _forged(cluster: Cluster, uid: str) -> list[Object]:
    """Pods with forged owners, as important as those that run.

    Owners are an invented DaemonSet, an existing one with an invented uid, and its uid under another name.
    Others name a DaemonSet that does not select the pod, or no owner.
    """
    there = {"node": "n1"}
    pods = [
        of_daemon_set(cluster, "invented", owner="invented", uid=str(uuid4()), **there),
        of_daemon_set(cluster, "other-uid", uid=str(uuid4()), **there),
        of_daemon_set(cluster, "other-name", owner="invented", uid=uid, **there),
        of_daemon_set(cluster, "not-selected", uid=uid, app="mine", **there),
        cluster.pod("no-owner", queue=QUEUE, spec={"affinity": bound_to("n1")}),
    ]
    for pod in pods:
        pod["metadata"]["namespace"] = cluster.namespace
    return pods


async def _until_it_waits(here: Contest, name: str) -> None:
    """Wait until kube-scheduler has tried it, and Paddock knows that no DaemonSet owns it."""
    await here.pods.until(lambda: message_of(here.pods.named(name)), f"{name} was tried")

    async def known() -> bool:
        story = await here.stand.paddock.story(here.cluster.namespace, name)
        return "daemonSet" in story and (name == "no-owner" or "has not made it" in story["daemonSet"])

    await eventually(known, f"{name} is of no DaemonSet")
