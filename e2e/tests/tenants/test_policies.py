"""A tenant's token under the policies of ``manifests/quota``: it cannot force, ungate, relabel or resize up.

A tenant may create, get, update, patch and delete pods, their status, size and ephemeral containers, and
workloads, in one namespace (F-1, F-7, F-23, F-24).
"""

import copy
from collections.abc import Mapping
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster.client import MERGE_PATCH, RUN_LABEL, Cluster, Object, path_of
from e2e.cluster.permissions import allow, refusal
from e2e.stands.gangs import Job
from e2e.stands.stand import INSTALLED, Stand, eventually, rendered

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


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _in_force(cluster: Cluster) -> None:
    for thing in (*rendered("kubeadm"), *rendered("quota")):
        if thing["kind"] in INSTALLED or "Policy" in thing["kind"]:
            await cluster.apply(thing)
    await _permit(cluster, TENANT)
    await cluster.create_pod("probe", spec=GATED)
    held = _path(cluster, "probe")

    async def look() -> bool:
        answers = (
            await refusal(
                _create(cluster, cluster.pod("x", spec={"nodeName": "n"}), params={"dryRun": "All"})
            ),
            await refusal(_ungate(cluster, held, dry=True)),
            await refusal(_patch(cluster, held, {"metadata": {"labels": {"queue": "x"}}}, dry=True)),
            await refusal(_resize(cluster, held, cpu="2", dry=True)),
        )
        return all(
            text in answer
            for text, answer in zip((FORCED, UNGATED, RELABELLED, RAISED), answers, strict=True)
        )

    await eventually(look, "the policies are in force", timeout=30)
    await cluster.delete_pod("probe")


async def _permit(cluster: Cluster, user: str) -> None:
    await allow(
        cluster,
        {"kind": "User", "name": user},
        ["create", "get", "update", "patch", "delete"],
        *("pods", "pods/status", "pods/resize", "pods/ephemeralcontainers", "pods/binding"),
        *(f"{kind.lower()}s" for kind in WORKLOADS),
        groups=["", "apps", "batch"],
    )


# -- F-1: spec.nodeName ------------------------------------------------------------------------------


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
    assert FORCED in await refusal(_create(cluster, manifest))


async def test_nor_in_a_namespace_that_is_managed(cluster: Cluster) -> None:
    note = {DOMAIN + "namespace.enableYuniKorn": "true"}
    await cluster.patch(path_of("Namespace", name=cluster.namespace), {"metadata": {"annotations": note}})
    manifest = cluster.pod("forced", scheduler_name="default-scheduler", spec={"nodeName": "n1"})

    async def refused() -> bool:
        return FORCED in await refusal(_create(cluster, manifest, params={"dryRun": "All"}))

    await eventually(refused, "the namespace's annotation is seen")


async def test_a_pod_in_no_queue_is_no_matter_of_ours(cluster: Cluster) -> None:
    spec = {"nodeName": "n1"}
    await _create(cluster, cluster.pod("free", scheduler_name="default-scheduler", spec=spec))


async def test_a_tenant_creates_pods_and_workloads_as_before(cluster: Cluster) -> None:
    await _create(cluster, cluster.pod("plain", queue="root.a"))
    await _post(cluster, _workload(cluster, "Deployment", {"queue": "root.a"}, {}), user=TENANT)


@pytest.mark.parametrize("kind", WORKLOADS)
async def test_nor_by_a_template_that_a_controller_copies(cluster: Cluster, kind: str) -> None:
    forced = _workload(cluster, kind, {"queue": "root.a"}, {"nodeName": "n1"})
    assert FORCED in await refusal(_post(cluster, forced, user=TENANT))
    free = _workload(cluster, kind, {"scheduler_name": "default-scheduler"}, {"nodeName": "n1"})
    assert await refusal(_post(cluster, free, user=TENANT)) == ""


async def test_nor_by_the_edit_of_a_template(cluster: Cluster) -> None:
    await _post(cluster, _workload(cluster, "Deployment", {"queue": "root.a"}, {}), user=TENANT)
    path = f"/apis/apps/v1/namespaces/{cluster.namespace}/deployments/w"
    change = {"spec": {"template": {"spec": {"nodeName": "n1"}}}}
    assert FORCED in await refusal(_patch(cluster, path, change))
    await _patch(cluster, path, {"spec": {"replicas": 3}})


