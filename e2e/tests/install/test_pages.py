"""Pages of the documents whose commands are copied from them and run against a real control plane.

The commands run as the cluster's administrator. Paddock and kube-scheduler run as the service account that
the page has installed, with its roles and its scheduler configuration. Each command that is replaced is
printed with the reason.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import yaml

from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.cluster.kubelet import StubKubelet
from e2e.cluster.namespaces import delete_namespace, exists
from e2e.cluster.watching import PodCache
from e2e.programs.control_plane import ControlPlane
from e2e.stands.installation.deployed import deployed
from e2e.stands.installation.pages import Reader, Replaced, commands_of
from e2e.stands.stand import NAMESPACE, document, eventually
from e2e.tests.install.commands import Shell
from e2e.tests.install.random_objects import deployment

pytestmark = pytest.mark.xdist_group("pages")

NO_CONTAINERS = "nothing here builds or runs containers"
NO_KUBELET = "no kubelet forwards ports"
FIVE_MINUTES = (
    Replaced("docker build", NO_CONTAINERS),
    Replaced("docker push", NO_CONTAINERS),
    Replaced("kubectl -n paddock-system rollout status", f"{NO_CONTAINERS}; its two processes are started"),
    Replaced("kubectl -n paddock-system port-forward", NO_KUBELET),
)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests, since pages name namespaces and delete them."""
    async with ControlPlane() as running:
        yield running


async def test_five_minutes_on_a_cluster(cluster: Cluster, kubelet: StubKubelet, tmp_path: Path) -> None:
    page, pods = "start/cluster.md", "## 3. Submit a pod to a queue"
    reader = Reader(cluster.control_plane.kubeconfig("admin"), tmp_path, FIVE_MINUTES)
    await cluster.add_nodes(1)
    *installing, shows_queues = commands_of(page, before=pods)
    for command in installing:
        await reader.run(command)
    async with deployed(cluster, tmp_path) as paddock:
        reader.texts = {"localhost:10291": f"localhost:{paddock.admin_port}"}
        assert "name: team-a" in await reader.run(shows_queues)
        printed = [await reader.run(each) for each in commands_of(page, after=pods, before="## Remove it")]
        why, _, story, ready = printed[-4:]
        assert "QuotaExceeded: root.tenants.team-a max vcore=12" in why
        assert '"QuotaExceeded"' in story
        assert "[+] synced ok" in ready
    for command in commands_of(page, after="## Remove it"):
        await reader.run(command)
    reader.check_replaced()
    await delete_namespace(cluster, NAMESPACE)
    assert not await exists(cluster, NAMESPACE)


# -- migration -----------------------------------------------------------------------------------------------

MIGRATION = (
    Replaced("kubectl -n paddock-system rollout status", f"{NO_CONTAINERS}; its two processes are started"),
    Replaced("kubectl -n paddock-system port-forward", NO_KUBELET),
)
YUNIKORN = "yunikorn"
DEPLOYMENTS = ("yunikorn-scheduler", "yunikorn-admission-controller")
DEFAULTS = {"service.schedulingInterval": "1s"}
NAMED = (
    *(f"{each}.kueue.x-k8s.io" for each in ("clusterqueues", "cohorts", "localqueues")),
    "elasticquotas.scheduling.x-k8s.io",
)
CONFIGS = {"queues.yaml": document({"team": {"max": {"vcore": "2"}}})}


