"""Deletion of a namespace as kube-controller-manager's namespace controller carries it out.

From Kubernetes' pkg/controller/namespace/deletion/namespaced_resources_deleter.go: discover all kinds, delete
their objects, and remove the finalizer once no kind is unknown and nothing is left.
"""

import asyncio
import time

from e2e.cluster.client import ApiFailure, Cluster, path_of

FINALIZER = "kubernetes"
_PATIENCE, _PAUSE = 15.0, 0.5
"""Seconds for which the controller's retries are played, and between two of them."""


async def kinds_of(cluster: Cluster) -> list[str]:
    """Paths of all kinds in namespaces that can be listed and deleted.

    Raises `ApiFailure` for a group that does not answer.
    """
    found = [("/api/v1", await cluster.request("GET", "/api/v1"))]
    for group in (await cluster.request("GET", "/apis"))["groups"]:
        path = f"/apis/{group['preferredVersion']['groupVersion']}"
        found.append((path, await cluster.request("GET", path)))
    return [
        f"{path}/namespaces/{{}}/{each['name']}"
        for path, listed in found
        for each in listed["resources"]
        if each["namespaced"] and {"list", "deletecollection"} <= {*each["verbs"]}
    ]


async def kinds_after_retries(cluster: Cluster) -> list[str]:
    """Kinds as the controller finds them, which tries again.

    A group whose APIService was deleted is named a moment longer. Raises `ApiFailure` if one stays unknown.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return await kinds_of(cluster)
        except ApiFailure:
            if time.monotonic() > until:
                raise
        await asyncio.sleep(_PAUSE)


async def delete_namespace(cluster: Cluster, name: str) -> None:
    """Delete a namespace with all that it holds. Raises `ApiFailure` if a kind stays unknown."""
    path = path_of("Namespace", name=name)
    await cluster.request("DELETE", path)
    kinds = await kinds_after_retries(cluster)
    for kind in kinds:
        where = kind.format(name)
        await cluster.request("DELETE", where, {"gracePeriodSeconds": 0})
        left = (await cluster.request("GET", where))["items"]
        names = [each["metadata"]["name"] for each in left]
        held = [each["metadata"]["name"] for each in left if each["metadata"].get("finalizers")]
        assert held == [], f"{where}: {held} have finalizers, of {names}"
    there = await cluster.request("GET", path)
    there["spec"]["finalizers"] = [each for each in there["spec"]["finalizers"] if each != FINALIZER]
    await cluster.request("PUT", f"{path}/finalize", there)


async def exists(cluster: Cluster, name: str) -> bool:
    """True if there is such a namespace."""
    try:
        await cluster.request("GET", path_of("Namespace", name=name))
    except ApiFailure as failure:
        if failure.status != 404:
            raise
        return False
    return True
