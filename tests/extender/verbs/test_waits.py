"""Bind calls of pod groups: which calls wait, how long, and how a wait ends (COS-5, COS-6, DESIGN-5)."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.workload.pod_group import back_off_of, wait_of
from extender.configuration.settings import Settings
from extender.verbs.faults import CallFault, DeadlinePassed
from tests.builders import make_queue, usage
from tests.extender.reflector_bench import until
from tests.extender.rigs import Rig, answers_of, bind_body, serving

RING = ("g-0", "g-1", "g-2")
Calls = dict[str, "asyncio.Task[Any]"]


def ring_rig() -> Rig:
    """A pod group of three with turns, whose members have passed filter."""
    rig = Rig(make_queue("root.a"))
    rig.bind_verb.deadline = 100.0
    for name in RING:
        rig.filter(name, group=("g", 3))
    rig.run_planned()
    for name in RING:
        assert rig.filter(name, group=("g", 3))["NodeNames"], name
    return rig


async def called(rig: Rig, *names: str) -> Calls:
    """Waiting bind calls."""
    calls: Calls = {}
    for name in names:
        before = len(rig.bind_verb.waits)
        calls[name] = asyncio.create_task(rig.bind(name))
        await until(lambda least=before + 1: len(rig.bind_verb.waits) >= least)
    return calls


async def faults(calls: Calls) -> list[str]:
    found = await asyncio.gather(*calls.values(), return_exceptions=True)
    assert all(isinstance(each, CallFault) for each in found), found
    return [str(each) for each in found]


def posted(rig: Rig) -> list[str]:
    return [each.name for each in rig.api.posted]


@pytest.mark.rule("COS-5")
async def test_members_wait_until_the_last_one_has_come() -> None:
    rig = ring_rig()
    calls = await called(rig, "g-0", "g-1")
    assert posted(rig) == []
    assert usage(rig.ledger, "root.a") == (0, 3000, 0)
    assert await rig.bind("g-2") == {}
    await asyncio.gather(*calls.values())
    assert posted(rig) == ["g-0", "g-1", "g-2"]
    assert usage(rig.ledger, "root.a") == (3000, 0, 0)
    assert len(rig.bind_verb.waits) == 0


@pytest.mark.rule("COS-6")
async def test_all_fail_together_when_the_time_is_up() -> None:
    rig = ring_rig()
    calls = await called(rig, "g-0", "g-1")
    rig.time += 12.9
    rig.engine.pass_time()
    assert not any(call.done() for call in calls.values())
    rig.time += 0.1
    rig.engine.pass_time()
    assert await faults(calls) == ["pod group g: not enough members of its pod group came in time"] * 2
    assert posted(rig) == []
    assert usage(rig.ledger, "root.a") == (0, 1000, 2000)


@pytest.mark.rule("COS-6")
async def test_whoever_comes_after_the_time_fails_like_the_others() -> None:
    rig = ring_rig()
    calls = await called(rig, "g-0", "g-1")
    rig.time += 13
    rig.engine.pass_time()
    await faults(calls)
    with pytest.raises(CallFault, match="waited in vain"):
        await rig.bind("g-2")
    assert posted(rig) == []


@pytest.mark.rule("COS-6")
@pytest.mark.parametrize("deleted", ["g-0", "g-2"], ids=["one that waits", "one on its way"])
async def test_a_member_that_is_deleted_takes_the_others_with_it(deleted: str) -> None:
    rig = ring_rig()
    calls = await called(rig, "g-0", "g-1")
    rig.engine.learn(on.PodDeleted(PodUid(f"uid-{deleted}")))
    assert len(await faults(calls)) == 2
    assert posted(rig) == []
    assert usage(rig.ledger, "root.a")[1] == (1000 if deleted == "g-0" else 0)


async def test_a_new_filter_call_ends_all_waits_of_the_group() -> None:
    """After a restart of kube-scheduler, calls of the former process must not count beside new ones."""
    rig = ring_rig()
    calls = await called(rig, "g-0", "g-1")
    assert rig.filter("g-0", group=("g", 3))["NodeNames"] == []
    assert await faults(calls) == [
        "kube-scheduler tries the pod anew",
        "pod group g: kube-scheduler has begun anew",
    ]
    rig.run_planned()
    for name in RING:
        assert rig.filter(name, group=("g", 3))["NodeNames"], name
    calls = await called(rig, "g-0", "g-1")
    assert await rig.bind("g-2") == {}
    await asyncio.gather(*calls.values())
    assert posted(rig) == ["g-0", "g-1", "g-2"]


async def test_a_second_call_for_a_pod_that_waits_is_answered_like_the_first() -> None:
    rig = ring_rig()
    calls = await called(rig, "g-0", "g-1")
    second = asyncio.create_task(rig.bind("g-0"))
    assert await rig.bind("g-2") == {}
    assert await second == {}
    await asyncio.gather(*calls.values())
    assert sorted(posted(rig)) == ["g-0", "g-1", "g-2"]


async def test_our_own_deadline_ends_a_wait_and_nothing_is_sent() -> None:
    rig = ring_rig()
    rig.bind_verb.deadline = 0.02
    with pytest.raises(DeadlinePassed):
        await rig.bind("g-0")
    assert posted(rig) == []
    assert usage(rig.ledger, "root.a") == (0, 2000, 1000)


@pytest.mark.interpreted
async def test_nothing_is_posted_for_a_caller_that_hangs_up_in_the_moment_when_all_may_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = ring_rig()
    call, calls = await called(rig, "g-0"), await called(rig, "g-1")
    monkeypatch.setattr(rig.witness, "learned", lambda *_, now: call["g-0"].cancel())
    assert await rig.bind("g-2") == {}
    with pytest.raises(asyncio.CancelledError):
        await call["g-0"]
    await asyncio.gather(*calls.values())
    assert posted(rig) == ["g-1", "g-2"]
    assert usage(rig.ledger, "root.a") == (2000, 0, 1000)


async def test_a_wait_ends_when_its_connection_closes() -> None:
    rig = ring_rig()
    waits = rig.bind_verb.waits
    async with serving(answers_of(rig)) as door:
        body = bind_body("g-0")
        _, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(
            f"POST /v1/bind HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
        await writer.drain()
        await until(lambda: len(waits) == 1)
        writer.close()
        await until(lambda: len(waits) == 0)
        assert door.faults == [("bind", "hung up")]
    assert usage(rig.ledger, "root.a") == (0, 2000, 1000)
    assert posted(rig) == []


async def test_a_call_given_up_before_its_check_does_not_wait() -> None:
    """A call that ended before the caches were synced must not count beside calls of a new kube-scheduler."""
    rig = ring_rig()
    rig.synced.clear()
    call = asyncio.create_task(rig.bind("g-0"))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    rig.synced.set()
    calls = {name: asyncio.create_task(rig.bind(name)) for name in ("g-1", "g-2")}
    await until(lambda: len(rig.bind_verb.waits) >= 2)
    assert posted(rig) == []
    assert await rig.bind("g-0") == {}
    await asyncio.gather(*calls.values())
    assert posted(rig) == ["g-1", "g-2", "g-0"]


@pytest.mark.rule("COS-5")
async def test_calls_that_come_after_a_restart_wait_for_each_other_too() -> None:
    rig = Rig(make_queue("root.a"))
    rig.bind_verb.deadline = 100.0
    for name in RING:
        rig.filter(name, group=("g", 3))
    calls = await called(rig, "g-0", "g-1")
    assert posted(rig) == []
    assert await rig.bind("g-2") == {}
    await asyncio.gather(*calls.values())
    assert posted(rig) == ["g-0", "g-1", "g-2"]


async def test_a_binding_that_fails_leaves_the_others_on_their_nodes() -> None:
    rig = ring_rig()
    calls: list[Awaitable[Any]] = [*(await called(rig, "g-0", "g-1")).values()]
    rig.api.outcomes = [RuntimeError("lost")]
    assert await rig.bind("g-2") == {}
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(found[0], RuntimeError)
    group = next(rig.engine.view.pod_groups())
    assert (group.urgent, group.open, group.held) == (True, False, 3)


# -- times -------------------------------------------------------------------------------------------------


@pytest.mark.rule("COS-5")
@pytest.mark.parametrize(("members", "seconds"), [(1, 11), (8, 18), (85, 95), (86, 95), (10_000, 95)])
def test_a_wait_is_ten_seconds_and_one_for_each_member(members: int, seconds: float) -> None:
    assert wait_of(members, deadline=100.0) == seconds


@pytest.mark.rule("COS-5")
@pytest.mark.parametrize("deadline", [0.1, 1.0, 6.0, 10.0, 100.0, 600.0])
def test_a_wait_is_shorter_than_the_bind_deadline(deadline: float) -> None:
    assert 0 < wait_of(100_000, deadline=deadline) < deadline
    assert 0 < wait_of(1, deadline=deadline, own=86_400.0) < deadline


def test_the_ledger_waits_by_the_deadline_of_the_verb() -> None:
    assert Settings().ledger.bind_deadline == Settings().bind_deadline == LedgerSettings().bind_deadline


@pytest.mark.rule("COS-6")
def test_back_offs_double_up_to_five_minutes_and_are_spread_by_the_uid() -> None:
    uids = [PodUid(f"uid-{number}") for number in range(500)]
    for timeouts, usual in [(1, 5.0), (2, 10.0), (3, 20.0), (7, 300.0), (10_000, 300.0)]:
        back_offs = [back_off_of(uid, timeouts) for uid in uids]
        assert usual * 0.5 <= min(back_offs) < usual * 0.55
        assert usual * 1.45 < max(back_offs) <= usual * 1.5
        assert back_offs == [back_off_of(uid, timeouts) for uid in uids]
