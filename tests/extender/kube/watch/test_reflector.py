"""A reflector reports the server's state to its sink, whatever happens to the connection."""

import asyncio
import json

import pytest
from aiohttp import web

from extender.kube.connection.api import Expired, MalformedAnswer, Unreachable
from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi, Request, refusal
from tests.extender.reflector_bench import (
    Bench,
    Hurried,
    Mirror,
    Pod,
    Turns,
    cancelled,
    ended,
    pod_from,
    until,
)


@pytest.fixture
async def bench(api: FakeApi, client: ApiClient) -> Bench:
    return Bench(api, client)


# --- lists


async def test_a_list_is_read_in_pages_and_reported_whole(bench: Bench) -> None:
    for number in range(7):
        bench.add(f"p{number}")
    async with bench.running(page_size=3, params={"fieldSelector": "metadata.name!=p6"}) as reflector:
        assert bench.sink.calls == [f"changed p{number}" for number in range(6)] + ["listed"]
        assert reflector.last_heard is not None
    first, second = bench.lists
    assert dict(first.query) == {"limit": "3", "fieldSelector": "metadata.name!=p6"}
    assert second.query["continue"]
    watch = bench.watches[0].query
    assert watch["resourceVersion"] == "107"
    assert watch["allowWatchBookmarks"] == "true"
    assert watch["fieldSelector"] == "metadata.name!=p6"
    assert 300 <= int(watch["timeoutSeconds"]) <= 600
    assert bench.notes.lists == [6]


@pytest.mark.rule("APP-19")
async def test_the_first_list_is_reported_in_the_requested_order_across_pages(bench: Bench) -> None:
    for number in (120, 3, 77, 15):
        bench.add(f"p{number}", number)
    async with bench.running(page_size=2, order=lambda pod: pod.spec.priority):
        reported = [call for call in bench.sink.calls if call.startswith("changed")]
    assert reported == ["changed p3", "changed p15", "changed p77", "changed p120"]


async def test_a_continue_token_that_expires_begins_the_list_anew(bench: Bench) -> None:
    for number in range(6):
        bench.add(f"p{number}")

    async def forget(_: Request) -> None:
        if any("continue" in r.query for r in bench.api.requests):
            bench.api.compact()

    bench.api.break_next(forget, method="GET", watch=False, times=2)
    async with bench.running(page_size=2) as reflector:
        assert bench.sink.calls.count("listed") == 1
        assert len(bench.sink.pods) == len(bench.sink.calls) - 1 == 6
        assert reflector.relists == 0
    assert ["continue" in r.query for r in bench.lists] == [False, True, False, True, True]
    assert [type(error) for error in bench.notes.errors] == [Expired]


async def test_an_empty_list_syncs(bench: Bench) -> None:
    async with bench.running():
        assert bench.sink.calls == ["listed"]


async def test_a_single_object_is_followed_by_its_name(bench: Bench) -> None:
    bench.add("mine")
    bench.add("other")
    async with bench.running(params={"fieldSelector": "metadata.name=mine"}):
        bench.add("other", 2)
        bench.add("mine", 3)
        await until(lambda: bench.sink.pods == {"mine": 3})
        bench.delete("mine")
        await until(lambda: not bench.sink.pods)
    assert not [call for call in bench.sink.calls if "other" in call]


async def test_other_work_goes_on_during_a_long_list(bench: Bench) -> None:
    for number in range(1000):
        bench.add(f"p{number}")
    turns = Turns()
    ticking = asyncio.create_task(turns.tick())
    async with bench.running(decode=turns.decode):
        pass
    await cancelled(ticking)
    assert len(bench.sink.pods) == 1000
    assert turns.longest <= 50


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"metadata":{},"items":[]}', b'{"items":[]}'])
async def test_a_list_that_makes_no_sense_is_asked_for_again(bench: Bench, body: bytes) -> None:
    async def nonsense(_: Request) -> web.Response:
        return web.Response(body=body)

    bench.api.break_next(nonsense, watch=False)
    async with bench.running():
        assert [type(error) for error in bench.notes.errors] == [MalformedAnswer]
        assert bench.sink.calls == ["listed"]


# --- watches


async def test_changes_are_reported_and_the_version_moves_on(bench: Bench) -> None:
    async with bench.running() as reflector:
        bench.add("a", 1)
        bench.add("a", 2)
        bench.add("b")
        bench.delete("b")
        await until(lambda: bench.sink.calls[-1] == "deleted b")
        assert bench.sink.pods == {"a": 2}
        assert reflector.events == 4
        bench.api.end_watches()
        await until(lambda: len(bench.watches) == 2)
        assert reflector.restarts == 1
        assert reflector.relists == 0
    assert bench.watches[1].query["resourceVersion"] == "104"
    assert bench.sink.calls.count("changed a") == 2
    assert not bench.notes.errors


