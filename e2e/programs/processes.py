"""Programs that a test runs: started with a log of their own, ended by process id, never left behind."""

import asyncio
import ctypes
import itertools
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def _ports() -> list[int]:
    """Ports below the range of outgoing connections, so that a free one stays free.

    Each worker of a run has its own ports. Another worker could otherwise take one between the probe and the
    use.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    own = range(15_000 + worker, 32_000, workers)
    return random.sample(own, len(own))


_PORTS = itertools.cycle(_ports())


def free_port() -> int:
    """A port of the loopback that no process listens on; another one each time."""
    for port in _PORTS:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")


def die_with_parent() -> None:
    """Let a child die with its parent, so that a killed test leaves nothing behind."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def cpu_seconds_of(pid: int) -> float:
    """The CPU seconds that a running process has used so far, on all cores."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib_of(pid: int) -> float:
    """The memory of a running process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Process(Protocol):
    """The part of `Popen` that a `Program` needs."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


class Program:
    """A child process. Its output goes to ``log``. ``spawn``: another way to start it, given the log."""

    def __init__(
        self,
        arguments: Sequence[str],
        log: Path,
        *,
        env: Mapping[str, str] | None = None,
        spawn: Callable[[Path], Process] | None = None,
    ) -> None:
        self._arguments = [str(argument) for argument in arguments]
        self._env = {**os.environ, **(env or {})}
        self._spawn = spawn or self._child
        self.log = log
        self._process: Process | None = None

    @property
    def name(self) -> str:
        return Path(self._arguments[0]).name

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id of the running process."""
        assert self._process is not None
        return self._process.pid

    @property
    def cpu_seconds(self) -> float:
        """The CPU time of the running process so far."""
        assert self._process is not None
        return cpu_seconds_of(self._process.pid)

    @property
    def resident_mib(self) -> float:
        """The memory of the running process."""
        assert self._process is not None
        return resident_mib_of(self._process.pid)

    def start(self) -> None:
        self._process = self._spawn(self.log)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the running process."""
        assert self._process is not None
        os.kill(self._process.pid, number)

    def _child(self, log: Path) -> Process:
        with log.open("ab") as output:
            return subprocess.Popen(
                self._arguments,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self._env,
                preexec_fn=die_with_parent,
            )

    async def stop(self, *, deadline: float = 15.0) -> int | None:
        """Send SIGTERM, then SIGKILL. The exit code, or None if it never ran."""
        if self._process is None:
            return None
        if self._process.poll() is None:
            self._process.terminate()
        return await self._ended(deadline)

    async def kill(self) -> None:
        """Send SIGKILL, as a crash."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
        await self._ended(15.0)

    async def ended(self, *, deadline: float = 60.0) -> int | None:
        """Wait until it ends by itself, and send SIGKILL after the deadline. The exit code."""
        return await self._ended(deadline)

    async def _ended(self, deadline: float) -> int | None:
        process = self._process
        if process is None:
            return None
        until = time.monotonic() + deadline
        while process.poll() is None:
            if time.monotonic() > until:
                process.kill()
            await asyncio.sleep(0.01)
        return process.returncode

    def tail(self, lines: int = 15) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])
