"""Each guard of the listeners switched off in turn: the attack that it holds off then gets through.

A guard whose attack fails without it too is not tested by that attack.
"""

import ssl
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.typedefs import Handler

from extender import front_door, listeners
from extender.http.access import delegated, guarding, proxied, rotating_tls
from extender.http.aggregated import ROOT
from extender.identity import delegation, pace
from extender.identity.caller import AuthenticatedUser, PathAccess
from extender.identity.request_header import FrontProxy
from tests.extender.app_bench import kubeconfig, server, undone
from tests.extender.process.test_front_door import ALICE, FRONT_PROXY, GOOD, METRICS, Stage, stage

__all__ = ["kubeconfig", "server", "stage", "undone"]

Attack = Callable[[Stage], Awaitable[bool]]
"""True if it gets through."""

Breach = Callable[[pytest.MonkeyPatch], None]
"""Switches a guard off."""

ROBOT = AuthenticatedUser("anybody")


def replaced(owner: object, name: str, by: object) -> Breach:
    return lambda patch: patch.setattr(owner, name, by)


async def _accept(*_: object, **__: object) -> AuthenticatedUser:
    return ROBOT


def _everything(_neighbours: object) -> Any:
    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await handler(request)

    return guarded


async def _on_loopback(stage: Stage, headers: dict[str, str], method: str = "GET") -> bool:
    url = f"http://127.0.0.1:{stage.server.admin}/livez"
    async with stage.server.session.request(method, url, headers=headers) as response:
        return response.status != 403


async def rebound_name(stage: Stage) -> bool:
    return await _on_loopback(stage, {"Host": "elsewhere.example"})


async def foreign_origin(stage: Stage) -> bool:
    return await _on_loopback(stage, {"Origin": "https://elsewhere.example"})


async def cross_site_form(stage: Stage) -> bool:
    return await _on_loopback(stage, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "POST")


async def unknown_token(stage: Stage) -> bool:
    # Its user has no right either, so a 403 says that it was believed.
    return (await stage.ask("rest", METRICS, {"Authorization": "Bearer unknown"}))[0] != 401


async def token_without_the_right(stage: Stage) -> bool:
    return (await stage.ask("rest", METRICS, {"Authorization": "Bearer idle"}))[0] == 200


async def token_for_the_api_server(stage: Stage) -> bool:
    return (await stage.ask("rest", METRICS, {"Authorization": "Bearer of-the-api-server"}))[0] == 200


async def escaped_slash(stage: Stage) -> bool:
    """A path that the router and RBAC may read in different ways."""
    stage.played.rights.add(("prometheus", "get", "/ws/v1/partition/default%2Fnodes"))
    return (await stage.ask("rest", "/ws/v1/partition/default%2Fnodes", GOOD))[0] != 403


async def forged_user_at_the_rest_port(stage: Stage) -> bool:
    return (await stage.ask("rest", METRICS, ALICE, certificate="proxy-old"))[0] == 200


async def _forged(stage: Stage, certificate: str) -> bool:
    await stage.until_proxied("proxy-old", 200)
    return (await stage.ask("aggregated", ROOT, ALICE, certificate=certificate))[0] == 200


async def forged_user_without_a_certificate(stage: Stage) -> bool:
    return await _forged(stage, "")


async def forged_user_of_another_name(stage: Stage) -> bool:
    return await _forged(stage, "stranger")


async def forged_user_of_another_authority(stage: Stage) -> bool:
    return await _forged(stage, "proxy-new")


async def two_users_in_one_request(stage: Stage) -> bool:
    """The second header can only be the caller's own."""
    await stage.until_proxied("proxy-old", 200)
    headers = [("X-Remote-User", "alice"), ("X-Remote-User", "admin")]
    return (await stage.ask("aggregated", ROOT, headers, certificate="proxy-old"))[0] == 200  # type: ignore[arg-type]


async def proxy_of_before(stage: Stage) -> bool:
    """A connection that began with an authority which was taken away meanwhile, kept busy over that time."""
    await stage.until_proxied("proxy-old", 200)
    url = f"https://localhost:{stage.ports['aggregated_port']}{ROOT}"
    async with aiohttp.ClientSession() as session:
        context = stage.context("proxy-old")

        async def status() -> int:
            async with session.get(url, headers=ALICE, ssl=context) as response:
                return response.status

        assert await status() == 200
        stage.trust("new")
        await stage.until_proxied("proxy-new", 200)
        try:
            return await status() == 200
        except (aiohttp.ClientError, ssl.SSLError):
            return False


async def flood(stage: Stage) -> bool:
    seen = [(await stage.ask("rest", METRICS, {"Authorization": f"Bearer t{n}"}))[0] for n in range(15)]
    return 429 not in seen


async def page_of_a_listed_origin_only(stage: Stage) -> bool:
    url = f"https://localhost:{stage.ports['rest_port']}/readyz"
    headers = {**GOOD, "Origin": "https://elsewhere.example"}
    async with (
        aiohttp.ClientSession() as session,
        session.get(url, headers=headers, ssl=stage.context()) as response,
    ):
        return "Access-Control-Allow-Origin" in response.headers


