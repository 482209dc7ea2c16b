"""Pace of effects: their order, concurrency and rate."""

import asyncio

import pytest
from aiohttp import web

from core.ids import PodUid
from core.ledger.effects import (
    SetCondition,
    WriteRecord,
)
from core.ledger.outcomes import Purpose
from extender.kube.effects import effector as module
from extender.kube.effects.effector import QUIET_BESIDE, QUIET_WORKERS, WORKERS
from extender.kube.effects.pace import QUIET_RATE_BESIDE, RATE
from tests.extender.fake_api import Answer, Request
from tests.extender.kube.effects.effector_bench import PODS, Bench, event, wake
from tests.extender.reflector_bench import until
from tests.extender.rigs import pod_body

EVENTS = "/api/v1/namespaces/default/events"


async def test_events_wait_behind_what_pods_wait_for(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    for number in range(100):
        bench.effector.perform(event(f"why {number}"))
    bench.effector.perform(wake())
    async with bench.running():
        await bench.settled(101)
    first = [request.method for request in bench.api.requests if request.method in ("PATCH", "POST")]
    assert "PATCH" in first[:16]


async def test_what_pods_wait_for_is_not_slowed_down_by_events(bench: Bench) -> None:
    """Neither their rate nor their number delays others."""
    bench.patient = True
    events = 2 * WORKERS
    for number in range(WORKERS):
        bench.api.apply(PODS, pod_body(f"p{number}"))
    async with bench.running():
        for number in range(events):
            bench.effector.perform(event(f"why {number}"))
        await until(lambda: bench.writes("POST"))
        for number in range(WORKERS):
            bench.effector.perform(wake(f"p{number}"))
        await until(lambda: bench.outcomes[("WakePod", "done")] == WORKERS)
        assert bench.outcomes[("PostEvent", "done")] < events
        await bench.settled(events + WORKERS)
    assert max(bench.pauses) <= WORKERS / RATE


async def test_a_wake_up_does_not_wait_for_an_event_of_its_pod_that_may_not_start_yet(bench: Bench) -> None:
    for name in ("p", "q"):
        bench.api.apply(PODS, pod_body(name))
    async with bench.running():
        bench.effector.perform(wake("q"))
        bench.effector.perform(_held("q"))
        bench.effector.perform(_held("p"))
        await until(lambda: bench.outcomes[("SetCondition", "done")] == 1)
        bench.effector.perform(wake("p"))
        await until(lambda: bench.outcomes[("WakePod", "done")] == 2)
        assert bench.outcomes[("SetCondition", "done")] == 1
        await bench.settled(4)


async def test_of_effects_that_wait_for_one_pod_the_last_is_done(bench: Bench) -> None:
    for name in ("p", "q"):
        bench.api.apply(PODS, pod_body(name))
    for token in ("1", "2", "3"):
        bench.effector.perform(wake(token=token))
    bench.effector.perform(wake("q"))
    async with bench.running():
        await bench.settled(2)
    assert (bench.token_of("p"), bench.token_of("q"), len(bench.writes())) == ("3", "1", 2)


async def test_what_is_written_to_one_pod_keeps_its_order(bench: Bench) -> None:
    """The first attempt fails, but the later effect still waits."""
    for name in ("p", "q"):
        bench.api.apply(PODS, pod_body(name))
    bench.api.fail_next(500, method="PATCH", times=1)
    for value in ("1", "2", "3"):
        bench.effector.perform(WriteRecord(PodUid("uid-p"), "default", "p", (("a", value),), Purpose.LABELS))
    bench.effector.perform(WriteRecord(PodUid("uid-q"), "default", "q", (("a", "1"),), Purpose.LABELS))
    async with bench.running():
        await bench.settled(4)
    of_p = [each for each in bench.writes() if each.path.endswith("/p")]
    assert [each.json["metadata"]["annotations"]["a"] for each in of_p] == ["1", "1", "2", "3"]


async def test_all_workers_are_woken_when_there_is_enough_to_do(bench: Bench) -> None:
    """Idle workers. Each answer is sent only when as many requests are open as there are workers."""
    together = asyncio.Barrier(WORKERS)

    async def answer(_: Request) -> None:
        await together.wait()

    for number in range(WORKERS + 1):
        bench.api.apply(PODS, pod_body(f"p{number}"))
    async with bench.running():
        bench.effector.perform(wake(f"p{WORKERS}"))
        await bench.settled(1)
        bench.api.break_next(answer, method="PATCH", times=WORKERS)
        for number in range(WORKERS):
            bench.effector.perform(wake(f"p{number}"))
        await bench.settled(WORKERS + 1)
    assert bench.outcomes == {("WakePod", "done"): WORKERS + 1}


async def test_what_two_have_waited_for_is_taken_by_two(bench: Bench) -> None:
    """The pod's wake-up and an Event have waited for a condition, which ends.

    Its worker continues with one of them, and an idle worker is woken for the other.
    """
    condition_set, posted = asyncio.Event(), asyncio.Event()

    async def post(_: Request) -> None:
        posted.set()

    async with bench.running():
        bench.api.apply(PODS, pod_body("p"))
        bench.api.break_next(waiting_for(condition_set), method="PATCH", path="p/status")
        bench.effector.perform(_held("p"))
        await until(bench.writes)
        bench.effector.perform(event())
        bench.effector.perform(wake("p"))
        bench.api.break_next(waiting_for(posted), method="PATCH", path=f"{PODS}/p")
        bench.api.break_next(post, method="POST")
        condition_set.set()
        await until(posted.is_set)
        await bench.settled(3)


async def test_few_events_are_written_beside_what_pods_wait_for(bench: Bench) -> None:
    woken, posted = asyncio.Event(), asyncio.Event()
    for name in ("p", "q"):
        bench.api.apply(PODS, pod_body(name))
    bench.api.break_next(waiting_for(woken), method="PATCH", path=f"{PODS}/p")
    bench.api.break_next(waiting_for(posted), method="POST", times=QUIET_WORKERS)
    async with bench.running():
        bench.effector.perform(wake("p"))
        await until(bench.writes)
        for number in range(QUIET_WORKERS):
            bench.effector.perform(event(f"why {number}"))
        await until(lambda: bench.writes("POST"))
        bench.effector.perform(wake("q"))
        await until(lambda: bench.outcomes[("WakePod", "done")] == 1)
        assert len(bench.writes("POST")) == QUIET_BESIDE
        woken.set()
        await until(lambda: len(bench.writes("POST")) == QUIET_WORKERS)
        posted.set()
        await bench.settled(QUIET_WORKERS + 2)


async def test_events_give_way_to_calls_of_kube_scheduler(bench: Bench) -> None:
    """Issue 22. One begins at once, and the next one at the slower pace."""
    bench.calls += 1
    async with bench.running():
        begun = asyncio.get_running_loop().time()
        for number in range(2):
            bench.effector.perform(event(f"why {number}"))
        await bench.settled(2)
        assert asyncio.get_running_loop().time() - begun >= 1 / QUIET_RATE_BESIDE


def waiting_for(moment: asyncio.Event) -> Answer:
    """An answer that is sent at a moment."""

    async def answer(_: Request) -> web.Response:
        await moment.wait()
        return web.json_response({})

    return answer


def _held(name: str) -> SetCondition:
    uid = PodUid(f"uid-{name}")
    return SetCondition(uid, "default", name, "paddock.dev/Admitted", False, "QuotaExceeded", "why")


async def test_the_rate_is_bounded(bench: Bench) -> None:
    bench.patient = True
    for number in range(60):
        bench.api.apply(PODS, pod_body(f"p{number}"))
        bench.effector.perform(wake(f"p{number}"))
    started = asyncio.get_running_loop().time()
    async with bench.running():
        await bench.settled(60)
    assert asyncio.get_running_loop().time() - started >= 59 / RATE
    assert bench.outcomes == {("WakePod", "done"): 60}


async def test_a_full_queue_drops_the_oldest(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUEUED", 2)
    for name in ("p1", "p2", "p3"):
        bench.api.apply(PODS, pod_body(name))
        bench.effector.perform(wake(name))
    async with bench.running():
        await bench.settled(3)
    assert bench.outcomes == {("WakePod", "queue full"): 1, ("WakePod", "done"): 2}
    assert bench.token_of("p1") is None
