"""Policy of labels: a tenant cannot change the owner of a pod (F-23)."""

import pytest

from e2e.cluster.client import Cluster
from e2e.cluster.permissions import refusal
from e2e.tests.tenants.policies.requests import (
    APP,
    DOMAIN,
    QUEUE,
    RELABELLED,
    TENANT,
    grant,
    patch,
    pod_path,
    until_allowed,
)

KEYS = (
    *(APP, "applicationId", "spark-app-selector", QUEUE, "queue", DOMAIN + "user.info"),
    *(DOMAIN + "task-group-name", DOMAIN + "task-groups", DOMAIN + "schedulingPolicyParameters"),
    "internal.yunikorn.apache.org/placeholder",
    *("pod-group.scheduling.x-k8s.io/name", "pod-group.scheduling.x-k8s.io/min-available"),
    "scheduling.x-k8s.io/pod-group",
)


@pytest.mark.parametrize("part", ["", "/status"])
async def test_a_tenant_does_not_say_anew_whose_a_pod_is(cluster: Cluster, part: str) -> None:
    await cluster.create_pod("mine", queue="root.a")
    path = pod_path(cluster, "mine") + part
    for key in KEYS:
        for where in ("labels", "annotations"):
            said = await refusal(patch(cluster, path, {"metadata": {where: {key: "7"}}}))
            assert RELABELLED in said, (key, where, said)
    assert RELABELLED in await refusal(patch(cluster, path, {"metadata": {"labels": {QUEUE: None}}}))
    found = await cluster.request("GET", pod_path(cluster, "mine"))
    assert found["metadata"]["labels"][QUEUE] == "root.a"


async def test_nor_by_a_whole_new_pod_or_a_binding(cluster: Cluster) -> None:
    await cluster.add_nodes(1)
    await cluster.create_pod("mine", queue="root.a", scheduler_name="somebody")
    path = pod_path(cluster, "mine")
    pod = await cluster.request("GET", path, user=TENANT)
    pod["metadata"]["labels"][QUEUE] = "root.rival"
    assert RELABELLED in await refusal(cluster.request("PUT", path, pod, user=TENANT))
    meta = {"name": "mine", "labels": {"queue": "root.rival"}}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": {"name": "n1"}}
    assert RELABELLED in await refusal(cluster.request("POST", path + "/binding", binding, user=TENANT))


async def test_a_tenant_cannot_make_an_unmanaged_pod_managed(cluster: Cluster) -> None:
    """After a restart it would fill another tenant's queue."""
    await cluster.create_pod("free", scheduler_name="default-scheduler")
    path = pod_path(cluster, "free")
    assert RELABELLED in await refusal(patch(cluster, path, {"metadata": {"labels": {QUEUE: "root.rival"}}}))
    await patch(cluster, path, {"metadata": {"labels": {"queue": "of-a-web-shop"}}})


async def test_all_other_keys_are_his(cluster: Cluster) -> None:
    await cluster.create_pod("mine", queue="root.a")
    change = {"labels": {"tier": "web"}, "annotations": {"note": "x", DOMAIN + "allow-preemption": "false"}}
    await patch(cluster, pod_path(cluster, "mine"), {"metadata": change})


async def test_a_holder_of_the_verb_says_it_anew(cluster: Cluster) -> None:
    await cluster.create_pod("mine", queue="root.a")
    await grant(cluster, "set-paddock-records")
    change = {"metadata": {"labels": {QUEUE: "root.b"}}}
    await until_allowed(lambda: patch(cluster, pod_path(cluster, "mine"), change))
