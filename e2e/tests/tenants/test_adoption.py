"""Pods without a scheduler name, in namespaces that YuniKorn's admission controller would take (F-9, POD-31).

What is expected is worked out here from the rules; nothing of the policy's is asked for it. The policy stays
installed on a control plane of its own. An API server does not read the parameters of a kind again once the
last policy that names the kind is deleted.
"""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
import yaml

from e2e.cluster.client import Cluster, Object
from e2e.programs.control_plane import ControlPlane
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, document, eventually, manifest

POLICY = "adopt/adopt-pods.yaml"
DOMAIN = "yunikorn.apache.org/"
APP, QUEUE = DOMAIN + "app-id", DOMAIN + "queue"
ENABLE, GENERATE = DOMAIN + "namespace.enableYuniKorn", DOMAIN + "namespace.generateAppId"
FILTER = "admissionController.filtering."
QUEUES = {"a": {"max": {"vcore": "1"}}, "default": {"max": {"vcore": "4"}}}

Settings = Mapping[str, str]

pytestmark = pytest.mark.xdist_group("adoption")
"""For one worker: each worker that plays some of them starts a control plane for them."""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests, whose pods would be adopted."""
    async with ControlPlane() as running:
        async with Cluster(running) as cluster:
            await cluster.ensure_namespace(NAMESPACE)
            for thing in manifest(POLICY):
                await cluster.apply(thing)
        yield running


def _listed(settings: Settings, name: str, default: str = "") -> list[str]:
    return [each.strip() for each in settings.get(FILTER + name, default).split(",") if each.strip()]


def _matches(patterns: list[str], name: str) -> bool:
    return any(re.search(each, name) for each in patterns)


def expected(settings: Settings, namespace: str, notes: Mapping[str, str]) -> tuple[str, str]:
    """Scheduler and application id of a plain pod (POD-31, POD-32, POD-4)."""
    process, bypass = (
        _listed(settings, "processNamespaces"),
        _listed(settings, "bypassNamespaces", "^kube-system$"),
    )
    label, no_label = _listed(settings, "labelNamespaces"), _listed(settings, "noLabelNamespaces")
    taken = (not process or _matches(process, namespace)) and not _matches(bypass, namespace)
    if ENABLE in notes:
        taken = notes[ENABLE] == "true"
    if not taken:
        return "default-scheduler", ""
    labelled = (not label or _matches(label, namespace)) and not _matches(no_label, namespace)
    if GENERATE in notes:
        labelled = notes[GENERATE] == "true"
    if not labelled:
        return "yunikorn", ""
    if settings.get(FILTER + "generateUniqueAppId") == "true":
        return "yunikorn", f"{namespace[:26]}-uniqueautogen"
    made = f"yunikorn-{namespace}-autogen"[:63]
    return "yunikorn", "" if made.endswith("-") else made


NAMESPACES: Mapping[str, Mapping[str, str]] = {
    "adopt-plain": {},
    "adopt-team-a": {},
    "adopt-team-b": {},
    "adopt-enabled": {ENABLE: "true"},
    "adopt-disabled": {ENABLE: "false"},
    "adopt-generates": {GENERATE: "true"},
    "adopt-generates-none": {GENERATE: "false"},
    "kube-system": {},
    # Its id would end with a hyphen where it is cut.
    "adopt-" + "x" * 47: {},
    "adopt-" + "y" * 57: {},
}
CASES: Mapping[str, Settings] = {
    "no key": {},
    "some namespaces": {FILTER + "processNamespaces": " team-a$ ,^adopt-plain$"},
    "others bypassed": {FILTER + "bypassNamespaces": "team, ^adopt-generates$"},
    "kube-system, too": {FILTER + "bypassNamespaces": ""},
    "some labelled": {FILTER + "labelNamespaces": "team", FILTER + "noLabelNamespaces": "-b$"},
    "an id for each": {FILTER + "generateUniqueAppId": "true"},
}


async def test_the_namespaces_that_yunikorn_would_take(cluster: Cluster) -> None:
    """In force as soon as the ConfigMap says so; without it nothing is adopted, and every pod is made."""
    for name, notes in NAMESPACES.items():
        await cluster.ensure_namespace(name)
        await cluster.patch(f"/api/v1/namespaces/{name}", {"metadata": {"annotations": dict(notes)}})
    for settings in CASES.values():
        await _configured(cluster, settings)
        await _until_adopted(cluster, {n: expected(settings, n, notes) for n, notes in NAMESPACES.items()})
    await cluster.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/configmaps/{CONFIG_MAP}")
    await _until_adopted(cluster, dict.fromkeys(NAMESPACES, ("default-scheduler", "")))


async def test_an_expression_that_is_none_stops_no_pod(cluster: Cluster) -> None:
    await _configured(cluster, {})
    await _until_adopted(cluster, {cluster.namespace: expected({}, cluster.namespace, {})})
    await _configured(cluster, {FILTER + "processNamespaces": "team-(a"})
    await _until_adopted(cluster, {cluster.namespace: ("default-scheduler", "")})


CANONICAL = {APP: "mine", QUEUE: "root.a"}
PODS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, str]]] = {
    "canonical labels": ({"labels": CANONICAL}, {**CANONICAL, "applicationId": "mine", "queue": "root.a"}),
    "legacy labels": (
        {"labels": {"applicationId": "old", "queue": "root.a"}},
        {"applicationId": "old", "queue": "root.a"},
    ),
    "a label of Spark": (
        {"labels": {"spark-app-selector": "spark"}},
        {"spark-app-selector": "spark", QUEUE: "root.default", "queue": "root.default"},
    ),
    "annotations": ({"annotations": CANONICAL}, {}),
}


@pytest.mark.parametrize("name", PODS)
async def test_what_a_pod_says_itself_stays(cluster: Cluster, name: str) -> None:
    metadata, labels = PODS[name]
    await _configured(cluster, {FILTER + "defaultQueue": "root.default"})
    await _until_adopted(cluster, {cluster.namespace: expected({}, cluster.namespace, {})})
    await _until_sent_to(cluster, "root.default")
    made = await _tried(cluster, cluster.namespace, **metadata)
    assert made["metadata"].get("labels", {}) == labels
    assert made["spec"]["schedulerName"] == "yunikorn"


async def test_the_default_queue_is_that_of_the_config_map(cluster: Cluster) -> None:
    await _configured(cluster, {FILTER + "defaultQueue": "root.default"})
    await _until_sent_to(cluster, "root.default")


async def test_a_controller_of_yunikorn_and_mirrors_are_left_alone(cluster: Cluster) -> None:
    await _configured(cluster, {})
    await _until_adopted(cluster, {cluster.namespace: expected({}, cluster.namespace, {})})
    made = await _tried(cluster, cluster.namespace, labels={"app": "yunikorn"})
    assert made["spec"]["schedulerName"] == "default-scheduler"


async def test_an_adopted_pod_waits_for_its_queue(cluster: Cluster) -> None:
    """Nothing but the namespace says that it is of a queue; when the ConfigMap goes, Paddock says so."""
    async with Stand(cluster, QUEUES) as stand:
        await cluster.add_nodes(1)
        settings = {FILTER + "defaultQueue": "root.a", "queues.yaml": document(QUEUES)}
        await cluster.configmap(NAMESPACE, CONFIG_MAP, settings)
        await _until_adopted(cluster, {cluster.namespace: expected({}, cluster.namespace, {})})
        await _until_sent_to(cluster, "root.a")
        for name in ("p1", "p2"):
            pod = cluster.pod(name, scheduler_name="default-scheduler")
            pod["spec"].pop("schedulerName")
            await cluster.create(pod)
        await stand.pods.until(
            lambda: len(stand.pods.bound()) == len(stand.pods.refused("QuotaExceeded: root.a")) == 1,
            "one waits",
        )
        (waits,) = stand.pods.waiting()
        story = await stand.paddock.story(cluster.namespace, waits["metadata"]["name"])
        assert (story["queue"], story["managed"]) == ("root.a", True)
        await cluster.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/configmaps/{CONFIG_MAP}")
        await _until_adopted(cluster, {cluster.namespace: ("default-scheduler", "")})

        async def reported() -> bool:
            return await stand.paddock.metric("paddock_configuration_missing") == 1

        await eventually(reported, "the loss is reported")
        await cluster.create_pod("p3", scheduler_name="default-scheduler")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "and no pod is stopped")


# -- requests ------------------------------------------------------------------------------------------------


async def _configured(cluster: Cluster, settings: Settings) -> None:
    queues = yaml.safe_dump({"partitions": [{"name": "default", "queues": [{"name": "root"}]}]})
    await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": queues, **settings})


async def _tried(cluster: Cluster, namespace: str, **metadata: Any) -> Object:
    """A pod as it would be made."""
    pod = cluster.pod("tried")
    pod["spec"].pop("schedulerName")
    pod["metadata"] = {"name": "tried", "namespace": namespace, **metadata}
    path = f"/api/v1/namespaces/{namespace}/pods"
    return await cluster.request("POST", path, pod, params={"dryRun": "All"})


async def _until_sent_to(cluster: Cluster, queue: str) -> None:
    """Wait until pods get this default queue. Pods are adopted by former settings as well."""

    async def labelled() -> bool:
        labels = (await _tried(cluster, cluster.namespace))["metadata"].get("labels", {})
        return (labels.get(QUEUE), labels.get("queue")) == (queue, queue)

    await eventually(labelled, "the default queue is set", timeout=30)


async def _until_adopted(cluster: Cluster, wanted: Mapping[str, tuple[str, str]]) -> None:
    """The API server sees policies and their parameters a moment later."""
    found: dict[str, tuple[str, str]] = {}

    async def agrees() -> bool:
        for name in wanted:
            made = await _tried(cluster, name)
            labels = made["metadata"].get("labels", {})
            assert labels.get(APP) == labels.get("applicationId")
            found[name] = (made["spec"]["schedulerName"], labels.get(APP, ""))
        return found == dict(wanted)

    try:
        await eventually(agrees, "pods are adopted as the rules say", timeout=30)
    except AssertionError:
        assert found == dict(wanted)
        raise
