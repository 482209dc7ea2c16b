"""Explanations over HTTP. Two are made concurrently, in slices, and each is reused while nothing changes."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from aiohttp import web

from core.decisions.explanation import phrases
from core.decisions.explanation.explaining import explain_pod
from core.decisions.explanation.together import explain_application, explain_pod_group
from core.decisions.explanation.values import PodExplanation, TogetherExplanation
from core.ids import AppId, PodUid
from core.ledger.trial.moved import LedgerMovedOn
from extender.engine.engine import Engine
from extender.http.access.delegated import USER
from extender.http.aggregated import EXPLANATIONS, GROUP, VERSION
from extender.http.endpoints import Endpoint
from extender.http.rest.answering import OnBug
from extender.http.rest.pace import result_of
from extender.http.rest.simulating import MayName, Simulations
from extender.http.statuses import status_response
from extender.rest.members import encoded
from extender.rest.model.explanations import Explanation, ObjectName, StoryEntry
from extender.rest.projection.explanations import Reader, members_of, pod_of
from extender.rest.projection.units import moment_text
from extender.views.story_line import StoryLine

AT_ONCE = 2
"""Explanations that are made concurrently."""

TRIED = 3
"""Attempts at an explanation that a change in between made impossible."""

STORED = 64
"""Number of stored explanations."""

FRESH = 1.0
"""Seconds for which an explanation is reused, since some obstacles end by time alone."""

UNSEARCHED, REFUSED = "not searched", "refused"
"""Outcomes of requests without a search for changes, beside those of `Remedy`."""

Found = PodExplanation | TogetherExplanation


class Subject(StrEnum):
    """Kind of what is explained, as the query parameter ``of`` names it."""

    POD = "pod"
    APPLICATION = "application"
    POD_GROUP = "podgroup"


class Asked(NamedTuple):
    """Subject of an explanation."""

    of: Subject
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class _Made:
    """An explanation. ``at``: seconds on the engine's clock. ``found``: None for an unknown subject."""

    found: Found | None
    at: float
    version: int
    one_moment: bool


class TooManyExplanations(Exception):
    """Refusal because too many explanations are being made."""


class ChangesTooFast(Exception):
    """Refusal because what was read was changed in each attempt."""