@pytest.mark.parametrize("kind", ["Deployment", "CronJob"])
async def test_nor_by_a_template_that_named_its_node_before_it_was_managed(
    cluster: Cluster, kind: str
) -> None:
    """No queue is named at first, so that the node name is let through; then only the labels change."""
    free = _workload(cluster, kind, {"scheduler_name": "default-scheduler"}, {"nodeName": "n1"})
    await _post(cluster, free, user=TENANT)
    path = f"{WORKLOADS[kind]}/namespaces/{cluster.namespace}/{kind.lower()}s/w"
    labelled: Object = {"spec": {"template": {"metadata": {"labels": {QUEUE: "root.a"}}}}}
    if kind == "CronJob":
        labelled = {"spec": {"jobTemplate": labelled}}
    assert FORCED in await refusal(_patch(cluster, path, labelled))
    await _patch(cluster, path, {"metadata": {"labels": {"mine": "1"}}})


async def test_a_template_that_named_its_node_before_can_be_scaled(cluster: Cluster) -> None:
    await _post(cluster, _workload(cluster, "Deployment", {"queue": "root.a"}, {"nodeName": "n1"}))
    path = f"/apis/apps/v1/namespaces/{cluster.namespace}/deployments/w"
    await _patch(cluster, path, {"spec": {"replicas": 0}})
    moved = {"spec": {"template": {"spec": {"nodeName": "n2"}}}}
    assert FORCED in await refusal(_patch(cluster, path, moved))


