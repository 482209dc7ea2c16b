"""Equality of the outputs of one definition: the webhook, and the policies of v1beta1 and v1.

The API server evaluates all of them, and calls the webhook of a running Paddock over TLS. It has a control
plane of its own, since the policies apply to every namespace.
"""

import copy
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from e2e.cluster.client import Cluster, Object, path_of
from e2e.programs.binaries import minor_of_programs
from e2e.programs.control_plane import ControlPlane
from e2e.programs.helm import Case, Rendered, render
from e2e.programs.minors import beta_flags
from e2e.programs.paddock import PaddockProcess
from e2e.programs.processes import free_port
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, eventually
from e2e.tests.install.commands import IMAGES
from e2e.tests.install.random_objects import DOMAIN, INFO, USERS, cron_job, deployment, random_pods

pytestmark = pytest.mark.xdist_group("mutation")

GROUP = "admissionregistration.k8s.io"
V1, V1_BETA = (f"{GROUP}/{version}/MutatingAdmissionPolicy" for version in ("v1", "v1beta1"))
OUTPUTS: Mapping[str, tuple[str, ...]] = {"webhook": (), "v1beta1": (V1_BETA,), "v1": (V1, V1_BETA)}
"""Policies that the API server is said to serve, for each output of the chart."""
SINCE: Mapping[str, int] = {"webhook": 33, "v1beta1": 34, "v1": 36}
"""First minor version of Kubernetes with each output."""
ON = {"enabled": True}
WEBHOOKS = f"/apis/{GROUP}/v1/mutatingwebhookconfigurations"
WEBHOOK = "change-pods.paddock.dev"
PROBED = "probed"
FILTER = "admissionController.filtering."
NAMESPACES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    PROBED: (
        {f"{DOMAIN}namespace.enableYuniKorn": "true", f"{DOMAIN}namespace.generateAppId": "true"},
        {"paddock.dev/gate": "true"},
    ),
    "team-a": ({}, {}),
    "team-gated": ({}, {"paddock.dev/gate": "true"}),
    "left-out": ({f"{DOMAIN}namespace.enableYuniKorn": "no"}, {"paddock.dev/gate": "true"}),
    "unlabelled": ({f"{DOMAIN}namespace.generateAppId": "false"}, {}),
    "long-" + "y" * 50: ({}, {}),
    NAMESPACE: ({}, {"paddock.dev/gate": "true"}),
}
"""Annotations and labels. Without kube-system, of which only policies mark pods, by its annotation."""
SETTINGS: tuple[Mapping[str, str], ...] = (
    {},
    {f"{FILTER}processNamespaces": " ^team , long", f"{FILTER}noLabelNamespaces": "gated"},
    {f"{FILTER}bypassNamespaces": "team-a", f"{FILTER}generateUniqueAppId": "true"},
    {f"{FILTER}processNamespaces": "team-(a,^long", f"{FILTER}labelNamespaces": "("},
)
PODS = 40
_NOTHING = '[JSONPatch{op: "test", path: "/kind", value: "Pod"}]'


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests. It serves the policies of v1beta1, too."""
    async with ControlPlane(flags=beta_flags(minor_of_programs())) as running:
        async with Cluster(running) as cluster:
            for name, (annotations, labels) in NAMESPACES.items():
                await cluster.ensure_namespace(name)
                path = path_of("Namespace", name=name)
                await cluster.patch(path, {"metadata": {"annotations": annotations, "labels": labels}})
            await _hold_parameters(cluster, _outputs()[-1])
        yield running


def _outputs() -> list[str]:
    """Outputs that the API server serves, newest last."""
    return [each for each in OUTPUTS if minor_of_programs() >= SINCE[each]]


async def _hold_parameters(cluster: Cluster, version: str) -> None:
    """Keep a policy with the same kind of parameters. An API server forgets a kind that no policy names."""
    if version == "webhook":
        return
    metadata = {"name": "holds-parameters.e2e.test"}
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
            ]
        },
        "matchConditions": [{"name": "never", "expression": "false"}],
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _NOTHING}}],
    }
    bound = {
        "policyName": metadata["name"],
        "paramRef": {"name": CONFIG_MAP, "namespace": NAMESPACE, "parameterNotFoundAction": "Allow"},
    }
    for kind, content in (("MutatingAdmissionPolicy", spec), ("MutatingAdmissionPolicyBinding", bound)):
        thing = {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": metadata, "spec": content}
        await cluster.request("POST", _path(thing), thing)


class Installed:
    """An installation of one output. ``objects``: of the chart, as the API server gets them."""

    def __init__(self, cluster: Cluster, made: Rendered) -> None:
        assert made.error == ""
        self._cluster = cluster
        self.objects = [each for each in made.objects if each["kind"].startswith("Mutating")]
        self.made = made

    async def __aenter__(self) -> "Installed":
        for thing in self.objects:
            await self._cluster.request("POST", _path(thing), thing)
        return self

    async def __aexit__(self, *_: object) -> None:
        for thing in self.objects:
            await self._cluster.request("DELETE", f"{_path(thing)}/{thing['metadata']['name']}")

        async def is_plain() -> bool:
            made = await tried(self._cluster, _probe(), PROBED)
            return made["spec"]["schedulerName"] == "default-scheduler" and "labels" not in made["metadata"]

        await eventually(is_plain, "nothing changes pods any more", timeout=30)

    async def until_in_force(self, queue: str) -> None:
        """Wait until every rule works, with the keys of now. ``queue``: the default one of these keys."""

        async def is_in_force() -> bool:
            made = await tried(self._cluster, _probe(), PROBED)
            labels = made["metadata"].get("labels", {})
            requests = made["spec"]["containers"][0]["resources"].get("requests", {})
            gated = bool(made["spec"].get("schedulingGates"))
            named = INFO in made["metadata"].get("annotations", {})
            return labels.get("queue") == queue and "paddock.dev/bind" in requests and gated and named

        await eventually(is_in_force, "all rules are in force", timeout=60)


def _path(thing: Object) -> str:
    plural = {
        "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
        "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
        "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
    }[thing["kind"]]
    return f"/apis/{thing['apiVersion']}/{plural}"


def _probe() -> Object:
    container = {"name": "c", "image": "pause"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe"},
        "spec": {"containers": [container]},
    }


async def tried(
    cluster: Cluster,
    thing: Object,
    namespace: str,
    user: str = "alice",
    groups: tuple[str, ...] = (),
    *,
    method: str = "POST",
) -> Object:
    """The object that the API server would store, or the error's text in place of it."""
    path = path_of(thing["kind"], namespace) if thing["kind"] != "CronJob" else _cron_jobs(namespace)
    path += f"/{thing['metadata']['name']}" if method == "PUT" else ""
    headers = [("Impersonate-User", user), ("Content-Type", "application/json")]
    headers += [("Impersonate-Group", each) for each in (*groups, "system:masters")]
    async with cluster.session.request(
        method, path, data=msgspec.json.encode(thing), headers=headers, params={"dryRun": "All"}
    ) as answer:
        found: Object = msgspec.json.decode(await answer.read())
        if answer.status >= 400:
            return {"error": found["message"]}
    for name in ("uid", "creationTimestamp", "managedFields", "resourceVersion", "generation"):
        found["metadata"].pop(name, None)
    # It says since when a pod is gated.
    found.pop("status", None)
    return found