async def framed_page(stage: Stage) -> bool:
    async with stage.server.session.get(f"http://127.0.0.1:{stage.server.admin}/livez") as response:
        return "frame-ancestors 'none'" not in response.headers.get("Content-Security-Policy", "")


def _keep_open(patch: pytest.MonkeyPatch) -> None:
    """Connections of a former authority go on, and are believed."""
    patch.setattr(rotating_tls.RotatingTls, "is_certifying", lambda *_: True)
    patch.setattr("extender.http.connections.Connections.close_idle", lambda _: None)


def _trust_both(patch: pytest.MonkeyPatch) -> None:
    both = "".join((FRONT_PROXY / f"{name}-ca.crt").read_text() for name in ("old", "new"))
    follow = proxied.ProxiedUsers.follow
    patch.setattr(
        proxied.ProxiedUsers,
        "follow",
        lambda self, proxy: follow(self, proxy and replace(proxy, authority=both)),
    )


def _no_certificate_needed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        proxied.ProxiedUsers,
        "user_of",
        lambda self, request: self._proxy and self._proxy.user_from(list(request.headers.items())),
    )


def _at_the_rest_port_too(patch: pytest.MonkeyPatch) -> None:
    """The guard of tokens believes the header, as one would that was given the proxy's users."""

    async def user_of(request: web.Request, *_: object) -> AuthenticatedUser:
        return AuthenticatedUser(request.headers["X-Remote-User"])

    patch.setattr(delegated, "_user_of", user_of)
    patch.setattr(delegation.Delegation, "authorize", _accept)


def _first_user(self: FrontProxy, headers: Any) -> AuthenticatedUser:
    return AuthenticatedUser(next(value for name, value in headers if name == "X-Remote-User"))


def _any_path(request: web.Request) -> PathAccess:
    return PathAccess(request.rel_url.path_safe, request.method.lower())


def _accept_the_api_servers(patch: pytest.MonkeyPatch) -> None:
    made = delegation.Delegation.__init__

    def init(self: Any, *given: Any, **named: Any) -> None:
        made(self, *given, **{**named, "accepts_api_server": lambda: True})

    patch.setattr(delegation.Delegation, "__init__", init)


def _every_origin(patch: pytest.MonkeyPatch) -> None:
    class Everything(Collection[str]):
        def __contains__(self, _each: object) -> bool:
            return True

        def __iter__(self) -> Any:
            return iter(())

        def __len__(self) -> int:
            return 1

    guard = front_door.cors_guard
    patch.setattr(front_door, "cors_guard", lambda _origins, everyone: guard(Everything, everyone=everyone))


GUARDS: dict[str, tuple[Attack, Breach]] = {
    "Host of loopback": (rebound_name, replaced(guarding, "is_own_host", lambda *_: True)),
    "guard of loopback": (rebound_name, replaced(listeners, "loopback_guard", _everything)),
    "Origin on loopback": (foreign_origin, replaced(guarding, "is_own_origin", lambda *_: True)),
    "requests of other sites": (cross_site_form, replaced(guarding, "is_from_elsewhere", lambda *_: False)),
    "TokenReview": (unknown_token, replaced(delegation.Delegation, "authenticate", _accept)),
    "audience": (token_for_the_api_server, _accept_the_api_servers),
    "SubjectAccessReview": (token_without_the_right, replaced(delegation.Delegation, "authorize", _accept)),
    "escaped slashes": (escaped_slash, replaced(front_door, "rest_access_of", _any_path)),
    "headers at the REST port": (forged_user_at_the_rest_port, _at_the_rest_port_too),
    "certificate of the proxy": (forged_user_without_a_certificate, _no_certificate_needed),
    "allowed names": (forged_user_of_another_name, replaced(FrontProxy, "is_proxy", lambda *_: True)),
    "authority of the proxy": (forged_user_of_another_authority, _trust_both),
    "one user in a request": (two_users_in_one_request, replaced(FrontProxy, "user_from", _first_user)),
    "rotation of the authority": (proxy_of_before, _keep_open),
    "pace of reviews": (flood, replaced(pace.Pace, "take", lambda *_, **__: True)),
    "origins that may read": (page_of_a_listed_origin_only, _every_origin),
    "headers of answers": (framed_page, replaced(guarding, "SECURITY_HEADERS", {})),
}


@pytest.mark.parametrize("name", GUARDS)
async def test_the_guard_holds_off_its_attack(stage: Stage, name: str) -> None:
    attack, _ = GUARDS[name]
    await stage.start()
    assert not await attack(stage)


@pytest.mark.parametrize("name", GUARDS)
async def test_without_the_guard_its_attack_gets_through(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    attack, breach = GUARDS[name]
    breach(monkeypatch)
    await stage.start()
    assert await attack(stage)
