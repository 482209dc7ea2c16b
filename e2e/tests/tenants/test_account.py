"""Bounds of what a thief of Paddock's token can do: the shipped policy on the real API server (F-20).

As the user of `kubeadm` and as the service account of the other overlays. That Paddock itself needs nothing
more is shown by every other test here: each installs the role and the policy as shipped.
"""

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio

from core.ids import AppId, PodUid
from core.ledger.effects import CreatePlaceholder
from core.workload.gangs.gang import Gang, Originator
from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.cluster.permissions import refusal
from e2e.stands.stand import INSTALLED, eventually, rendered
from e2e.tests.tenants.policies.requests import STRATEGIC
from extender.wire.annotations.gang import DOMAIN, gang_from
from extender.wire.placeholder import PlaceholderSettings, placeholder_pod

GATE, OTHER = "paddock.dev/queue", "example.com/other"
ACCOUNTS = ("paddock-certificate", "paddock")
BOTH = pytest.mark.parametrize("thief", ACCOUNTS)

NO_OTHERS = "creates only placeholders"
HARMLESS = "a placeholder has one container"
PLAIN = "the container of a placeholder has no command"
METADATA = "of the metadata of a pod Paddock's account changes only"
SPEC = "of the specification of a pod Paddock's account changes nothing but"
STATUS = "of the status of a pod Paddock's account changes only"
DELETION = "deletes only placeholders"
DRY_RUN = {"dryRun": "All"}
SYSTEM = "no pod of kube-system"
BINDING = "carries no labels or annotations"


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _in_force(cluster: Cluster) -> None:
    await install(cluster, "kubeadm")
    await install(cluster, "service")
    made = await cluster.create_pod("probe", queue="root.a")

    async def refused() -> bool:
        answers = [await refusal(post(cluster, cluster.pod("x"), thief, dryRun="All")) for thief in ACCOUNTS]
        return all(NO_OTHERS in answer for answer in answers)

    await eventually(refused, "the policy is in force", timeout=30)
    await cluster.delete_pod(made["metadata"]["name"])


async def install(cluster: Cluster, overlay: str) -> None:
    """Both overlays at once: the roles of each are bound to another account."""
    for thing in rendered(overlay):
        if thing["kind"] not in INSTALLED:
            continue
        if thing["kind"].endswith("Binding") and "Policy" not in thing["kind"]:
            thing["metadata"]["name"] += f"-{overlay}"
        await cluster.apply(thing)


async def post(cluster: Cluster, pod: Object, user: str, **params: str) -> Object:
    path = path_of("Pod", pod["metadata"].get("namespace", cluster.namespace))
    return await cluster.request("POST", path, pod, params=params, user=user)


async def placeholder(cluster: Cluster) -> Object:
    """As Paddock makes it, of a pod that is there."""
    first = await cluster.create_pod("first", queue="root.a", app="app-1")
    text = '[{"name": "g", "minMember": 2, "minResource": {"cpu": "500m"}, "tolerations": [{"key": "gpu"}]}]'
    gang = gang_from({DOMAIN + "task-groups": text})
    assert isinstance(gang, Gang)
    owner = Originator(PodUid(first["metadata"]["uid"]), "first", "yunikorn", gated=True)
    wanted = CreatePlaceholder(
        app=AppId("app-1", cluster.namespace),
        namespace=cluster.namespace,
        name="tg-0",
        queue="root.a",
        group=gang.groups[0],
        gang=gang,
        originator=owner,
    )
    return placeholder_pod(wanted, PlaceholderSettings(run_as_user=1000, fs_group=1000))


# -- new pods ------------------------------------------------------------------------------------------------


@BOTH
async def test_a_placeholder_is_made_and_taken_back(cluster: Cluster, thief: str) -> None:
    await post(cluster, await placeholder(cluster), thief)
    path = path_of("Pod", cluster.namespace, "tg-0")
    await cluster.request("DELETE", path, {"gracePeriodSeconds": 0}, user=thief)


@BOTH
async def test_no_other_pod_is_made(cluster: Cluster, thief: str) -> None:
    made = await placeholder(cluster)
    assert NO_OTHERS in await refusal(post(cluster, cluster.pod("x", queue="root.a"), thief))
    for change in ({"ownerReferences": []}, {"annotations": {}}):
        assert NO_OTHERS in await refusal(post(cluster, changed(made, "metadata", **change), thief))
    owner = {**made["metadata"]["ownerReferences"][0], "controller": True}
    assert NO_OTHERS in await refusal(
        post(cluster, changed(made, "metadata", ownerReferences=[owner]), thief)
    )
    meta = {**made["metadata"], "namespace": "kube-system"}
    assert SYSTEM in await refusal(post(cluster, {**made, "metadata": meta}, thief))