async def test_a_bookmark_moves_the_version_on(bench: Bench) -> None:
    async with bench.running() as reflector:
        before = reflector.last_heard
        mark = bench.api.bookmark()
        await until(lambda: reflector.last_heard != before)
        bench.api.end_watches()
        await until(lambda: len(bench.watches) == 2)
    assert bench.watches[1].query["resourceVersion"] == mark
    assert bench.sink.calls == ["listed"]


async def test_a_version_too_old_leads_to_a_list_at_once(bench: Bench) -> None:
    bench.add("a")
    bench.add("b")
    async with bench.running() as reflector:
        bench.delete("a")
        await until(lambda: "a" not in bench.sink.pods)
        bench.api.compact()
        bench.api.end_watches()
        await until(lambda: bench.sink.calls.count("listed") == 2 and bench.api.watching == 1)
        assert reflector.relists == 1
    assert bench.sink.pods == {"b": 0}
    assert [type(error) for error in bench.notes.errors] == [Expired]
    assert bench.notes.pauses == [0.0]


async def test_what_was_deleted_while_away_is_missing_from_the_keys(bench: Bench) -> None:
    bench.add("a")
    bench.add("b")
    async with bench.running():
        await bench.api.stop()
        bench.delete("a")
        bench.add("c")
        bench.api.compact()
        await bench.api.start()
        await until(lambda: bench.sink.pods.keys() == {"b", "c"})
    assert "deleted a" not in bench.sink.calls


async def test_a_410_as_the_answer_to_a_watch_leads_to_a_list(bench: Bench) -> None:
    async with bench.running() as reflector:
        bench.api.fail_next(410, watch=True)
        bench.api.end_watches()
        await until(lambda: reflector.relists == 1 and bench.api.watching == 1)


async def test_a_410_that_repeats_is_backed_off_from(bench: Bench) -> None:
    hurried = Hurried(8)
    bench.api.fail_next(410, watch=True, times=100)
    await ended(bench.reflector(sleep=hurried, uniform=lambda _, high: high).run())
    assert hurried.pauses == [0.0, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 20.0]
    assert bench.sink.calls == ["listed"] * 8


async def test_after_a_cut_in_the_middle_of_a_line_nothing_is_lost(bench: Bench) -> None:
    async with bench.running() as reflector:
        bench.add("a")
        bench.api.send(b'{"type":"ADDED","object":{"metadata":{"na')
        bench.api.cut()
        bench.add("b")
        await until(lambda: bench.sink.pods.keys() == {"a", "b"})
        assert reflector.relists == 0
    assert [type(error) for error in bench.notes.errors] == [Unreachable]


async def test_a_server_that_ends_watches_at_once_is_not_hammered(bench: Bench) -> None:
    bench.api.end_next_watches(1000)
    task = asyncio.create_task(bench.reflector().run())
    await asyncio.sleep(1.0)
    await cancelled(task)
    assert 2 <= len(bench.watches) <= 6


async def test_a_server_that_repeats_itself_and_ends_is_not_hammered(bench: Bench) -> None:
    async def same_mark(_: Request) -> web.Response:
        return web.Response(body=b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"100"}}}\n')

    hurried = Hurried(5)
    bench.api.break_next(same_mark, watch=True, times=100)
    await ended(bench.reflector(sleep=hurried, uniform=lambda _, high: high).run())
    assert hurried.pauses == [0.2, 0.4, 0.8, 1.6, 3.2]


async def test_a_half_open_watch_is_noticed(bench: Bench) -> None:
    async with bench.running(idle_timeout=0.2) as reflector:
        bench.api.silent = True
        bench.add("a")
        await until(lambda: reflector.restarts >= 1)
        assert not bench.sink.pods
        bench.api.silent = False
        await until(lambda: bench.sink.pods == {"a": 0})
        assert reflector.relists == 0
    assert isinstance(bench.notes.errors[0], Unreachable)


async def test_a_huge_event_is_reported(bench: Bench) -> None:
    async with bench.running():
        bench.add("a", annotations={"filler": "x" * 2_000_000})
        await until(lambda: "a" in bench.sink.pods)


async def test_a_line_that_is_no_event_leads_to_a_list(bench: Bench) -> None:
    async with bench.running() as reflector:
        bench.api.send(b"<html>\n")
        await until(lambda: reflector.relists == 1)
    assert [type(error) for error in bench.notes.errors] == [MalformedAnswer]


async def test_a_flood_of_events_lets_others_work(bench: Bench) -> None:
    turns = Turns()
    async with bench.running(decode=turns.decode):
        ticking = asyncio.create_task(turns.tick())
        line = b'{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"200"}}}\n'
        bench.api.send(line * 2000)
        await until(lambda: len(bench.sink.calls) == 2001)
        await cancelled(ticking)
    assert turns.longest <= 50


# --- refusals


