"""`paddock.messages.otherNames: false` on the real control plane: what users read names only queues.

Pods, applications and users of another tenant, and all nodes, have names with a canary. No Event, condition
or refusal of the first tenant contains one. With `true`, Events of a preemption do.
Played: the nodes and their kubelet.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from e2e.cluster.client import Cluster, condition, message_of
from e2e.stands.course import RESERVED, Place, Queues, offset
from e2e.stands.preemption import Contest, queue
from e2e.stands.stand import Stand, eventually
from e2e.stands.tenants import USER_INFO

CANARY = "canary"
GATE, ADMITTED = "paddock.dev/queue", "paddock.dev/Admitted"
OWNER = {USER_INFO: json.dumps({"user": f"{CANARY}-user", "groups": [f"{CANARY}-group"]})}

GUARANTEED = {
    "root.poor": queue(guaranteed=1, cap=1),
    "root.rich": queue(guaranteed=1),
}
BY_SIZE = {"root.large": {}, "root.small": offset(1000)}


@asynccontextmanager
async def place(
    cluster: Cluster, queues: Queues, *, nodes: int, cores: int, named: bool
) -> AsyncIterator[Place]:
    """A place whose nodes have canaries in their names. ``named``: value of the setting."""
    async with Stand(cluster, {}) as stand:
        await cluster.add_nodes(nodes, cpu=str(cores), pods=1000, prefix=f"{CANARY}-node-")
        found = Place(stand, queues, {"paddock.messages.otherNames": "true" if named else "false"})
        await found.configure()
        yield found
        await found.settled()


async def theirs(cluster: Cluster, namespace: str, name: str, *, queue: str, cpu: str = "1") -> str:
    """Create a pod of the other tenant, and return its name."""
    pod = f"{CANARY}-{name}"
    app = f"{CANARY}-app-{queue.rpartition('.')[2]}"
    await cluster.create_pod(pod, namespace=namespace, queue=queue, app=app, cpu=cpu, annotations=OWNER)
    return pod


async def texts_on(here: Place, name: str, namespace: str = "") -> list[str]:
    """All that Paddock says about a pod: its Events, and the conditions with its refusals."""
    path = f"/api/v1/namespaces/{namespace or here.cluster.namespace}/events"
    found = await here.cluster.request("GET", path, params={"fieldSelector": f"involvedObject.name={name}"})
    said = [each["message"] for each in found["items"] if each.get("source") == {"component": "paddock"}]
    pod = here.pods.named(name, namespace)
    admitted = (condition(pod, ADMITTED) or {}) if pod is not None else {}
    return [*said, message_of(pod), str(admitted.get("message", ""))]


@pytest.mark.parametrize("named", [False, True], ids=["queues", "names"])
async def test_both_sides_of_a_preemption_read_only_queues(cluster: Cluster, named: bool) -> None:
    """The other tenant uses all four cores, and one of them is due to the first."""
    away = await cluster.create_namespace()
    async with place(cluster, GUARANTEED, nodes=2, cores=2, named=named) as here:
        contest = Contest(here)
        running = [await theirs(cluster, away, str(at), queue="root.rich") for at in range(4)]
        await here.until_bound(*running)
        await cluster.create_pod("ask", queue="root.poor", app="mine")
        await here.until_bound("ask", timeout=45)
        (victim,) = contest.exits.left

        async def are_reported() -> bool:
            said = [*await texts_on(here, "ask"), *await texts_on(here, victim, away)]
            return sum("evicted" in each or "gave" in each for each in said) == 2

        await eventually(are_reported, "both sides are reported", timeout=30)
        # A second ask finds its queue full, although a node is free.
        await cluster.delete_pod(next(each for each in running if each != victim), away)
        await cluster.create_pod("full", queue="root.poor", app="mine")
        # At first kube-scheduler may still lack capacity for it.
        await here.pods.until(
            lambda: "QuotaExceeded: root.poor max" in message_of(here.pods.named("full")), "its queue is full"
        )
        on_ask = " ".join([*await texts_on(here, "ask"), *await texts_on(here, "full")])
        on_victim = " ".join(await texts_on(here, victim, away))
        assert (CANARY in on_ask, "mine" in on_victim) == (named, named), (on_ask, on_victim)
        assert ("a pod of root.rich" in on_ask) != named, on_ask
        assert ("a pod of root.poor" in on_victim) != named, on_victim
        await contest.until_unmarked()


async def test_a_reserved_node_is_refused_without_the_name_of_its_owner(cluster: Cluster) -> None:
    """A node gathers capacity for a large pod of the other tenant.

    Two small pods of the first tenant are refused: one waits at Paddock's gate, and one in kube-scheduler.
    After a minute an Event describes what the first waits for.
    """
    away = await cluster.create_namespace()
    async with place(cluster, BY_SIZE, nodes=3, cores=6, named=False) as here:
        await here.fill(12)
        large = await theirs(cluster, away, "large", queue="root.large", cpu="6")
        await here.pods.until(lambda: here.pods.note(large, RESERVED, away), "a node is kept for it")
        small = [f"small-{at}" for at in range(4)]
        await cluster.create_pods(cluster.pod(name, queue="root.small") for name in small)
        await here.until_bound(*small)
        await cluster.create_pod("late", queue="root.small")
        await cluster.create_pod("gated", queue="root.small", spec={"schedulingGates": [{"name": GATE}]})

        async def is_refused() -> bool:
            said = [" ".join(await texts_on(here, name)) for name in ("late", "gated")]
            return all("NodeReserved: kept for another pod" in each for each in said)

        await eventually(is_refused, "both are refused", timeout=30)

        async def is_described() -> bool:
            return "reserved for a pod of root.large" in " ".join(await texts_on(here, "gated"))

        await eventually(is_described, "an Event describes the owner of the node", timeout=90)
        said = [*await texts_on(here, "late"), *await texts_on(here, "gated")]
        assert not [each for each in said if CANARY in each]
        await cluster.delete_pod(large, away)
        await here.until_bound("late", "gated")
