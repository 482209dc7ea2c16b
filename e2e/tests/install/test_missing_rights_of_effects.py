"""F-20: as `test_missing_rights`, for the rights that Paddock uses while it runs.

kube-scheduler has an account of its own, so that nothing else gives Paddock's account a right.
"""

import copy
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
import pytest_asyncio
import yaml

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.programs.control_plane import unverified
from e2e.programs.processes import free_port
from e2e.stands.course import document_of
from e2e.stands.front_door import ROOT, account, bind, serving
from e2e.stands.gangs import GATE, Job
from e2e.stands.installation.roles import Roles, rendered_objects, rights_of
from e2e.stands.preemption import queue
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, eventually
from e2e.tests.install.test_missing_rights import ALL_ON, AT_START, LEASE_RIGHT, names, read
from extender.kube.connection.rights import Right

POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
QUEUES = {
    "root.a": queue(cap=1),
    "root.jobs": queue(),
    "root.poor": queue(guaranteed=2),
    "root.rich": queue(),
    "root.closed": queue(),
}
DIRECT = "paddock.preemption.directDelete"
CLOSE, OPEN = ({"action": each, "queue": "root.closed"} for each in ("close", "open"))


class RenderedStand(Stand):
    """A stand whose Paddock is a service account with what the chart renders with every ability on."""

    def __init__(self, cluster: Cluster) -> None:
        self.ports = {name: free_port() for name in ("rest", "aggregated", "webhook")}
        more = [*serving("127.0.0.1", self.ports), "--admin-enabled=true"]
        super().__init__(cluster, {}, user="paddock", proxied=True, arguments=lambda _: more)
        objects = rendered_objects(ALL_ON)
        self.roles = Roles(cluster, objects)
        self.jobs = 0
        self.protecting = [each for each in objects if each["kind"] in POLICIES]

    async def _install(self) -> None:
        await self.roles.apply()
        for thing in self.protecting:
            await self.cluster.apply(copy.deepcopy(thing))
        await self.set()

    async def set(self, **settings: str) -> None:
        text = yaml.safe_dump(document_of(QUEUES))
        keys = {name.replace("_", "."): value for name, value in settings.items()}
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": text, **keys})

    async def ask(self, port: str, path: str, token: str, body: Mapping[str, Any] | None = None) -> int:
        """Status of a request with a token, a POST if it has a body."""
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                "POST" if body else "GET",
                f"https://127.0.0.1:{self.ports[port]}{path}",
                headers={"Authorization": f"Bearer {token}"},
                json=body,
                ssl=unverified(),
            ) as answer,
        ):
            return answer.status

    async def empty(self) -> None:
        """Delete all pods, and wait until they are gone."""
        for name in [pod["metadata"]["name"] for pod in self.pods.pods.values()]:
            # Placeholders also go by themselves.
            with suppress(ApiFailure):
                await self.cluster.delete_pod(name)
        await self.pods.until(lambda: not self.pods.pods, "no pod is left")


@pytest_asyncio.fixture(loop_scope="session")
async def stand(cluster: Cluster) -> AsyncIterator[RenderedStand]:
    async with RenderedStand(cluster) as made:
        await cluster.add_nodes(1, cpu="4")
        yield made
    await made.roles.delete()


# -- what uses each right ------------------------------------------------------------------------------------


async def _binds(stand: RenderedStand) -> None:
    await stand.cluster.create_pod("p", queue="root.a")


async def _loses_an_answer(stand: RenderedStand) -> None:
    stand.proxy.drop_next("POST", "/pods/p/binding", after=True)
    await _binds(stand)


async def _gated(stand: RenderedStand, cpu: str) -> None:
    spec = {"schedulingGates": [{"name": GATE}]}
    await stand.cluster.create_pod("p", queue="root.a", cpu=cpu, spec=spec)


async def _opens_a_gate(stand: RenderedStand) -> None:
    await _gated(stand, "1")


async def _keeps_a_gate_shut(stand: RenderedStand) -> None:
    await _gated(stand, "9")


