"""A listener with logins: whom it answers, what it says to others, and what it never believes or tells."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from extender.http.access.delegated import USER, delegated_guard, path_access_of
from extender.identity.delegation import Delegation
from extender.identity.reviews import Reviews
from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi
from tests.extender.identity.played_reviews import PlayedReviews

SECRET = "who waits for what"
GOOD = {"Authorization": "Bearer good"}


class Stage:
    """``played``: the API server's verdicts; ``now``: the clock of what is remembered."""

    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api = api
        self.played = PlayedReviews({"good": ("prometheus", "paddock"), "idle": ("nobody", "paddock")})
        self.played.rights.add(("prometheus", "get", "/ws/v1/metrics"))
        self.played.serve(api)
        self.now = 0.0
        self.delegation = Delegation(Reviews(client), clock=lambda: self.now)
        self.reached: list[str] = []
        self.client: TestClient[Any, Any] | None = None

    def app(self) -> web.Application:
        async def show(request: web.Request) -> web.Response:
            self.reached.append(request[USER].name)
            return web.Response(text=SECRET)

        app = web.Application(middlewares=[delegated_guard(self.delegation, path_access_of)])
        app.router.add_get("/ws/v1/metrics", show)
        app.router.add_get("/ws/v1/partition/{partition}/queue/{queue}", show)
        app.router.add_post("/ws/v1/validate-conf", show)
        return app

    async def ask(
        self, headers: Any, path: str = "/ws/v1/metrics", method: str = "GET"
    ) -> tuple[int, str, Any]:
        assert self.client is not None
        # As it stands: the client would tidy it up.
        url = URL(path, encoded=True)
        async with self.client.request(method, url, headers=headers, allow_redirects=False) as response:
            return response.status, await response.text(), response.headers


@pytest.fixture
async def stage(api: FakeApi, client: ApiClient) -> AsyncIterator[Stage]:
    made = Stage(api, client)
    async with TestClient(TestServer(made.app())) as made.client:
        yield made


async def test_a_caller_with_the_right_is_answered_and_known(stage: Stage) -> None:
    assert (await stage.ask(GOOD))[:2] == (200, SECRET)
    assert stage.reached == ["prometheus"]


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "Bearer unknown")],
        [("Authorization", "Basic Z29vZDo=")],
        [("Authorization", "Bearer good"), ("Authorization", "Bearer good")],
        [("Authorization", "Bearer good, Bearer good")],
        [("X-Remote-User", "prometheus"), ("X-Remote-Group", "system:masters")],
        [("Impersonate-User", "prometheus")],
        [("Cookie", "token=good")],
    ],
)
async def test_whoever_is_not_known_learns_nothing(stage: Stage, headers: list[tuple[str, str]]) -> None:
    status, text, found = await stage.ask(headers)
    message = "credentials are missing or not accepted"
    assert (status, json.loads(text)) == (
        401,
        {"status_code": 401, "message": message, "description": message},
    )
    assert text.endswith("\n")
    assert (found["WWW-Authenticate"], found["Content-Type"]) == ("Bearer", "application/json; charset=UTF-8")
    assert stage.reached == []


async def test_forged_headers_beside_a_token_change_nothing(stage: Stage) -> None:
    forged = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters", "Impersonate-User": "admin"}
    assert (await stage.ask({**GOOD, **forged}))[0] == 200
    assert stage.reached == ["prometheus"]
    assert (await stage.ask({"Authorization": "Bearer idle", **forged}))[0] == 403


async def test_a_token_in_the_url_is_no_login(stage: Stage) -> None:
    assert (await stage.ask({}, "/ws/v1/metrics?access_token=good"))[0] == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/ws/v1/partition/default/queue/root"),
        ("POST", "/ws/v1/validate-conf"),
        ("POST", "/ws/v1/metrics"),
        ("HEAD", "/ws/v1/metrics"),
        ("GET", "/ws/v1/metrics/"),
        ("GET", "/ws/v1/metrics%2F..%2Fpartition%2Fdefault%2Fqueue%2Froot"),
        ("GET", "/nothing"),
    ],
)
async def test_a_right_counts_for_its_path_and_method_alone(stage: Stage, method: str, path: str) -> None:
    """Paths that do not exist are refused alike, so that nothing is learnt of paths."""
    assert (await stage.ask(GOOD, path, method))[0] == 403
    assert stage.reached == []


async def test_what_is_allowed_is_what_is_answered(stage: Stage) -> None:
    """The router decodes a path once, and so does the question to RBAC."""
    assert (await stage.ask(GOOD, "/ws/v1/%6detrics"))[0] == 200
    paths = [spec["nonResourceAttributes"]["path"] for kind, spec in stage.played.asked if "Access" in kind]
    assert paths == ["/ws/v1/metrics"]


@pytest.mark.parametrize("path", ["/ws/v1/metrics%0A", "/ws/v1/%00", "/ws/v1/%E2%80%AE"])
async def test_a_path_that_no_rule_can_name_is_refused_without_a_review(stage: Stage, path: str) -> None:
    assert (await stage.ask(GOOD, path))[0] == 403
    assert stage.played.count("SubjectAccessReview") == 0


async def test_a_flood_is_asked_to_wait(stage: Stage) -> None:
    found = [await stage.ask({"Authorization": f"Bearer guess-{number}"}) for number in range(12)]
    assert [status for status, _, _ in found] == [401] * 8 + [429] * 4
    assert found[-1][2]["Retry-After"] == "1"
    assert (await stage.ask(GOOD))[0] == 429
    stage.now += 1.0
    assert (await stage.ask(GOOD))[0] == 200


async def test_without_the_api_server_only_remembered_callers_are_answered(stage: Stage) -> None:
    assert (await stage.ask(GOOD))[0] == 200
    await stage.api.stop()
    assert (await stage.ask(GOOD))[0] == 200
    status, text, headers = await stage.ask({"Authorization": "Bearer idle"})
    assert (status, headers["Retry-After"]) == (503, "1")
    assert "idle" not in text
    stage.now += 60.0
    assert (await stage.ask(GOOD))[0] == 503
    await stage.api.start()
