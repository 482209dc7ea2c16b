"""Effects on our own account: paced, coalesced, retried, and only while the Lease is ours. See test_bind."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import (
    MarkFailed,
    NominateNode,
    OpenGate,
    PostEvent,
    SetCondition,
    WakePod,
    WriteRecord,
)
from core.ledger.outcomes import Purpose
from core.workload.pod import OWN_GATE
from extender.kube.effects import effector as module
from extender.kube.effects.bodies import WAKE_ANNOTATION
from extender.kube.effects.effector import ATTEMPTS, QUIET_RATE, QUIET_WORKERS, RATE, WORKERS
from tests.extender.fake_api import Answer, Request
from tests.extender.fake_objects import refusal
from tests.extender.kube.effects.effector_bench import PODS, Bench, bench
from tests.extender.reflector_bench import until
from tests.extender.rigs import pod_body

__all__ = ["bench"]

EVENTS = "/api/v1/namespaces/default/events"


def wake(name: str = "p", token: str = "1", uid: str = "") -> WakePod:  # noqa: S107 - no secret
    return WakePod(PodUid(uid or f"uid-{name}"), "default", name, token)


def gated_body(gates: list[object]) -> dict[str, Any]:
    body = pod_body("p")
    body["spec"]["schedulingGates"] = gates
    return body


def event(message: str = "why") -> PostEvent:
    return PostEvent("ConfigMap", "default", "yunikorn-configs", "uid-c", "ConfigurationRefused", message)


async def test_waking_is_an_annotation_on_this_very_pod(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    async with bench.running():
        bench.effector.perform(wake(token="7"))
        await bench.settled(1)
    assert bench.token_of("p") == "7"
    (sent,) = bench.writes()
    assert sent.json["metadata"]["uid"] == "uid-p"
    assert bench.learned == [on.PodWoken(PodUid("uid-p"), reached=True)]
    assert bench.outcomes == {("WakePod", "done"): 1}


@pytest.mark.rule("APP-8")
async def test_marking_a_pod_failed_is_a_patch_of_its_status(bench: Bench) -> None:
    marking = MarkFailed(PodUid("uid-p"), "default", "p", "ApplicationRejected", "m" * 2000)
    async with bench.running():
        bench.effector.perform(marking)
        await bench.settled(1)
    (sent,) = bench.writes()
    assert sent.path == f"{PODS}/p/status"
    status = {"phase": "Failed", "reason": "ApplicationRejected", "message": "m" * 1000}
    assert sent.json == {"metadata": {"uid": "uid-p"}, "status": status}


@pytest.mark.parametrize(("node", "written"), [("n1", "n1"), ("", None)])
async def test_a_nomination_is_a_patch_of_the_status(bench: Bench, node: str, written: str | None) -> None:
    bench.api.apply(PODS, pod_body("p"))
    nomination = NominateNode(PodUid("uid-p"), "default", "p", NodeName(node), Purpose.NODE_RESERVATION)
    async with bench.running():
        bench.effector.perform(nomination)
        await bench.settled(1)
        bench.leading = False
        bench.effector.perform(nomination)
        await bench.settled(2)
    (sent,) = bench.writes()
    assert sent.path == f"{PODS}/p/status"
    assert sent.json == {"metadata": {"uid": "uid-p"}, "status": {"nominatedNodeName": written}}
    assert bench.learned == [
        on.NodeNominated(PodUid("uid-p"), NodeName(node), True, Purpose.NODE_RESERVATION),
        on.NodeNominated(PodUid("uid-p"), NodeName(node), False, Purpose.NODE_RESERVATION),
    ]


async def test_records_are_annotations_and_each_is_written(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    for entries in ((("a", "1"), ("b", "2")), (("a", None),)):
        bench.effector.perform(WriteRecord(PodUid("uid-p"), "default", "p", entries, Purpose.LABELS))
    async with bench.running():
        await bench.settled(2)
    pod = bench.api.find(PODS, "p")
    assert pod is not None
    assert pod["metadata"]["annotations"] == {"b": "2"}
    assert [each.json["metadata"]["uid"] for each in bench.writes()] == ["uid-p", "uid-p"]
    assert bench.learned == [
        on.RecordWritten(PodUid("uid-p"), (("a", "1"), ("b", "2")), True, Purpose.LABELS),
        on.RecordWritten(PodUid("uid-p"), (("a", None),), True, Purpose.LABELS),
    ]


async def test_a_condition_is_merged_into_the_status(bench: Bench) -> None:
    wanted = SetCondition(
        PodUid("uid-p"), "default", "p", "paddock.dev/Admitted", False, "QuotaExceeded", "m" * 2000
    )
    async with bench.running():
        bench.effector.perform(wanted)
        await bench.settled(1)
        bench.leading = False
        bench.effector.perform(wanted)
        await bench.settled(2)
    (sent,) = bench.writes()
    (condition,) = sent.json["status"]["conditions"]
    assert sent.path == f"{PODS}/p/status"
    assert condition.pop("lastTransitionTime").endswith("Z")
    assert condition == {
        "type": "paddock.dev/Admitted",
        "status": "False",
        "reason": "QuotaExceeded",
        "message": "m" * 1000,
    }
    assert bench.learned[-1] == on.GateToldNot(PodUid("uid-p"))


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
    """Neither by their rate nor by how many of them are under way."""
    bench.patient = True
    for number in range(WORKERS):
        bench.api.apply(PODS, pod_body(f"p{number}"))
    async with bench.running():
        for number in range(100):
            bench.effector.perform(event(f"why {number}"))
        await until(lambda: bench.writes("POST"))
        for number in range(WORKERS):
            bench.effector.perform(wake(f"p{number}"))
        await until(lambda: bench.outcomes[("WakePod", "done")] == WORKERS)
        assert bench.outcomes[("PostEvent", "done")] < 100
        await bench.settled(100 + WORKERS)
    assert max(bench.pauses) <= max(QUIET_WORKERS / QUIET_RATE, WORKERS / RATE)


async def test_an_event_as_it_is_written(bench: Bench) -> None:
    async with bench.running():
        bench.effector.perform(event("m" * 2000))
        await bench.settled(1)
    (sent,) = bench.writes("POST")
    written = sent.json
    assert written["involvedObject"] == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "namespace": "default",
        "name": "yunikorn-configs",
        "uid": "uid-c",
    }
    assert (written["reason"], written["type"], written["source"]) == (
        "ConfigurationRefused",
        "Warning",
        {"component": "paddock"},
    )
    assert len(written["message"]) == 1000
    assert bench.learned == []


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
    """The first attempt fails, and yet what came after it waits."""
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
    """Those that rest: each answer comes only when as many are asked for as there are workers."""
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
    """A condition ends for which the pod's wake-up and, since there were too many, an event have waited:
    whoever carried it out goes on with the one, and another that rests is woken for the other."""
    told, others, posted = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def waiting_for(moment: asyncio.Event) -> Answer:
        async def answer(_: Request) -> web.Response:
            await moment.wait()
            return web.json_response({})

        return answer

    async def post(_: Request) -> None:
        posted.set()

    names = ["p", *(f"q{number}" for number in range(1, QUIET_WORKERS))]
    async with bench.running():
        for name in names:
            bench.api.apply(PODS, pod_body(name))
            of_it = told if name == "p" else others
            bench.api.break_next(waiting_for(of_it), method="PATCH", path=f"{name}/status")
            bench.effector.perform(_held(name))
        await until(lambda: len(bench.writes()) == QUIET_WORKERS)
        bench.effector.perform(event())
        bench.effector.perform(wake("p"))
        bench.api.break_next(waiting_for(posted), method="PATCH", path=f"{PODS}/p")
        bench.api.break_next(post, method="POST")
        told.set()
        await until(posted.is_set)
        others.set()
        await bench.settled(QUIET_WORKERS + 2)


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
async def test_a_pod_that_is_gone_or_replaced_is_let_go(bench: Bench, status: int) -> None:
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


async def test_who_does_not_lead_does_nothing(bench: Bench) -> None:
    bench.leading = False
    async with bench.running():
        bench.effector.perform(wake())
        bench.effector.perform(event())
        await bench.settled(2)
    assert bench.api.requests == []
    assert bench.outcomes == {("WakePod", "not leading"): 1, ("PostEvent", "not leading"): 1}
    assert bench.learned == [on.PodWoken(PodUid("uid-p"), reached=False)]


async def test_what_waited_when_the_lease_was_lost_is_dropped(bench: Bench) -> None:
    bench.effector.perform(wake())
    bench.leading = False
    async with bench.running():
        await bench.settled(1)
    assert bench.api.requests == []
    assert bench.outcomes == {("WakePod", "not leading"): 1}


async def test_a_lease_lost_between_two_tries_ends_them(bench: Bench) -> None:
    async def last(_: Request) -> web.Response:
        bench.leading = False
        return refusal(500, "and the lease is gone")

    bench.api.break_next(last, method="PATCH")
    async with bench.running():
        bench.effector.perform(wake())
        await bench.settled(1)
    assert len(bench.writes()) == 1
    assert bench.outcomes == {("WakePod", "not leading"): 1}


async def test_a_full_queue_drops_the_oldest(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUEUED", 2)
    for name in ("p1", "p2", "p3"):
        bench.api.apply(PODS, pod_body(name))
        bench.effector.perform(wake(name))
    async with bench.running():
        await bench.settled(3)
    assert bench.outcomes == {("WakePod", "queue full"): 1, ("WakePod", "done"): 2}
    assert bench.token_of("p1") is None
