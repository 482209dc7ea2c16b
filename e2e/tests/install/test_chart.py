"""The chart on a real API server: server-side apply and Helm take it, again and again without a change."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, eventually
from e2e.tests.install.commands import CommandFailed, Shell

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
QUEUES = {"queues.yaml": "partitions: [{name: default, queues: [{name: root}]}]\n"}


@pytest_asyncio.fixture(loop_scope="session")
async def shell(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Shell]:
    """A shell, and after the test no object of the chart."""
    await cluster.ensure_namespace(NAMESPACE)
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
