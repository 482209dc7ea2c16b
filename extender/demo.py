"""The command ``paddock demo``: a day of two tenants in a minute, served on loopback.

The simulated kube-scheduler calls the verbs over HTTP, as a real one does, and the admin port is served as
well. The day runs in a thread that keeps pace with the clock. The listeners run on the main thread's event
loop. A lock protects the ledger.
"""

import asyncio
import http.client
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate
from pathlib import Path
from typing import Any, Self

import msgspec
import structlog
from aiohttp import web

from extender.checking.verdict import validation_of
from extender.engine.engine import Engine
from extender.http.access.guarding import Neighbours, loopback_guard
from extender.http.door import Door
from extender.http.endpoints import guarded_app
from extender.http.health import Admin, admin_endpoints
from extender.http.page import page_shown
from extender.http.server import Address, Listener, listen
from extender.http.verbs.listening import VerbsListener, VerbsServer, listen_to_verbs, verbs_server
from extender.played_rest import PlayedRest
from extender.simulator.commands import lines_of
from extender.simulator.paddock import Paddock
from extender.simulator.report.page import page_of
from extender.simulator.report.recording import Happening, Recording
from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import Scenario
from extender.simulator.scenario.reader import read_scenario
from extender.simulator.scheduler.extender_calls import CallFailed, bind_error
from extender.simulator.scheduler.scheduler import Server
from extender.telemetry.exposition import Exposition
from extender.telemetry.logs import DecisionLog
from extender.telemetry.metrics import Metrics
from extender.telemetry.witness import DecisionWitness
from extender.views.journal import Journal
from extender.views.recent_plans import RecentPlans
from extender.views.story import story_of

DAY = Path(__file__).parent / "simulator" / "two-tenant-day.yaml"
VERBS = ("filter", "prioritize", "preempt", "bind")
HOUR = 3_600_000
_WAITING = "nightly-23"
"""A pod that is there from the first moment of the day, and waits."""

NOTABLE = frozenset({"evicted", "nominated", "config", "node", "error", "event"})


@dataclass(frozen=True, slots=True)
class Demo:
    """Options of the demo.

    ``seconds``: length of the day. ``page``: file for the page. A port of 0 means any free port.
    """

    seconds: float
    page: Path
    verbs_port: int = 10290
    admin_port: int = 10291


def run_demo(demo: Demo, say: Callable[[str], None]) -> None:
    """Serve, run the day, print its events and write the page. Raises OSError if a port is in use."""
    recording = asyncio.run(_Show(demo, say).run())
    demo.page.write_text(page_of(recording), encoding="utf-8")
    for line in lines_of(recording, _notable(recording)):
        say(line)
    say("")
    say(f"The whole day as a page: {demo.page}")


def _notable(recording: Recording) -> tuple[Happening, ...]:
    """The few events of the day that are worth printing."""
    return tuple(each for each in recording.timeline if each.kind in NOTABLE)


