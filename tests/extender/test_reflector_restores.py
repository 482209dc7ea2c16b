"""A reflector whose server's etcd is restored: its versions begin again at a lower one (F-8)."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from extender.kube.client import connect
from tests.extender.fake_api import FakeApi
from tests.extender.reflector_bench import Bench, Hurried, until


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    api = await FakeApi().start()
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(api.kubeconfig()))
    async with await connect(kubeconfig=str(path)) as client:
        yield Bench(api, client)
    await api.stop()


def saved(api: FakeApi) -> Callable[[], None]:
    """What puts a server back to where it is now, and cuts every watch."""
    version, objects = api._version, {kind: dict(found) for kind, found in api._objects.items()}

    def restore() -> None:
        api._version, api._objects = version, objects
        api._changes = [change for change in api._changes if change.version <= version]
        api.cut()

    return restore


async def test_a_server_whose_versions_went_back_is_listed_anew(bench: Bench) -> None:
    """A watch from a version that is yet to come is answered with silence."""
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


async def test_a_broken_watch_costs_one_look_at_the_version_and_no_list(bench: Bench) -> None:
    bench.add("a")
    async with bench.running(sleep=Hurried(20)) as reflector:
        bench.api.cut()
        await until(lambda: len(bench.watches) == 2 and bench.api.watching == 1)
        assert reflector.relists == 0
    assert [each.query.get("limit") for each in bench.lists] == ["500", "1"]
