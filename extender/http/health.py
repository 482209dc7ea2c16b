"""Endpoints for people and probes: health, metrics, and the reason why a pod waits."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from extender.http.access.guarding import Neighbours, loopback_guard
from extender.http.aggregated import PLANS
from extender.http.door import Door
from extender.http.endpoints import Endpoint, guarded_app
from extender.http.page import page_shown
from extender.http.scraping import Scraped, scrape_handler


@dataclass(frozen=True, slots=True)
class Admin:
    """Sources of these endpoints' answers."""

    #: Conditions of readiness; each has a reason why it does not hold, or an empty text.
    checks: Callable[[], Mapping[str, str]]
    #: Further lines for ``?verbose``.
    notes: Callable[[], Mapping[str, str]]
    #: All metrics.
    metrics: Scraped
    #: YuniKorn's metrics only.
    yunikorn_metrics: Scraped
    #: Story of a pod by namespace and name; None for an unknown pod.
    story: Callable[[str, str], Mapping[str, Any] | None]
    #: Runs an audit and returns the differences.
    audit: Callable[[], Awaitable[list[str]]]
    #: Recent preemption plans as JSON, latest first.
    preemptions: Callable[[], Sequence[msgspec.Raw]]


def admin_app(
    admin: Admin, door: Door | None = None, neighbours: Neighbours | None = None
) -> web.Application:
    """Make an application with `admin_endpoints` for loopback and for ``neighbours``."""
    guards = loopback_guard(neighbours or Neighbours()), page_shown()
    return guarded_app(admin_endpoints(admin), door or Door(), *guards)


def admin_endpoints(admin: Admin) -> tuple[Endpoint, ...]:
    """Health, metrics, stories, audits and plans."""

    async def livez(_request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(request: web.Request) -> web.Response:
        checks = admin.checks()
        ready = not any(checks.values())
        text = _verbose(checks, admin.notes()) if "verbose" in request.query or not ready else "ok\n"
        return web.Response(status=200 if ready else 503, text=text)

    async def pod(request: web.Request) -> web.Response:
        story = admin.story(request.match_info["namespace"], request.match_info["name"])
        if story is None:
            return web.json_response({"error": "no such pod is known"}, status=404)
        return web.Response(body=msgspec.json.encode(story), content_type="application/json")

    async def audit(_request: web.Request) -> web.Response:
        """Run a whole audit now, in slices like the regular one."""
        return web.json_response({"drifts": await admin.audit()})

    async def preemptions(_request: web.Request) -> web.Response:
        body = msgspec.json.encode({"preemptions": admin.preemptions()})
        return web.Response(body=body, content_type="application/json")

    return (
        Endpoint(
            "GET", "/debug/audit", audit, "differences between the counters and a recount", by_leader=True
        ),
        Endpoint(
            "GET",
            PLANS,
            preemptions,
            "recent plans, and why others were stopped",
            by_leader=True,
        ),
        Endpoint("GET", "/livez", livez, "ok while the process answers"),
        Endpoint("GET", "/readyz", readyz, "ok once pods may be admitted; ?verbose says what is missing"),
        Endpoint("GET", "/metrics", scrape_handler(admin.metrics), "metrics for Prometheus"),
        Endpoint(
            "GET",
            "/ws/v1/metrics",
            scrape_handler(admin.yunikorn_metrics),
            "those of YuniKorn alone",
            by_leader=True,
        ),
        Endpoint(
            "GET",
            "/debug/pods/{namespace}/{name}",
            pod,
            "why a pod waits, and what happened to it",
            by_leader=True,
        ),
    )


def _verbose(checks: Mapping[str, str], notes: Mapping[str, str]) -> str:
    lines = [f"[-] {name}: {amiss}" if amiss else f"[+] {name} ok" for name, amiss in checks.items()]
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in notes.items()), ""])
