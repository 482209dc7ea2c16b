"""The owner of a pod: the shipped policies on the real API server (ID-7, POD-33, POD-34).

They run on a control plane of their own, whose users have names that no header could carry.
"""

import copy
import csv
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
import yaml

from e2e.cluster.client import RUN_LABEL, Cluster, Object, message_of, path_of
from e2e.cluster.permissions import allow, refusal
from e2e.programs.control_plane import ControlPlane, NeedsOwnControlPlane
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, eventually, manifest
from e2e.stands.tenants import checksum

USER_INFO = "yunikorn.apache.org/user.info"
POLICIES = ("identity/add-user-info.yaml", "identity/protect-user-info.yaml")
FOREIGN = "may be set or changed only with the verb set-user-info"
FIXED = "of a pod cannot be changed"

CONTROLLER = "controller"
HOSTILE = {
    "quotes": ("q\"'\\", ('"', "\\", "\\\\\"'", "{}", "%s%d", "")),
    "injection": ('x","groups":["system:masters"],"user":"root', ('"],"user":"root","x":["',)),
    "controls": ("".join(map(chr, range(33))) + "\x7f\\n", tuple(f"a{chr(code)}b" for code in range(32))),
    "unicode": ("Zoë\u2028\u2029\ufeff\ufffd\U0010ffff", ("müller", "🎉" * 20, "\u202edlo", "\x80\x9f")),
    "account": ("system:serviceaccount:team:robot", ("system:serviceaccounts",)),
    "crowd": ("carol", tuple(f"a department with a long name {at}" for at in range(1000))),
}
PEOPLE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "alice": ("alice", ("dev", "staff")),
    "bob": ("bob", ()),
    "trusted": ("trusted", ()),
    CONTROLLER: ("system:serviceaccount:kube-system:deployment-controller", ()),
    "manager": ("system:kube-controller-manager", ()),
    **HOSTILE,
}
"""Users by the name of their token, as the API server sees them. A comma separates two groups there."""

KINDS: Mapping[str, tuple[str, str]] = {
    kind: (prefix, f"{kind.lower()}s")
    for prefix, kinds in {
        "/api/v1": ("Pod", "ReplicationController"),
        "/apis/apps/v1": ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"),
        "/apis/batch/v1": ("Job", "CronJob"),
    }.items()
    for kind in kinds
}
"""Prefix and last part of a kind's path."""
WORKLOADS = [kind for kind in KINDS if kind != "Pod"]

pytestmark = pytest.mark.xdist_group("identity")
"""A mark that gives all tests to one worker, since each worker would start a control plane of its own."""


class PeopledControlPlane(ControlPlane):
    """A control plane that knows `PEOPLE` as well."""

    async def start(self) -> None:
        if self.external:
            raise NeedsOwnControlPlane("these users are in a file of the API server; unset KUBECONFIG")
        await super().start()

    def token(self, user: str) -> str:
        return f"token-of-{user}" if user in PEOPLE else super().token(user)

    def _write_secrets(self) -> None:
        super()._write_secrets()
        with (self.folder / "tokens.csv").open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
            writer.writerows(
                (self.token(each), name, each, ",".join(groups)) for each, (name, groups) in PEOPLE.items()
            )


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """The control plane of this module. No other is affected by these policies."""
    async with PeopledControlPlane() as running:
        async with Cluster(running) as cluster:
            for path in POLICIES:
                for thing in manifest(path):
                    await cluster.apply(thing)
            await _open(cluster)
        yield running


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _opened(cluster: Cluster) -> None:
    """Open each test's own namespace."""
    await _open(cluster)


async def _open(cluster: Cluster) -> None:
    """Let every user do anything with pods and workloads of the namespace, with the policies in force."""
    verbs = ["create", "get", "update", "patch"]
    everybody = {"kind": "Group", "name": "system:authenticated"}
    await allow(cluster, everybody, verbs, "*", groups=["", "apps", "batch"])

    async def in_force() -> bool:
        forged = _claiming(_pod(cluster), "boss")
        if FOREIGN not in await refusal(_make(cluster, "alice", forged, try_it=True)):
            return False
        return _name_on(await _make(cluster, "alice", _pod(cluster), try_it=True)) is not None

    await eventually(in_force, "the policies are in force")


