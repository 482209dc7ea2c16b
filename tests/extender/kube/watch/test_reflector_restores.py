"""A reflector after a restore of the server's etcd, when versions begin again at a lower one (F-8)."""

from collections.abc import Callable

import pytest
from aiohttp import web

from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi, Request
from tests.extender.reflector_bench import PODS, Bench, Hurried, until


@pytest.fixture
async def bench(api: FakeApi, client: ApiClient) -> Bench:
    return Bench(api, client)


def saved(api: FakeApi) -> Callable[[], None]:
    """Return a function that restores the server's present state and ends every watch."""
    version, objects = api._version, {kind: dict(found) for kind, found in api._objects.items()}

    def restore() -> None:
        api._version, api._objects = version, objects
        api._changes = [change for change in api._changes if change.version <= version]
        api.cut()

    return restore


async def test_a_server_whose_versions_went_back_is_listed_anew(bench: Bench) -> None:
    """A watch from a future version is answered with silence."""
    bench.add("stays")
    restore = saved(bench.api)
    async with bench.running(sleep=Hurried(20)) as reflector:
        bench.add("lost")
        bench.add("stays", 7)
        await until(lambda: bench.sink.pods == {"stays": 7, "lost": 0})
        restore()
        await until(lambda: bench.sink.pods == {"stays": 0})
        assert reflector.relists == 1
        bench.add("after", 1)
        await until(lambda: bench.sink.pods == {"stays": 0, "after": 1})
    assert any("went back from" in str(error) for error in bench.notes.errors)


async def test_a_broken_watch_costs_one_request_for_the_version_and_no_list(bench: Bench) -> None:
    bench.add("a")
    async with bench.running(sleep=Hurried(20)) as reflector:
        bench.api.cut()
        await until(lambda: len(bench.watches) == 2 and bench.api.watching == 1)
        assert reflector.relists == 0
    assert [each.query.get("limit") for each in bench.lists] == ["500", "1"]


async def test_the_watch_has_caught_up_with_the_version_at_the_end_of_the_list(
    bench: Bench,
) -> None:
    """State that was not reported by then does not exist."""
    bench.add("a")
    reported: list[int] = []
    async with bench.running(caught_up=lambda: reported.append(len(bench.sink.pods))) as reflector:
        await until(lambda: reported == [1])
        bench.add("b")
        await until(lambda: len(bench.sink.pods) == 2)
        bench.api.compact()
        bench.api.cut()
        await until(lambda: reflector.relists == 1 and len(reported) == 2)
    assert reported == [1, 2]


async def test_a_bookmark_tells_so_where_nothing_else_happens(bench: Bench) -> None:
    """Versions grow with every kind of object, but the watch reports only one kind."""
    reported: list[str] = []
    bench.api.break_next(_some_version_to_come, path=PODS, watch=False, times=2)
    async with bench.running(caught_up=lambda: reported.append("caught up")):
        bench.add("a")
        await until(lambda: bench.sink.pods == {"a": 0})
        assert reported == []
        bench.api.bookmark(500)
        await until(lambda: reported == ["caught up"])


async def _some_version_to_come(request: Request) -> web.Response | None:
    """The second list is answered as of version 500, which no pod has."""
    if request.query["limit"] != "1":
        return None
    return web.json_response({"metadata": {"resourceVersion": "500"}, "items": []})
