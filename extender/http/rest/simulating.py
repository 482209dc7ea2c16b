"""Simulations over HTTP: whether pods that do not exist would run now. Nothing is created or changed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import msgspec
from aiohttp import web

from core.decisions.arriving import PODS_AT_MOST, ArrivalExplanation, explain_arrival
from core.errors import PaddockError
from core.ids import NO_NODE, NO_POD, PodUid
from core.ledger.trial.moved import LedgerMovedOn
from core.queues.users.identity import UNKNOWN_IDENTITY, Identity
from core.workload.managed import is_managed
from core.workload.pod import PodFacts
from extender.engine.engine import Engine
from extender.http.access.delegated import USER
from extender.http.aggregated import EXPLANATIONS, GROUP, VERSION
from extender.http.door import DOOR
from extender.http.endpoints import Endpoint
from extender.http.intake import SMALL, BodyFault, BodyLimits
from extender.http.rest.answering import OnBug
from extender.http.rest.pace import result_of
from extender.http.statuses import status_response
from extender.identity.caller import AuthenticatedUser
from extender.rest.members import encoded
from extender.rest.model.explanations import ObjectName, Simulation
from extender.rest.projection.explanations import Reader, pod_of
from extender.rest.projection.units import moment_text
from extender.wire.objects.pod import Wire, WirePod
from extender.wire.translate import pod_from

TRIED = 3
"""Attempts at a simulation that a change in between made impossible."""

SIMULATED = "simulated"

_LIMITS = BodyLimits(SMALL, SMALL)

MayName = Callable[[AuthenticatedUser], Awaitable[bool]]
"""Function that returns whether a caller may read names of all namespaces."""


class SimulationRequest(Wire, frozen=True):
    """Pods that are alike. ``pod``: one of them. ``count``: their number."""

    pod: WirePod = WirePod()
    count: int = 1


class _Refused(Exception):
    """Refusal of a request. ``status``: of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Simulations:
    """Simulations of one process, one at a time. ``unready()``: why there are no answers yet, or empty."""

    def __init__(self, engine: Engine, *, unready: Callable[[], str], on_bug: OnBug) -> None:
        self._engine = engine
        self._unready = unready
        self._on_bug = on_bug
        self._alone = asyncio.Lock()

    def endpoint(self, before: str, may_name: MayName) -> Endpoint:
        """Return the endpoint for one listener, as `Explanations.endpoints` does."""

        async def handle(request: web.Request) -> web.Response:
            user = request.get(USER)
            named = user is None or await may_name(user)
            try:
                return await self._answer(request, user, named=named)
            except _Refused as refusal:
                response = status_response(refusal.status, str(refusal))
                if request.can_read_body:
                    response.force_close()
                return response
            except Exception as error:  # noqa: BLE001 - a bug must be answered and logged
                self._on_bug(SIMULATED, error, b"")
                return status_response(500, "internal error")

        path = f"{before}/namespaces/{{namespace}}/{EXPLANATIONS}"
        about = "whether pods like the one in the body would run now; changes nothing"
        return Endpoint("POST", path, handle, about, by_leader=True)

    async def _answer(
        self, request: web.Request, user: AuthenticatedUser | None, *, named: bool
    ) -> web.Response:
        why = self._unready()
        if why:
            raise _Refused(503, why)
        asked = await _read(request)
        facts = self._facts(asked, request.match_info["namespace"])
        if user is not None and not named:
            _check_owner(facts.identity, user)
        if self._alone.locked():
            raise _Refused(429, "another simulation is being made")
        async with self._alone:
            found, one_moment = await self._made(facts, asked.count)
        try:
            shown = _shown(found, Reader(facts.namespace, named), at=facts.created, one_moment=one_moment)
        finally:
            found.arrival.dismantle()
        return web.Response(body=encoded(shown), content_type="application/json")

    def _facts(self, asked: SimulationRequest, namespace: str) -> PodFacts:
        """Facts of the pod as if it were created now. Raises `_Refused`."""
        try:
            read = pod_from(asked.pod)
        except (PaddockError, ValueError) as error:
            raise _Refused(400, f"the pod cannot be read: {error}") from None
        facts = replace(
            read,
            uid=PodUid(f"{SIMULATED}/0"),
            namespace=namespace,
            name=read.name or SIMULATED,
            created=self._engine.now,
            node=NO_NODE,
            terminal=False,
            deleting=False,
            placeholder=False,
            owner=NO_POD,
            pod_group=None,
        )
        view = self._engine.view
        names = view.settings.scheduler_names
        if not is_managed(facts, view.namespace(namespace), scheduler_names=names):
            raise _Refused(
                400, "Paddock does not manage such a pod: it names neither a queue nor a scheduler"
            )
        return facts

    async def _made(self, facts: PodFacts, count: int) -> tuple[ArrivalExplanation, bool]:
        """Explanation, and whether it is of one moment. Raises `_Refused`."""
        pods = [
            replace(facts, uid=PodUid(f"{SIMULATED}/{number}"), name=f"{facts.name}-{number}")
            for number in range(count)
        ]
        for _ in range(TRIED):
            version = self._engine.version
            try:
                found = await result_of(explain_arrival(self._engine.view, pods, now=self._engine.now))
            except (LedgerMovedOn, KeyError):
                # The copies are of one moment. What came later may be in an index and not in its copy.
                if version == self._engine.version:
                    raise
                continue
            return found, version == self._engine.version
        raise _Refused(503, "the cluster changed while it was read: ask again")


async def _read(request: web.Request) -> SimulationRequest:
    try:
        body = await request.app[DOOR].body_of(request, _LIMITS)
        asked = msgspec.json.decode(body, type=SimulationRequest)
    except BodyFault as fault:
        raise _Refused(400, str(fault)) from None
    except msgspec.MsgspecError:
        raise _Refused(400, "the body is no simulation: it has count and pod") from None
    if not 1 <= asked.count <= PODS_AT_MOST:
        raise _Refused(400, f"count must be 1 to {PODS_AT_MOST}")
    return asked


def _check_owner(identity: Identity, user: AuthenticatedUser) -> None:
    """Refuse a pod of another user, whose limits would be shown. Raises `_Refused`."""
    own = identity.user in (UNKNOWN_IDENTITY.user, user.name) and set(identity.groups) <= {
        *user.groups,
        *UNKNOWN_IDENTITY.groups,
    }
    if not own:
        raise _Refused(403, "the pod belongs to another user or user group")


def _shown(found: ArrivalExplanation, reader: Reader, *, at: float, one_moment: bool) -> Simulation:
    first = found.first
    return Simulation(
        kind="Simulation",
        api_version=f"{GROUP}/{VERSION}",
        metadata=ObjectName(namespace=found.namespace, name=found.name),
        at=moment_text(at),
        names_others=reader.names_others,
        one_moment=one_moment,
        sentence=found.sentence,
        queue=found.queue or "",
        application=found.application.name,
        pods=found.pods,
        placed=found.placed,
        pod=pod_of(found.view, first, reader) if first is not None else None,
    )