# -- nobody says nothing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_a_pod_without_a_user_gets_the_callers_name(cluster: Cluster, kind: str) -> None:
    """POD-34: a pod, and a template of one, gets the name beside its other annotations."""
    made = await _make(cluster, "alice", _thing(cluster, kind))
    groups = ["dev", "staff", "system:authenticated"]
    assert json.loads(_name_on(made) or "") == {"user": "alice", "groups": groups}
    thing = _thing(cluster, kind, "second")
    _metadata(thing)["annotations"] = {"a/b": "c"}
    made = await _make(cluster, "alice", thing)
    assert _metadata(made)["annotations"].keys() == {"a/b", USER_INFO}


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
async def test_a_template_may_have_no_metadata(cluster: Cluster, kind: str) -> None:
    thing = _thing(cluster, kind)
    del _template(thing)["metadata"]
    assert _name_on(await _make(cluster, "alice", thing)) is not None


@pytest.mark.parametrize("subject", HOSTILE)
async def test_any_name_is_valid_json_and_taken_for_ones_own(cluster: Cluster, subject: str) -> None:
    """The user is written as the API server has it, character by character; both policies write it alike."""
    found = _name_on(await _make(cluster, subject, _pod(cluster))) or ""
    assert json.loads(found) == await _said(cluster, subject)
    pod = _pod(cluster, "again")
    pod["metadata"]["annotations"] = {USER_INFO: found}
    assert _name_on(await _make(cluster, subject, pod)) == found
    pod["metadata"]["name"] = "of-another"
    assert FOREIGN in await refusal(_make(cluster, "alice", pod))


async def test_a_pod_with_an_environment_variable_twice_is_named(cluster: Cluster) -> None:
    """The API server accepts such a pod, with a warning."""
    pod = _pod(cluster)
    pod["spec"]["containers"][0]["env"] = [{"name": "twice", "value": each} for each in ("one", "two")]
    assert _name_on(await _make(cluster, "alice", pod)) is not None


async def test_what_runs_the_cluster_is_not_named(cluster: Cluster) -> None:
    await cluster.ensure_namespace(NAMESPACE)
    for namespace, named in (("kube-system", False), (NAMESPACE, False), ("default", True)):
        pod = _pod(cluster)
        pod["metadata"]["namespace"] = namespace
        assert (_name_on(await _make(cluster, "admin", pod, try_it=True)) is not None) is named


# -- controllers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("controller", [CONTROLLER, "manager"])
async def test_a_controllers_copy_is_left_as_it_is(cluster: Cluster, controller: str) -> None:
    """The copy belongs to the user that the template names, and to no user if it names none."""
    deployment = await _make(cluster, "alice", _thing(cluster, "Deployment"))
    replicas = _thing(cluster, "ReplicaSet")
    replicas["spec"]["template"] = deployment["spec"]["template"]
    made = await _make(cluster, controller, replicas)
    assert made["spec"]["template"] == deployment["spec"]["template"]
    pod = _pod(cluster)
    pod["metadata"]["annotations"] = made["spec"]["template"]["metadata"]["annotations"]
    assert _name_on(await _make(cluster, controller, pod)) == _name_on(deployment)
    for kind in ("Pod", "ReplicaSet"):
        assert _name_on(await _make(cluster, controller, _thing(cluster, kind, "unnamed"))) is None


@pytest.mark.parametrize("kind", WORKLOADS)
async def test_a_template_written_anew_keeps_its_owner(cluster: Cluster, kind: str) -> None:
    """Nothing rolls because another user wrote it without the name."""
    made = await _make(cluster, "alice", _thing(cluster, kind))
    again = copy.deepcopy(made)
    again["metadata"].setdefault("labels", {})["by"] = "bob"
    del _metadata(again)["annotations"]
    found = await _put(cluster, "bob", again)
    assert found["metadata"]["labels"]["by"] == "bob"
    assert _template(found) == _template(made)
    assert _name_on(found) is not None


