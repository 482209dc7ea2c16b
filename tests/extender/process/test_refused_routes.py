"""Every endpoint and route of every listener, asked by callers who may not: refused, and nothing leaks."""

import json
import re
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from extender.app import App
from extender.http.aggregated import ROOT, resource_endpoints
from extender.http.endpoints import ANY_METHOD, Endpoint
from extender.identity.pace import Pace
from tests.extender.app_bench import kubeconfig, server, undone
from tests.extender.process.test_front_door import ALICE, Stage, stage

__all__ = ["kubeconfig", "server", "stage", "undone"]

METHODS = ("GET", "POST", "PUT", "DELETE")
FORGED = {"X-Remote-User": "system:admin", "X-Remote-Group": "system:masters", "X-Paddock-User": "YWRtaW4="}
CANARY = "waiting"
"""A pod that exists, and that no refusal may name."""

SAMPLES = {
    "namespace": "default",
    "name": CANARY,
    "partition": "default",
    "queue": "root.a",
    "tail": "v1/partitions",
}
QUIET_HEADERS = {
    *("content-type", "content-length", "date", "server", "connection", "www-authenticate"),
    *("x-content-type-options", "referrer-policy", "content-security-policy"),
}
"""Headers that a refusal may have: none says whether a path or a method exists."""


def filled(pattern: str) -> str:
    """A path that fits a pattern of aiohttp's, or of the REST interface's own table."""
    path = re.sub(
        r"\{(\w+)(?::(?:[^{}()]|\([^()]*\))*)?\}", lambda found: SAMPLES.get(found[1], found[1]), pattern
    )
    return re.sub(r":(\w+)", lambda found: SAMPLES.get(found[1], found[1]), path)


def asked_of(endpoints: tuple[Endpoint, ...]) -> Iterator[tuple[str, str]]:
    """Method and path of each."""
    for each in endpoints:
        for method in METHODS if each.method == ANY_METHOD else (each.method,):
            yield method, filled(each.path)


def explanations_of(app: App, before: str) -> tuple[Endpoint, ...]:
    """The endpoints of explanations and simulations."""

    async def named(_user: object) -> bool:
        return True

    return app._explanations.endpoints(before, named)


def table_of(stage: Stage) -> list[tuple[str, str]]:
    """Everything that the listeners serve: the table of endpoints, and the routes of the REST interface."""
    app = stage.server.app
    assert app is not None
    routes = app._rest._answering._router.routes
    endpoints = (*app._endpoints, *explanations_of(app, ROOT))
    table = [*asked_of(endpoints), *((route.method, filled(route.pattern)) for route in routes)]
    assert {"/metrics", "/debug/pods/default/waiting", "/ws/v1/partitions"} <= {path for _, path in table}
    assert len(table) > 40
    return sorted({*table, ("GET", "/"), ("GET", "/nothing")})


@pytest.fixture(autouse=True)
def no_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reviews without a limit on their number."""
    monkeypatch.setattr(Pace, "take", lambda *_, **__: True)


async def refused(
    stage: Stage, port: str, method: str, path: str, headers: dict[str, str], certificate: str = ""
) -> int:
    """The status of a refusal, whose text and headers say nothing."""
    url = f"https://localhost:{stage.ports[f'{port}_port']}{path}"
    options: Any = {"headers": headers, "ssl": stage.context(certificate), "allow_redirects": False}
    async with aiohttp.ClientSession() as session, session.request(method, url, **options) as response:
        found = json.loads(await response.text())
        assert found == {
            "status_code": response.status,
            "message": found["message"],
            "description": found["message"],
        }
        assert found["message"] in (
            "credentials are missing or not accepted",
            "the caller may not do this",
        )
        assert {name.lower() for name in response.headers} <= QUIET_HEADERS
        return response.status


async def test_the_rest_port_refuses_each_route(stage: Stage) -> None:
    stage.server.pod(CANARY)
    await stage.start()
    for method, path in table_of(stage):
        if (method, path) in (("GET", "/ws/v1/metrics"), ("GET", "/readyz")):
            continue
        for headers, status in (
            ({}, 401),
            ({"Authorization": "Bearer unknown"}, 401),
            (FORGED, 401),
            ({"Authorization": "Bearer idle", **FORGED}, 403),
            ({"Authorization": "Bearer good"}, 403),
        ):
            seen = await refused(stage, "rest", method, path, headers, "proxy-old")
            assert (method, path, headers, seen) == (method, path, headers, status)


async def test_the_aggregated_api_refuses_each_route(stage: Stage) -> None:
    stage.server.pod(CANARY)
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    app = stage.server.app
    assert app is not None
    own = asked_of((*resource_endpoints(), *explanations_of(app, "")))
    mallory = {"X-Remote-User": "mallory"}
    for method, path in sorted({*table_of(stage), *own}):
        for where in (path, f"{ROOT}{path}"):
            for headers, certificate, status in (
                (FORGED, "", 401),
                (FORGED, "stranger", 401),
                ({"Authorization": "Bearer unknown"}, "", 401),
                ({"Authorization": "Bearer idle", **FORGED}, "", 403),
                (mallory, "proxy-old", 403),
            ):
                if status == 403 and not where.startswith(f"{ROOT}/"):
                    # Discovery is for all who are known, and nothing else is there.
                    continue
                seen = await refused(stage, "aggregated", method, where, headers, certificate)
                assert (method, where, certificate, seen) == (method, where, certificate, status)


async def test_loopback_reads_no_header_that_names_a_user(stage: Stage) -> None:
    """A forged name opens no action, and none is answered to a page of another site."""
    stage.server.pod(CANARY)
    await stage.start()
    base = f"http://127.0.0.1:{stage.server.admin}"
    session = stage.server.session
    for method in METHODS:
        async with session.request(method, f"{base}{ROOT}/actions", headers=FORGED | ALICE) as response:
            assert response.status == 403
    for method, path in table_of(stage):
        for headers in ({"Host": "elsewhere.example"}, {"Origin": "https://elsewhere.example"}):
            options: Any = {"headers": FORGED | headers, "allow_redirects": False}
            async with session.request(method, f"{base}{path}", **options) as response:
                text = await response.text()
                assert (method, path, response.status) == (method, path, 403)
                assert set(json.loads(text)) == {"error"}
                assert CANARY not in text


async def test_each_endpoint_is_defined_once(stage: Stage) -> None:
    """Two handlers of one path would answer differently some day."""
    stage.server.start()
    app = stage.server.app
    assert app is not None
    seen = [(each.method, each.path) for each in app._endpoints]
    assert len(seen) == len(set(seen))
    routes = [(each.method, each.pattern) for each in app._rest._answering._router.routes]
    assert len(routes) == len(set(routes))
    handlers = {each.handler for each in app._endpoints if "validate-conf" in each.path}
    assert handlers == {app._rest._answering.handle}
