"""YuniKorn's REST interface of one process, assembled from memory, rows and routes."""

import asyncio
import platform
import sys
import threading
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from aiohttp import web

from extender.configuration.reload import LiveConfiguration
from extender.configuration.rest_settings import RestSettings, rest_settings_from
from extender.engine.engine import Engine
from extender.http.endpoints import ANY_METHOD, Endpoint
from extender.http.rest.answering import Answering, OnBug
from extender.http.rest.bodies import Bodies
from extender.http.rest.pace import in_rounds, in_slices
from extender.http.rest.reports import Reports
from extender.http.rest.streams import Streams
from extender.rest.facts import Facts, InForce, Process
from extender.rest.history.past import Figures
from extender.rest.history.recorder import Recorder
from extender.rest.indented import indented
from extender.rest.memory.memory import RestMemory
from extender.rest.model.health import Health
from extender.rest.moment.dump import dump
from extender.rest.moment.stored import StoredRows
from extender.rest.projection.health import Found, HealthRound
from extender.rest.routes.past import past_routes
from extender.rest.routes.remembered import Memory, memory_routes
from extender.rest.routes.reply import Big
from extender.rest.routes.routes import ledger_routes
from extender.rest.routes.served import OPENAPI, STACK, VALIDATE, served_routes
from extender.rest.routes.table import Route, Router

DUMP = "/debug/fullstatedump"

UNUSED = 60.0
"""Seconds without a request after which rows are dropped."""

FIRST_HEALTH = 0.05
"""Seconds between two checks whether the first round of health checks can begin."""

CHECKED_WITHIN = 10.0
"""Seconds for which a request waits for the first round of health checks, which follows readiness."""