def _cron_jobs(namespace: str) -> str:
    return f"/apis/batch/v1/namespaces/{namespace}/cronjobs"


async def all_tried(cluster: Cluster, seed: int) -> dict[str, Object]:
    """Results of requests with random pods in all namespaces, and with workloads, by a name for each."""
    found = {}
    places = sorted(NAMESPACES)
    for at, pod in enumerate(random_pods(PODS, seed)):
        namespace, (user, groups) = places[at % len(places)], USERS[at % len(USERS)]
        shown = f"{pod} in {namespace} by {user}"
        found[shown] = await tried(cluster, copy.deepcopy(pod), namespace, user, groups)
    for namespace in ("team-a", NAMESPACE):
        for user, groups in USERS:
            for thing in (deployment("new"), deployment("new", annotations={INFO: "x"}), cron_job("new")):
                shown = f"{thing['kind']} in {namespace} by {user}"
                found[shown] = await tried(cluster, thing, namespace, user, groups)
    for name in ("named", "unnamed"):
        for change in ({}, {"replicas": 3}, {"image": "other"}, {"annotations": {INFO: "y"}}):
            shown = f"update of {name} with {change}"
            found[shown] = await tried(cluster, deployment(name, **change), "team-a", method="PUT")
    return found


@pytest.mark.matrix
async def test_all_outputs_change_random_pods_alike(cluster: Cluster) -> None:
    """The chart is rendered as for kubeadm, whose webhook is on loopback. Nothing of it is replaced."""
    port = free_port()
    values = {**IMAGES, "mode": "kubeadm", "scheduler": {"form": "scoped"}, "ports": {"webhook": port}}
    values |= {"adopt": ON, "gates": ON, "identity": ON, "mutation": {"beta": True}}
    made = render(Case(name, values, "v1.36.2", OUTPUTS[name]) for name in _outputs())
    for name, annotations in (("named", {INFO: "bob's"}), ("unnamed", None)):
        await cluster.request(
            "POST", path_of("Deployment", "team-a"), deployment(name, annotations=annotations)
        )
    await _apply_roles(cluster, made["webhook"])
    paddock = PaddockProcess(
        cluster.control_plane.kubeconfig("paddock-certificate"),
        cluster.control_plane.folder,
        arguments=[f"--webhook-port={port}", "--serving-address=127.0.0.1"],
    )
    results = {name: await _of_output(cluster, made[name], paddock) for name in made}
    assert {each["kind"] for each in Installed(cluster, made["webhook"]).objects} == {
        "MutatingWebhookConfiguration"
    }
    expected = results[_outputs()[-1]]
    changed = sum("paddock.dev/filter" in str(each) for each in expected.values())
    assert len(expected) // 5 < changed < len(expected), "the rules have work to do, and leave some alone"
    for name, found in results.items():
        differing = [f"{key}: {each}" for key in expected for each in _unlike(found[key], expected[key])]
        assert differing[:3] == [], f"{len(differing)} differences of {name}"


