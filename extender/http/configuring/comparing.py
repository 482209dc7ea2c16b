"""Comparison of a queue document with the one in force: ``POST /ws/v1/compare-conf`` (REST-51)."""

import asyncio
from collections.abc import Iterable
from math import ceil

from aiohttp import web

from extender.checking.consequences import Consequences, find_consequences
from extender.checking.difference import FieldChange, QueueChange, partition_changes, queue_changes
from extender.configuration.edit import MOST_BYTES
from extender.configuration.sources import CONFIGS_NAME
from extender.http.configuring.parts import Configuring
from extender.http.configuring.verdict import DocumentVerdict, against, verdict_on
from extender.http.door import DOOR
from extender.http.endpoints import Endpoint
from extender.http.intake import BodyFault, BodyLimits, BodyTooLarge
from extender.http.rest.pace import result_of
from extender.http.statuses import status_response
from extender.queueconfig.problems import Problem
from extender.rest.comparison import (
    ConfigComparison,
    ConfigExcess,
    ConfigField,
    ConfigFinding,
    ConfigPreemptible,
    ConfigQueueChange,
    ConfigTarget,
)
from extender.rest.members import encoded
from extender.rest.openapi import COMPARISON

LIMITS = BodyLimits(MOST_BYTES, MOST_BYTES)
"""Limits of a document as a body."""


class Comparing:
    """Comparisons of one process, one at a time."""

    def __init__(self, parts: Configuring) -> None:
        self._parts = parts
        self._alone = asyncio.Lock()

    def endpoint(self) -> Endpoint:
        """Return the endpoint."""
        return Endpoint(
            "POST", COMPARISON, self._handle, "what a queue document would change", by_leader=True
        )

    async def _handle(self, request: web.Request) -> web.Response:
        if why := self._parts.unready():
            return _without_body(request, 503, why)
        if self._alone.locked():
            return _without_body(request, 429, "another document is being compared")
        async with self._alone:
            try:
                body = await request.app[DOOR].body_of(request, LIMITS)
            except BodyFault as fault:
                return _without_body(request, status_of(fault), str(fault))
            found = await self._compared(body)
        return web.Response(body=encoded(found), content_type="application/json")

    async def _compared(self, body: bytes) -> ConfigComparison:
        parts, offered = self._parts, self._parts.configuration
        verdict = against(parts.view(), await asyncio.to_thread(checked, parts, body))
        found = ConfigComparison(
            allowed=verdict.loaded is not None,
            problems=_findings(verdict.problems),
            warnings=_findings(verdict.warnings),
            checksum=verdict.checksum,
            in_force=offered.checksum,
            config_map=None
            if offered.from_file
            else ConfigTarget(namespace=parts.namespace, name=CONFIGS_NAME, key=offered.document_key),
            needs_restart=offered.frozen,
        )
        return await self._with_changes(found, verdict)

    async def _with_changes(self, found: ConfigComparison, verdict: DocumentVerdict) -> ConfigComparison:
        if verdict.loaded is None:
            return found
        before, after = self._parts.configuration.partition, verdict.loaded.partition
        changes = await asyncio.to_thread(lambda: tuple(queue_changes(before, after)))
        fields = partition_changes(before, after)
        view = self._parts.view()
        consequences = (
            await result_of(find_consequences(view, before, after))
            if changes or fields
            else Consequences((), ())
        )
        running = {each.path: len(each.running) for each in view.tree}
        return ConfigComparison(
            allowed=found.allowed,
            warnings=found.warnings,
            checksum=found.checksum,
            in_force=found.in_force,
            config_map=found.config_map,
            needs_restart=found.needs_restart,
            partition=_fields(fields),
            queues=tuple(_queue(each, running.get(each.path, 0)) for each in changes),  # type: ignore[call-overload]
            above=_above(consequences),
            preemptible=_preemptible(consequences),
        )


def checked(parts: Configuring, body: bytes) -> DocumentVerdict:
    """Check a document under the settings in force, without what runs."""
    settings = parts.configuration.settings
    return verdict_on(body, zero_blocks=settings.zero_max_blocks, acts_by_acl=settings.admin_acl)


def status_of(fault: BodyFault) -> int:
    """HTTP status for a body that is refused."""
    return 413 if isinstance(fault, BodyTooLarge) else 400


def _without_body(request: web.Request, status: int, why: str) -> web.Response:
    response = status_response(status, why)
    if request.can_read_body:
        # The body was not read, so the connection cannot serve another request.
        response.force_close()
    return response


def _findings(problems: Iterable[Problem]) -> tuple[ConfigFinding, ...]:
    return tuple(
        ConfigFinding(path=each.path, rule=each.rule, message=each.message, line=each.line or 0)
        for each in problems
    )


def _fields(changes: Iterable[FieldChange]) -> tuple[ConfigField, ...]:
    return tuple(ConfigField(name=each.name, before=each.before, after=each.after) for each in changes)


def _queue(change: QueueChange, running: int) -> ConfigQueueChange:
    fields = _fields(change.fields)
    return ConfigQueueChange(queue=change.path, change=change.kind, running_apps=running, fields=fields)


def _above(found: Consequences) -> tuple[ConfigExcess, ...]:
    return tuple(
        ConfigExcess(
            queue=each.queue,
            user=each.name if each.kind == "user" else "",
            group=each.name if each.kind == "group" else "",
            over=dict(each.over),
            apps_over=each.applications_over,
            exceeded_now=each.is_old,
            applications=each.applications,
            count=each.count,
        )
        for each in found.above
    )


def _preemptible(found: Consequences) -> tuple[ConfigPreemptible, ...]:
    return tuple(
        ConfigPreemptible(
            queue=each.queue,
            why=each.why,
            amounts=dict(each.amounts),
            delay=ceil(each.delay),
            pods=each.pods,
            count=each.count,
        )
        for each in found.preemptible
    )