@pytest.mark.parametrize("status", [401, 403, 500, 503])
async def test_a_refused_list_is_tried_again_more_and_more_rarely(bench: Bench, status: int) -> None:
    hurried = Hurried(4)
    bench.api.fail_next(status, times=100)
    await ended(bench.reflector(sleep=hurried, uniform=lambda low, _: low).run())
    assert hurried.pauses == [0.1, 0.2, 0.4, 0.8]
    assert not bench.sink.calls
    assert len(bench.notes.errors) == 4


async def test_the_pause_that_the_server_requests_is_respected(bench: Bench) -> None:
    hurried = Hurried(2)
    bench.api.fail_next(429, headers={"Retry-After": "9"}, times=1)
    bench.api.fail_next(429, headers={"Retry-After": "100000"}, times=1)
    await ended(bench.reflector(sleep=hurried).run())
    assert hurried.pauses == [9.0, 60.0]


async def test_a_version_the_server_keeps_refusing_is_given_up(bench: Bench) -> None:
    hurried = Hurried(20)
    bench.api.fail_next(504, watch=True, times=4)
    task = asyncio.create_task(bench.reflector(sleep=hurried).run())
    await until(lambda: len(bench.lists) == 2 and bench.api.watching == 1)
    await cancelled(task)
    assert len(bench.watches) == 5


async def test_an_overloaded_server_is_not_made_to_list(bench: Bench) -> None:
    hurried = Hurried(20)
    bench.api.fail_next(429, watch=True, times=8)
    task = asyncio.create_task(bench.reflector(sleep=hurried).run())
    await until(lambda: bench.api.watching == 1)
    await cancelled(task)
    assert len(bench.lists) == 1


async def test_a_healthy_watch_forgets_earlier_failures(bench: Bench) -> None:
    now = 0.0
    hurried = Hurried(20)
    bench.api.fail_next(500, times=5)
    options = {"clock": lambda: now, "sleep": hurried, "uniform": lambda _, high: high}
    task = asyncio.create_task(bench.reflector(**options).run())
    await until(lambda: bench.api.watching == 1)
    now = 60.0
    bench.api.cut()
    await until(lambda: len(hurried.pauses) == 6)
    await cancelled(task)
    assert hurried.pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 0.2]


async def test_an_error_event_other_than_410_leads_to_back_off(bench: Bench) -> None:
    async with bench.running() as reflector:
        status = json.loads(refusal(500, "etcd is unwell").body or b"")
        bench.api.send(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")
        await until(lambda: reflector.restarts == 1)
        assert reflector.relists == 0
    assert "etcd is unwell" in str(bench.notes.errors[0])
    assert bench.notes.pauses[0] > 0


# --- items that cannot be read


async def test_an_unreadable_item_is_an_error_and_the_others_are_reported(bench: Bench) -> None:
    bench.add("good")
    bench.add("bad", "high")
    async with bench.running():
        assert bench.sink.pods == {"good": 0}
        bench.add("worse", [])
        bench.add("good", 5)
        await until(lambda: bench.sink.pods == {"good": 5})
    assert bench.notes.skipped == ["ns/bad", "ns/worse"]
    assert not bench.notes.errors


async def test_an_item_that_becomes_unreadable_keeps_its_old_state(bench: Bench) -> None:
    bench.add("a", 1)
    async with bench.running() as reflector:
        bench.add("a", "high")
        await until(lambda: bench.notes.skipped == ["ns/a"])
        bench.api.compact()
        bench.api.end_watches()
        await until(lambda: reflector.relists == 1 and bench.sink.calls[-1] == "listed")
        assert bench.sink.pods == {"a": 1}
        bench.delete("a")
        await until(lambda: not bench.sink.pods)
        assert reflector.relists == 1


async def test_a_deleted_one_that_has_no_key_is_found_by_a_list(bench: Bench) -> None:
    async with bench.running() as reflector:
        bench.api.send(b'{"type":"DELETED","object":{"metadata":[]}}\n')
        await until(lambda: reflector.relists == 1)
    assert "cannot be told from others" in str(bench.notes.errors[0])


async def test_any_error_of_decode_counts_as_unreadable(bench: Bench) -> None:
    def decode(raw: bytes) -> Pod:
        pod = pod_from(raw)
        return {"a": pod}[pod.name]

    bench.add("a")
    bench.add("b")
    async with bench.running(decode=decode):
        assert bench.sink.pods == {"a": 0}
    assert bench.notes.skipped == ["ns/b"]


async def test_an_error_of_the_sink_ends_the_reflector(bench: Bench) -> None:
    class Broken(Mirror):
        def on_changed(self, pod: Pod) -> None:
            raise ZeroDivisionError(pod.name)

    bench.add("a")
    with pytest.raises(ZeroDivisionError):
        await bench.reflector(sink=Broken()).run()
