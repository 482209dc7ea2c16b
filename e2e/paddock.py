"""Paddock as a process of its own, as a user starts it."""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp

from e2e.processes import Program, free_port

READY_DEADLINE = 30.0


class PaddockProcess:
    """``url`` is where kube-scheduler calls it."""

    def __init__(self, kubeconfig: Path, folder: Path, *, arguments: Sequence[str] = ()) -> None:
        self.verbs_port, self.admin_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.verbs_port}/v1"
        self._program = Program(
            [
                sys.executable,
                "-m",
                "extender.cli",
                "serve",
                f"--kubeconfig={kubeconfig}",
                f"--verbs-port={self.verbs_port}",
                f"--admin-port={self.admin_port}",
                "--namespace=paddock-system",
                *arguments,
            ],
            folder / f"paddock-{self.verbs_port}.log",
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
        """As a crash."""
        await self._program.kill()

    async def stop(self) -> int | None:
        """SIGTERM; the exit code."""
        return await self._program.stop()

    async def restart(self) -> None:
        await self.kill()
        await self.start()

    async def get(self, path: str) -> tuple[int, str]:
        """From the admin port; status 0 when nobody answers."""
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"http://127.0.0.1:{self.admin_port}{path}") as answer,
            ):
                return answer.status, await answer.text()
        except aiohttp.ClientError:
            return 0, ""

    async def story(self, namespace: str, name: str) -> dict[str, Any]:
        _, text = await self.get(f"/debug/pods/{namespace}/{name}")
        found: dict[str, Any] = json.loads(text)
        return found

    async def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric's series that carry these labels."""
        _, text = await self.get("/metrics")
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        total = 0.0
        for line in text.splitlines():
            series, _, value = line.rpartition(" ")
            if series.partition("{")[0] == name and all(each in series for each in wanted):
                total += float(value)
        return total

    def logs(self) -> list[dict[str, Any]]:
        found = []
        for line in self._program.log.read_text().splitlines():
            if line.startswith("{"):
                found.append(json.loads(line))
        return found

    def tail(self, lines: int = 8) -> str:
        return self._program.tail(lines)
