"""Processes started from the rendered objects, in each mode: a pod is held, released, and placed.

Nothing here runs containers, so their parts are processes in namespaces of their own. Their arguments,
variables, files, certificates, accounts, tokens and probes are those that the chart rendered. Played are
the images, the kubelet, the network of the cluster, and for `kubeadm` and `service` the node's own files.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from e2e.cluster.admission import is_gated
from e2e.cluster.client import ApiFailure, Cluster, Object, condition, path_of
from e2e.cluster.kubelet import StubKubelet
from e2e.cluster.watching import PodCache
from e2e.pods.installation import SERVICE_ADDRESS, Installation, paddock_of
from e2e.pods.pod import ProbeFailed
from e2e.pods.services import Egress
from e2e.programs.control_plane import ControlPlane, write_authority
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually

pytestmark = [
    pytest.mark.xdist_group("processes"),
    pytest.mark.skipif(os.geteuid() != 0, reason="network and mount namespaces with accounts need root"),
]

ON = {"enabled": True}
QUEUES, MORE = ({"a": {"max": {"vcore": each}}} for each in ("1", "2"))
_GATED = {"gates": {"enabled": True, "everyNamespace": True}, "queues": {"initial": document(QUEUES)}}
_SERVICE: dict[str, Any] = {
    "mode": "service",
    "scheduler": {"form": "prioritize"},
    "service": {"address": SERVICE_ADDRESS, "clusterIP": SERVICE_ADDRESS},
    "mutation": {"by": "webhook"},
}
MODES: Mapping[str, dict[str, Any]] = {
    "sidecar": {"mode": "sidecar", "scheduler": {"form": "scoped"}, "tls": {"source": "secret"}},
    "sidecar with certificates of Paddock": {
        "mode": "sidecar",
        "scheduler": {"form": "scoped"},
        "tls": {"source": "selfSigned"},
    },
    "service": {**_SERVICE, "tls": {"source": "secret"}},
    "service with certificates of Paddock": {**_SERVICE, "tls": {"source": "selfSigned"}},
    "kubeadm": {"mode": "kubeadm", "scheduler": {"form": "plain"}, "mutation": {"by": "webhook"}},
}
MARKER = "paddock-installation"
Change = Callable[[Object], object]


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def egress(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Egress]:
    async with Egress(tmp_path_factory.mktemp("egress")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane(
    egress: Egress, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests: its API server reaches Services through the proxy."""
    # As every API server has it. kube-scheduler reads it to know its own callers.
    clients = tmp_path_factory.mktemp("authority") / "clients"
    write_authority(clients)
    flags = (egress.flag, f"--client-ca-file={clients / 'ca.crt'}")
    async with ControlPlane(flags=flags) as running:
        async with Cluster(running) as cluster:
            labels = {"pod-security.kubernetes.io/enforce": "restricted"}
            await cluster.ensure_namespace(NAMESPACE)
            await cluster.patch(path_of("Namespace", name=NAMESPACE), {"metadata": {"labels": labels}})
        yield running


@pytest.mark.matrix
@pytest.mark.parametrize("mode", MODES)
async def test_a_pod_is_held_released_and_placed(
    cluster: Cluster, egress: Egress, pods: PodCache, kubelet: StubKubelet, tmp_path: Path, mode: str
) -> None:
    async with Installation(cluster, egress, tmp_path, {**_GATED, **MODES[mode]}) as installed:
        await cluster.add_nodes(1)
        await eventually(lambda: is_gated(cluster), "pods are gated", timeout=60)
        async with _with_stories(installed, pods, ("first", "second")):
            for name in ("first", "second"):
                await cluster.create_pod(name, queue="root.a", app=name)
            await pods.until(lambda: _admission(pods.named("second")) == "QuotaExceeded", "the second waits")
            await pods.until(lambda: _node(pods.named("first")) == "n1", "the first is placed")
            assert _node(pods.named("second")) == ""
            await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(MORE)})
            await pods.until(lambda: _node(pods.named("second")) == "n1", "the second is placed")
        paddock = paddock_of(installed.pods)
        assert await paddock.answer("paddock", "livenessProbe")
        assert await paddock.answer("paddock", "readinessProbe")
        assert "forbidden" not in paddock.programs["paddock"].log.read_text().lower()
    await _forget_queues(cluster)
    await eventually(lambda: _is_plain(cluster), "pods are gated no more", timeout=60)


@asynccontextmanager
async def _with_stories(installed: Installation, pods: PodCache, names: Sequence[str]) -> AsyncIterator[None]:
    """Add to a failure what Paddock did with each pod, and the pod itself."""
    try:
        yield
    except AssertionError as error:
        for name in names:
            error.add_note(await paddock_of(installed.pods).story(installed.cluster.namespace, name))
            error.add_note(str(pods.named(name)))
        raise


async def _is_plain(cluster: Cluster) -> bool:
    return not await cluster.is_mutated()


def _container(spec: Object, name: str) -> Object:
    (found,) = (each for each in spec["containers"] if each["name"] == name)
    return cast(Object, found)


def _without_mount(container: str, volume: str) -> Change:
    def change(spec: Object) -> None:
        mounts = _container(spec, container)["volumeMounts"]
        mounts[:] = [each for each in mounts if each["name"] != volume]

    return change


def _without_argument(start: str) -> Change:
    def change(spec: Object) -> None:
        arguments = _container(spec, "paddock")["args"]
        arguments[:] = [each for each in arguments if not each.startswith(start)]

    return change


BROKEN: Mapping[str, tuple[Change, str]] = {
    "variable": (lambda spec: _container(spec, "kube-scheduler").pop("env"), "kube-scheduler ended"),
    "configuration": (_without_mount("kube-scheduler", "scheduler-config"), "kube-scheduler ended"),
    "client's certificate": (_without_mount("kube-scheduler", "client-tls"), "kube-scheduler ended"),
    "server's certificate": (_without_mount("paddock", "tls"), "paddock ended"),
    "group of the certificates": (
        lambda spec: spec["securityContext"].pop("fsGroup"),
        "paddock ended|kube-scheduler ended",
    ),
    "token": (lambda spec: spec.update(automountServiceAccountToken=False), "kube-scheduler ended"),
    "certificate": (_without_argument("--tls-cert"), "paddock ended"),
}
"""Parts of the rendered pod, each with a change that removes it, and how the pod fails without it."""


async def test_a_part_that_is_missing_stops_the_pod(cluster: Cluster, egress: Egress, tmp_path: Path) -> None:
    """So the test above fails if the chart loses one of these."""
    async with Installation(cluster, egress, tmp_path, {**_GATED, **MODES["sidecar"]}) as installed:
        failures = await asyncio.gather(*(_failure(installed, change) for change, _ in BROKEN.values()))
        found = dict(zip(BROKEN, failures, strict=True))
    wrong = {name: text for name, text in found.items() if not re.search(BROKEN[name][1], text)}
    assert wrong == {}
    await _forget_queues(cluster)


async def _failure(installed: Installation, change: Change) -> str:
    try:
        await installed.start_changed(change)
    except (ApiFailure, ProbeFailed) as failure:
        return str(failure)
    return ""


def _admission(pod: Object | None) -> str:
    found = condition(pod, "paddock.dev/Admitted") if pod else None
    return str((found or {}).get("reason", ""))


def _node(pod: Object | None) -> str:
    return str((pod or {}).get("spec", {}).get("nodeName", ""))


async def _forget_queues(cluster: Cluster) -> None:
    for name in (CONFIG_MAP, MARKER):
        await cluster.request("DELETE", path_of("ConfigMap", NAMESPACE, name))
