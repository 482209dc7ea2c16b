"""Requests of a tenant to the API server, for tests of the policies of ``manifests/quota``.

A tenant may create, get, update, patch and delete pods, their status, size and ephemeral containers, and
workloads, in one namespace (F-1, F-7, F-23, F-24).
"""

from collections.abc import Mapping
from typing import Any

from e2e.cluster.client import MERGE_PATCH, RUN_LABEL, Cluster, Object, path_of
from e2e.cluster.permissions import allow, refusal
from e2e.stands.stand import eventually

TENANT = "tenant"
DOMAIN = "yunikorn.apache.org/"
APP, QUEUE = DOMAIN + "app-id", DOMAIN + "queue"
GATE = "paddock.dev/queue"
GATED = {"schedulingGates": [{"name": "example.com/other"}, {"name": GATE}]}
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"

FORCED = "only with the verb set-node-name"
UNGATED = "only with the verb open-paddock-gates"
RELABELLED = "only with the verb set-paddock-records"
RAISED = "only with the verb raise-pod-requests"

WORKLOADS = {
    "ReplicationController": "/api/v1",
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), "/apis/apps/v1"),
    **dict.fromkeys(("Job", "CronJob"), "/apis/batch/v1"),
}


async def permit(cluster: Cluster, user: str) -> None:
    await allow(
        cluster,
        {"kind": "User", "name": user},
        ["create", "get", "update", "patch", "delete"],
        *("pods", "pods/status", "pods/resize", "pods/ephemeralcontainers", "pods/binding"),
        *(f"{kind.lower()}s" for kind in WORKLOADS),
        groups=["", "apps", "batch"],
    )


def pod_path(cluster: Cluster, name: str) -> str:
    return path_of("Pod", cluster.namespace, name)


async def create(
    cluster: Cluster, pod: Object, *, user: str = TENANT, params: Mapping[str, str] | None = None
) -> Object:
    pod["metadata"].setdefault("labels", {})[RUN_LABEL] = cluster.run
    path = f"/api/v1/namespaces/{cluster.namespace}/pods"
    return await cluster.request("POST", path, pod, params=params, user=user)


async def post_workload(cluster: Cluster, thing: Object, *, user: str | None = None) -> Object:
    kind = thing["kind"]
    path = f"{WORKLOADS[kind]}/namespaces/{cluster.namespace}/{kind.lower()}s"
    return await cluster.request("POST", path, thing, user=user)


def workload(cluster: Cluster, kind: str, pod: Mapping[str, Any], spec: Mapping[str, Any]) -> Object:
    """A workload that runs no pod, as nothing here plays its controller."""
    made = cluster.pod("w", **pod, spec=spec)
    labels = {**made["metadata"]["labels"], "w": "w"}
    template = {"metadata": {"labels": labels}, "spec": made["spec"]}
    template["spec"].pop("terminationGracePeriodSeconds")
    content: Object = {"template": template}
    match kind:
        case "ReplicationController":
            content["selector"] = {"w": "w"}
        case "Job" | "CronJob":
            template["spec"]["restartPolicy"] = "Never"
        case _:
            content["selector"] = {"matchLabels": {"w": "w"}}
    if kind == "StatefulSet":
        content["serviceName"] = "w"
    if kind == "CronJob":
        content = {"schedule": "@yearly", "jobTemplate": {"spec": content}}
    group = WORKLOADS[kind].removeprefix("/apis/").removeprefix("/api/")
    return {"apiVersion": group, "kind": kind, "metadata": {"name": "w"}, "spec": content}


async def patch(
    cluster: Cluster,
    path: str,
    body: Any,
    *,
    content_type: str = MERGE_PATCH,
    dry: bool = False,
    user: str = TENANT,
    **params: str,
) -> Object:
    params |= {"dryRun": "All"} if dry else {}
    return await cluster.request("PATCH", path, body, content_type=content_type, params=params, user=user)


async def resize(cluster: Cluster, path: str, *, dry: bool = False, **requests: str) -> Object:
    change = {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}
    return await patch(cluster, path + "/resize", change, content_type=STRATEGIC, dry=dry)


async def gated(cluster: Cluster) -> str:
    await cluster.create_pod("gated", queue="root.a", spec=GATED)
    return pod_path(cluster, "gated")


async def ungate(
    cluster: Cluster, path: str, *, how: str = "merge", dry: bool = False, user: str = TENANT
) -> Object:
    """Take Paddock's gate off a pod that has another one as well, in each possible way."""
    rest = {"spec": {"schedulingGates": [{"name": "example.com/other"}]}}
    match how:
        case "merge":
            return await patch(cluster, path, rest, dry=dry, user=user)
        case "strategic":
            without_gate = {"spec": {"schedulingGates": [{"$patch": "delete", "name": GATE}]}}
            return await patch(cluster, path, without_gate, content_type=STRATEGIC, user=user)
        case "json":
            remove = [{"op": "remove", "path": "/spec/schedulingGates/1"}]
            return await patch(cluster, path, remove, content_type=JSON_PATCH, user=user)
        case "put":
            pod = await cluster.request("GET", path)
            pod["spec"]["schedulingGates"] = rest["spec"]["schedulingGates"]
            return await cluster.request("PUT", path, pod, user=user)
    # The manager of the gate leaves it out.
    name = path.rpartition("/")[2]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
    whole = {**pod, "spec": {"schedulingGates": GATED["schedulingGates"]}}
    params = {"fieldManager": "tenant", "force": "true"}
    await patch(cluster, path, whole, content_type=APPLY, user="admin", **params)
    await disown(cluster, path)
    return await patch(cluster, path, {**pod, **rest}, content_type=APPLY, user=user, **params)


async def disown(cluster: Cluster, path: str) -> None:
    """Let one manager alone own the gate, so that leaving it out removes it."""
    pod = await cluster.request("GET", path)
    managed_fields = [each for each in pod["metadata"]["managedFields"] if each["manager"] == "tenant"]
    change = [{"op": "replace", "path": "/metadata/managedFields", "value": managed_fields}]
    await cluster.request("PATCH", path, change, content_type=JSON_PATCH)


async def grant(cluster: Cluster, verb: str) -> None:
    """Grant rights by a role of its own, as an admin would."""
    group, name = "rbac.authorization.k8s.io", f"holds-{verb}"
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": [verb]}
    subject = {"kind": "User", "name": TENANT, "apiGroup": group}
    bound = {"roleRef": {"apiGroup": group, "kind": "Role", "name": name}, "subjects": [subject]}
    for kind, content in (("Role", {"rules": [rule]}), ("RoleBinding", bound)):
        meta = {"name": name, "namespace": cluster.namespace}
        await cluster.create({"apiVersion": f"{group}/v1", "kind": kind, "metadata": meta, **content})


async def until_allowed(call: Any) -> None:
    """Wait until the authorizer sees a new role."""

    async def allowed() -> bool:
        return await refusal(call()) == ""

    await eventually(allowed, "the holder of the verb is let through")