SPECS: dict[str, Object] = {
    "the host's files": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
    "a Secret": {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]},
    "a node": {"nodeName": "n1", "schedulingGates": None},
    "the host's network": {"hostNetwork": True},
    "the host's processes": {"hostPID": True},
    "the host's memory": {"hostIPC": True},
    "another account": {"serviceAccountName": "admin"},
    "a token": {"automountServiceAccountToken": True},
    "root": {"securityContext": {"runAsNonRoot": False}},
    "a container before it": {"initContainers": [{"name": "i", "image": "x"}]},
    "a container beside it": {
        "containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "x"}],
    },
}
CONTAINERS: dict[str, Object] = {
    "a command": {"command": ["sh"]},
    "arguments": {"args": ["-c"]},
    "an environment": {"env": [{"name": "A", "value": "b"}]},
    "an environment of a Secret": {"envFrom": [{"secretRef": {"name": "s"}}]},
    "a port of the host": {"ports": [{"containerPort": 80, "hostPort": 80}]},
    "a hook": {"lifecycle": {"preStop": {"exec": {"command": ["sh"]}}}},
    "a probe": {"livenessProbe": {"exec": {"command": ["sh"]}}},
    "privilege": {"securityContext": {"privileged": True}},
    "more privilege later": {"securityContext": {"allowPrivilegeEscalation": True}},
    "capabilities": {
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"add": ["NET_ADMIN"]}}
    },
}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
async def test_a_placeholder_has_no_part_of_its_host_and_no_token(cluster: Cluster, spec: Object) -> None:
    made = changed(await placeholder(cluster), "spec", **spec)
    assert HARMLESS in await refusal(post(cluster, made, ACCOUNTS[0], dryRun="All"))


@pytest.mark.parametrize("content", CONTAINERS.values(), ids=CONTAINERS)
async def test_its_container_does_nothing_of_its_own(cluster: Cluster, content: Object) -> None:
    made = await placeholder(cluster)
    container = {**made["spec"]["containers"][0], **content}
    made = changed(made, "spec", containers=[container])
    assert PLAIN in await refusal(post(cluster, made, ACCOUNTS[0], dryRun="All"))


# -- pods that exist -----------------------------------------------------------------------------------------


@BOTH
async def test_what_paddock_writes_is_written(cluster: Cluster, thief: str) -> None:
    path = await victim(cluster, gates=[OTHER, GATE])
    write = patching(cluster, thief)
    await write(path, {"metadata": {"annotations": {"paddock.dev/wake": "1"}}})
    opened = {
        "metadata": {"annotations": {"paddock.dev/gate-opened": "true"}},
        "spec": {"schedulingGates": [{"$patch": "delete", "name": GATE}]},
    }
    await write(path, opened)
    condition = {"type": "paddock.dev/Admitted", "status": "True", "reason": "x", "message": "y"}
    await write(path + "/status", {"status": {"conditions": [condition]}})
    await write(path + "/status", {"status": {"nominatedNodeName": "n1"}})
    await write(path + "/status", {"status": {"phase": "Failed", "reason": "ApplicationRejected"}})


METADATA_CHANGES: dict[str, Object] = {
    "a label": {"labels": {"app": "bank"}},
    "a label removed": {"labels": {"yunikorn.apache.org/queue": None}},
    "an annotation": {"annotations": {"note": "x"}},
    "an annotation removed": {"annotations": {"mine": None}},
    "a finalizer": {"finalizers": ["example.com/held"]},
    "an owner": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u"}]},
}


@BOTH
@pytest.mark.parametrize("part", ["", "/status"])
async def test_no_other_metadata_changes(cluster: Cluster, thief: str, part: str) -> None:
    path, write = await victim(cluster), patching(cluster, thief)
    changes = METADATA_CHANGES
    if part:
        # The API server itself ignores changes of owners there.
        changes = {name: each for name, each in changes.items() if name != "an owner"}
    for what, change in changes.items():
        assert METADATA in await refusal(write(path + part, {"metadata": change})), what


SPEC_CHANGES: dict[str, Object] = {
    "the image": {"containers": [{"name": "c", "image": "evil"}]},
    "a deadline": {"activeDeadlineSeconds": 1},
    "another's gate": {"schedulingGates": [{"$patch": "delete", "name": OTHER}]},
    "a node selector": {"nodeSelector": {"disk": "ssd"}},
}


@BOTH
async def test_of_the_specification_only_the_gate_goes(cluster: Cluster, thief: str) -> None:
    path, write = await victim(cluster, gates=[OTHER, GATE]), patching(cluster, thief)
    for what, change in SPEC_CHANGES.items():
        assert SPEC in await refusal(write(path, {"spec": change})), what
    tolerated = (await cluster.request("GET", path))["spec"].get("tolerations", [])
    more = {"tolerations": [*tolerated, {"operator": "Exists"}]}
    assert SPEC in await refusal(write(path, {"spec": more}))
    ours = {"schedulingGates": [{"$patch": "delete", "name": GATE}]}
    assert SPEC in await refusal(write(path, {"spec": {**SPEC_CHANGES["the image"], **ours}}))


