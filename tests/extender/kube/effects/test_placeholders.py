"""Creation of placeholders by Paddock: the requests, and the outcome of each answer (GANG-4).

See test_effector.
"""

import pytest
from aiohttp import web

from core.ids import AppId
from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder
from core.ledger.outcomes import CreationOutcome
from extender.kube.effects import effector as module
from extender.kube.effects.effector import ATTEMPTS
from extender.wire.placeholder import PlaceholderSettings, placeholder_pod
from tests.builders import make_gang, make_placeholder
from tests.extender.fake_api import Request
from tests.extender.fake_objects import Json, refusal
from tests.extender.kube.effects.effector_bench import PODS, Bench

NAME = "tg-app-1-g-0"


def creation_ended(outcome: CreationOutcome, why: str = "", name: str = NAME) -> on.PlaceholderCreated:
    return on.PlaceholderCreated(AppId("app-1", "default"), name, outcome, why)


def pod(wanted: CreatePlaceholder) -> Json:
    return placeholder_pod(wanted, PlaceholderSettings())


async def tried(bench: Bench, effect: CreatePlaceholder | None = None) -> on.Event:
    """The outcome of one creation."""
    async with bench.running():
        bench.effector.perform(effect or make_placeholder())
        await bench.settled(1)
    (end,) = bench.learned
    return end


@pytest.mark.rule("GANG-3", "GANG-4")
async def test_a_placeholder_is_posted_once(bench: Bench) -> None:
    wanted = make_placeholder()
    assert await tried(bench, wanted) == creation_ended(CreationOutcome.DONE)
    (sent,) = bench.writes("POST")
    assert (sent.path, sent.json) == (PODS, pod(wanted))
    assert bench.outcomes == {("CreatePlaceholder", "done"): 1}


async def test_the_settings_are_those_in_force(bench: Bench) -> None:
    bench.effector._placeholders = lambda: PlaceholderSettings("mirror/pause:1")
    await tried(bench)
    (sent,) = bench.writes("POST")
    assert sent.json["spec"]["containers"][0]["image"] == "mirror/pause:1"


@pytest.mark.rule("GANG-4", "GANG-20")
async def test_one_that_is_there_already_is_as_good(bench: Bench) -> None:
    bench.api.apply(PODS, pod(make_placeholder()))
    assert await tried(bench) == creation_ended(CreationOutcome.DONE)
    assert len(bench.writes("POST")) == 1


async def test_a_lost_reply_makes_no_second_pod(bench: Bench) -> None:
    bench.api.lose_next_reply(method="POST")
    assert await tried(bench) == creation_ended(CreationOutcome.DONE)
    assert len(bench.writes("POST")) == 2


@pytest.mark.rule("GANG-4")
@pytest.mark.parametrize(
    "change",
    [
        {"annotations": {}},
        {"annotations": None},
        {"ownerReferences": []},
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "first", "uid": "uid-former"}]},
        {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "first", "uid": "uid-first"}]},
    ],
)
async def test_a_stranger_of_the_name_is_a_refusal(bench: Bench, change: Json) -> None:
    there = pod(make_placeholder())
    there["metadata"] |= change
    bench.api.apply(PODS, there)
    why = f"pod {NAME} is there already and is no placeholder of this gang"
    assert await tried(bench) == creation_ended(CreationOutcome.REFUSED, why)
    assert bench.outcomes == {("CreatePlaceholder", "refused"): 1}


@pytest.mark.rule("GANG-4")
@pytest.mark.parametrize("status", [400, 403, 404, 413, 422])
async def test_what_the_server_does_not_take_is_not_tried_again(bench: Bench, status: int) -> None:
    async def refuse(_: Request) -> web.Response:
        return refusal(status, "w" * 2000)

    bench.api.break_next(refuse, method="POST")
    assert await tried(bench) == creation_ended(CreationOutcome.REFUSED, "w" * 256)
    assert len(bench.writes("POST")) == 1
    assert bench.pauses == []


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_overloaded_server_is_asked_again(bench: Bench, status: int) -> None:
    bench.api.fail_next(status, method="POST", times=2)
    assert await tried(bench) == creation_ended(CreationOutcome.DONE)
    assert bench.pauses == [0.2, 0.4]


async def test_pods_that_compete_for_a_quota_are_asked_for_again(bench: Bench) -> None:
    """A 409 of another kind: the status of a ResourceQuota changed meanwhile."""

    async def changed(_: Request) -> web.Response:
        return refusal(409, "the object has been modified", reason="Conflict")

    bench.api.break_next(changed, method="POST", times=2)
    assert await tried(bench) == creation_ended(CreationOutcome.DONE)
    assert bench.pauses == [0.2, 0.4]


async def test_one_that_disappears_during_the_check_is_requested_again(bench: Bench) -> None:
    bench.api.apply(PODS, pod(make_placeholder()))

    async def not_found(_: Request) -> None:
        bench.api.delete(PODS, NAME)

    bench.api.break_next(not_found, method="GET")
    assert await tried(bench) == creation_ended(CreationOutcome.DONE)
    assert len(bench.writes("POST")) == 2
    assert bench.pauses == [0.2]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_trouble_without_end_has_failed(bench: Bench, status: int) -> None:
    bench.api.fail_next(status, method="POST", times=100)
    assert await tried(bench) == creation_ended(CreationOutcome.FAILED)
    assert len(bench.writes("POST")) == ATTEMPTS
    assert bench.outcomes == {("CreatePlaceholder", "failed"): 1}


async def test_credentials_that_are_not_accepted_say_nothing_of_the_placeholder(bench: Bench) -> None:
    bench.api.tokens = set()
    assert await tried(bench) == creation_ended(CreationOutcome.FAILED)


async def test_an_answer_that_is_no_pod_says_nothing_of_the_placeholder(bench: Bench) -> None:
    bench.api.apply(PODS, pod(make_placeholder()))

    async def nonsense(_: Request) -> web.Response:
        return web.Response(body=b"<html>")

    bench.api.break_next(nonsense, method="GET")
    assert await tried(bench) == creation_ended(CreationOutcome.FAILED)


async def test_an_instance_that_does_not_lead_creates_nothing(bench: Bench) -> None:
    bench.leading = False
    assert await tried(bench) == creation_ended(CreationOutcome.FAILED)
    assert bench.api.requests == []


async def test_a_full_queue_is_reported_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUEUED", 1)
    for name in ("tg-1", "tg-2"):
        bench.effector.perform(make_placeholder(name))
    async with bench.running():
        await bench.settled(2)
    assert bench.learned == [
        creation_ended(CreationOutcome.FAILED, name="tg-1"),
        creation_ended(CreationOutcome.DONE, name="tg-2"),
    ]


async def test_of_one_place_only_the_last_wish_counts(bench: Bench) -> None:
    """Without a UID, namespace and name identify placeholders. Different ones do not delay each other."""
    wishes = [
        make_placeholder(),
        make_placeholder(gang=make_gang(cpu=2000, name="later")),
        make_placeholder(namespace="other"),
        make_placeholder("tg-app-1-g-1"),
    ]
    for wish in wishes:
        bench.effector.perform(wish)
    async with bench.running():
        await bench.settled(3)
    assert bench.outcomes == {("CreatePlaceholder", "done"): 3}
    first = bench.api.find(PODS, NAME)
    assert first is not None
    assert first["metadata"]["annotations"]["yunikorn.apache.org/task-group-name"] == "later"
    assert {each.path for each in bench.writes("POST")} == {PODS, PODS.replace("default", "other")}
