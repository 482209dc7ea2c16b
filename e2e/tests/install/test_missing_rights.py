"""F-20: each right of the rendered roles is taken away once, and Paddock names verb, resource and group.

Paddock runs as its service account with the roles that the chart renders with every ability on. The test
fails if a role has a right that no case here takes away. The roles of kube-scheduler belong to Kubernetes.
"""

import base64
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.programs.paddock import PaddockProcess
from e2e.programs.processes import free_port
from e2e.stands.front_door import serving
from e2e.stands.installation.roles import Roles, rendered_objects
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually
from e2e.tests.pod_groups.test_objects import installed
from extender.kube.connection.rights import Right

ON = {"enabled": True}
ALL_ON: Mapping[str, Any] = {
    "mode": "service",
    "tls": {"source": "secret"},
    "scheduler": {"form": "prioritize"},
    "abilities": {"gangs": True, "preemption": True, "directDelete": True},
    "admin": {"enabled": True, "config": True},
    "gates": ON,
    "mutation": {"by": "webhook"},
}
QUEUES = document({"a": {"max": {"vcore": "1"}}})
INITIAL, MARKER, SECRET = "paddock-initial-queues", "paddock-installation", "paddock-serving"
API_SERVICE = "v1alpha1.paddock.dev"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
WEBHOOK = "change-pods.paddock.dev"


def read(resource: str, group: str = "") -> tuple[Right, Right]:
    return Right("list", resource, group), Right("watch", resource, group)


