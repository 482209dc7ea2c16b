"""Effects with errors: which are repeated, and which are dropped."""

from typing import Any

import pytest
from aiohttp import web

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import (
    OpenGate,
)
from core.workload.pod import OWN_GATE
from extender.kube.effects.bodies import WAKE_ANNOTATION
from extender.kube.effects.effector import ATTEMPTS
from tests.extender.fake_api import Request
from tests.extender.fake_objects import refusal
from tests.extender.kube.effects.effector_bench import PODS, Bench, event, wake
from tests.extender.reflector_bench import until
from tests.extender.rigs import pod_body

EVENTS = "/api/v1/namespaces/default/events"


def gated_body(gates: list[object]) -> dict[str, Any]:
    body = pod_body("p")
    body["spec"]["schedulingGates"] = gates
    return body


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_trouble_is_retried_with_growing_pauses(bench: Bench, status: int) -> None:
    bench.api.apply(PODS, pod_body("p"))
    bench.api.fail_next(status, method="PATCH", times=2)
    async with bench.running():
        bench.effector.perform(wake())
        await bench.settled(1)
    assert bench.outcomes == {("WakePod", "done"): 1}
    assert len(bench.writes()) == 3
    assert bench.pauses == [0.2, 0.4]


async def test_trouble_without_end_is_given_up(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    bench.api.fail_next(500, method="PATCH", times=100)
    async with bench.running():
        bench.effector.perform(wake())
        await bench.settled(1)
    assert len(bench.writes()) == ATTEMPTS
    assert bench.learned == [on.PodWoken(PodUid("uid-p"), reached=False, certain=False)]
    assert bench.outcomes == {("WakePod", "failed"): 1}


@pytest.mark.rule("F-2")
@pytest.mark.parametrize(
    ("gates", "certain"), [([{"name": OWN_GATE}], True), ([], False)], ids=["shut", "open"]
)
async def test_after_an_error_of_the_server_the_pod_says_whether_its_gate_is_open(
    bench: Bench, gates: list[object], certain: bool
) -> None:
    bench.api.apply(PODS, gated_body(gates))
    bench.api.fail_next(500, method="PATCH", times=100)
    async with bench.running():
        bench.effector.perform(OpenGate(PodUid("uid-p"), "default", "p"))
        await bench.settled(1)
    assert bench.learned == [on.PodWoken(PodUid("uid-p"), reached=False, certain=certain)]


@pytest.mark.rule("F-2")
async def test_an_opening_whose_answer_is_lost_for_good_may_have_been_done(bench: Bench) -> None:
    bench.api.apply(PODS, gated_body([{"name": OWN_GATE}]))
    bench.api.fail_next(500, method="PATCH", times=ATTEMPTS - 1)
    bench.api.lose_next_reply(method="PATCH")
    async with bench.running():
        bench.effector.perform(OpenGate(PodUid("uid-p"), "default", "p"))
        await bench.settled(1)
    assert bench.learned == [on.PodWoken(PodUid("uid-p"), reached=False, certain=False)]


async def test_a_refusal_is_not_repeated(bench: Bench) -> None:
    bench.api.fail_next(403, method="POST")
    async with bench.running():
        bench.effector.perform(event())
        await bench.settled(1)
    assert bench.outcomes == {("PostEvent", "failed"): 1}
    assert len(bench.writes("POST")) == 1


@pytest.mark.parametrize("status", [404, 409])
async def test_a_deleted_or_replaced_pod_is_dropped(bench: Bench, status: int) -> None:
    bench.api.fail_next(status, method="PATCH")
    async with bench.running():
        bench.effector.perform(wake())
        await bench.settled(1)
    assert bench.outcomes == {("WakePod", "object gone"): 1}
    assert bench.learned == [on.PodWoken(PodUid("uid-p"), reached=False)]


async def test_a_lost_reply_is_repeated_with_the_same_token(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    bench.api.lose_next_reply(method="PATCH")
    async with bench.running():
        bench.effector.perform(wake(token="7"))
        await bench.settled(1)
    assert [each.json["metadata"]["annotations"] for each in bench.writes()] == [{WAKE_ANNOTATION: "7"}] * 2
    assert bench.outcomes == {("WakePod", "done"): 1}


async def test_a_server_that_comes_back_gets_what_waited(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    await bench.api.stop()
    bench.effector.perform(wake())
    async with bench.running():
        await until(lambda: bool(bench.pauses))
        await bench.api.start()
        await bench.settled(1)
        bench.effector.perform(wake(token="2"))
        await bench.settled(2)
    assert bench.token_of("p") == "2"


async def test_a_lease_lost_between_two_attempts_ends_them(bench: Bench) -> None:
    async def last(_: Request) -> web.Response:
        bench.leading = False
        return refusal(500, "and the lease is gone")

    bench.api.break_next(last, method="PATCH")
    async with bench.running():
        bench.effector.perform(wake())
        await bench.settled(1)
    assert len(bench.writes()) == 1
    assert bench.outcomes == {("WakePod", "not leading"): 1}