async def test_the_migration_from_yunikorn(cluster: Cluster, kubelet: StubKubelet, tmp_path: Path) -> None:
    """YuniKorn is played by its objects: Deployments, ConfigMaps, webhooks, a release of Helm, pods.

    A pod of the page before may still have a node here, until its grace of 30 s is over.
    """
    page, stop = "how-to/migrate-from-yunikorn.md", "## 6. Compare"
    reader = Reader(cluster.control_plane.kubeconfig("admin"), tmp_path, MIGRATION)
    await cluster.add_nodes(1)
    shell = Shell(cluster, tmp_path)
    await _play_yunikorn(cluster, shell)
    on_node = {"nodeName": "n1"}
    await cluster.create_pod("runs", queue="root.team", app="a", spec=on_node)
    for name in ("waits", "waits-too"):
        await cluster.create_pod(name, queue="root.team", app="a")
    printed = [await reader.run(each) for each in commands_of(page, before=stop)]
    assert "no problems" in printed[1]
    assert "name: yunikorn-configs" in printed[3]
    async with PodCache(cluster, cluster.namespace) as pods, deployed(cluster, tmp_path) as paddock:
        reader.texts = {"localhost:10291": f"localhost:{paddock.admin_port}"}
        await pods.until(lambda: len(pods.bound()) == 2, "one more is placed, by the same label")
        forwards, shows_metrics, audits = commands_of(
            page, after=stop, before="## Come from Kueue or ElasticQuota"
        )
        await reader.run(forwards)
        allocated = 'paddock_queue_allocated{queue="root.team",resource="vcore"} 2000'
        await reader.run_until(shows_metrics, lambda printed: allocated in printed)
        assert json.loads(await reader.run(audits))["drifts"] == []
    await _play_quotas(cluster, shell)
    for command in commands_of(page, after="## Come from Kueue or ElasticQuota"):
        await reader.run(command)
    assert "name: default" in (tmp_path / "my-queues.yaml").read_text()
    reader.check_replaced()
    for name in DEPLOYMENTS:
        found = await cluster.request("GET", path_of("Deployment", YUNIKORN, name))
        assert found["spec"]["replicas"] == 1
    await delete_namespace(cluster, NAMESPACE)
    assert not await exists(cluster, NAMESPACE)


async def _play_yunikorn(cluster: Cluster, shell: Shell) -> None:
    await cluster.ensure_namespace(YUNIKORN)
    for name in DEPLOYMENTS:
        thing = deployment(name)
        thing["metadata"]["namespace"] = YUNIKORN
        await cluster.create(thing)
    for name, data in (("yunikorn-defaults", DEFAULTS), ("yunikorn-configs", CONFIGS)):
        await cluster.configmap(YUNIKORN, name, data)
    group = "/apis/admissionregistration.k8s.io/v1"
    for kind, suffix in (("mutating", "mutations"), ("validating", "validations")):
        meta = {"name": f"yunikorn-admission-controller-{suffix}"}
        await cluster.request("POST", f"{group}/{kind}webhookconfigurations", {"metadata": meta})
    chart = shell.folder / "yunikorn"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("{apiVersion: v2, name: yunikorn, version: 1.6.0}")
    (shell.folder / "of-yunikorn.yaml").write_text(yaml.safe_dump({"yunikornDefaults": CONFIGS}))
    await shell.helm("install", YUNIKORN, "yunikorn", "--namespace=yunikorn", "--values=of-yunikorn.yaml")


async def _play_quotas(cluster: Cluster, shell: Shell) -> None:
    """Definitions of Kueue and of scheduler-plugins that take any field, and an object of each.

    An API server serves a kind a moment before it names it to kubectl.
    """
    kueue, plugins = ("kueue.x-k8s.io", "v1beta1"), ("scheduling.x-k8s.io", "v1alpha1")
    quota = {"name": "cpu", "nominalQuota": "4"}
    flavors = [{"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [quota]}]}]
    for (group, version), kind, namespaced, spec in (
        (kueue, "Cohort", False, {}),
        (kueue, "ClusterQueue", False, {"cohort": "research", "resourceGroups": flavors}),
        (kueue, "LocalQueue", True, {"clusterQueue": "one"}),
        (plugins, "ElasticQuota", True, {"min": {"cpu": "1"}, "max": {"cpu": "2"}}),
    ):
        plural = f"{kind.lower()}s"
        await cluster.create(_definition(group, version, kind, namespaced=namespaced))
        where = f"/namespaces/{cluster.namespace}" if namespaced else ""
        thing = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {"name": "one"}, "spec": spec}
        path = f"/apis/{group}/{version}{where}/{plural}"

        async def is_made(path: str = path, thing: Object = thing) -> bool:
            try:
                return bool(await cluster.request("POST", path, thing))
            except ApiFailure:
                return False

        await eventually(is_made, f"{kind} is served", timeout=60)

    async def are_named() -> bool:
        named = await shell.kubectl("api-resources", "--no-headers", "--output=name")
        return all(each in named.split() for each in NAMED)

    await eventually(are_named, "kubectl knows the kinds", timeout=60)


def _definition(group: str, version: str, kind: str, *, namespaced: bool) -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": f"{kind.lower()}s", "singular": kind.lower(), "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{names['plural']}.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": names,
            "versions": [served],
        },
    }
