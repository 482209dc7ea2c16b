"""The chart on a real API server: server-side apply and Helm take it, again and again without a change."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.programs.control_plane import ControlPlane
from e2e.programs.paddock import PaddockProcess
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually, eventually_equal
from e2e.tests.install.commands import CommandFailed, Shell

pytestmark = pytest.mark.xdist_group("chart")

_ON = {"enabled": True}
OPTIONS: Mapping[str, Any] = {
    **dict.fromkeys(("identity", "gates", "adopt", "networkPolicy", "resourceQuota"), _ON),
    **dict.fromkeys(("spread", "podDisruptionBudget"), _ON),
    "abilities": {"directDelete": True},
}
"""All that needs no resources of others, such as cert-manager's."""
MODES: Mapping[str, dict[str, Any]] = {
    "sidecar": {"mode": "sidecar", "replicas": 2, "scheduler": {"form": "scoped", "lease": "quick"}},
    "service": {"mode": "service", "scheduler": {"form": "prioritize"}, "tls": {"source": "secret"}},
    "kubeadm": {"mode": "kubeadm", "scheduler": {"form": "plain"}},
}
API_SERVICE = "v1alpha1.paddock.dev"
MARKER = "paddock-installation"
FIRST, EDITED = ({"a": {"max": {"vcore": each}}} for each in ("2", "3"))
QUEUES = {"queues.yaml": "partitions: [{name: default, queues: [{name: root}]}]\n"}


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests, on which others leave roles and queues."""
    async with ControlPlane() as running, Cluster(running) as cluster:
        await cluster.ensure_namespace(NAMESPACE)
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def shell(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Shell]:
    """A shell. Before and after the test the API server has no object of the chart."""
    made = Shell(cluster, tmp_path)
    yield made
    if (tmp_path / "all.yaml").exists():
        await made.kubectl("delete", "-f", "all.yaml", "--ignore-not-found", "--wait=false")

    async def is_plain() -> bool:
        return not await cluster.is_mutated()

    await eventually(is_plain, "the policies are in force no more")


async def rendered(shell: Shell, values: Mapping[str, Any]) -> None:
    """Write the objects as `helm template` prints them for this API server."""
    kinds = "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"
    version = yaml.safe_load(await shell.kubectl("version", "-o", "yaml"))["serverVersion"]["gitVersion"]
    text = await shell.install("template", values, f"--kube-version={version}", f"--api-versions={kinds}")
    (shell.folder / "all.yaml").write_text(text)


@pytest.mark.parametrize("mode", MODES)
async def test_objects_are_taken_and_applying_them_again_changes_nothing(shell: Shell, mode: str) -> None:
    await rendered(shell, {**OPTIONS, **MODES[mode]})
    apply = ("apply", "--server-side", "-f", "all.yaml")
    await shell.kubectl(*apply)
    before = await shell.objects("all.yaml")
    for _ in range(3):
        await shell.kubectl(*apply)
    assert await shell.objects("all.yaml") == before


async def test_what_paddock_writes_into_its_api_service_stays(cluster: Cluster, shell: Shell) -> None:
    """A field that the chart does not render belongs to whoever wrote it."""
    await rendered(shell, MODES["sidecar"])
    await shell.kubectl("apply", "--server-side", "-f", "all.yaml")
    path = f"/apis/apiregistration.k8s.io/v1/apiservices/{API_SERVICE}"
    await cluster.patch(path, {"spec": {"caBundle": "QQ=="}})
    await shell.kubectl("apply", "--server-side", "-f", "all.yaml")
    assert (await cluster.request("GET", path))["spec"]["caBundle"] == "QQ=="


async def test_helm_upgrades_rolls_back_and_uninstalls_and_queues_stay(
    cluster: Cluster, shell: Shell
) -> None:
    """F-5, by Helm itself, which asks the API server for its version and resources."""
    path = path_of("ConfigMap", NAMESPACE, CONFIG_MAP)
    kube_system = path_of("Role", "kube-system", "paddock-scheduler-lease")
    await shell.install("install", MODES["sidecar"])
    try:
        workload = await shell.kubectl(
            "-n", NAMESPACE, "get", "deployment", "paddock-scheduler", "-o", "yaml"
        )
        version = yaml.safe_load(await shell.kubectl("version", "-o", "yaml"))["serverVersion"]["gitVersion"]
        assert f"image: r/kube-scheduler:{version}" in workload
        before = await cluster.configmap(NAMESPACE, CONFIG_MAP, QUEUES)
        await shell.install("upgrade", {**OPTIONS, **MODES["sidecar"]})
        await shell.helm("rollback", "paddock", "1", f"--namespace={NAMESPACE}")
        assert await cluster.request("GET", kube_system)
    finally:
        await shell.helm("uninstall", "paddock", f"--namespace={NAMESPACE}")
    assert await cluster.request("GET", path) == before
    with pytest.raises(ApiFailure, match="404"):
        await cluster.request("GET", kube_system)
    await shell.install("install", MODES["sidecar"])
    await shell.helm("uninstall", "paddock", f"--namespace={NAMESPACE}")
    assert await cluster.request("GET", path) == before


async def test_helm_names_the_value_that_is_missing(shell: Shell) -> None:
    with pytest.raises(CommandFailed, match=r"images\.paddock\.repository has no default: set it to"):
        await shell.install("install", {"images": {"scheduler": {"repository": "r"}}}, "--dry-run=client")


async def test_first_queues_are_copied_once_and_live_edits_stay(cluster: Cluster, shell: Shell) -> None:
    """F-4, F-5: under the rendered roles of a service account."""
    values = {**MODES["sidecar"], "scheduler": {"form": "plain"}, "queues": {"initial": document(FIRST)}}
    await rendered(shell, values)
    apply = ("apply", "--server-side", "-f", "all.yaml")
    await shell.kubectl(*apply)
    path = path_of("ConfigMap", NAMESPACE, CONFIG_MAP)
    paddock = PaddockProcess(cluster.control_plane.kubeconfig("paddock"), shell.folder)
    await paddock.start()
    try:
        assert (await cluster.request("GET", path))["data"] == {"queues.yaml": document(FIRST)}
        edited = await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(EDITED)})
        for _ in range(3):
            await shell.kubectl(*apply)
        assert await cluster.request("GET", path) == edited
        await eventually_equal(lambda: _max(paddock), 3.0, "the edit is in force")
        await paddock.restart()
        assert await _max(paddock) == 3.0
        await cluster.request("DELETE", path)
        await paddock.kill()
        await paddock.start(wait=False)

        async def is_missing() -> bool:
            return "there were queues before" in (await paddock.get("/readyz?verbose"))[1]

        await eventually(is_missing, "what was deleted is missing", timeout=30)
        assert (await paddock.get("/readyz"))[0] == 503
        with pytest.raises(ApiFailure, match="404"):
            await cluster.request("GET", path)
    finally:
        await paddock.kill()
        await cluster.request("DELETE", path_of("ConfigMap", NAMESPACE, MARKER))


async def _max(paddock: PaddockProcess) -> float:
    return await paddock.metric("paddock_queue_max", queue="root.a", resource="vcore") / 1000
