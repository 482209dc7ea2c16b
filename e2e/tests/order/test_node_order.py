"""Node order through prioritize as shipped (NODE-1 to NODE-3), against kube-scheduler's own scores."""

import pytest
import yaml

from e2e.cluster.client import Cluster, Object, node_of
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, eventually
from e2e.stands.tenants import checksum

CONFIG = "kubeadm/scheduler-config-prioritize.yaml"


def document_of(policy: str) -> str:
    root = {"name": "root", "submitacl": "*", "queues": [{"name": "a"}]}
    sort = {"type": policy, "resourceweights": {"vcore": 1.0}} if policy else {}
    return yaml.safe_dump({"partitions": [{"name": "default", "queues": [root], "nodesortpolicy": sort}]})


async def configure(stand: Stand, policy: str) -> None:
    text = document_of(policy)
    await stand.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": text})

    async def in_force() -> bool:
        _, found = await stand.paddock.get("/readyz?verbose")
        return f"configuration: {checksum(text)}" in found.splitlines()

    await eventually(in_force, "the document is in force")


async def nodes_taken(stand: Stand, prefix: str, count: int) -> list[str]:
    """Nodes taken by pods of one core that come one after another."""

    def taken(name: str) -> str:
        pod: Object | None = stand.pods.named(name)
        return node_of(pod) if pod else ""

    names = [f"{prefix}-{at}" for at in range(count)]
    for name in names:
        await stand.cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda name=name: taken(name) != "", f"{name} is bound")
    return [taken(name) for name in names]


@pytest.mark.smoke("prioritize")
async def test_pods_go_where_the_policy_of_the_document_says(cluster: Cluster) -> None:
    """kube-scheduler by itself would spread them, and a reload reverses the order."""
    async with Stand(cluster, {}, config=CONFIG) as stand:
        first, second, third = await cluster.add_nodes(3, cpu="4")
        await configure(stand, "binpacking")
        assert await nodes_taken(stand, "packed", 6) == [first] * 4 + [second] * 2
        await configure(stand, "fair")
        assert await nodes_taken(stand, "spread", 4) == [third, third, second, third]
        await configure(stand, "")
        await nodes_taken(stand, "left", 1)
        metric = stand.paddock.metric
        answers = [
            await metric("paddock_decisions_total", verb="prioritize", code=code)
            for code in ("Scored", "Unscored")
        ]
        assert answers == [10, 1]
        await stand.audited()
