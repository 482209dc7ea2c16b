"""Callers are who the API server says, and may what it says; what it does not say lets no caller in."""

import asyncio
import json
import traceback
from collections.abc import Callable

import pytest
from aiohttp import web

from extender.identity.caller import AuthenticatedUser, PathAccess, ResourceAccess
from extender.identity.delegation import Delegation
from extender.identity.refusals import (
    AccessRefused,
    NotAllowed,
    NotAuthenticated,
    ReviewFailed,
    TooManyReviews,
)
from extender.identity.reviews import Reviews
from extender.kube.connection.api import ServerError
from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi
from tests.extender.fake_objects import JSON_TYPE, Request
from tests.extender.identity.played_reviews import API_SERVER, TOKEN_REVIEWS, PlayedReviews

METRICS = PathAccess("/ws/v1/metrics", "get")


class Stage:
    """A delegation to the fake API server. ``now``: its clock; ``failures``: reviews without a verdict."""

    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api = api
        self.played = PlayedReviews({"good": ("prometheus", "paddock"), "other": ("kubectl", API_SERVER)})
        self.played.rights.add(("prometheus", "get", "/ws/v1/metrics"))
        self.now = 1000.0
        self.failures: list[tuple[str, str]] = []
        self.accepts_api_server = False
        self.delegation = Delegation(
            Reviews(client, lambda kind, error: self.failures.append((kind, error))),
            clock=lambda: self.now,
            accepts_api_server=lambda: self.accepts_api_server,
        )

    async def refusal(self, token: str) -> AccessRefused | None:
        try:
            await self.delegation.authenticate(token)
        except AccessRefused as error:
            return error
        return None


@pytest.fixture
def broken(api: FakeApi, client: ApiClient) -> Stage:
    """A stage whose API server answers no review yet."""
    return Stage(api, client)


@pytest.fixture
def stage(broken: Stage) -> Stage:
    broken.played.serve(broken.api)
    return broken


# -- who calls ---------------------------------------------------------------------------------------------


async def test_a_token_is_its_user_s(stage: Stage) -> None:
    user = await stage.delegation.authenticate("good")
    assert user == AuthenticatedUser("prometheus", ("system:authenticated",), "uid-of-prometheus")
    assert stage.played.asked == [("TokenReview", {"token": "good", "audiences": ["paddock"]})]


async def test_an_unknown_token_has_no_user(stage: Stage) -> None:
    with pytest.raises(NotAuthenticated):
        await stage.delegation.authenticate("expired")


async def test_a_token_for_the_api_server_counts_only_where_that_is_set(stage: Stage) -> None:
    with pytest.raises(NotAuthenticated):
        await stage.delegation.authenticate("other")
    stage.accepts_api_server = True
    assert (await stage.delegation.authenticate("other")).name == "kubectl"
    assert (await stage.delegation.authenticate("good")).name == "prometheus"
    stage.accepts_api_server = False
    with pytest.raises(NotAuthenticated):
        await stage.delegation.authenticate("other")


@pytest.mark.parametrize(
    "status",
    [
        {"authenticated": True, "user": {"username": "u"}},
        {"authenticated": True, "user": {"username": "u"}, "audiences": [API_SERVER]},
        {"authenticated": True, "audiences": ["paddock"]},
        {"authenticated": True, "user": {"username": ""}, "audiences": ["paddock"]},
        {"authenticated": False, "user": {"username": "u"}, "audiences": ["paddock"]},
        {},
    ],
    ids=["no audience", "another audience", "no user", "empty name", "refused", "empty"],
)
async def test_an_answer_that_is_not_whole_lets_no_caller_in(
    broken: Stage, status: dict[str, object]
) -> None:
    answering(broken.api, lambda: json.dumps({"status": status}).encode())
    assert isinstance(await broken.refusal("good"), NotAuthenticated)


# -- what they may -----------------------------------------------------------------------------------------


