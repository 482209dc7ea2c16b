"""A pod that runs: its containers as processes in one network, and its probes as they are written."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from e2e.cluster.client import Cluster, Object
from e2e.pods.containers import beside, command_of, environment_of, in_root, privileges
from e2e.pods.networks import Network
from e2e.pods.volumes import Volumes
from e2e.programs.control_plane import unverified
from e2e.programs.processes import Program

READY_DEADLINE = 45.0
PAUSE = 1.0
"""Seconds until a container that has ended is started again, for as long as an optional Secret is missing."""


class ProbeFailed(AssertionError):
    """A probe that did not succeed in time. The text has the ends of all logs of the pod."""


class Pod:
    """A pod, as an async context manager.

    ``thing``: with name, namespace and spec. ``address``: the pod's own. ``of_node``: variables of every
    container. ``node``: as in `Volumes`.
    """

    def __init__(
        self,
        cluster: Cluster,
        thing: Object,
        network: Network,
        *,
        address: str,
        folder: Path,
        node: Path,
        of_node: Mapping[str, str],
    ) -> None:
        self.network = network
        self.address = address
        self._spec = thing["spec"]
        self._folder = folder
        self._of_node = of_node
        self._volumes = Volumes(cluster, thing["metadata"]["namespace"], self._spec, folder / "volumes", node)
        self.programs: dict[str, Program] = {}

    async def __aenter__(self) -> Self:
        self._folder.mkdir(parents=True)
        await self._volumes.fill()
        for container in self._spec["containers"]:
            program = self.programs[container["name"]] = self._program(container)
            program.start()
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for program in self.programs.values():
            await program.stop()

    async def until_ready(self, *, patience: float = float("inf")) -> None:
        """Wait for the startup probes, then for the others. Raises `ProbeFailed`.

        ``patience``: seconds for each startup probe, if these are less than the probe allows.
        """
        for container in self._spec["containers"]:
            probe = container["startupProbe"]
            allowed = probe["periodSeconds"] * probe["failureThreshold"]
            await self._until(container, "startupProbe", min(allowed, patience))
        for container in self._spec["containers"]:
            await self._until(container, "livenessProbe", 0.0)
            await self._until(container, "readinessProbe", READY_DEADLINE)

    async def answer(self, container: str, kind: str) -> bool:
        """Execute a probe once."""
        (found,) = (each for each in self._spec["containers"] if each["name"] == container)
        return await self._succeeds(found, found[kind])

    def container_of_port(self, name: str) -> int:
        """The number of a port by its name. Raises if no container has it, as no endpoint would be made."""
        (found,) = (
            port["containerPort"]
            for each in self._spec["containers"]
            for port in each.get("ports", ())
            if port["name"] == name
        )
        number: int = found
        return number

    @property
    def tails(self) -> str:
        return "\n".join(f"-- {name}:\n{each.tail()}" for name, each in self.programs.items())

    def _program(self, container: Object) -> Program:
        name = container["name"]
        root = self._folder / f"{name}-root"
        root.mkdir()
        environment = environment_of(container, self._of_node)
        command = self._inside(container, command_of(container, environment))
        context = container.get("securityContext", {})
        started = in_root(
            root,
            self._volumes.mounts(container),
            read_only=context.get("readOnlyRootFilesystem", False),
            command=command,
        )
        return Program([*self.network.joined, *started], self._folder / f"{name}.log")

    def _inside(self, container: Object, command: list[str]) -> list[str]:
        """The command with the container's account and environment."""
        variables = (f"{name}={value}" for name, value in environment_of(container, self._of_node).items())
        account = privileges(container, self._spec.get("securityContext", {}))
        return [*account, "env", "-i", *variables, *command]

    async def _until(self, container: Object, kind: str, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not await self._succeeds(container, container[kind]):
            name = container["name"]
            if not self.programs[name].running and await self._volumes.fill_late():
                await asyncio.sleep(PAUSE)
                self.programs[name].start()
            if not self.programs[name].running:
                raise ProbeFailed(f"{name} ended:\n{self.tails}")
            if time.monotonic() > until:
                raise ProbeFailed(f"{kind} of {name} failed for {seconds} s:\n{self.tails}")
            await asyncio.sleep(0.2)

    async def _succeeds(self, container: Object, probe: Object) -> bool:
        try:
            async with asyncio.timeout(probe.get("timeoutSeconds", 1)):
                if "exec" in probe:
                    return await self._executed(container, probe["exec"]["command"])
                return await self._got(container, probe["httpGet"])
        except (OSError, TimeoutError):
            return False

    async def _executed(self, container: Object, command: list[str]) -> bool:
        process = await asyncio.create_subprocess_exec(
            *beside(self.programs[container["name"]].pid, self._inside(container, command)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            return await process.wait() == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _got(self, container: Object, asked: Object) -> bool:
        """The kubelet calls the pod's address, and verifies no certificate."""
        named = {each["name"]: each["containerPort"] for each in container.get("ports", ())}
        port = asked["port"] if isinstance(asked["port"], int) else named[asked["port"]]
        tls = unverified() if asked.get("scheme") == "HTTPS" else None
        host = asked.get("host", self.address)
        status = (await self._page(host, port, asked["path"], tls)).split()
        return len(status) > 1 and 200 <= int(status[1]) < 400

    async def story(self, namespace: str, name: str) -> str:
        """Paddock's story of a pod, from its admin port."""
        return await self._page("127.0.0.1", 10291, f"/debug/pods/{namespace}/{name}", None)

    async def _page(self, host: str, port: int, path: str, tls: ssl.SSLContext | None) -> str:
        """An answer as it comes, with its status line and headers. Raises OSError."""
        reader, writer = await self.network.connect(host, port, tls=tls)
        try:
            lines = (f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Connection: close", "", "")
            writer.write("\r\n".join(lines).encode())
            return (await reader.read()).decode(errors="replace")
        finally:
            writer.close()
