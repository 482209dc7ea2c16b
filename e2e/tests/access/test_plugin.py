"""`kubectl paddock` through a real API server, installed from its archive by the rules of krew.

Identities: service accounts, one of an administrator of a queue, one with `paddock-viewer`, and a tenant who
may ask about the pods of one namespace. None of them is cluster-admin.
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest_asyncio

from e2e.cluster.client import Cluster, path_of
from e2e.programs.binaries import ROOT as REPOSITORY
from e2e.programs.binaries import binary
from e2e.stands.administration import ENABLED, administered
from e2e.stands.front_door import ODD_QUEUE, FrontDoor, account, bind
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually
from extender.plugin.table import COMMANDS
from manifests.release.krew import write
from tests.manifests.release.installing import install

GOLDEN = Path(__file__).parent / "golden"
GROUP = "rbac.authorization.k8s.io"
STREAMED = 75.0
"""Seconds of a stream, more than the 60 after which the API server ends a request."""

JOB = str(REPOSITORY / "tests/extender/plugin/job.json")
_OWNER = {"yunikorn.apache.org/user.info": json.dumps({"user": "canary-user", "groups": ["canary-group"]})}


@dataclass
class Console:
    """`kubectl paddock` under several identities. ``names``: what differs between runs, and its stand-in."""

    door: FrontDoor
    programs: Path
    names: dict[str, str]

    async def run(self, identity: str, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        process = await self.start(identity, *arguments)
        out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()

    async def start(self, identity: str, *arguments: str) -> asyncio.subprocess.Process:
        path = f"{self.programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        return await asyncio.create_subprocess_exec(
            *(binary("kubectl"), "paddock", *arguments),
            env={"KUBECONFIG": str(self.door.folder / identity), "HOME": str(self.door.folder), "PATH": path}
            | {"KUBECTL": str(binary("kubectl"))},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    def golden(self, shown: str) -> str:
        """Output without what differs between runs."""
        for name, stand_in in self.names.items():
            shown = shown.replace(name, stand_in)
        shown = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "TIME", shown)
        shown = re.sub(r"\b\d+[smh]\b", "AGE", shown)
        shown = re.sub(r"(Checksum\"?: \"?)\w+", r"\1SUM", shown)
        shown = re.sub(r"(AppliedTime\": )\d+", r"\1TIME", shown)
        # What stops preemption depends on the pod's age.
        shown = re.sub(r"Preemption: .*", "Preemption: STOP", shown)
        # Widths of columns follow from the names.
        return re.sub(r" {2,}", "  ", shown)


async def _log_in(door: FrontDoor, identity: str) -> None:
    """Write the kubeconfig of a service account."""
    kubeconfig = json.loads(door.cluster.control_plane.kubeconfig("tester").read_text())
    token = await account(door.cluster, identity, audience="")
    kubeconfig["users"][0]["user"] = {"token": token}
    kubeconfig["contexts"][0]["context"]["namespace"] = door.cluster.namespace
    (door.folder / identity).write_text(json.dumps(kubeconfig))


async def _allow(door: FrontDoor, identity: str, role: str, rules: list[Mapping[str, Any]]) -> None:
    """Give rights in the test's namespace, as `view` and `edit` would with their aggregated rules."""
    namespace = door.cluster.namespace
    meta, kind = {"name": role, "namespace": namespace}, f"{GROUP}/v1"
    subject = {"kind": "ServiceAccount", "name": identity, "namespace": namespace}
    await door.cluster.apply({"apiVersion": kind, "kind": "Role", "metadata": meta, "rules": rules})
    of = {"apiGroup": GROUP, "kind": "Role", "name": role}
    await door.cluster.apply(
        {"apiVersion": kind, "kind": "RoleBinding", "metadata": meta, "roleRef": of, "subjects": [subject]}
    )


@pytest_asyncio.fixture(loop_scope="session")
async def console(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Console]:
    """A queue that a pod of another namespace fills, and a pod of the tenant that waits for it."""
    async with administered(FrontDoor(cluster, tmp_path, more=[ENABLED])) as door:
        queues = document({"a": {"max": {"vcore": "1"}}, "b": {}})
        await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": queues})
        (node,) = await cluster.add_nodes(1, prefix="canary-node-")
        other = await cluster.create_namespace()
        await cluster.create_pod(
            "canary-pod",
            queue="root.a",
            app="canary-app",
            namespace=other,
            annotations=_OWNER,
            spec={"nodeName": node},
        )
        await cluster.create_pod("waiting", queue="root.a", app="mine")
        for identity in ("administrator", "viewer", "tenant"):
            await _log_in(door, identity)
        mine = {"kind": "ServiceAccount", "namespace": cluster.namespace}
        for identity in ("administrator", "viewer"):
            await bind(cluster, "paddock-viewer", {**mine, "name": identity})
        for role in ("paddock-operator", "e2e-administers-a"):
            await bind(cluster, role, {**mine, "name": "administrator"})
        own = [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "create"]},
            {"apiGroups": ["paddock.dev"], "resources": ["explanations"], "verbs": ["get", "create"]},
        ]
        await _allow(door, "tenant", "tenant", own)
        write(tmp_path / "dist", "https://releases.example.com")
        (archive,) = (tmp_path / "dist").glob("*.tar.gz")
        programs = install(tmp_path / "dist" / "paddock.yaml", archive, tmp_path / "krew", "linux")
        made = Console(door, programs, {cluster.namespace: "TENANT", other: "OTHER", node: "NODE"})

        async def is_seen() -> bool:
            code, out, err = await made.run("tenant", "explain", "waiting")
            print(code, out, err)
            return code == 3 and "QuotaExceeded" in out

        await eventually(is_seen, "the pod waits for quota, and the tenant may ask", timeout=60)

        async def is_removed() -> bool:
            code, out, _ = await made.run("viewer", "queues")
            return code == 0 and ODD_QUEUE not in out

        await eventually(
            is_removed, "the viewer may ask, and the queue that this document lacks is removed", timeout=60
        )

        async def may_act() -> bool:
            return (await made.run("administrator", "close-queue", "root.a", "--dry-run"))[0] == 0

        await eventually(may_act, "the administrator may act", timeout=60)
        yield made


