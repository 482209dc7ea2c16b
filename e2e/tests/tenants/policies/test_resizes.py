"""Policy of resizes: a tenant raises no pod's requests (F-24)."""

import copy
from collections.abc import Mapping

import pytest

from e2e.cluster.client import Cluster
from e2e.cluster.permissions import refusal
from e2e.tests.tenants.policies.requests import (
    RAISED,
    STRATEGIC,
    grant,
    patch,
    pod_path,
    resize,
    until_allowed,
)


@pytest.mark.parametrize("requests", [{"cpu": "1001m"}, {"memory": "2Gi"}, {"cpu": "500m", "memory": "2Gi"}])
async def test_a_tenant_resizes_no_pod_upward(cluster: Cluster, requests: Mapping[str, str]) -> None:
    await cluster.create_pod("mine", queue="root.a", cpu="1", memory="1Gi")
    assert RAISED in await refusal(resize(cluster, pod_path(cluster, "mine"), **requests))


async def test_nor_one_container_at_the_cost_of_another(cluster: Cluster) -> None:
    pod = cluster.pod("mine", queue="root.a", cpu="1")
    other = copy.deepcopy(pod["spec"]["containers"][0]) | {"name": "d"}
    pod["spec"]["containers"].append(other)
    await cluster.create(pod)
    shifted = [
        {"name": name, "resources": {"requests": {"cpu": cpu}}} for name, cpu in (("c", "2"), ("d", "0"))
    ]
    path = pod_path(cluster, "mine") + "/resize"
    change = {"spec": {"containers": shifted}}
    assert RAISED in await refusal(patch(cluster, path, change, content_type=STRATEGIC))


async def test_a_tenant_may_resize_downward(cluster: Cluster) -> None:
    await cluster.create_pod("mine", queue="root.a", cpu="1", memory="1Gi")
    await resize(cluster, pod_path(cluster, "mine"), cpu="0.5", memory="1024Mi")
    found = await cluster.request("GET", pod_path(cluster, "mine"))
    assert found["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}


async def test_a_tenant_may_resize_an_unmanaged_pod(cluster: Cluster) -> None:
    await cluster.create_pod("free", scheduler_name="default-scheduler", cpu="1")
    await resize(cluster, pod_path(cluster, "free"), cpu="2")


async def test_a_holder_of_the_verb_resizes_upward(cluster: Cluster) -> None:
    await cluster.create_pod("mine", queue="root.a", cpu="1")
    await grant(cluster, "raise-pod-requests")
    await until_allowed(lambda: resize(cluster, pod_path(cluster, "mine"), cpu="2"))
