"""Policy of the gate: a tenant opens no gate of Paddock's, while Paddock opens them by its role (F-7)."""

import pytest

from e2e.cluster.client import Cluster
from e2e.cluster.permissions import refusal
from e2e.stands.gangs import Job
from e2e.stands.stand import INSTALLED, Stand, rendered
from e2e.tests.tenants.policies.requests import (
    GATE,
    TENANT,
    UNGATED,
    create,
    gated,
    grant,
    patch,
    ungate,
    until_allowed,
)


@pytest.mark.parametrize("how", ["merge", "strategic", "json", "put", "apply"])
async def test_a_tenant_opens_no_gate_of_ours(cluster: Cluster, how: str) -> None:
    path = await gated(cluster)
    assert UNGATED in await refusal(ungate(cluster, path, how=how))
    pod = await cluster.request("GET", path)
    assert {"name": GATE} in pod["spec"]["schedulingGates"]


async def test_gates_of_others_are_his(cluster: Cluster) -> None:
    path = await gated(cluster)
    await patch(cluster, path, {"spec": {"schedulingGates": [{"name": GATE}]}})
    await patch(cluster, path, {"metadata": {"labels": {"mine": "1"}}})
    await cluster.request("DELETE", path, user=TENANT)


async def test_a_holder_of_the_verb_opens_gates(cluster: Cluster) -> None:
    path = await gated(cluster)
    await grant(cluster, "open-paddock-gates")
    await until_allowed(lambda: ungate(cluster, path))


@pytest.mark.parametrize("subject", ["paddock", "paddock-certificate", "admin"])
async def test_paddock_opens_them_by_its_role(cluster: Cluster, subject: str) -> None:
    """Paddock's service account has the role as shipped in `base`, its certificate that of `kubeadm`."""
    for thing in rendered("service") if subject == "paddock" else ():
        if thing["kind"] in INSTALLED:
            await cluster.apply(thing)
    path = await gated(cluster)
    await until_allowed(lambda: ungate(cluster, path, user=subject))


async def test_gangs_and_gates_go_their_way(cluster: Cluster) -> None:
    """With the account and the role as shipped for kubeadm, placeholders are made and gates are opened."""
    async with Stand(cluster, {"a": {"max": {"vcore": "3"}}}) as stand:
        await cluster.add_nodes(1)
        job = Job("job", 2, queue="root.a", spec=GATED_BY_US)
        for pod in job.manifests(cluster):
            await create(cluster, pod)
        await create(cluster, cluster.pod("single", queue="root.a", app="single", spec=GATED_BY_US))
        await stand.pods.until(lambda: len(_members(stand)) == 3, "all run", timeout=60)
        await stand.audited()


GATED_BY_US = {"schedulingGates": [{"name": GATE}]}


def _members(stand: Stand) -> list[str]:
    names = [pod["metadata"]["name"] for pod in stand.pods.bound()]
    return [name for name in names if name.startswith(("job", "single"))]
