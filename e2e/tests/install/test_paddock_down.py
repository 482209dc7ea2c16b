"""Paddock is installed with everything on, and does not run: pods of the system and its own pods start.

The pods are made by the ReplicaSet controller's account, and placed by the kube-scheduler of the cluster with
the rendered configuration, whose extender nobody answers. Played are the controller and the node.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from e2e.cluster.client import RUN_LABEL, ApiFailure, Cluster, Object, node_of, path_of
from e2e.programs.control_plane import ControlPlane
from e2e.programs.processes import free_port
from e2e.stands.gangs import GATE
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, certificates, document, eventually
from e2e.tests.install.commands import Shell

pytestmark = pytest.mark.xdist_group("paddock down")

ON = {"enabled": True}
CONTROLLER = "controller"
SERVER = f"paddock.{NAMESPACE}.svc"


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests, since the policies apply to all namespaces."""
    async with ControlPlane() as running, Cluster(running) as cluster:
        await cluster.ensure_namespace(NAMESPACE)
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        await cluster.patch(path_of("Namespace", name=NAMESPACE), {"metadata": {"labels": labels}})
        yield running


def values_of(by: str, form: str) -> dict[str, Any]:
    return {
        "mode": "service",
        "tls": {"source": "secret"},
        "scheduler": {"form": form},
        "gates": {"enabled": True, "everyNamespace": True},
        "mutation": {"by": by, "require": True},
        **dict.fromkeys(("adopt", "identity", "networkPolicy", "podDisruptionBudget"), ON),
    }


@pytest.mark.parametrize(
    ("by", "form"),
    [
        pytest.param("webhook", "prioritize", marks=pytest.mark.matrix),
        pytest.param("policies", "scoped", marks=[pytest.mark.matrix, pytest.mark.mutating_policies]),
    ],
)
async def test_pods_of_the_system_and_of_paddock_start(
    cluster: Cluster, tmp_path: Path, by: str, form: str
) -> None:
    shell = Shell(cluster, tmp_path)
    await cluster.add_nodes(1)
    await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document({"a": {}})})
    await shell.install("install", values_of(by, form))
    scheduler = await cluster.control_plane.scheduler(await _configuration(cluster, tmp_path))
    try:
        await eventually(lambda: _is_guarded(cluster, by), "pods of tenants are guarded", timeout=60)
        own = await _create(cluster, NAMESPACE, await _own_pod(cluster))
        system = await _create(cluster, "kube-system", cluster.pod("dns", scheduler_name="default-scheduler"))
        for made in (own, system):
            await eventually(lambda made=made: _is_placed(cluster, made), f"{made} is placed", timeout=30)
    finally:
        await scheduler.stop()
        await shell.helm("uninstall", "paddock", f"--namespace={NAMESPACE}")


async def _configuration(cluster: Cluster, folder: Path) -> Object:
    """The rendered file, with an address that nobody answers and the client's certificate."""
    found = await cluster.request("GET", path_of("ConfigMap", NAMESPACE, "paddock-scheduler-config"))
    (text,) = found["data"].values()
    made: Object = yaml.safe_load(text)
    made["clientConnection"].pop("kubeconfig", None)
    made["leaderElection"] = {"leaderElect": False}
    for extender in made["extenders"]:
        extender["urlPrefix"] = f"https://127.0.0.1:{free_port()}/v1"
        extender["tlsConfig"] |= certificates(folder / "tls", SERVER).of_scheduler
    return made


async def _is_guarded(cluster: Cluster, by: str) -> bool:
    """True once a pod of a tenant is gated by a policy, or refused since the webhook did not gate it."""
    pod = cluster.pod("probe", queue="root.a", scheduler_name="default-scheduler")
    try:
        path = path_of("Pod", cluster.namespace)
        made = await cluster.request("POST", path, pod, params={"dryRun": "All"})
    except ApiFailure as failure:
        return by == "webhook" and "try again when Paddock answers" in str(failure)
    return by == "policies" and {"name": GATE} in made["spec"].get("schedulingGates", [])


async def _own_pod(cluster: Cluster) -> Object:
    """A pod of the installed Deployment."""
    found = await cluster.request("GET", path_of("Deployment", NAMESPACE, "paddock"))
    template = found["spec"]["template"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        **template,
        "metadata": {**template["metadata"], "name": "own"},
    }


async def _create(cluster: Cluster, namespace: str, pod: Object) -> str:
    """Create a pod as its controller, and return its path."""
    pod["metadata"]["namespace"] = namespace
    pod["metadata"]["labels"][RUN_LABEL] = cluster.run
    await cluster.request("POST", path_of("Pod", namespace), pod, user=CONTROLLER)
    return path_of("Pod", namespace, pod["metadata"]["name"])


async def _is_placed(cluster: Cluster, path: str) -> bool:
    return node_of(await cluster.request("GET", path)) != ""
