"""Write of the queue document: ``PUT …/ws/v1/config`` of the aggregated API (ACT-50 to ACT-55).

No other port writes. The right is that of the caller to update the ConfigMap, and Paddock then writes it by
its own account. Each request, refused ones too, ends in one line of the audit log and in an Event.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from aiohttp import web

from extender.configuration.edit import (
    EditRefused,
    NotThere,
    NotWritten,
    Overtaken,
    check_edit,
    document_in,
)
from extender.configuration.sources import CONFIGS_NAME
from extender.http.access.delegated import USER
from extender.http.actions.notes import Asked, Outcome, audit_line, one_line
from extender.http.actions.parts import Refused
from extender.http.aggregated import GROUP, VERSION
from extender.http.configuring.comparing import LIMITS, checked, status_of
from extender.http.configuring.parts import Configuring
from extender.http.configuring.verdict import DocumentVerdict, against
from extender.http.door import DOOR
from extender.http.endpoints import Endpoint
from extender.http.intake import BodyFault
from extender.http.statuses import status_response
from extender.identity.caller import AuthenticatedUser, ResourceAccess
from extender.identity.delegation import Delegation
from extender.identity.refusals import AccessRefused
from extender.rest.members import encoded

WRITE = "/ws/v1/config"
ACTION = "configure"
"""Name in the audit log."""

_VERSION = re.compile(r'"?([A-Za-z0-9._-]{1,64})"?')


class ConfigWrite(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Answer to a write that was carried out, or that would be."""

    kind: str = "ConfigWrite"
    api_version: str = f"{GROUP}/{VERSION}"
    namespace: str
    name: str
    #: Entry of ``data``.
    key: str
    #: True if something changes by it.
    changed: bool
    dry_run: bool
    #: Version of the ConfigMap after it, or before it if nothing was written.
    resource_version: str
    #: Checksum of the document (SRC-9), which each instance shows once it applies.
    checksum: str
    #: Sentence for the user.
    message: str


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of a request. ``version``: of the ConfigMap that the caller has seen; empty for none."""

    dry_run: bool = False
    force: bool = False
    version: str = ""


def write_endpoint(parts: Configuring, delegation: Delegation) -> Endpoint:
    """Return the endpoint, with a path below that of the aggregated API."""
    alone = asyncio.Lock()

    async def handle(request: web.Request) -> web.StreamResponse:
        return await _Handling(parts, delegation, request, alone).answer()

    return Endpoint("PUT", WRITE, handle, "writes the queue document", by_leader=True)


class _Handling:
    """Handling of a request from its arrival to its line in the audit log."""

    def __init__(
        self, parts: Configuring, delegation: Delegation, request: web.Request, alone: asyncio.Lock
    ) -> None:
        self._parts = parts
        self._delegation = delegation
        self._request = request
        self._alone = alone
        self._options = WriteOptions()

    async def answer(self) -> web.Response:
        user = self._request.get(USER)
        if user is None:
            return status_response(403, "a write needs a login: ask the API server for it")
        try:
            written = await self._carried_out(user)
        except Refused as refusal:
            self._note(user, Outcome("refused", refusal.status, str(refusal)))
            response = status_response(refusal.status, str(refusal))
            if self._request.can_read_body:
                response.force_close()
            return response
        self._note(user, Outcome("changed" if written.changed else "unchanged", 200, written.message))
        return web.Response(body=encoded(written), content_type="application/json")

    # -- steps -----------------------------------------------------------------------------------------------

    async def _carried_out(self, user: AuthenticatedUser) -> ConfigWrite:
        """Carry out the request. Raises `Refused`."""
        parts = self._parts
        if not parts.enabled():
            raise Refused(501, "writes are switched off: paddock.admin.config is false")
        if parts.configuration.from_file:
            raise Refused(501, "the queues come from a file, so no ConfigMap counts")
        self._options = options_from(self._request)
        await self._authorize(user)
        if why := parts.unready():
            raise Refused(503, why)
        try:
            body = await self._request.app[DOOR].body_of(self._request, LIMITS)
        except BodyFault as fault:
            raise Refused(status_of(fault), str(fault)) from None
        async with self._alone:
            return await self._written(body)

    async def _authorize(self, user: AuthenticatedUser) -> None:
        access = ResourceAccess(
            "update", "", "configmaps", namespace=self._parts.namespace, name=CONFIGS_NAME
        )
        try:
            await self._delegation.authorize(user, access)
        except AccessRefused as error:
            raise Refused(error.status, str(error)) from None

    async def _written(self, body: bytes) -> ConfigWrite:
        # The version is read before the verdict, so that a later edit of another makes this one fail.
        found = await self._found()
        verdict = against(self._parts.view(), await asyncio.to_thread(checked, self._parts, body))
        if verdict.loaded is None:
            raise Refused(400, f"the document is refused: {verdict.reason}")
        version = str(found["metadata"]["resourceVersion"])
        if self._options.version and self._options.version != version:
            raise Refused(409, _overtaken())
        key = self._parts.configuration.document_key
        if document_in(found, key) == verdict.text:
            return self._result(verdict, version, is_changed=False)
        try:
            check_edit(found, key, force=self._options.force)
            if not self._options.dry_run:
                version = await self._parts.write(key, verdict.text, version)
        except EditRefused as error:
            raise Refused(409, str(error)) from None
        except (Overtaken, NotThere):
            raise Refused(409, _overtaken()) from None
        except NotWritten as error:
            raise Refused(503, str(error)) from None
        return self._result(verdict, version, is_changed=True)

    async def _found(self) -> Mapping[str, Any]:
        try:
            return await self._parts.read()
        except NotThere:
            raise Refused(
                404, f"there is no ConfigMap {CONFIGS_NAME}: kubectl paddock apply creates it"
            ) from None
        except NotWritten as error:
            raise Refused(503, str(error)) from None

    def _result(self, verdict: DocumentVerdict, version: str, *, is_changed: bool) -> ConfigWrite:
        parts, dry_run = self._parts, self._options.dry_run
        target = f"ConfigMap {parts.namespace}/{CONFIGS_NAME}"
        verb = "would be written" if dry_run else "is written"
        late = "; it counts after a restart, since hot refresh is off" if parts.configuration.frozen else ""
        return ConfigWrite(
            namespace=parts.namespace,
            name=CONFIGS_NAME,
            key=parts.configuration.document_key,
            changed=is_changed,
            dry_run=dry_run,
            resource_version=version,
            checksum=verdict.checksum,
            message=f"{target} {verb}{late}" if is_changed else f"{target} has this document already",
        )

    # -- notes -----------------------------------------------------------------------------------------------

    def _note(self, user: AuthenticatedUser, outcome: Outcome) -> None:
        parts, dry_run = self._parts, self._options.dry_run
        asked = Asked(ACTION, f"{parts.namespace}/{CONFIGS_NAME}", dry_run=dry_run)
        parts.audit(audit_line(self._request, user, asked, outcome, now=parts.wall()))
        by = one_line(user.name)
        if outcome.result == "refused":
            parts.tell_refused(f"{ACTION}, asked for by {by}, was refused: {one_line(outcome.message)}")
        elif not dry_run:
            parts.tell_written(f"{outcome.message}, by {by}")


def options_from(request: web.Request) -> WriteOptions:
    """Options in the query and in ``If-Match``. Raises `Refused` for any that is not known.

    A typing error in ``dryRun`` must not lead to a write.
    """
    given = parse_qsl(request.rel_url.raw_query_string, keep_blank_values=True)
    query = dict(given)
    if len(query) < len(given) or query.keys() - {"dryRun", "force", "resourceVersion"}:
        raise Refused(400, "the query has dryRun=All, force=true and resourceVersion, each at most once")
    if query.get("dryRun", "All") != "All" or query.get("force", "true") not in ("true", "false"):
        raise Refused(400, "dryRun is All, and force is true or false")
    tags = request.headers.getall("If-Match", [])
    named = {
        _version_from(each)
        for each in (*tags, *([query["resourceVersion"]] if "resourceVersion" in query else []))
    }
    if len(named) > 1:
        raise Refused(400, "If-Match and resourceVersion name different versions")
    return WriteOptions("dryRun" in query, query.get("force") == "true", next(iter(named), ""))


def _version_from(text: str) -> str:
    found = _VERSION.fullmatch(text)
    if found is None:
        raise Refused(400, "the version is no resourceVersion of a ConfigMap")
    return found[1]


def _overtaken() -> str:
    return f"ConfigMap {CONFIGS_NAME} was changed meanwhile, so nothing was written: look at it and repeat"