class Start:
    """A Paddock with every port, and the objects that it reads and writes when it starts."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.arguments: list[str] = []

    async def prepare(self) -> None:
        """Create the objects of an installation that has run before."""
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": QUEUES})
        webhook = {
            "name": WEBHOOK,
            "clientConfig": {"service": {"name": "paddock", "namespace": NAMESPACE, "path": "/x"}},
            "rules": [],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Ignore",
        }
        await self._replace(WEBHOOKS, {"metadata": {"name": WEBHOOK}, "webhooks": [webhook]})
        spec = {"group": "paddock.dev", "version": "v1alpha1", "insecureSkipTLSVerify": False}
        spec |= {"groupPriorityMinimum": 1000, "versionPriority": 15}
        spec |= {"service": {"name": "paddock", "namespace": NAMESPACE, "port": 1}}
        await self._replace(
            "/apis/apiregistration.k8s.io/v1/apiservices", {"metadata": {"name": API_SERVICE}, "spec": spec}
        )

    async def _replace(self, folder: str, thing: Mapping[str, Any]) -> None:
        await self.forget(f"{folder}/{thing['metadata']['name']}")
        await self.cluster.request("POST", folder, thing)

    async def forget(self, path: str) -> None:
        with suppress(ApiFailure):
            await self.cluster.request("DELETE", path)

    async def clear(self) -> None:
        for name in (CONFIG_MAP, MARKER, INITIAL, "paddock-actions"):
            await self.forget(path_of("ConfigMap", NAMESPACE, name))
        await self.forget(path_of("Secret", NAMESPACE, SECRET))
        await self.forget(f"{WEBHOOKS}/{WEBHOOK}")
        await self.forget(path_of("APIService", name=API_SERVICE))

    def paddock(self, *, rest: bool = True, aggregated: bool = True, admin: bool = True) -> PaddockProcess:
        on = {"rest": rest, "aggregated": aggregated, "webhook": True}
        ports = {name: free_port() for name, is_on in on.items() if is_on}
        arguments = [*serving("127.0.0.1", ports), f"--admin-enabled={str(admin).lower()}"]
        plane = self.cluster.control_plane
        return PaddockProcess(plane.kubeconfig("paddock"), self.folder, arguments=arguments)


# -- what a start needs --------------------------------------------------------------------------------------


async def _without_queues(start: Start) -> None:
    """As an installation that is new."""
    await start.forget(path_of("ConfigMap", NAMESPACE, CONFIG_MAP))
    await start.forget(path_of("ConfigMap", NAMESPACE, MARKER))
    await start.cluster.configmap(NAMESPACE, INITIAL, {"queues.yaml": QUEUES})


async def _without_certificate(start: Start) -> None:
    await start.forget(path_of("Secret", NAMESPACE, SECRET))


async def _with_unreadable_certificate(start: Start) -> None:
    await _without_certificate(start)
    data = {"tls.crt": base64.b64encode(b"none").decode()}
    meta = {"name": SECRET, "namespace": NAMESPACE}
    await start.cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data})


async def _nothing_more(_start: Start) -> None:
    return


Prepare = Callable[[Start], Awaitable[None]]
AT_START: Mapping[Right, tuple[str, Prepare]] = {
    **{
        right: ("", _nothing_more)
        for resource, group in (
            ("pods", ""),
            ("nodes", ""),
            ("namespaces", ""),
            ("priorityclasses", "scheduling.k8s.io"),
            ("podgroups", "scheduling.x-k8s.io"),
            ("poddisruptionbudgets", "policy"),
            ("daemonsets", "apps"),
        )
        for right in read(resource, group)
    },
    **dict.fromkeys(read("configmaps"), (CONFIG_MAP, _nothing_more)),
    Right("get", "configmaps", ""): (MARKER, _without_queues),
    Right("create", "configmaps", ""): ("", _without_queues),
    Right("get", "secrets", ""): (SECRET, _nothing_more),
    Right("create", "secrets", ""): ("", _without_certificate),
    Right("update", "secrets", ""): (SECRET, _with_unreadable_certificate),
    Right("patch", "apiservices", "apiregistration.k8s.io"): (API_SERVICE, _nothing_more),
    Right("get", "mutatingwebhookconfigurations", "admissionregistration.k8s.io"): (WEBHOOK, _nothing_more),
    Right("patch", "mutatingwebhookconfigurations", "admissionregistration.k8s.io"): (WEBHOOK, _nothing_more),
}
"""Rights that a start uses: the name of the object if rules name some, and what is there before."""

LEASE = "kube-scheduler"
LEASE_RIGHT = Right("get", "leases", "coordination.k8s.io")


@pytest_asyncio.fixture(loop_scope="session")
async def roles(cluster: Cluster) -> AsyncIterator[Roles]:
    made = Roles(cluster, rendered_objects(ALL_ON))
    await made.apply()
    yield made
    await made.delete()


async def test_a_start_names_each_right_that_is_missing(
    cluster: Cluster, roles: Roles, tmp_path: Path
) -> None:
    start = Start(cluster, tmp_path)
    async with installed(cluster):
        for right, (name, prepare) in AT_START.items():
            await start.prepare()
            await prepare(start)
            async with roles.without(right, name=name):
                await _started_without(start, right)
        await start.clear()


async def test_each_combination_of_abilities_starts_with_its_roles(cluster: Cluster, tmp_path: Path) -> None:
    """Eight combinations of abilities of the scheduler, and of the ports with a login."""
    start = Start(cluster, tmp_path)
    for at, chosen in enumerate(itertools.product((False, True), repeat=3)):
        abilities = dict(zip(("gangs", "preemption", "directDelete"), chosen, strict=True))
        rest, aggregated, admin = bool(at & 1), bool(at & 2), at & 3 == 3
        values = {
            **ALL_ON,
            "abilities": abilities,
            "rest": {"enabled": rest},
            "apiService": {"enabled": aggregated},
            "admin": {"enabled": admin},
        }
        roles = Roles(cluster, rendered_objects(values))
        await roles.apply()
        await start.prepare()
        paddock = start.paddock(rest=rest, aggregated=aggregated, admin=admin)
        await paddock.start()
        await eventually(partial(_publishes, start, aggregated=aggregated), "its certificate is known")
        shown = (await paddock.get("/readyz?verbose"))[1]
        await paddock.kill()
        await start.clear()
        await roles.delete()
        assert "rights missing: \n" in shown, (values, shown)


async def _publishes(start: Start, *, aggregated: bool) -> bool:
    """True once all that a start writes is written: the bundles come last."""
    webhook = await start.cluster.request("GET", f"{WEBHOOKS}/{WEBHOOK}")
    service = await start.cluster.request("GET", path_of("APIService", name=API_SERVICE))
    bundles = (webhook["webhooks"][0]["clientConfig"], service["spec"])
    return [each.get("caBundle", "") != "" for each in bundles] == [True, aggregated]


async def test_the_right_to_the_lease_of_kubeadm_is_named(cluster: Cluster, tmp_path: Path) -> None:
    """In this mode Paddock is the user of a certificate."""
    roles = Roles(cluster, rendered_objects({"mode": "kubeadm"}), user="paddock-certificate")
    await roles.apply()
    paddock = PaddockProcess(
        cluster.control_plane.kubeconfig(roles.user), tmp_path, arguments=[f"--lease=kube-system/{LEASE}"]
    )
    async with roles.without(LEASE_RIGHT, name=LEASE, namespace="kube-system"):
        shown = await _named_by(paddock, LEASE_RIGHT)
        assert "the Lease kube-system/kube-scheduler that paddock.lease names cannot be read: 403" in shown
    await roles.delete()


async def _started_without(start: Start, right: Right) -> None:
    await _named_by(start.paddock(), right)


async def _named_by(paddock: PaddockProcess, right: Right) -> str:
    """Start a Paddock, wait until it names a right, and end it. Returns what it says of its readiness."""
    await paddock.start(wait=False)
    try:
        await eventually(lambda: names(paddock, right), f"{right} is named", timeout=30)
        return (await paddock.get("/readyz?verbose"))[1]
    except AssertionError as error:
        error.add_note((await paddock.get("/readyz?verbose"))[1])
        error.add_note(paddock.tail(30))
        raise
    finally:
        await paddock.kill()


async def names(paddock: PaddockProcess, right: Right) -> bool:
    """True if the log and the readiness name the right."""
    status, shown = await paddock.get("/readyz?verbose")
    if not status:
        return False
    logged = [
        (each["verb"], each["resource"], each["group"])
        for each in paddock.logs()
        if each.get("event") == "role of this account lacks a right"
    ]
    return tuple(right) in logged and str(right) in shown