ASKED: dict[str, tuple[str, ...]] = {
    "queues": ("queues",),
    "queue": ("queue", "root.a"),
    # Names of namespaces are too long for 80 columns.
    "apps": ("apps", "-o", "wide"),
    "app": ("app", "mine"),
    "app-other": ("app", "canary-app"),
    "pods": ("pods", "-o", "wide"),
    "explain": ("explain", "waiting"),
    "explain-app": ("explain", "app/mine"),
    "explain-other": ("explain", "-n", "OTHER", "canary-pod"),
    "users": ("users",),
    "groups": ("groups",),
    "nodes": ("nodes",),
    "preemptions": ("preemptions", "--request-timeout=5s"),
    "check": ("check", "-f", os.devnull),
    "apply": ("apply", "-f", os.devnull, "--yes"),
    "simulate": ("simulate", "-f", JOB, "-q", "root.a"),
    "simulate-free": ("simulate", "-f", JOB, "-q", "root.b"),
    "config": ("config",),
    "diff": ("diff", "-f", os.devnull),
    "top": ("top",),
    "wait": ("wait", "app/mine", "--for=state=Accepted", "--timeout=0"),
    "version": ("version",),
    "close-queue": ("close-queue", "root.a", "--dry-run"),
    "open-queue": ("open-queue", "root.b"),
    "end": ("end", "mine", "--dry-run"),
    "end-other": ("end", "-n", "OTHER", "canary-app", "--dry-run"),
    "lift": ("lift", "mine"),
    "move": ("move", "mine", "root.b", "--dry-run"),
}
"""Arguments by the name of the golden file."""

UNRECORDED = {"status", "events", "open", "completion"}
"""Commands whose output differs between runs, or that have tests of their own."""


def test_every_command_is_asked() -> None:
    assert {each[0] for each in ASKED.values()} == COMMANDS.keys() - UNRECORDED


async def test_each_identity_sees_what_it_may(console: Console) -> None:
    """As an administrator of root.a, as a viewer, and as a tenant, whose answers name nobody else."""
    wrong = []
    for identity in ("administrator", "viewer", "tenant"):
        for name, arguments in ASKED.items():
            real = {stand_in: each for each, stand_in in console.names.items()}
            given = [real.get(each, each) for each in arguments]
            code, out, err = await console.run(identity, *given)
            if identity == "tenant":
                shown = out + err.replace(real["OTHER"], "", err.count(f'namespace "{real["OTHER"]}"'))
                for canary in ("canary-user", "canary-group", real["NODE"]):
                    assert canary not in shown, (name, out, err)
                if name not in ("app-other", "explain-other"):
                    assert "canary" not in shown, (name, out, err)
                    assert real["OTHER"] not in shown, (name, out, err)
            seen = console.golden(f"exit {code}\n-- stdout\n{out}-- stderr\n{err}")
            path = GOLDEN / f"{identity}-{name}.txt"
            if "PADDOCK_WRITE_GOLDEN" in os.environ:
                path.parent.mkdir(exist_ok=True)
                path.write_text(seen)
            if not path.exists() or path.read_text() != seen:
                wrong.append((path.name, seen))
    assert wrong == []
    recorded = {f"{identity}-{name}" for identity in ("administrator", "viewer", "tenant") for name in ASKED}
    assert {each.stem for each in GOLDEN.iterdir()} == recorded


