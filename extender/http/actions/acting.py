"""Actions of administrators over HTTP: the resource ``actions`` of the aggregated API (ACT-1).

No other port carries out actions. Each request, refused ones too, ends in one line of the audit log and in
an Event.
"""

from collections.abc import Iterable

from aiohttp import web

from core.errors import PaddockError
from core.ids import QueuePath
from extender.actions.requested import (
    CloseQueue,
    EndApplication,
    LiftBar,
    MoveApplication,
    NotValid,
    OpenQueue,
    Request,
    Result,
    action_of,
    check_request,
    reason_of,
    request_from,
    target_of,
)
from extender.actions.stored import StoreFull
from extender.http.access.delegated import USER
from extender.http.actions.notes import Asked, Outcome, audit_line, one_line
from extender.http.actions.parts import Acting, Refused
from extender.http.actions.plans import plan_for
from extender.http.aggregated import ACTIONS
from extender.http.door import DOOR
from extender.http.endpoints import Endpoint
from extender.http.intake import BodyFault, BodyLimits
from extender.http.statuses import status_response
from extender.identity.administration import authorize_action
from extender.identity.caller import AuthenticatedUser
from extender.identity.delegation import Delegation
from extender.identity.refusals import AccessRefused, NotAllowed
from extender.rest.members import encoded

MESSAGE_SHOWN = 600
"""Characters of the message of a refusal in an Event, which may name several limits."""

MOST = 16 * 2**10
"""Bytes of a request, at most."""

_LIMITS = BodyLimits(MOST, MOST)


def action_endpoint(acting: Acting, delegation: Delegation) -> Endpoint:
    """Return the endpoint, with a path below that of the aggregated API."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return await _Handling(acting, delegation, request).answer()

    return Endpoint("POST", f"/{ACTIONS}", handle, "actions of administrators", by_leader=True)


class _Handling:
    """Handling of a request from its arrival to its line in the audit log."""

    def __init__(self, acting: Acting, delegation: Delegation, request: web.Request) -> None:
        self._acting = acting
        self._delegation = delegation
        self._request = request
        self._asked: Request | None = None

    async def answer(self) -> web.Response:
        user = self._request.get(USER)
        if user is None:
            return status_response(403, "actions need a login: ask the API server for them")
        try:
            result = await self._carried_out(user)
        except Refused as refusal:
            self._note(user, "refused", refusal.status, str(refusal))
            response = status_response(refusal.status, str(refusal))
            if self._request.can_read_body:
                response.force_close()
            return response
        self._note(user, "changed" if result.changed else "unchanged", 200, result.message)
        return web.Response(body=encoded(result), content_type="application/json")

    # -- steps -----------------------------------------------------------------------------------------------

    async def _carried_out(self, user: AuthenticatedUser) -> Result:
        """Carry out the request. Raises `Refused`."""
        if not self._acting.enabled():
            raise Refused(501, "actions are switched off: paddock.admin.enabled is false")
        asked = self._asked = await self._read()
        if why := self._acting.unready():
            raise Refused(503, why)
        plan = plan_for(self._acting, asked, by=user.name)
        for queue, name in plan.rights.items():
            await self._authorize(user, queue, name)
        try:
            before, after = await self._acting.store(plan.change, asked.dry_run)
        except StoreFull as error:
            raise Refused(409, str(error)) from None
        except PaddockError as error:
            raise Refused(503, f"{error}: repeat the request") from None
        return plan.result(before, after)

    async def _read(self) -> Request:
        try:
            body = await self._request.app[DOOR].body_of(self._request, _LIMITS)
            asked = request_from(body)
            check_request(asked, now=self._acting.wall())
        except BodyFault as fault:
            raise Refused(400, str(fault)) from None
        except NotValid as error:
            raise Refused(400, str(error)) from None
        return asked

    async def _authorize(self, user: AuthenticatedUser, path: QueuePath, name: str) -> None:
        try:
            await authorize_action(self._delegation, user, path, self._acls(path))
        except NotAllowed as error:
            need = f"this needs the right to administer {name}, or a queue above it"
            raise Refused(error.status, f"{error}: {need}") from None
        except AccessRefused as error:
            raise Refused(error.status, str(error)) from None

    def _acls(self, path: QueuePath) -> Iterable[tuple[str, str]]:
        queue = self._acting.queue(path) if self._acting.by_acl() else None
        return [(each.spec.submit_acl, each.spec.admin_acl) for each in queue.chain] if queue else ()

    # -- notes -----------------------------------------------------------------------------------------------

    def _note(self, user: AuthenticatedUser, result: str, status: int, message: str) -> None:
        asked = self._asked
        known = (
            Asked(action_of(asked), target_of(asked), reason_of(asked), asked.dry_run) if asked else Asked()
        )
        outcome = Outcome(result, status, message)
        self._acting.audit(audit_line(self._request, user, known, outcome, now=self._acting.wall()))
        if asked is not None and not (asked.dry_run and result != "refused"):
            self._tell(user, asked, result, message)

    def _tell(self, user: AuthenticatedUser, asked: Request, result: str, message: str) -> None:
        """Have an Event posted. Texts of the caller are cut to one line."""
        by = one_line(user.name)
        if result == "refused":
            text = (
                f"{action_of(asked)} {one_line(target_of(asked))}, asked for by {by}, "
                f"was refused: {one_line(message, longest=MESSAGE_SHOWN)}"
            )
            self._acting.tell_refused(text)
            return
        why = f": {one_line(reason)}" if (reason := reason_of(asked)) else ""
        text = f"{one_line(message)}, by {by}{why}"
        match asked:
            case CloseQueue():
                self._acting.tell_closed(text)
            case OpenQueue():
                self._acting.tell_opened(text)
            case EndApplication():
                self._acting.tell_ended(text)
            case LiftBar():
                self._acting.tell_lifted(text)
            case MoveApplication():
                self._acting.tell_moved(text)
