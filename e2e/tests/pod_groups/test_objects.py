"""scheduler-plugins' PodGroup objects, where their definition is installed (COS-10)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.stands.stand import Stand, eventually
from e2e.tests.pod_groups.test_coscheduling import TREE, refused_with, settled

LABEL = "scheduling.x-k8s.io/pod-group"
SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "podgroups.scheduling.x-k8s.io",
        # The API server asks for this annotation for API groups below k8s.io.
        "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
    },
    "spec": {
        "group": "scheduling.x-k8s.io",
        "scope": "Namespaced",
        "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SCHEMA}}},
            }
        ],
    },
}


@asynccontextmanager
async def installed(cluster: Cluster) -> AsyncIterator[None]:
    """Install the definition until the block ends."""
    await cluster.create({**DEFINITION, "metadata": dict(DEFINITION["metadata"])})
    try:
        await eventually(lambda: _is_served(cluster), "the definition is served")
        yield
    finally:
        name = DEFINITION["metadata"]["name"]
        with suppress(ApiFailure):
            await cluster.request("DELETE", path_of("CustomResourceDefinition", name=name))
        await eventually(lambda: _is_forgotten(cluster), "the next test finds no definition", timeout=30)


async def _is_served(cluster: Cluster) -> bool:
    """True if it is served, and discovered, by which Paddock finds it."""
    try:
        await cluster.request("GET", path_of("PodGroup", cluster.namespace))
        found = await cluster.request("GET", path_of("PodGroup").rpartition("/")[0])
    except ApiFailure:
        return False
    return any(each["name"] == "podgroups" for each in found["resources"])


async def _is_forgotten(cluster: Cluster) -> bool:
    try:
        await cluster.request("GET", path_of("PodGroup").rpartition("/")[0])
    except ApiFailure as failure:
        return failure.status == 404
    return False


def group(cluster: Cluster, least: int) -> Object:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": cluster.namespace},
        "spec": {"minMember": least},
    }


def pods(cluster: Cluster, count: int) -> list[Object]:
    return [cluster.pod(f"g-{at}", queue="root.a", labels={LABEL: "g"}) for at in range(count)]


async def test_an_object_says_how_many_start_together(cluster: Cluster) -> None:
    async with installed(cluster), Stand(cluster, TREE) as stand:
        await cluster.add_nodes(1)
        first, second, third = pods(cluster, 3)
        await cluster.create_pods([first, second])
        await stand.pods.until(lambda: len(stand.pods.waiting()) == 2, "two are there")
        await stand.pods.until(refused_with(stand, "its PodGroup is missing"), "they wait for their object")
        await cluster.create(group(cluster, 3))
        await cluster.create(third)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 3, "all three run")
        await settled(stand)


async def test_without_the_definition_the_label_means_nothing(cluster: Cluster) -> None:
    async with Stand(cluster, TREE) as stand:
        await cluster.add_nodes(1)
        await cluster.create_pods(pods(cluster, 1))
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "it runs like any other")
        await settled(stand)
