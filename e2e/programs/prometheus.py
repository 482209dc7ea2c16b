"""A Prometheus of the suite's own that scrapes on loopback, and its checker (Debian package `prometheus`)."""

import asyncio
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import aiohttp
import yaml

from e2e.programs.binaries import ROOT
from e2e.programs.processes import Program, free_port

UNPACKED = ROOT / ".cache" / "prometheus"
"""Where `.ci/run` unpacks the package: to install it would start a server."""

DEADLINE = 30.0


class NoPrometheusError(AssertionError):
    """Prometheus is not there. A check that cannot be made has failed."""


def program_path(name: str) -> str:
    """The path of `prometheus` or `promtool`. Raises `NoPrometheusError`."""
    found = shutil.which(name) or shutil.which(name, path=str(UNPACKED / "usr" / "bin"))
    if found is None:
        raise NoPrometheusError(
            f"no {name}: neither on the PATH nor below {UNPACKED}; install the Debian package 'prometheus'"
        )
    return found


@dataclass(frozen=True, slots=True)
class Job:
    """A job of Prometheus."""

    name: str
    path: str
    #: Host and port of each target.
    targets: Sequence[str]
    #: Further members of its configuration, such as ``scheme``.
    further: Mapping[str, Any] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """The job as an entry of ``scrape_configs``."""
        targets = [{"targets": list(self.targets)}]
        return {"job_name": self.name, "metrics_path": self.path, "static_configs": targets, **self.further}


class Series(NamedTuple):
    """An element of an answer: its labels, the name among them, and its value."""

    labels: Mapping[str, str]
    value: float


class Prometheus:
    """A server that scrapes its jobs every second. Use as ``async with``. ``rules``: groups of rules."""

    def __init__(self, folder: Path, *jobs: Job, rules: Mapping[str, Any] | None = None) -> None:
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self._jobs = jobs
        self._rules = rules
        self._folder = folder / "prometheus"
        self._file = folder / "prometheus.yml"
        self._program = Program(
            [
                program_path("prometheus"),
                f"--config.file={self._file}",
                f"--storage.tsdb.path={self._folder}",
                f"--web.listen-address=127.0.0.1:{port}",
                "--log.level=warn",
            ],
            folder / "prometheus.log",
        )

    async def __aenter__(self) -> Self:
        scraped = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
        config: dict[str, Any] = {"global": scraped, "scrape_configs": [job.entry() for job in self._jobs]}
        if self._rules is not None:
            rules = self._file.with_name("rules.yml")
            await asyncio.to_thread(rules.write_text, yaml.safe_dump(dict(self._rules)))
            config["rule_files"] = [str(rules)]
        await asyncio.to_thread(self._file.write_text, yaml.safe_dump(config))
        self._program.start()
        until = time.monotonic() + DEADLINE
        while not await self._is_ready():
            if not self._program.running or time.monotonic() > until:
                await self._program.kill()
                raise AssertionError(f"Prometheus did not start:\n{self._program.tail()}")
            await asyncio.sleep(0.05)
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._program.stop()

    async def _is_ready(self) -> bool:
        try:
            async with aiohttp.ClientSession() as session, session.get(f"{self.url}/-/ready") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    async def _get(self, path: str, **parameters: str) -> Any:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=DEADLINE)) as session,
            session.get(f"{self.url}/api/v1/{path}", params=parameters) as answer,
        ):
            found = await answer.json()
        assert found["status"] == "success", (path, parameters, found)
        return found["data"]

    async def ask(self, promql: str) -> list[Series]:
        """The series that an instant query finds now. Fails for a query that is not valid."""
        found = await self._get("query", query=promql)
        assert found["resultType"] == "vector", found
        return [Series(each["metric"], float(each["value"][1])) for each in found["result"]]

    async def value(self, promql: str) -> float:
        """The value of a query that finds one series; NaN where it finds none."""
        found = await self.ask(promql)
        assert len(found) <= 1, found
        return found[0].value if found else math.nan

    async def until(
        self, promql: str, holds: Callable[[list[Series]], bool], *, timeout: float = DEADLINE
    ) -> list[Series]:
        """The first answer that is as wanted."""
        until = time.monotonic() + timeout
        while not holds(found := await self.ask(promql)):
            assert time.monotonic() < until, (promql, found, await self.complaints())
            await asyncio.sleep(0.1)
        return found

    async def until_value(self, promql: str, wanted: float) -> None:
        """Wait until a query finds one series of that value."""
        await self.until(promql, lambda found: [each.value for each in found] == [wanted])

    async def until_scraped(self) -> None:
        """Wait until every target was scraped once more, with success."""
        targets = sum(len(job.targets) for job in self._jobs)
        later = f"(timestamp(up) > {time.time()}) and (up == 1)"
        await self.until_value(f"count({later})", targets)

    async def complaints(self) -> list[str]:
        """Errors of targets, as Prometheus tells."""
        targets = (await self._get("targets"))["activeTargets"]
        return [f"{each['scrapeUrl']}: {each['lastError']}" for each in targets if each["lastError"]]