class RestService:
    """REST interface. ``unready()``: why no answer can be given yet, or empty; ``clock()``: the ledger's.

    ``router``: makes the router, for who must answer in another way.
    It is also a witness of the engine and remembers the engine's reports.
    """

    def __init__(
        self,
        engine: Engine,
        configuration: LiveConfiguration,
        *,
        clock: Callable[[], float],
        version: str,
        validate: Callable[[bytes], Mapping[str, Any]],
        unready: Callable[[], str],
        on_bug: OnBug,
        log_level: str = "info",
        router: Callable[[tuple[Route, ...], Callable[[], str]], Router] = Router,
    ) -> None:
        self._engine = engine
        self._configuration = configuration
        self._clock = clock
        self._unready = unready
        self._log_level = log_level
        started = clock()
        instance = str(uuid.uuid4())
        self._process = Process(started=started, version=version, arch=platform.machine(), instance=instance)
        self.memory = RestMemory(engine.current_view, instance=instance, started=started)
        self._recorder = Recorder(
            lambda: engine.view, clock=clock, bound=lambda: configuration.settings.history_max_memory
        )
        #: Receiver of what the engine reports.
        self.reports = Reports(self.memory, StoredRows(self.facts))
        self._asked_at = started
        self._health: Health | None = None
        self._checked = asyncio.Event()
        self._config = InForce()
        self._bodies = Bodies(lambda: self.reports.rows.version + self._recorder.version)
        self._streams = Streams(self.memory.ring, lambda: self.settings)
        made = router(
            (
                *ledger_routes(self.facts, self._rows_asked_for),
                *memory_routes(
                    Memory(
                        self.memory.samples,
                        lambda: self.memory.ring if self.memory.tracking else None,
                        lambda: self._health,
                        lambda: self.settings.batch,
                    )
                ),
                *past_routes(self._recorder.past, lambda: engine.view, clock),
                *served_routes(validate, stacks, version),
                Route(DUMP, lambda _ask, _names: Big(self._dump, alone=True)),
            ),
            self._not_yet,
        )
        self._answering = Answering(made, self._bodies, self._streams, on_bug)

    def _dump(self) -> Iterator[bytes]:
        return indented(
            dump(
                self.facts(),
                self._rows_asked_for(),
                self.memory.samples,
                self._streams.open_now(),
                now=self._clock(),
                log_level=self._log_level,
            )
        )

    def _not_yet(self) -> str:
        """Return why no request is answered yet. The first round of health checks must be over (REST-47)."""
        return self._unready() or ("" if self._health is not None else "health was not checked yet")

    @property
    def settings(self) -> RestSettings:
        """Return the service keys in force."""
        return rest_settings_from(self._configuration.keys)

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the paths of the REST interface."""
        handle = self._answering.handle
        return (
            Endpoint("POST", VALIDATE, handle, "verdict on a queue document in the body"),
            Endpoint(ANY_METHOD, "/{ws:(?i:ws)}/{tail:.*}", self._handle_once_checked, by_leader=True),
            Endpoint("GET", DUMP, self._handle_once_checked, by_leader=True),
            Endpoint("GET", STACK, handle, by_leader=True),
            Endpoint("GET", OPENAPI, handle),
        )

    async def _handle_once_checked(self, request: web.Request) -> web.StreamResponse:
        """Answer a request. One that only lacks the first round of health checks waits for it (REST-47)."""
        if self._health is None and not self._unready():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._checked.wait(), CHECKED_WITHIN)
        return await self._answering.handle(request)

    def facts(self) -> Facts:
        """Return the present facts."""
        in_force = self._in_force()
        return Facts(self._engine.view, self._process, in_force, self.memory)

    def _in_force(self) -> InForce:
        """Return the configuration. With the first document, note the time and the name of the cluster."""
        offered, known = self._configuration, self._config
        if offered.document is known.document and offered.keys is known.keys:
            return known
        since = known.since
        if offered.document is not None and not since:
            since = self._clock()
            # The name stays until a restart (SRC-6).
            self._process = replace(self._process, cluster_id=self.settings.cluster_id)
        self._config = InForce(
            offered.partition, offered.document, offered.checksum, offered.keys, since, offered.applied_at
        )
        return self._config

    def _rows_asked_for(self) -> StoredRows:
        self._asked_at = self._clock()
        return self.reports.rows

    # -- running ---------------------------------------------------------------------------------------------

    def pass_time(self) -> None:
        """Perform work that is due. To be called every few seconds."""
        settings, now = self.settings, self._clock()
        self.memory.tracking = settings.tracks_events
        self.memory.ring.resize(settings.ring_capacity)
        self.memory.pass_time(now=now)
        if now - self._asked_at > UNUSED and not self._bodies.making:
            self._asked_at = now
            in_rounds(self.reports.rows.dropped())
            self.reports.rows = StoredRows(self.facts, version=self.reports.rows.version + 1)
            self._bodies.forget()

    @property
    def history(self) -> Figures:
        """Figures about the past of queues."""
        return self._recorder.past.figures

    async def run(self) -> None:
        """Check health and record the past of queues regularly, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._check_health_regularly())
            group.create_task(self._record_regularly())

    async def _record_regularly(self) -> None:
        """Take a sample at each tick (REST-50)."""
        while True:
            await asyncio.sleep(self._recorder.wait())
            await self.record()

    async def record(self) -> None:
        """Take a sample, in slices, if this instance can answer."""
        if self._unready():
            self._recorder.pause()
        else:
            await in_slices(self._recorder.sample())

    async def _check_health_regularly(self) -> None:
        """Check health. The first round begins once the cluster has been read."""
        while True:
            every = self.settings.health_every
            if not self._unready() and (every or self._health is None):
                await self.check_health()
            await asyncio.sleep(FIRST_HEALTH if self._health is None else every or UNUSED)

    async def check_health(self) -> None:
        """Perform a round of health checks, in slices."""
        checks = self._health_round()
        await in_slices(iter(checks))
        self._health = checks.health
        self._checked.set()

    def check_health_at_once(self) -> None:
        """Perform a whole round of health checks. Cost: O(pods)."""
        checks = self._health_round()
        for _ in checks:
            pass
        self._health = checks.health
        self._checked.set()

    def _health_round(self) -> HealthRound:
        faults, configuration = self.memory.faults, self._configuration
        found = Found(
            errors=faults.calls(now=self._clock()),
            unreadable_nodes=faults.unread_nodes,
            drifts=faults.drifts,
            own=(("Queue document", configuration.error or configuration.missing),),
        )
        return HealthRound(self.facts(), found)


def stacks() -> str:
    """Return the stacks of all threads and tasks as text (REST-39)."""
    names = {each.ident: each.name for each in threading.enumerate()}
    found = []
    for ident, frame in sorted(sys._current_frames().items()):
        found.append(f"thread {names.get(ident, '')}\n{''.join(traceback.format_stack(frame))}")
    for task in sorted(asyncio.all_tasks(), key=lambda each: each.get_name()):
        lines = [f"  {frame.f_code.co_qualname}:{frame.f_lineno}\n" for frame in task.get_stack()]
        found.append(f"task {task.get_name()}\n{''.join(lines)}")
    return "\n".join(found)