async def test_a_right_is_asked_for_with_all_that_is_known(stage: Stage) -> None:
    user = AuthenticatedUser("u", ("a", "b"), "7", (("scopes", ("x", "y")),))
    stage.played.rights.add(("u", "get", "ws/partition"))
    access = ResourceAccess("get", "paddock.dev", "ws", "partition", name="v1")
    await stage.delegation.authorize(user, access)
    assert stage.played.asked == [
        (
            "SubjectAccessReview",
            {
                "user": "u",
                "uid": "7",
                "groups": ["a", "b"],
                "extra": {"scopes": ["x", "y"]},
                "resourceAttributes": {
                    "verb": "get",
                    "group": "paddock.dev",
                    "resource": "ws",
                    "subresource": "partition",
                    "name": "v1",
                },
            },
        )
    ]


async def test_a_caller_without_the_right_is_refused(stage: Stage) -> None:
    user = await stage.delegation.authenticate("good")
    await stage.delegation.authorize(user, METRICS)
    for access in (PathAccess("/ws/v1/metrics", "post"), PathAccess("/ws/v1/partitions", "get")):
        with pytest.raises(NotAllowed):
            await stage.delegation.authorize(user, access)


async def test_a_right_counts_for_its_user_and_groups_alone(stage: Stage) -> None:
    await stage.delegation.authorize(AuthenticatedUser("prometheus"), METRICS)
    await stage.delegation.authorize(AuthenticatedUser("prometheus", ("g",)), METRICS)
    assert stage.played.count("SubjectAccessReview") == 2
    with pytest.raises(NotAllowed):
        await stage.delegation.authorize(AuthenticatedUser("other"), METRICS)


async def test_what_is_allowed_and_denied_is_denied(broken: Stage) -> None:
    answering(broken.api, lambda: b'{"status":{"allowed":true,"denied":true}}')
    with pytest.raises(NotAllowed):
        await broken.delegation.authorize(AuthenticatedUser("u"), METRICS)


# -- for how long ------------------------------------------------------------------------------------------


async def test_an_accepted_caller_is_believed_for_a_minute(stage: Stage) -> None:
    await stage.delegation.authenticate("good")
    stage.played.users.clear()
    stage.now += 59.9
    assert await stage.refusal("good") is None
    assert stage.played.count("TokenReview") == 1
    stage.now += 0.1
    assert isinstance(await stage.refusal("good"), NotAuthenticated)


async def test_a_refused_token_is_reviewed_again_after_ten_seconds(stage: Stage) -> None:
    assert isinstance(await stage.refusal("late"), NotAuthenticated)
    stage.played.users["late"] = ("u", "paddock")
    stage.now += 9.9
    assert isinstance(await stage.refusal("late"), NotAuthenticated)
    assert stage.played.count("TokenReview") == 1
    stage.now += 0.1
    assert await stage.refusal("late") is None


async def test_equal_questions_at_once_share_one_review(stage: Stage) -> None:
    users = await asyncio.gather(*(stage.delegation.authenticate("good") for _ in range(50)))
    assert {user.name for user in users} == {"prometheus"}
    assert stage.played.count("TokenReview") == 1


async def test_one_that_hangs_up_does_not_end_the_review_of_others(stage: Stage) -> None:
    first = asyncio.create_task(stage.delegation.authenticate("good"))
    second = asyncio.create_task(stage.delegation.authenticate("good"))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).name == "prometheus"
    assert stage.played.count("TokenReview") == 1


# -- floods ------------------------------------------------------------------------------------------------