async def test_controllers_and_mirrors_name_nodes(cluster: Cluster) -> None:
    """A controller copies a template, which is protected itself; a kubelet mirrors a static pod."""
    await _permit(cluster, "system:node:n1")
    subject = "system:serviceaccount:kube-system:replicaset-controller"
    await _permit(cluster, subject)
    named = cluster.pod("copied", queue="root.a", spec={"nodeName": "n1"})
    await _create(cluster, named, user="controller")
    own = cluster.pod("own", queue="root.a", spec={"nodeName": "n1"})
    assert FORCED in await refusal(_create(cluster, own, user="kubelet"))
    own["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "x"
    await _create(cluster, own, user="kubelet")


async def test_a_holder_of_the_verb_names_nodes(cluster: Cluster) -> None:
    await _grant(cluster, "set-node-name")
    manifest = cluster.pod("placed", queue="root.a", spec={"nodeName": "n1"})
    await _until_allowed(lambda: _create(cluster, copy.deepcopy(manifest)))


# -- F-7: the gate -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["merge", "strategic", "json", "put", "apply"])
async def test_a_tenant_opens_no_gate_of_ours(cluster: Cluster, how: str) -> None:
    path = await _gated(cluster)
    assert UNGATED in await refusal(_ungate(cluster, path, how=how))
    pod = await cluster.request("GET", path)
    assert {"name": GATE} in pod["spec"]["schedulingGates"]


async def test_gates_of_others_are_his(cluster: Cluster) -> None:
    path = await _gated(cluster)
    await _patch(cluster, path, {"spec": {"schedulingGates": [{"name": GATE}]}})
    await _patch(cluster, path, {"metadata": {"labels": {"mine": "1"}}})
    await cluster.request("DELETE", path, user=TENANT)


async def test_a_holder_of_the_verb_opens_gates(cluster: Cluster) -> None:
    path = await _gated(cluster)
    await _grant(cluster, "open-paddock-gates")
    await _until_allowed(lambda: _ungate(cluster, path))


@pytest.mark.parametrize("who", ["paddock", "paddock-certificate", "admin"])
async def test_paddock_opens_them_by_its_role(cluster: Cluster, who: str) -> None:
    """Its service account has the role as shipped in `base`, its certificate that of `kubeadm`."""
    for thing in rendered("service") if who == "paddock" else ():
        if thing["kind"] in INSTALLED:
            await cluster.apply(thing)
    path = await _gated(cluster)
    await _until_allowed(lambda: _ungate(cluster, path, user=who))


# -- F-23: whose a pod is --------------------------------------------------------------------------------

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
    path = _path(cluster, "mine") + part
    for key in KEYS:
        for where in ("labels", "annotations"):
            said = await refusal(_patch(cluster, path, {"metadata": {where: {key: "7"}}}))
            assert RELABELLED in said, (key, where, said)
    assert RELABELLED in await refusal(_patch(cluster, path, {"metadata": {"labels": {QUEUE: None}}}))
    found = await cluster.request("GET", _path(cluster, "mine"))
    assert found["metadata"]["labels"][QUEUE] == "root.a"


async def test_nor_by_a_whole_new_pod_or_a_binding(cluster: Cluster) -> None:
    await cluster.add_nodes(1)
    await cluster.create_pod("mine", queue="root.a", scheduler_name="somebody")
    path = _path(cluster, "mine")
    pod = await cluster.request("GET", path, user=TENANT)
    pod["metadata"]["labels"][QUEUE] = "root.rival"
    assert RELABELLED in await refusal(cluster.request("PUT", path, pod, user=TENANT))
    meta = {"name": "mine", "labels": {"queue": "root.rival"}}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": {"name": "n1"}}
    assert RELABELLED in await refusal(cluster.request("POST", path + "/binding", binding, user=TENANT))


async def test_nor_makes_he_a_pod_ours_that_was_not(cluster: Cluster) -> None:
    """After a restart it would fill another's queue."""
    await cluster.create_pod("free", scheduler_name="default-scheduler")
    path = _path(cluster, "free")
    assert RELABELLED in await refusal(_patch(cluster, path, {"metadata": {"labels": {QUEUE: "root.rival"}}}))
    await _patch(cluster, path, {"metadata": {"labels": {"queue": "of-a-web-shop"}}})


async def test_all_other_keys_are_his(cluster: Cluster) -> None:
    await cluster.create_pod("mine", queue="root.a")
    change = {"labels": {"tier": "web"}, "annotations": {"note": "x", DOMAIN + "allow-preemption": "false"}}
    await _patch(cluster, _path(cluster, "mine"), {"metadata": change})


async def test_a_holder_of_the_verb_says_it_anew(cluster: Cluster) -> None:
    await cluster.create_pod("mine", queue="root.a")
    await _grant(cluster, "set-paddock-records")
    change = {"metadata": {"labels": {QUEUE: "root.b"}}}
    await _until_allowed(lambda: _patch(cluster, _path(cluster, "mine"), change))


# -- F-24: resizes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("requests", [{"cpu": "1001m"}, {"memory": "2Gi"}, {"cpu": "500m", "memory": "2Gi"}])
async def test_a_tenant_resizes_no_pod_upward(cluster: Cluster, requests: Mapping[str, str]) -> None:
    await cluster.create_pod("mine", queue="root.a", cpu="1", memory="1Gi")
    assert RAISED in await refusal(_resize(cluster, _path(cluster, "mine"), **requests))


async def test_nor_one_container_at_the_cost_of_another(cluster: Cluster) -> None:
    pod = cluster.pod("mine", queue="root.a", cpu="1")
    other = copy.deepcopy(pod["spec"]["containers"][0]) | {"name": "d"}
    pod["spec"]["containers"].append(other)
    await cluster.create(pod)
    shifted = [
        {"name": name, "resources": {"requests": {"cpu": cpu}}} for name, cpu in (("c", "2"), ("d", "0"))
    ]
    path = _path(cluster, "mine") + "/resize"
    change = {"spec": {"containers": shifted}}
    assert RAISED in await refusal(_patch(cluster, path, change, content_type=STRATEGIC))


async def test_downward_he_may(cluster: Cluster) -> None:
    await cluster.create_pod("mine", queue="root.a", cpu="1", memory="1Gi")
    await _resize(cluster, _path(cluster, "mine"), cpu="0.5", memory="1024Mi")
    found = await cluster.request("GET", _path(cluster, "mine"))
    assert found["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}


async def test_a_pod_in_no_queue_he_resizes_as_he_likes(cluster: Cluster) -> None:
    await cluster.create_pod("free", scheduler_name="default-scheduler", cpu="1")
    await _resize(cluster, _path(cluster, "free"), cpu="2")


async def test_a_holder_of_the_verb_resizes_upward(cluster: Cluster) -> None:
    await cluster.create_pod("mine", queue="root.a", cpu="1")
    await _grant(cluster, "raise-pod-requests")
    await _until_allowed(lambda: _resize(cluster, _path(cluster, "mine"), cpu="2"))


# -- Paddock itself ------------------------------------------------------------------------------------


async def test_gangs_and_gates_go_their_way(cluster: Cluster) -> None:
    """With the account and the role as shipped for kubeadm: placeholders are made, gates are opened."""
    async with Stand(cluster, {"a": {"max": {"vcore": "3"}}}) as stand:
        await cluster.add_nodes(1)
        job = Job("job", 2, queue="root.a", spec=GATED_BY_US)
        for pod in job.manifests(cluster):
            await _create(cluster, pod)
        await _create(cluster, cluster.pod("single", queue="root.a", app="single", spec=GATED_BY_US))
        await stand.pods.until(lambda: len(_members(stand)) == 3, "all run", timeout=60)
        await stand.audited()


GATED_BY_US = {"schedulingGates": [{"name": GATE}]}


def _members(stand: Stand) -> list[str]:
    names = [pod["metadata"]["name"] for pod in stand.pods.bound()]
    return [name for name in names if name.startswith(("job", "single"))]


# -- requests ------------------------------------------------------------------------------------------------


def _path(cluster: Cluster, name: str) -> str:
    return path_of("Pod", cluster.namespace, name)


async def _create(
    cluster: Cluster, pod: Object, *, user: str = TENANT, params: Mapping[str, str] | None = None
) -> Object:
    pod["metadata"].setdefault("labels", {})[RUN_LABEL] = cluster.run
    path = f"/api/v1/namespaces/{cluster.namespace}/pods"
    return await cluster.request("POST", path, pod, params=params, user=user)


async def _post(cluster: Cluster, thing: Object, *, user: str | None = None) -> Object:
    kind = thing["kind"]
    path = f"{WORKLOADS[kind]}/namespaces/{cluster.namespace}/{kind.lower()}s"
    return await cluster.request("POST", path, thing, user=user)


def _workload(cluster: Cluster, kind: str, pod: Mapping[str, Any], spec: Mapping[str, Any]) -> Object:
    """One that runs no pod: nothing here plays its controller."""
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


async def _patch(
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


async def _resize(cluster: Cluster, path: str, *, dry: bool = False, **requests: str) -> Object:
    change = {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}
    return await _patch(cluster, path + "/resize", change, content_type=STRATEGIC, dry=dry)


async def _gated(cluster: Cluster) -> str:
    await cluster.create_pod("gated", queue="root.a", spec=GATED)
    return _path(cluster, "gated")


async def _ungate(
    cluster: Cluster, path: str, *, how: str = "merge", dry: bool = False, user: str = TENANT
) -> Object:
    """Take our gate off a pod that has another one as well, in each way there is."""
    rest = {"spec": {"schedulingGates": [{"name": "example.com/other"}]}}
    match how:
        case "merge":
            return await _patch(cluster, path, rest, dry=dry, user=user)
        case "strategic":
            gone = {"spec": {"schedulingGates": [{"$patch": "delete", "name": GATE}]}}
            return await _patch(cluster, path, gone, content_type=STRATEGIC, user=user)
        case "json":
            remove = [{"op": "remove", "path": "/spec/schedulingGates/1"}]
            return await _patch(cluster, path, remove, content_type=JSON_PATCH, user=user)
        case "put":
            pod = await cluster.request("GET", path)
            pod["spec"]["schedulingGates"] = rest["spec"]["schedulingGates"]
            return await cluster.request("PUT", path, pod, user=user)
    # The one who applied the gate before leaves it out.
    name = path.rpartition("/")[2]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
    whole = {**pod, "spec": {"schedulingGates": GATED["schedulingGates"]}}
    params = {"fieldManager": "tenant", "force": "true"}
    await _patch(cluster, path, whole, content_type=APPLY, user="admin", **params)
    await _disown(cluster, path)
    return await _patch(cluster, path, {**pod, **rest}, content_type=APPLY, user=user, **params)


async def _disown(cluster: Cluster, path: str) -> None:
    """Only the one who applied it manages the gate, so that leaving it out removes it."""
    pod = await cluster.request("GET", path)
    kept = [each for each in pod["metadata"]["managedFields"] if each["manager"] == "tenant"]
    change = [{"op": "replace", "path": "/metadata/managedFields", "value": kept}]
    await cluster.request("PATCH", path, change, content_type=JSON_PATCH)


async def _grant(cluster: Cluster, verb: str) -> None:
    """In a role of its own, as an admin would."""
    group, name = "rbac.authorization.k8s.io", f"holds-{verb}"
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": [verb]}
    subject = {"kind": "User", "name": TENANT, "apiGroup": group}
    bound = {"roleRef": {"apiGroup": group, "kind": "Role", "name": name}, "subjects": [subject]}
    for kind, content in (("Role", {"rules": [rule]}), ("RoleBinding", bound)):
        meta = {"name": name, "namespace": cluster.namespace}
        await cluster.create({"apiVersion": f"{group}/v1", "kind": kind, "metadata": meta, **content})


async def _until_allowed(call: Any) -> None:
    """The authorizer sees a new role a moment later."""

    async def allowed() -> bool:
        return await refusal(call()) == ""

    await eventually(allowed, "the holder of the verb is let through")
