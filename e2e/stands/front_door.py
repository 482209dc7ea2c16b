"""A Paddock with its ports for callers with a login, behind a real API server."""

import asyncio
import ssl
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp
from yarl import URL

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.programs.binaries import binary
from e2e.programs.paddock import PaddockProcess
from e2e.programs.processes import free_port
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually, install, manifest

ROOT = "/apis/paddock.dev/v1alpha1"
NAME = "paddock.paddock-system.svc"
LOOPBACK = "127.0.0.1"
ODD_QUEUE = "x@y#1"
_RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
_RESTRICTED_POD = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
"""A queue whose name must be escaped twice in a path (REST-22)."""


def serving(address: str, ports: Mapping[str, int]) -> list[str]:
    """Flags of the ports, which are given by name."""
    return [f"--serving-address={address}", *(f"--{name}-port={port}" for name, port in ports.items())]


async def trusted(cluster: Cluster) -> str:
    """Certificates that clients of Paddock's ports are to believe."""

    async def found() -> str:
        try:
            secret = await cluster.request("GET", path_of("Secret", NAMESPACE, "paddock-serving"))
        except ApiFailure as failure:
            if failure.status != 404:
                raise
            return ""
        return b64decode(secret["data"]["ca.crt"]).decode()

    return await eventually(found, "Paddock has made its certificate")


async def bind(cluster: Cluster, role: str, subject: Mapping[str, str]) -> None:
    """Bind a shipped ClusterRole to a subject."""
    group = "rbac.authorization.k8s.io"
    await cluster.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{role}-{subject['name']}"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [dict(subject)],
        }
    )


async def account(cluster: Cluster, name: str, *, role: str = "", audience: str = "paddock") -> str:
    """A token of an account of the test's namespace, bound to a ClusterRole."""
    meta = {"name": name, "namespace": cluster.namespace}
    await cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": dict(meta)})
    if role:
        await bind(cluster, role, {"kind": "ServiceAccount", **meta})
    asked: dict[str, Any] = {"spec": {"audiences": [audience]} if audience else {}}
    path = f"{path_of('ServiceAccount', cluster.namespace, name)}/token"
    found = await cluster.request("POST", path, asked)
    return str(found["status"]["token"])


class FrontDoor:
    """A Paddock of its shipped role with all ports, and an APIService that leads to it.

    ``host``, ``lease``: where it is one of several, its host and the Lease that they follow.
    ``more``: further flags.
    """

    def __init__(
        self,
        cluster: Cluster,
        folder: Path,
        *,
        host: str = "",
        lease: str = "",
        more: Sequence[str] = (),
    ) -> None:
        self.cluster = cluster
        self.folder = folder
        self.lease = lease
        self.more = more
        self.ports = {"rest": free_port(), "aggregated": free_port(), "peer": free_port()}
        self.paddock = self._paddock(LOOPBACK, host)
        self.others: list[PaddockProcess] = []

    def _paddock(self, address: str, host: str) -> PaddockProcess:
        plane = self.cluster.control_plane
        arguments = [*serving(address, self.ports), f"--lease={self.lease}", *self.more]
        return PaddockProcess(plane.kubeconfig("paddock"), plane.folder, arguments=arguments, host=host)

    async def start_another(self, address: str, host: str) -> PaddockProcess:
        """Another one with the same ports, at another address of loopback."""
        made = self._paddock(address, host)
        self.others.append(made)
        await made.start()
        return made

    async def pod(self, name: str, address: str) -> None:
        """A pod of Paddock's namespace at that address, as a kubelet reports it."""
        meta = {"name": name, "namespace": NAMESPACE}
        # The namespace takes restricted pods only, if its manifest was applied before.
        container = {"name": "paddock", "image": "paddock", "securityContext": _RESTRICTED}
        spec = {"containers": [container], "securityContext": _RESTRICTED_POD}
        await self.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        status = {"status": {"podIP": address, "podIPs": [{"ip": address}]}}
        await self.cluster.patch(f"{path_of('Pod', NAMESPACE, name)}/status", status)

    async def lead(self, host: str) -> None:
        """Let the kube-scheduler of that host hold the Lease from now on."""
        namespace, _, name = self.lease.partition("/")
        spec = {"holderIdentity": f"{host}_e2e"}
        meta = {"name": name, "namespace": namespace}
        await self.cluster.apply(
            {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
        )

    async def start(self) -> None:
        cluster = self.cluster
        await install(cluster, "sidecar")
        queues = document({"a": {}, ODD_QUEUE: {}})
        await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": queues})
        await self.lead_here()
        await self.paddock.start()
        await self.until_available()

    async def lead_here(self) -> None:
        """Create the Service and the APIService, which lead to the aggregated API's port."""
        cluster = self.cluster
        (service,) = manifest("sidecar/service.yaml")
        service["spec"] = {
            "type": "ExternalName",
            "externalName": "localhost",
            "ports": [{"port": self.ports["aggregated"]}],
        }
        await cluster.apply(service)
        (api_service,) = manifest("sidecar/api-service.yaml")
        api_service["spec"]["service"]["port"] = self.ports["aggregated"]
        await cluster.apply(api_service)

    async def until_available(self) -> None:
        await eventually(self._is_available, "the APIService is available", timeout=90)

    async def stop(self) -> None:
        for each in (self.paddock, *self.others):
            await each.stop()
        for kind, namespace, name in (
            ("APIService", "", "v1alpha1.paddock.dev"),
            ("Service", NAMESPACE, "paddock"),
            ("Secret", NAMESPACE, "paddock-serving"),
        ):
            await self.cluster.request("DELETE", path_of(kind, namespace, name))

    async def _is_available(self) -> bool:
        found = await self.cluster.request("GET", path_of("APIService", "", "v1alpha1.paddock.dev"))
        conditions = found.get("status", {}).get("conditions", [])
        return any(each["type"] == "Available" and each["status"] == "True" for each in conditions)

    async def kubectl(self, *arguments: str, user: str = "tester") -> tuple[int, str]:
        """Exit code and what was printed, of a command of this user's."""
        kubeconfig = self.cluster.control_plane.kubeconfig(user)
        process = await asyncio.create_subprocess_exec(
            binary("kubectl"),
            *arguments,
            env={"KUBECONFIG": str(kubeconfig), "HOME": str(self.folder)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
        return process.returncode or 0, printed.decode()

    async def ask(
        self,
        port: str,
        path: str,
        headers: dict[str, str] | None = None,
        *,
        certificate: str = "",
        address: str = LOOPBACK,
        method: str = "GET",
    ) -> tuple[int, str]:
        """Status and body without the API server between; 0 for a handshake that failed.

        ``certificate``: folder and name of a client's.
        """
        context = ssl.create_default_context(cadata=await trusted(self.cluster))
        if certificate:
            files = self.cluster.control_plane.folder / certificate
            context.load_cert_chain(f"{files}.crt", f"{files}.key")
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.request(
                    method,
                    URL(f"https://{address}:{self.ports[port]}{path}", encoded=True),
                    headers=headers,
                    allow_redirects=False,
                    ssl=context,
                    server_hostname=NAME,
                ) as answer,
            ):
                return answer.status, await answer.text()
        except (aiohttp.ClientError, ssl.SSLError):
            return 0, ""