async def _is_edited_badly(stand: RenderedStand) -> None:
    await stand.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": "partitions: ["})


async def _starts_a_gang(stand: RenderedStand) -> None:
    # An application whose gang has started, or was given up, starts no other.
    stand.jobs += 1
    for pod in Job(f"job-{stand.jobs}", 2).manifests(stand.cluster):
        await stand.cluster.create(pod)


async def _preempts(stand: RenderedStand) -> None:
    names_of_rich = [f"rich-{at}" for at in range(4)]
    for name in names_of_rich:
        await stand.cluster.create_pod(name, queue="root.rich")
    await stand.pods.until(lambda: len(stand.pods.bound()) == 4, "the node is full")
    await stand.cluster.create_pod("poor", queue="root.poor")


async def _preempts_directly(stand: RenderedStand) -> None:
    await stand.set(**{DIRECT.replace(".", "_"): "true"})
    await _preempts(stand)


async def _reads(stand: RenderedStand, name: str) -> None:
    token = await account(stand.cluster, name, role="paddock-viewer")
    await stand.ask("rest", "/ws/v1/clusters", token)


async def _authenticates(stand: RenderedStand) -> None:
    await _reads(stand, "stranger")


async def _authorizes(stand: RenderedStand) -> None:
    await _reads(stand, "reader")


async def _administers(stand: RenderedStand) -> None:
    """Change the ConfigMap that a first order has created."""
    token = await account(stand.cluster, "operator", role="paddock-operator")
    await stand.ask("aggregated", f"{ROOT}/actions", token, OPEN)


Use = Callable[[RenderedStand], Awaitable[None]]
USED: Mapping[Right, Use] = {
    Right("create", "pods/binding", ""): _binds,
    Right("get", "pods", ""): _loses_an_answer,
    Right("patch", "pods", ""): _opens_a_gate,
    Right("open-paddock-gates", "pods", ""): _opens_a_gate,
    Right("patch", "pods/status", ""): _keeps_a_gate_shut,
    Right("create", "events", ""): _is_edited_badly,
    Right("create", "pods", ""): _starts_a_gang,
    Right("update", "pods/finalizers", ""): _starts_a_gang,
    Right("set-paddock-records", "pods", ""): _starts_a_gang,
    Right("delete", "pods", ""): _starts_a_gang,
    Right("create", "pods/eviction", ""): _preempts,
    Right("delete-paddock-victims", "pods", ""): _preempts_directly,
    Right("create", "tokenreviews", "authentication.k8s.io"): _authenticates,
    Right("create", "subjectaccessreviews", "authorization.k8s.io"): _authorizes,
    Right("patch", "configmaps", ""): _administers,
}
NATIVE = set(read("podgroups", "scheduling.k8s.io"))
"""Rights to an API that is off by default. `e2e/tests/pod_groups/test_native.py` uses them."""


async def test_each_effect_names_the_right_that_is_missing(stand: RenderedStand) -> None:
    group = "rbac.authorization.k8s.io"
    rule = {"apiGroups": ["paddock.dev"], "resources": ["queues"], "verbs": ["administer"]}
    meta = {"name": "e2e-administers-all"}
    await stand.cluster.apply(
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": meta, "rules": [rule]}
    )
    where = {"kind": "ServiceAccount", "namespace": stand.cluster.namespace, "name": "operator"}
    await bind(stand.cluster, "e2e-administers-all", where)

    async def is_done() -> bool:
        token = await account(stand.cluster, "operator", role="paddock-operator")
        return await stand.ask("aggregated", f"{ROOT}/actions", token, CLOSE) == 200

    await eventually(is_done, "a queue is closed with all rights", timeout=30)
    for right, use in USED.items():
        await _used_without(stand, right, use)
    await stand.cluster.request("DELETE", path_of("ClusterRole", name=meta["name"]))


async def _used_without(stand: RenderedStand, right: Right, use: Use) -> None:
    async with stand.roles.without(right):
        await use(stand)
        try:
            await eventually(lambda: names(stand.paddock, right), f"{right} is named", timeout=30)
        except AssertionError as error:
            error.add_note(json.dumps(stand.paddock.logs()[-12:], indent=1))
            error.add_note((await stand.paddock.get("/readyz?verbose"))[1])
            raise
    await stand.set()
    await stand.empty()


def test_each_right_of_the_roles_is_taken_away_once() -> None:
    """So a right that is added to the chart needs a case here."""
    found = {*rights_of(rendered_objects(ALL_ON)), *rights_of(rendered_objects({"mode": "kubeadm"}))}
    assert found == {*AT_START, *USED, LEASE_RIGHT, *NATIVE}