async def test_a_flood_of_tokens_costs_ten_reviews_a_second_and_not_the_known_callers(stage: Stage) -> None:
    await stage.delegation.authenticate("good")
    stage.now += 60.0
    found = [await stage.refusal(f"guess-{number}") for number in range(100)]
    assert sum(isinstance(error, TooManyReviews) for error in found) == 92
    assert await stage.refusal("good") is None
    await stage.delegation.authorize(await stage.delegation.authenticate("good"), METRICS)
    with pytest.raises(TooManyReviews):
        await stage.delegation.authorize(AuthenticatedUser("prometheus", ("g",)), METRICS)
    assert len(stage.played.asked) == 1 + 10
    stage.now += 1.0
    assert isinstance(await stage.refusal("guess-99"), NotAuthenticated)


async def test_a_long_flood_is_forgotten_again(stage: Stage) -> None:
    for number in range(1500):
        stage.now += 0.2
        await stage.refusal(f"guess-{number}")
    assert len(stage.delegation._verdicts) == 1000


# -- without a verdict -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error"), [(401, "Unauthorized"), (403, "Forbidden"), (429, "TooMany"), (500, "ServerError")]
)
async def test_an_api_server_that_refuses_gives_no_verdict(broken: Stage, status: int, error: str) -> None:
    broken.api.fail_next(status, path="reviews", times=10**6)
    assert isinstance(await broken.refusal("good"), ReviewFailed)
    with pytest.raises(ReviewFailed):
        await broken.delegation.authorize(AuthenticatedUser("u"), METRICS)
    assert broken.failures == [("tokenreviews", error), ("subjectaccessreviews", error)]


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"status":{"authenticated":"true"}}', b'{"status":3}'])
async def test_an_answer_that_cannot_be_read_is_no_verdict(broken: Stage, body: bytes) -> None:
    answering(broken.api, lambda: body)
    assert isinstance(await broken.refusal("good"), ReviewFailed)


async def test_an_access_review_without_its_answer_is_no_verdict(broken: Stage) -> None:
    answering(broken.api, lambda: b'{"status":{"reason":"?"}}')
    with pytest.raises(ReviewFailed):
        await broken.delegation.authorize(AuthenticatedUser("u"), METRICS)


async def test_an_api_server_that_is_away_gives_no_verdict_and_none_is_remembered(stage: Stage) -> None:
    await stage.delegation.authenticate("good")
    await stage.api.stop()
    assert isinstance(await stage.refusal("new"), ReviewFailed)
    assert await stage.refusal("good") is None
    stage.now += 60.0
    assert isinstance(await stage.refusal("good"), ReviewFailed)
    await stage.api.start()
    assert await stage.refusal("good") is None


# -- tokens stay secret ------------------------------------------------------------------------------------


async def test_no_error_says_the_token(api: FakeApi, client: ApiClient) -> None:
    """Also where the API server repeats it, and where a traceback is written."""

    async def echo(request: Request) -> web.Response:
        return web.Response(status=500, text=f"cannot read {request.body.decode()}")

    api.break_next(echo, path="reviews", times=10**6)
    # Not as one text, since a traceback shows the lines of this file.
    token = "-".join(("s3", "cret"))
    with pytest.raises(ServerError, match=token):
        await client.post(TOKEN_REVIEWS, json.dumps({"token": token}).encode())
    failures: list[str] = []
    with pytest.raises(ReviewFailed) as caught:
        await Reviews(client, lambda *failed: failures.extend(failed)).user_of(token, "paddock")
    written = "".join(traceback.format_exception(caught.value))
    assert failures == ["tokenreviews", "ServerError"]
    assert "ReviewFailed" in written
    assert token not in f"{written}{caught.value.args}"


async def test_no_token_is_remembered(stage: Stage) -> None:
    await stage.delegation.authenticate("good")
    await stage.refusal("s3cret")
    remembered = repr(stage.delegation._verdicts._by_key)
    assert "prometheus" in remembered
    assert "s3cret" not in remembered
    assert "good" not in remembered


def answering(api: FakeApi, body: Callable[[], bytes]) -> None:
    async def answer(_: Request) -> web.Response:
        return web.Response(body=body(), status=201, content_type=JSON_TYPE)

    api.break_next(answer, path="reviews", times=10**6)