class _Show:
    def __init__(self, demo: Demo, say: Callable[[str], None]) -> None:
        self._demo = demo
        self._say = say
        self._lock = threading.Lock()
        self._journal, self._plans = Journal(), RecentPlans()
        self._metrics = Metrics(lambda: self._engine.view)
        self._metrics.leading.set(1)
        self._paddock: Paddock | None = None
        self._ports = {"verbs": 0, "admin": 0}
        self._calls = _OverHttp(lambda: self._ports["verbs"], self._lock)

    async def run(self) -> Recording:
        # The folder of the installed package says nothing to a user.
        scenario = replace(read_scenario(DAY), file=DAY.name)
        self._rest = PlayedRest(self._lock, _validated, _report_bug)
        verbs = await listen_to_verbs(self._verbs(), Address("127.0.0.1", self._demo.verbs_port))
        runners: list[Listener | VerbsListener] = [verbs]
        try:
            endpoints = (*admin_endpoints(self._admin()), *self._rest.endpoints())
            admin = guarded_app(endpoints, Door(), loopback_guard(Neighbours()), page_shown())
            admin.on_response_prepare.append(self._date)
            runners.append(await listen(admin, Address("127.0.0.1", self._demo.admin_port)))
            self._ports = {"verbs": _port(runners[0]), "admin": _port(runners[1])}
            self._introduce(scenario)
            return await asyncio.to_thread(self._play, scenario)
        finally:
            for runner in runners:
                await runner.cleanup()

    def _introduce(self, scenario: Scenario) -> None:
        admin = f"http://127.0.0.1:{self._ports['admin']}"
        self._say(f"{scenario.name}: {scenario.why}")
        self._say(f"A played kube-scheduler calls Paddock at http://127.0.0.1:{self._ports['verbs']}/v1.")
        self._say(f"While the day goes by, look at {admin}/ in a browser, or in another terminal:")
        self._say(f"  curl -s {admin}/metrics | grep paddock_queue_allocated")
        self._say(f"  curl -s {admin}/debug/pods/default/{_WAITING}   # why does it wait?")
        self._say("")

    # -- the day ---------------------------------------------------------------------------------

    def _play(self, scenario: Scenario) -> Recording:
        pace = _Pace(scenario.steps[-1].at, self._demo.seconds, self._lock, self._hour)
        with self._lock, self._calls:
            return run_scenario(scenario, watch=pace.wait, between=self._between)

    def _between(self, server: Server) -> Server:
        assert isinstance(server, Paddock)  # noqa: S101 - the simulation passes nothing else
        self._paddock = server
        self._rest.begin(server.life, self._witness())
        return self._calls

    async def _date(self, _request: web.Request, response: web.StreamResponse) -> None:
        """Date answers by the day's clock, from which the page tells ages."""
        if self._paddock is not None:
            response.headers["Date"] = formatdate(self._engine.now, usegmt=True)

    def _witness(self) -> DecisionWitness:
        """The server's witness, so that stories and metrics are the server's; without a log."""
        silent = structlog.wrap_logger(None, wrapper_class=structlog.make_filtering_bound_logger("critical"))
        decisions = DecisionLog(lambda _, flush: flush(), _Nowhere())
        return DecisionWitness(self._journal, silent, decisions, self._metrics, self._plans)

    def _hour(self, hour: int) -> None:
        self._rest.pass_time()
        parts = []
        for queue in self._engine.view.tree.leaves():
            used = queue.allocated.as_resource().get("vcore") + queue.reserved.as_resource().get("vcore")
            most = queue.max.get("vcore") if queue.max is not None else None
            waiting = queue.pending.as_resource().get("vcore")
            of = f"/{most // 1000}" if most is not None else ""
            parts.append(f"{queue.path} {used // 1000}{of} cpu, {waiting // 1000} waiting")
        self._say(f"{hour:02}:00  {'; '.join(parts)}")

    @property
    def _engine(self) -> Engine:
        assert self._paddock is not None  # noqa: S101 - the day has begun
        return self._paddock.life.engine

    # -- listeners -------------------------------------------------------------------------------

    def _verbs(self) -> VerbsServer:
        answering = {verb: self._answering(verb) for verb in VERBS}
        answering["filter"] = self._metrics.yunikorn.calls.timed_filter(
            answering["filter"], self._nodes_taken
        )
        return verbs_server(
            answering, measure=self._metrics.calls.measure(self._metrics.failed), on_bug=_report_bug
        )

    def _nodes_taken(self) -> int:
        assert self._paddock is not None  # noqa: S101 - as above
        return self._paddock.life.verbs.nodes_taken

    def _answering(self, verb: str) -> Callable[[bytes], bytes]:
        def answer(body: bytes) -> bytes:
            with self._lock:
                assert self._paddock is not None  # noqa: S101 - as above
                if verb == "bind":
                    return self._paddock.bind_at_once(body)
                return self._paddock.life.answer(verb, body)

        return answer

    def _admin(self) -> Admin:
        def story(namespace: str, name: str) -> Mapping[str, Any] | None:
            with self._lock:
                if self._paddock is None:
                    return None
                return story_of(self._engine.view, self._journal, namespace, name)

        def exposed(pieces: Callable[[], Iterator[bytes]]) -> Exposition:
            """Exposition of metrics under the lock, since the day runs in another thread."""

            def whole() -> list[bytes]:
                with self._lock:
                    return list(pieces()) if self._paddock is not None else []

            return Exposition(whole)

        async def audit() -> list[str]:
            with self._lock:
                found = self._engine.audit()
                found.slice(lambda: False)
            return [f"{drift.what}: {drift.actual}, not {drift.expected}" for drift in found.drifts]

        def preemptions() -> list[msgspec.Raw]:
            with self._lock:
                return self._plans.latest_first()

        return Admin(
            checks=dict,
            notes=dict,
            metrics=exposed(self._metrics.pieces),
            yunikorn_metrics=exposed(self._metrics.yunikorn_pieces),
            story=story,
            audit=audit,
            preemptions=preemptions,
        )


class _Nowhere(io.StringIO):
    """A stream that drops what is written."""

    def write(self, text: str) -> int:
        return len(text)


class _Pace:
    """Virtual time that keeps pace with the real clock. The lock is released while it waits."""

    def __init__(self, end: int, seconds: float, lock: threading.Lock, hour: Callable[[int], None]) -> None:
        self._per_millisecond = seconds / max(end, 1)
        self._lock = lock
        self._on_hour = hour
        self._started = time.monotonic()
        self._hour = -1

    def wait(self, at: int, _attempts: int) -> None:
        if at // HOUR > self._hour:
            self._hour = at // HOUR
            self._on_hour(self._hour)
        due = self._started + at * self._per_millisecond
        self._lock.release()
        try:
            time.sleep(max(0.0, due - time.monotonic()))
        finally:
            self._lock.acquire()


class _OverHttp:
    """Calls of the simulated kube-scheduler over HTTP. The lock is released while it waits for an answer."""

    def __init__(self, port: Callable[[], int], lock: threading.Lock) -> None:
        self._port = port
        self._lock = lock
        self._connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def filter(self, body: bytes) -> bytes:
        return self._post("filter", body)

    def prioritize(self, body: bytes) -> bytes:
        return self._post("prioritize", body)

    def preempt(self, body: bytes) -> bytes:
        return self._post("preempt", body)

    def bind(self, body: bytes, answered: Callable[[str], None]) -> None:
        answered(bind_error(self._post("bind", body)))

    def _post(self, verb: str, body: bytes) -> bytes:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port(), timeout=10)
        self._lock.release()
        try:
            headers = {"Content-Type": "application/json"}
            self._connection.request("POST", f"/v1/{verb}", body, headers)
            answer = self._connection.getresponse()
            read = answer.read()
        finally:
            self._lock.acquire()
        if answer.status != 200:
            raise CallFailed(f"failed {verb} with extender: code {answer.status}")
        return read


def _validated(text: bytes) -> Mapping[str, Any]:
    return validation_of(text, active="")


def _port(runner: Any) -> int:
    port: int = runner.addresses[0][1]
    return port


def _report_bug(verb: str, error: BaseException, _body: bytes) -> None:
    print(f"paddock demo: bug in {verb}: {error!r}", file=sys.stderr)