STATUS_CHANGES: dict[str, Object] = {
    "its address": {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]},
    "readiness": {"conditions": [{"type": "Ready", "status": "True"}]},
    "its containers": {
        "containerStatuses": [{"name": "c", "image": "i", "imageID": "", "restartCount": 9, "ready": True}]
    },
    "an end": {"phase": "Failed"},
    "success": {"phase": "Succeeded"},
}


@BOTH
async def test_of_the_status_nothing_that_leads_traffic_or_ends_a_running_pod(
    cluster: Cluster, thief: str
) -> None:
    path, write = await victim(cluster, node="n1"), patching(cluster, thief)
    for what, change in STATUS_CHANGES.items():
        assert STATUS in await refusal(write(path + "/status", {"status": change})), what


@BOTH
async def test_only_placeholders_are_deleted(cluster: Cluster, thief: str) -> None:
    path = await victim(cluster)
    # The overlay `sidecar` gives its account the verb, and other tests install it.
    with contextlib.suppress(ApiFailure):
        await cluster.request("DELETE", path_of("ClusterRoleBinding", name="paddock-direct-delete"))

    async def bounded() -> bool:
        deletion = cluster.request("DELETE", path, {"gracePeriodSeconds": 0}, params=DRY_RUN, user=thief)
        return DELETION in await refusal(deletion)

    await eventually(bounded, "the account without the verb deletes no victim")
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "paddock-direct-delete"}
    name = {"paddock": "system:serviceaccount:paddock-system:paddock"}.get(thief, "paddock")
    subject = {"apiGroup": role["apiGroup"], "kind": "User", "name": name}
    await cluster.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "victims", "namespace": cluster.namespace},
            "roleRef": role,
            "subjects": [subject],
        }
    )

    async def allowed() -> bool:
        return not await refusal(cluster.request("DELETE", path, {"gracePeriodSeconds": 0}, user=thief))

    await eventually(allowed, "the holder of the verb deletes victims")


@BOTH
async def test_nothing_is_evicted_or_changed_in_kube_system(cluster: Cluster, thief: str) -> None:
    await cluster.ensure_namespace("kube-system")
    pod = cluster.pod("dns", namespace="kube-system", scheduler_name="nobody")
    await cluster.create(pod)
    path, write = path_of("Pod", "kube-system", "dns"), patching(cluster, thief)
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "dns", "namespace": "kube-system"},
    }
    assert SYSTEM in await refusal(cluster.request("POST", f"{path}/eviction", eviction, user=thief))
    assert SYSTEM in await refusal(write(path, {"metadata": {"annotations": {"paddock.dev/wake": "1"}}}))
    await cluster.request("DELETE", path, {"gracePeriodSeconds": 0})


@BOTH
async def test_a_binding_says_nothing_for_the_pod(cluster: Cluster, thief: str) -> None:
    await cluster.add_nodes(1)
    path = await victim(cluster)
    for part in ({"labels": {"app": "bank"}}, {"annotations": {"note": "x"}}):
        assert BINDING in await refusal(bind(cluster, path, thief, **part))
    await bind(cluster, path, thief)


async def test_an_administrator_is_not_bound_by_it(cluster: Cluster) -> None:
    """An administrator goes on to do what the account may not."""
    path = await victim(cluster)
    for change in METADATA_CHANGES.values():
        if "finalizers" not in change:
            await cluster.patch(path, {"metadata": change})
    await cluster.request("DELETE", path, {"gracePeriodSeconds": 0})


# -- requests ------------------------------------------------------------------------------------------------


def changed(pod: Object, part: str, **content: Any) -> Object:
    found = copy.deepcopy(pod)
    found[part] |= content
    return found


async def victim(cluster: Cluster, *, gates: list[str] | None = None, node: str = "") -> str:
    """A pod of a tenant; its path."""
    held: Object = {"schedulingGates": [{"name": name} for name in gates]} if gates else {}
    spec = {**held, **({"nodeName": node} if node else {})}
    await cluster.create_pod(
        "victim", queue="root.a", annotations={"mine": "1"}, scheduler_name="nobody", spec=spec
    )
    return path_of("Pod", cluster.namespace, "victim")


def patching(cluster: Cluster, user: str) -> Callable[[str, Object], Any]:
    async def write(path: str, body: Object) -> Object:
        return await cluster.request("PATCH", path, body, content_type=STRATEGIC, user=user)

    return write


async def bind(cluster: Cluster, path: str, user: str, **meta: Any) -> Object:
    metadata = {"name": path.rpartition("/")[2], **meta}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": {"name": "n1"}}
    return await cluster.request("POST", f"{path}/binding", binding, user=user)