async def test_a_template_from_before_is_named_when_it_changes(cluster: Cluster) -> None:
    """POD-34: pods do not roll for a label."""
    thing = _thing(cluster, "Deployment")
    assert _name_on(await _make(cluster, CONTROLLER, thing)) is None
    thing["metadata"]["labels"] = {"by": "bob"}
    assert _name_on(await _put(cluster, "bob", thing)) is None
    _template(thing)["spec"]["containers"][0]["image"] = "another"
    assert json.loads(_name_on(await _put(cluster, "bob", thing)) or "") == await _said(cluster, "bob")


# -- other people's names ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_a_foreign_name_takes_a_verb_of_its_own(cluster: Cluster, kind: str) -> None:
    """ID-7: a foreign name is refused in every form, but a trusted user may write it."""
    own = json.dumps(await _said(cluster, "alice"), separators=(",", ":"))
    reordered, escaped = own.replace('"dev","staff"', '"staff","dev"'), own.replace("alice", "\\u0061lice")
    for text in (json.dumps({"user": "boss"}), reordered, escaped, own + " ", "not json", ""):
        assert text != own
        thing = _thing(cluster, kind)
        _metadata(thing)["annotations"] = {USER_INFO: text}
        assert FOREIGN in await refusal(_make(cluster, "alice", thing)), text
    _metadata(thing)["annotations"] = {USER_INFO: own}
    assert _name_on(await _make(cluster, "alice", thing)) == own
    await _trust(cluster)
    thing["metadata"]["name"] = "trusted"
    assert _name_on(await _make(cluster, "trusted", thing)) == own


@pytest.mark.parametrize("kind", [kind for kind in WORKLOADS if kind != "Job"])
async def test_a_template_changes_its_owner_only_to_the_caller(cluster: Cluster, kind: str) -> None:
    """The template of a job cannot change at all."""
    await _make(cluster, "alice", _thing(cluster, kind))
    assert FOREIGN in await refusal(_put(cluster, "bob", _claiming(_thing(cluster, kind), "carol")))
    thing = _thing(cluster, kind)
    own = json.dumps(await _said(cluster, "bob"), separators=(",", ":"))
    _metadata(thing)["annotations"] = {USER_INFO: own}
    assert _name_on(await _put(cluster, "bob", thing)) == own


async def test_the_owner_of_a_pod_does_not_change(cluster: Cluster) -> None:
    """POD-33: the owner cannot change by any way to a pod's annotations; other annotations may."""
    named = _name_on(await _make(cluster, "alice", _pod(cluster)))
    await _trust(cluster)
    path = f"{path_of('Pod', cluster.namespace)}/x"
    meta = {"name": "x", "annotations": {USER_INFO: json.dumps({"user": "boss"})}}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": {"name": "n1"}}
    for subject in ("alice", "trusted", "admin"):
        for where in (path, f"{path}/status"):
            assert FIXED in await refusal(_patch(cluster, subject, where, {USER_INFO: "{}"}))
            assert FIXED in await refusal(_patch(cluster, subject, where, {USER_INFO: None}))
        for where in (f"{path}/binding", path_of("Pod", cluster.namespace).replace("/pods", "/bindings")):
            assert FIXED in await refusal(cluster.request("POST", where, binding, user=subject))
    for where in (path, f"{path}/status"):
        await _patch(cluster, "alice", where, {f"of{where[-1]}": "1"})
    meta["annotations"] = {"bound": "1"}
    await cluster.request("POST", f"{path}/binding", binding)
    found = await cluster.request("GET", path)
    assert found["metadata"]["annotations"] == {"ofx": "1", "ofs": "1", "bound": "1", USER_INFO: named}


# -- and with Paddock ----------------------------------------------------------------------------------------

LIMITED = {
    "name": "a",
    "submitacl": "*",
    "limits": [{"limit": "one core each", "users": ["*"], "maxresources": {"vcore": 1}}],
}


async def test_a_limit_holds_for_a_user_whose_pods_have_no_name(cluster: Cluster) -> None:
    async with Stand(cluster, {}) as stand:
        await cluster.add_nodes(1)
        await _queue(stand, LIMITED)
        for subject in ("alice", "bob"):
            await _make(cluster, subject, _pod(cluster, f"of-{subject}", queue="root.a", app=subject))
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "one of each runs")
        await _make(cluster, "alice", _pod(cluster, "second", queue="root.a", app="alice"))
        text = "UserQuotaExceeded: user alice in root.a max vcore=1"
        await stand.pods.until(lambda: text in message_of(stand.pods.named("second")), "a second is refused")
        assert len(stand.pods.bound()) == 2
        await stand.audited()


