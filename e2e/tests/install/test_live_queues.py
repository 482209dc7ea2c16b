"""Live queues through the life of an installation: no step changes them, and no pod is bound over them.

The steps are those of a cluster's administrator, by Helm and kubectl. Paddock and kube-scheduler run as the
service account of the chart, with its roles and its scheduler configuration. They start again after each
step, as their pod would. Played are that pod, and the 15 s until another kube-scheduler has the Lease.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from e2e.cluster.client import Cluster, Object, message_of, node_of, path_of
from e2e.cluster.kubelet import StubKubelet
from e2e.cluster.watching import PodCache
from e2e.programs.control_plane import ControlPlane
from e2e.programs.helm import CHART
from e2e.stands.installation.deployed import deployed
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document
from e2e.tests.install.commands import IMAGES, Shell
from e2e.tests.install.test_chart import rendered

pytestmark = pytest.mark.xdist_group("live queues")

FIRST, EDITED, OTHER = (document({"a": {"max": {"vcore": each}}}) for each in ("2", "3", "9"))
VALUES: dict[str, Any] = {"mode": "sidecar", "scheduler": {"form": "plain"}, "queues": {"initial": FIRST}}
NEXT: dict[str, Any] = {
    **VALUES,
    "queues": {"initial": OTHER},
    "replicas": 2,
    "paddock": {"logLevel": "debug"},
    "abilities": {"directDelete": True},
}
HELD = 3
"""Pods that the edited queue takes."""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests, on which others install what belongs to no release."""
    async with ControlPlane() as running, Cluster(running) as cluster:
        await cluster.ensure_namespace(NAMESPACE)
        yield running


class Life:
    """An installation, the pods of one queue, and the most of them that ever had a node."""

    def __init__(self, cluster: Cluster, shell: Shell, pods: PodCache) -> None:
        self._cluster = cluster
        self._shell = shell
        self._pods = pods
        self._probes = 0
        self.most = 0
        pods.listeners.append(self._on_pod)

    def _on_pod(self, _kind: str, _pod: Object) -> None:
        self.most = max(self.most, len(self.bound()))

    def bound(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self._pods.pods.values() if node_of(pod)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run what the installed Deployment would, and see that a new pod of the queue waits at the end."""
        async with deployed(self._cluster, self._shell.folder):
            yield
            await self._refuses_another()

    async def _refuses_another(self) -> None:
        self._probes += 1
        name = f"probe-{self._probes}"
        await self._cluster.create_pod(name, queue="root.a", app="a", scheduler_name="paddock")

        def is_refused() -> bool:
            pod = self._pods.named(name)
            return pod is not None and "QuotaExceeded" in message_of(pod)

        await self._pods.until(is_refused, f"{name} waits for the queue")

    async def live(self) -> str:
        """The live document. It is the administrator's: nothing else has written it since."""
        found = await self._cluster.request("GET", path_of("ConfigMap", NAMESPACE, CONFIG_MAP))
        text: str = found["data"]["queues.yaml"]
        return text

    async def helm(self, command: str, chart: Path, values: dict[str, Any]) -> None:
        (self._shell.folder / "of-step.yaml").write_text(yaml.safe_dump({**IMAGES, **values}))
        where = (f"--namespace={NAMESPACE}", "--values=of-step.yaml")
        await self._shell.helm(command, "paddock", str(chart), *where)


async def test_no_step_changes_live_queues_or_binds_a_pod_over_them(
    cluster: Cluster, pods: PodCache, kubelet: StubKubelet, tmp_path: Path
) -> None:
    """F-5, for every step in the life of an installation."""
    shell = Shell(cluster, tmp_path)
    life = Life(cluster, shell, pods)
    await cluster.add_nodes(1)
    await life.helm("install", CHART, VALUES)
    async with life.running():
        assert await life.live() == FIRST
        await cluster.create_pods(
            cluster.pod(f"p-{at}", queue="root.a", app="a", scheduler_name="paddock") for at in range(5)
        )
        await pods.until(lambda: len(life.bound()) == HELD - 1, "the first queues are in force")
        edit = {"data": {"queues.yaml": EDITED}}
        before = await cluster.patch(path_of("ConfigMap", NAMESPACE, CONFIG_MAP), edit)
        await pods.until(lambda: len(life.bound()) == HELD, "the edited queues are in force")
        await rendered(shell, VALUES)
        for _ in range(3):
            # Helm owns fields with defaults of the API server, which differ from what is rendered.
            await shell.kubectl("apply", "--server-side", "--force-conflicts", "-f", "all.yaml")
    await life.helm("upgrade", _another_version(shell.folder), NEXT)
    async with life.running():
        assert '"replicas": 2' in await shell.kubectl(
            *("-n", NAMESPACE, "get", "deployment", "paddock-scheduler", "-o", "json")
        )
    await shell.helm("rollback", "paddock", "1", f"--namespace={NAMESPACE}")
    async with life.running():
        pass
    await shell.helm("uninstall", "paddock", f"--namespace={NAMESPACE}")
    await life.helm("install", CHART, NEXT)
    async with life.running():
        pass
    after = await cluster.request("GET", path_of("ConfigMap", NAMESPACE, CONFIG_MAP))
    assert after == before
    assert (len(life.bound()), life.most) == (HELD, HELD)


def _another_version(folder: Path) -> Path:
    """A copy of the chart with a later version."""
    made = folder / "chart"
    shutil.copytree(CHART, made)
    text = (made / "Chart.yaml").read_text()
    found = yaml.safe_load(text)
    (made / "Chart.yaml").write_text(yaml.safe_dump({**found, "version": "99.0.0"}))
    return made