async def test_a_document_is_applied_with_the_rights_of_the_user(console: Console) -> None:
    """As a viewer, and as an administrator who may also read and update the ConfigMap.

    No kubelet forwards a port here, so no instance can be asked. The server shows what is in force.
    """
    door, file = console.door, console.door.folder / "queues.yaml"
    text = "# by the administrator\n" + document({"a": {"max": {"vcore": "500m"}}, "b": {}, "c": {}})
    file.write_text(text)
    code, out, err = await console.run("viewer", "apply", "-f", str(file), "--yes")
    assert (code, "cannot get resource" in err) == (1, True), (out, err)
    one = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [CONFIG_MAP]}
    async with updating(door.cluster, "administrator", [{**one, "verbs": ["get", "update"]}]):

        async def is_shown() -> bool:
            return (await console.run("administrator", "apply", "-f", str(file), "--dry-run"))[0] == 0

        await eventually(is_shown, "the role counts", timeout=30)
        code, out, err = await console.run(
            "administrator", "apply", "-f", str(file), "--yes", "--deadline=2s"
        )
        assert "    max: vcore 1 -> vcore 500m" in out.splitlines()
        assert "+ root.c" in out.splitlines()
        assert any(each.startswith("! root.a would be above its limit") for each in out.splitlines())
        assert "  OTHER/canary-app" in console.golden(out).splitlines()
        assert f"ConfigMap {NAMESPACE}/{CONFIG_MAP} is written." in out.splitlines()
        # There is no pod of Paddock to ask.
        assert (code, "no pod of Paddock" in err or "cannot list" in err) in ((2, True), (1, True)), err
        found = await door.cluster.request("GET", path_of("ConfigMap", NAMESPACE, CONFIG_MAP))
        assert found["data"]["queues.yaml"] == text
        managers = {each["manager"] for each in found["metadata"]["managedFields"]}
        assert "kubectl-paddock" in managers
        again = ("apply", "-f", str(file), "--yes", "--no-wait")
        code, out, _ = await console.run("administrator", *again)
        assert (code, "has this document already" in out) == (0, True)


@asynccontextmanager
async def updating(cluster: Cluster, identity: str, rules: list[dict[str, Any]]) -> AsyncIterator[None]:
    """Give an identity rights in Paddock's namespace."""
    meta, version = {"name": "e2e-updates", "namespace": NAMESPACE}, f"{GROUP}/v1"
    subject = {"kind": "ServiceAccount", "name": identity, "namespace": cluster.namespace}
    of = {"apiGroup": GROUP, "kind": "Role", "name": "e2e-updates"}
    role = {"apiVersion": version, "kind": "Role", "metadata": meta, "rules": rules}
    binding = {"apiVersion": version, "kind": "RoleBinding", "metadata": meta, "roleRef": of}
    await cluster.apply(role)
    await cluster.apply({**binding, "subjects": [subject]})
    try:
        yield
    finally:
        for kind in ("RoleBinding", "Role"):
            await cluster.request("DELETE", path_of(kind, NAMESPACE, "e2e-updates"))


async def test_kubectl_itself_completes_names(console: Console) -> None:
    """As a viewer, and as a tenant who may list its pods only."""
    script = console.programs / "kubectl_complete-paddock"
    _, out, _ = await console.run("viewer", "completion", "kubectl")
    script.write_text(out)
    script.chmod(0o755)

    async def completed(identity: str, *parts: str) -> list[str]:
        path = f"{console.programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        process = await asyncio.create_subprocess_exec(
            *(binary("kubectl"), "__complete", "paddock", *parts),
            env={"KUBECONFIG": str(console.door.folder / identity), "HOME": str(console.door.folder)}
            | {"PATH": path, "KUBECTL": str(binary("kubectl"))},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        out, _ = await process.communicate()
        return out.decode().split("\n")[:-2]

    async def queues_are_offered() -> bool:
        return await completed("viewer", "queue", "root.") == ["root.a", "root.b"]

    # The server has a second to answer.
    await eventually(queues_are_offered, "queues are offered", timeout=60)

    async def pods_are_offered() -> bool:
        return await completed("tenant", "explain", "w") == ["waiting"]

    await eventually(pods_are_offered, "pods are offered", timeout=60)
    assert await completed("tenant", "queue", "root.") == []


async def test_a_stream_goes_on_without_loss_or_duplicates(console: Console) -> None:
    """As a viewer, for longer than the API server lets one request take."""
    process = await console.start("viewer", "events", "-f", "-o", "json", "--last=0")
    assert process.stdout is not None
    seen: list[dict[str, Any]] = []

    async def read() -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            seen.append(json.loads(line))

    begun = iter(range(1000))

    async def it_reads() -> bool:
        """True once the stream shows something: what happened before its beginning is not in it."""
        name = f"begun-{next(begun)}"
        await console.door.cluster.create_pod(name, queue="root.b", app=name)
        return bool(seen)

    reading = asyncio.create_task(read())
    try:
        await eventually(it_reads, "the stream begins", timeout=60)
        for number in range(int(STREAMED / 5)):
            await console.door.cluster.create_pod(f"streamed-{number}", queue="root.b", app=f"app-{number}")
            await asyncio.sleep(5)

        async def last_is_seen() -> bool:
            return any(each["objectID"] == f"app-{number}" for each in seen)

        await eventually(last_is_seen, "the last application is streamed", timeout=30)
    finally:
        process.terminate()
        await reading
        await process.wait()
    _, out, _ = await console.run("viewer", "events", "--last=1000", "-o", "json")
    every = json.loads(out)["items"]
    first = every.index(seen[0])
    assert seen == every[first : first + len(seen)]
    assert {f"app-{each}" for each in range(number + 1)} <= {each["objectID"] for each in seen}