async def _queue(stand: Stand, queue: Object) -> None:
    """A queue below the root, in force when this returns."""
    root = {"name": "root", "submitacl": "*", "queues": [queue]}
    text = yaml.safe_dump({"partitions": [{"name": "default", "queues": [root]}]})
    await stand.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": text})

    async def ask() -> bool:
        _, notes = await stand.paddock.get("/readyz?verbose")
        return f"configuration: {checksum(text)}" in notes.splitlines()

    await eventually(ask, "the queue is in force")


# -- objects -------------------------------------------------------------------------------------------------


def _pod(cluster: Cluster, name: str = "x", **pod: Any) -> Object:
    """A pod that the end of the test deletes, although another user creates it."""
    return cluster.pod(name, labels={RUN_LABEL: cluster.run}, **pod)


def _thing(cluster: Cluster, kind: str, name: str = "x") -> Object:
    """A pod, or a workload with a template that would make such pods."""
    pod = _pod(cluster, name)
    if kind == "Pod":
        return pod
    once = kind in ("Job", "CronJob")
    template = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {**pod["spec"], "restartPolicy": "Never" if once else "Always"},
    }
    spec: Object = {"template": template}
    if kind == "CronJob":
        spec = {"schedule": "@yearly", "jobTemplate": {"spec": spec}}
    elif not once:
        spec["selector"] = {"app": "x"} if kind == "ReplicationController" else {"matchLabels": {"app": "x"}}
    version = KINDS[kind][0].removeprefix("/apis/").removeprefix("/api/")
    meta = {"name": name, "namespace": cluster.namespace}
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


def _template(thing: Object) -> Object:
    """The pod template in an object as sent or as answered."""
    found: Object = thing["spec"].get("jobTemplate", thing)["spec"].get("template", thing)
    return found


def _metadata(thing: Object) -> Object:
    found: Object = _template(thing)["metadata"]
    return found


def _claiming(thing: Object, user: str) -> Object:
    _metadata(thing)["annotations"] = {USER_INFO: json.dumps({"user": user})}
    return thing


def _name_on(thing: Object) -> str | None:
    """The annotation that pods have, or will have."""
    found: str | None = _metadata(thing).get("annotations", {}).get(USER_INFO)
    return found


# -- requests ------------------------------------------------------------------------------------------------


def _path(thing: Object) -> str:
    prefix, plural = KINDS[thing["kind"]]
    return f"{prefix}/namespaces/{thing['metadata']['namespace']}/{plural}"


async def _make(cluster: Cluster, subject: str, thing: Object, *, try_it: bool = False) -> Object:
    params = {"dryRun": "All"} if try_it else None
    return await cluster.request("POST", _path(thing), thing, params=params, user=subject)


async def _put(cluster: Cluster, subject: str, thing: Object) -> Object:
    return await cluster.request("PUT", f"{_path(thing)}/{thing['metadata']['name']}", thing, user=subject)


async def _patch(cluster: Cluster, subject: str, path: str, annotations: Mapping[str, str | None]) -> Object:
    body = {"metadata": {"annotations": dict(annotations)}}
    return await cluster.patch(path, body, user=subject)


async def _said(cluster: Cluster, subject: str) -> Object:
    """The user as the API server sees it, in the form of the annotation (ID-1)."""
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    found = (await cluster.request("POST", path, review, user=subject))["status"]["userInfo"]
    return {"user": found["username"], "groups": found["groups"]}


async def _trust(cluster: Cluster) -> None:
    """Grant the user of that name the verb from now on."""
    await allow(cluster, {"kind": "User", "name": "trusted"}, ["set-user-info"], "pods", groups=[""])

    async def trusted() -> bool:
        forged = _claiming(_pod(cluster, "probe"), "boss")
        return not await refusal(_make(cluster, "trusted", forged, try_it=True))

    await eventually(trusted, "the user is trusted")