class Explanations:
    """Explanations of one process.

    ``story(uid)``: lines of a pod's story. ``unready()``: why there are no answers yet, or empty.
    ``ended(outcome)``: called for each explanation that was made, and for each refusal.
    ``on_bug``: called with a name and the exception if an explanation fails.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        story: Callable[[PodUid], Sequence[StoryLine]],
        unready: Callable[[], str],
        ended: Callable[[str], None],
        on_bug: OnBug,
    ) -> None:
        self._engine = engine
        self._story = story
        self._unready = unready
        self._ended = ended
        self._on_bug = on_bug
        self._simulations = Simulations(engine, unready=unready, on_bug=on_bug)
        self._running: dict[Asked, asyncio.Task[_Made]] = {}
        self._stored: OrderedDict[Asked, _Made] = OrderedDict()

    def endpoints(self, before: str, may_name: MayName) -> tuple[Endpoint, Endpoint]:
        """Return the endpoints for one listener, that of simulations last. ``before``: path before these.

        A request without a user comes from a listener that shows everything to everyone.
        """

        async def handle(request: web.Request) -> web.Response:
            user = request.get(USER)
            named = user is None or await may_name(user)
            try:
                return await self._answer(request, named=named)
            except Exception as error:  # noqa: BLE001 - a bug must be answered and logged
                self._on_bug(EXPLANATIONS, error, b"")
                return status_response(500, "internal error")

        path = f"{before}/namespaces/{{namespace}}/{EXPLANATIONS}/{{name}}"
        about = "what holds a pod, and what would free it; ?of=application or podgroup"
        explaining = Endpoint("GET", path, handle, about, by_leader=True)
        return explaining, self._simulations.endpoint(before, may_name)

    async def _answer(self, request: web.Request, *, named: bool) -> web.Response:
        why = self._unready()
        if why:
            return status_response(503, why)
        try:
            of = Subject(request.query.get("of", Subject.POD))
        except ValueError:
            return status_response(400, f"of is none of {', '.join(Subject)}")
        asked = Asked(of, request.match_info["namespace"], request.match_info["name"])
        try:
            made = await self._made(asked)
        except TooManyExplanations:
            self._ended(REFUSED)
            return status_response(429, "too many explanations are being made")
        except ChangesTooFast:
            self._ended(REFUSED)
            return status_response(503, "the cluster changed while it was read: ask again")
        shown = self._shown(asked, made, Reader(asked.namespace, named))
        if shown is None:
            return status_response(404, f"no such {of} is known")
        return web.Response(body=encoded(shown), content_type="application/json")

    # -- making ----------------------------------------------------------------------------------------------

    async def _made(self, asked: Asked) -> _Made:
        """An explanation, perhaps a stored one. Raises `TooManyExplanations`."""
        known = self._stored.get(asked)
        if known is not None and self._is_fresh(known):
            return known
        task = self._running.get(asked)
        if task is None:
            if len(self._running) >= AT_ONCE:
                raise TooManyExplanations
            task = self._running[asked] = asyncio.create_task(self._make(asked))
            task.add_done_callback(lambda _: self._running.pop(asked, None))
        # A caller that disconnects must not end the work for others.
        return await asyncio.shield(task)

    def _is_fresh(self, made: _Made) -> bool:
        return made.version == self._engine.version and self._engine.now - made.at <= FRESH

    async def _make(self, asked: Asked) -> _Made:
        for _ in range(TRIED):
            version, now = self._engine.version, self._engine.now
            try:
                found = await result_of(self._steps(asked, now=now))
            except LedgerMovedOn:
                continue
            return self._store(asked, found, version, now=now)
        raise ChangesTooFast

    def _store(self, asked: Asked, found: Found | None, version: int, *, now: float) -> _Made:
        made = _Made(found, now, version, one_moment=version == self._engine.version)
        self._ended(_outcome_of(found))
        self._stored.pop(asked, None)
        self._stored[asked] = made
        while len(self._stored) > STORED:
            self._stored.popitem(last=False)
        return made

    def _steps(self, asked: Asked, *, now: float) -> Generator[int, None, Found | None]:
        view, (of, namespace, name) = self._engine.view, asked
        record = view.pod_named(namespace, name)
        if of is Subject.POD:
            return (yield from explain_pod(view, record.uid, now=now)) if record is not None else None
        if of is Subject.POD_GROUP:
            return (yield from explain_pod_group(view, namespace, name, now=now))
        app_id = AppId(name, namespace)
        own = record.membership.application if record is not None else None
        if view.application(app_id) is None and own is not None:
            # Names of pods are valid in a path, which not every id of an application is.
            app_id = own
        return (yield from explain_application(view, app_id, namespace, now=now))

    # -- showing ---------------------------------------------------------------------------------------------

    def _shown(self, asked: Asked, made: _Made, reader: Reader) -> Explanation | None:
        found = made.found
        if found is None:
            return None
        of_pod = isinstance(found, PodExplanation)
        pod = found if isinstance(found, PodExplanation) else found.first
        together = found if isinstance(found, TogetherExplanation) else None
        name = ObjectName(namespace=found.namespace, name=found.name)
        shown = pod_of(self._engine.view, pod, reader) if pod is not None else None
        return Explanation(
            kind="Explanation",
            api_version=f"{GROUP}/{VERSION}",
            metadata=name,
            of=asked.of.value,
            at=moment_text(made.at),
            names_others=reader.names_others,
            one_moment=made.one_moment,
            sentence=phrases.verdict_together(together) if together else shown.sentence if shown else "",
            queue=found.queue or "",
            phase=together.phase if together else "",
            gang_phase=together.gang_phase if together else "",
            members=members_of(together) if together else (),
            until=moment_text(together.until) if together and together.until is not None else "",
            pods={standing.value: count for standing, count in together.pods} if together else {},
            pod=shown,
            story=self._story_of(found) if of_pod and reader.names_others else (),
        )

    def _story_of(self, found: Found) -> tuple[StoryEntry, ...]:
        record = self._engine.view.pod_named(found.namespace, found.name)
        lines = self._story(record.uid) if record is not None else ()
        return tuple(
            StoryEntry(at=moment_text(each.at), what=each.what, detail=each.detail, times=each.times)
            for each in lines
        )


def _outcome_of(found: Found | None) -> str:
    pod = found.first if isinstance(found, TogetherExplanation) else found
    return pod.remedies.remedy.value if pod is not None and pod.remedies is not None else UNSEARCHED
