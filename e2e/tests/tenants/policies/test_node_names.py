"""Policy against forcing: a tenant binds no managed pod by ``spec.nodeName`` (F-1)."""

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from e2e.cluster.client import Cluster, Object, path_of
from e2e.cluster.permissions import refusal
from e2e.stands.stand import eventually
from e2e.tests.tenants.policies.requests import (
    APP,
    DOMAIN,
    FORCED,
    QUEUE,
    TENANT,
    WORKLOADS,
    create,
    grant,
    patch,
    permit,
    post_workload,
    until_allowed,
    workload,
)


@pytest.mark.parametrize(
    "pod",
    [
        {"scheduler_name": "yunikorn"},
        {"scheduler_name": "paddock"},
        {"scheduler_name": "somebody", "app": "app-1"},
        {"scheduler_name": "default-scheduler", "queue": "root.a"},
        {"scheduler_name": "default-scheduler", "annotations": {QUEUE: "root.a"}},
        {"scheduler_name": "default-scheduler", "annotations": {APP: "app-1"}},
    ],
    ids=["by name", "by its other name", "by application", "by queue", "queue noted", "application noted"],
)
async def test_a_tenant_forces_no_managed_pod_onto_a_node(cluster: Cluster, pod: Mapping[str, Any]) -> None:
    manifest = cluster.pod("forced", **pod, spec={"nodeName": "not-there"})
    assert FORCED in await refusal(create(cluster, manifest))


async def test_nor_in_a_namespace_that_is_managed(cluster: Cluster) -> None:
    note = {DOMAIN + "namespace.enableYuniKorn": "true"}
    await cluster.patch(path_of("Namespace", name=cluster.namespace), {"metadata": {"annotations": note}})
    manifest = cluster.pod("forced", scheduler_name="default-scheduler", spec={"nodeName": "n1"})

    async def refused() -> bool:
        return FORCED in await refusal(create(cluster, manifest, params={"dryRun": "All"}))

    await eventually(refused, "the namespace's annotation is seen")


async def test_a_pod_in_no_queue_is_no_matter_of_ours(cluster: Cluster) -> None:
    spec = {"nodeName": "n1"}
    await create(cluster, cluster.pod("free", scheduler_name="default-scheduler", spec=spec))


async def test_a_tenant_creates_pods_and_workloads_as_before(cluster: Cluster) -> None:
    await create(cluster, cluster.pod("plain", queue="root.a"))
    await post_workload(cluster, workload(cluster, "Deployment", {"queue": "root.a"}, {}), user=TENANT)


@pytest.mark.parametrize("kind", WORKLOADS)
async def test_nor_by_a_template_that_a_controller_copies(cluster: Cluster, kind: str) -> None:
    forced = workload(cluster, kind, {"queue": "root.a"}, {"nodeName": "n1"})
    assert FORCED in await refusal(post_workload(cluster, forced, user=TENANT))
    free = workload(cluster, kind, {"scheduler_name": "default-scheduler"}, {"nodeName": "n1"})
    assert await refusal(post_workload(cluster, free, user=TENANT)) == ""


async def test_nor_by_the_edit_of_a_template(cluster: Cluster) -> None:
    await post_workload(cluster, workload(cluster, "Deployment", {"queue": "root.a"}, {}), user=TENANT)
    path = f"/apis/apps/v1/namespaces/{cluster.namespace}/deployments/w"
    change = {"spec": {"template": {"spec": {"nodeName": "n1"}}}}
    assert FORCED in await refusal(patch(cluster, path, change))
    await patch(cluster, path, {"spec": {"replicas": 3}})


@pytest.mark.parametrize("kind", ["Deployment", "CronJob"])
async def test_nor_by_a_template_that_named_its_node_before_it_was_managed(
    cluster: Cluster, kind: str
) -> None:
    """No queue is named at first, so the node name is accepted. Then only the labels change."""
    free = workload(cluster, kind, {"scheduler_name": "default-scheduler"}, {"nodeName": "n1"})
    await post_workload(cluster, free, user=TENANT)
    path = f"{WORKLOADS[kind]}/namespaces/{cluster.namespace}/{kind.lower()}s/w"
    labelled: Object = {"spec": {"template": {"metadata": {"labels": {QUEUE: "root.a"}}}}}
    if kind == "CronJob":
        labelled = {"spec": {"jobTemplate": labelled}}
    assert FORCED in await refusal(patch(cluster, path, labelled))
    await patch(cluster, path, {"metadata": {"labels": {"mine": "1"}}})


async def test_a_template_that_named_its_node_before_can_be_scaled(cluster: Cluster) -> None:
    await post_workload(cluster, workload(cluster, "Deployment", {"queue": "root.a"}, {"nodeName": "n1"}))
    path = f"/apis/apps/v1/namespaces/{cluster.namespace}/deployments/w"
    await patch(cluster, path, {"spec": {"replicas": 0}})
    moved = {"spec": {"template": {"spec": {"nodeName": "n2"}}}}
    assert FORCED in await refusal(patch(cluster, path, moved))


async def test_controllers_and_mirrors_name_nodes(cluster: Cluster) -> None:
    """A controller copies a template, which is protected itself, and a kubelet mirrors a static pod."""
    await permit(cluster, "system:node:n1")
    subject = "system:serviceaccount:kube-system:replicaset-controller"
    await permit(cluster, subject)
    named = cluster.pod("copied", queue="root.a", spec={"nodeName": "n1"})
    await until_allowed(lambda: create(cluster, copy.deepcopy(named), user="controller"))
    own = cluster.pod("own", queue="root.a", spec={"nodeName": "n1"})
    assert FORCED in await refusal(create(cluster, own, user="kubelet"))
    own["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "x"
    await create(cluster, own, user="kubelet")


async def test_a_holder_of_the_verb_names_nodes(cluster: Cluster) -> None:
    await grant(cluster, "set-node-name")
    manifest = cluster.pod("placed", queue="root.a", spec={"nodeName": "n1"})
    await until_allowed(lambda: create(cluster, copy.deepcopy(manifest)))
