"""Paddock as a process of its own, as a user starts it."""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from e2e.programs.nursery import Nursery
from e2e.programs.processes import Program, free_port

READY_DEADLINE = 90.0
ANSWER_DEADLINE = aiohttp.ClientTimeout(total=5.0)
NURSERY: list[Nursery] = []
"""The nursery whose last entry forks every Paddock. Without one, Paddocks start as a user starts them."""

_ON_HOST = "import socket; socket.gethostname = lambda: {host!r}; from extender.cli import main; main()"
_SUFFIXES = ("", "_total", "_count", "_sum", "_bucket")
LEADING = "paddock_leading"


class StandbyError(AssertionError):
    """A metric of queues, pods or nodes was asked of an instance that does not lead."""


class PaddockProcess:
    """A Paddock. ``url``: where kube-scheduler calls it. ``host``: another name for this host.

    ``before``: statements of Python that run first, such as shorter times.
    """

    def __init__(
        self,
        kubeconfig: Path,
        folder: Path,
        *,
        arguments: Sequence[str] = (),
        host: str = "",
        before: str = "",
    ) -> None:
        self.verbs_port, self.admin_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.verbs_port}/v1"
        asked = [
            "serve",
            f"--kubeconfig={kubeconfig}",
            f"--verbs-port={self.verbs_port}",
            f"--admin-port={self.admin_port}",
            "--namespace=paddock-system",
            *arguments,
        ]
        code = ("-c", _ON_HOST.format(host=host)) if host else ("-m", "extender.cli")
        if before:
            code = ("-c", f"{before}; from extender.cli import main; main()")
        nursery = NURSERY[-1] if NURSERY and not before else None
        self._program = Program(
            [sys.executable, *code, *asked],
            folder / f"paddock-{self.verbs_port}.log",
            spawn=partial(nursery.fork, asked, host=host) if nursery else None,
        )

    async def start(self, *, wait: bool = True) -> None:
        self._program.start()
        if wait:
            await self.until_ready()

    async def until_ready(self) -> None:
        until = time.monotonic() + READY_DEADLINE
        while (await self.get("/readyz"))[0] != 200:
            if not self._program.running or time.monotonic() > until:
                raise AssertionError(f"paddock did not become ready:\n{self._program.tail()}")
            await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """Kill the process, as a crash does."""
        await self._program.kill()

    def send(self, number: signal.Signals) -> None:
        self._program.send(number)

    async def stop(self) -> int | None:
        """Send SIGTERM, and return the exit code."""
        return await self._program.stop()

    async def restart(self) -> None:
        await self.kill()
        await self.start()

    @property
    def running(self) -> bool:
        return self._program.running

    @property
    def pid(self) -> int:
        return self._program.pid

    @property
    def cpu_seconds(self) -> float:
        return self._program.cpu_seconds

    @property
    def resident_mib(self) -> float:
        return self._program.resident_mib

    async def get(self, path: str) -> tuple[int, str]:
        """A page of the admin port; status 0 without an answer."""
        try:
            async with (
                aiohttp.ClientSession(timeout=ANSWER_DEADLINE) as session,
                session.get(f"http://127.0.0.1:{self.admin_port}{path}") as answer,
            ):
                return answer.status, await answer.text()
        except (aiohttp.ClientError, TimeoutError):
            return 0, ""

    async def _answer(self, path: str) -> tuple[int, str]:
        """A page of the admin port, asked again while a running Paddock has no time to answer."""
        until = time.monotonic() + READY_DEADLINE
        while not (found := await self.get(path))[0]:
            if not self.running or time.monotonic() > until:
                break
            await asyncio.sleep(0.1)
        return found

    async def story(self, namespace: str, name: str) -> dict[str, Any]:
        _, text = await self._answer(f"/debug/pods/{namespace}/{name}")
        found: dict[str, Any] = json.loads(text)
        return found

    async def drifts(self) -> list[Any]:
        """Differences that an audit finds. Raises AssertionError without an answer."""
        status, text = await self._answer("/debug/audit")
        assert status == 200, f"/debug/audit answered {status}:\n{self.tail()}"
        found: list[Any] = json.loads(text)["drifts"]
        return found

    async def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric's series with these labels; 0 if it has no such series yet.

        Raises AssertionError without an answer or for an unknown metric: that is not a 0.
        Raises `StandbyError` for one that only the leader may have.
        """
        status, text = await self._answer("/metrics")
        assert status == 200, f"/metrics answered {status} to {name}:\n{self.tail()}"
        families = list(text_string_to_metric_families(text))
        known = {family.name + suffix for family in families for suffix in _SUFFIXES}
        samples = [sample for family in families for sample in family.samples]
        if name not in known and not any(sample.value for sample in samples if sample.name == LEADING):
            raise StandbyError(f"a standby has no metric {name}")
        assert name in known, f"paddock has no metric {name}"
        samples = [sample for sample in samples if sample.name == name]
        return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())

    def logs(self) -> list[dict[str, Any]]:
        """The JSON lines of its log, except a last one that is incomplete."""
        lines = self._program.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def tail(self, lines: int = 8) -> str:
        return self._program.tail(lines)