def _unlike(one: Any, other: Any, path: str = "") -> list[str]:
    """Places at which two objects differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(one.keys() | other.keys())
        return [each for key in keys for each in _unlike(one.get(key), other.get(key), f"{path}.{key}")]
    return [] if one == other else [f"{path} is {one} and {other}"]


async def _of_output(cluster: Cluster, made: Rendered, paddock: PaddockProcess) -> dict[str, Object]:
    """Results of all requests by one output. Paddock runs only while its webhook is installed."""
    found: dict[str, Object] = {}
    await _configure(cluster, 0)
    async with Installed(cluster, made) as installed:
        is_webhook = any(each["kind"] == "MutatingWebhookConfiguration" for each in installed.objects)
        if is_webhook:
            await paddock.start()
        try:
            for number in range(len(SETTINGS)):
                await _configure(cluster, number)
                await installed.until_in_force(_queue(number))
                results = await all_tried(cluster, seed=number)
                found |= {f"{number}: {key}": each for key, each in results.items()}
        finally:
            if is_webhook:
                await paddock.kill()
    return found


def _queue(number: int) -> str:
    return f"root.s{number}"


async def _configure(cluster: Cluster, number: int) -> None:
    queues = "partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]\n"
    keys = {**SETTINGS[number], f"{FILTER}defaultQueue": _queue(number)}
    await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": queues, **keys})


async def _apply_roles(cluster: Cluster, made: Rendered) -> None:
    """Paddock runs with the roles that the chart renders for it, among them the one for its webhook."""
    for thing in made.objects:
        if thing["kind"] in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"):
            await cluster.apply(thing)


async def test_a_pod_passes_while_paddock_is_down_unless_it_is_required(cluster: Cluster) -> None:
    """The webhook stops nothing. With the policies that require its changes, managed pods are refused."""
    values: dict[str, Any] = {**IMAGES, "mode": "kubeadm", "scheduler": {"form": "scoped"}}
    values |= {"adopt": ON, "gates": ON, "ports": {"webhook": free_port()}, "mutation": {"require": True}}
    made = render([Case("one", values, "v1.33.13", ())])["one"]
    await _configure(cluster, 0)
    for thing in made.objects:
        if thing["kind"] == "MutatingWebhookConfiguration":
            await cluster.request("POST", _path(thing), thing)
    assert "error" not in await tried(cluster, _probe(), PROBED)
    required = [each for each in made.objects if each["metadata"]["name"].startswith("require-")]
    for thing in required:
        await cluster.create(thing)

    await _until_required(cluster)
    for namespace in ("kube-system", NAMESPACE):
        assert "error" not in await tried(cluster, _managed(), namespace)
    assert "error" not in await tried(cluster, _probe(), "left-out")
    await cluster.request("DELETE", f"{WEBHOOKS}/{WEBHOOK}")


async def _until_required(cluster: Cluster) -> None:
    """Wait until each policy refuses what it is for. The error says what each answered, and what there is."""
    asked = {
        "did not adopt": (_probe(), "team-a"),
        # An API server names only one of the policies that refuse a pod. So each pod lacks one thing.
        "did not mark": (_managed(gated=True), "left-out"),
        "did not gate": (_managed(markers=True), "left-out"),
    }
    answers: dict[str, str] = {}

    async def is_required() -> bool:
        for text, (pod, namespace) in asked.items():
            answers[text] = (await tried(cluster, pod, namespace)).get("error", "it was let in")
        return all(text in answer for text, answer in answers.items())

    try:
        await eventually(is_required, "each policy refuses what it is for", timeout=60)
    except AssertionError as error:
        for text, answer in answers.items():
            error.add_note(f"expected {text!r}: {answer}")
        error.add_note(await _admission_of(cluster))
        raise


async def _admission_of(cluster: Cluster) -> str:
    """Names of everything that takes part in admission, with what it reports. Leftovers are among them."""
    kinds = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
    kinds += ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations")
    lines = []
    for kind in kinds:
        found = await cluster.request("GET", f"/apis/{GROUP}/v1/{kind}")
        names = (f"{each['metadata']['name']} {each.get('status', '')}" for each in found["items"])
        lines.append(f"{kind}: {'; '.join(names) or 'none'}")
    maps = await cluster.request("GET", path_of("ConfigMap", NAMESPACE))
    lines.append(f"parameters: {[(each['metadata']['name'], each.get('data')) for each in maps['items']]}")
    return "\n".join(lines)


def _managed(*, markers: bool = False, gated: bool = False) -> Object:
    pod = _probe()
    if gated:
        pod["spec"]["schedulingGates"] = [{"name": "paddock.dev/queue"}]
    pod["metadata"]["labels"] = {f"{DOMAIN}queue": "root.a"}
    if markers:
        amounts = {f"paddock.dev/{each}": "1" for each in ("filter", "preempt", "bind")}
        pod["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    return pod
