"""ACT-3 to ACT-5: the store against an API server that breaks, beside another writer."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest

from core.ids import QueuePath
from core.queues.queue import Closure
from extender.actions.stored import CONFIG_MAP, KEY, Actions, text_of
from extender.kube import actions as module
from extender.kube.actions import ActionStore, NotStored
from extender.kube.connection.client import ApiClient
from extender.kube.watch.reporting import Silence
from tests.extender.fake_api import FakeApi
from tests.extender.reflector_bench import until

FOLDER = "/api/v1/namespaces/paddock-system/configmaps"
START = 1_767_225_600.0
A, B = QueuePath("root.a"), QueuePath("root.b")


def closing(path: QueuePath, **more: float) -> Callable[[Actions], Actions]:
    return lambda before: Actions({**before.closed, path: Closure("ann", START, **more)})  # type: ignore[arg-type]


class Bench:
    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api = api
        self.leads = True
        self.now = START
        self.learned: list[Actions] = []
        self.store = ActionStore(
            client,
            "paddock-system",
            learn=self.learned.append,
            leads=lambda: self.leads,
            ends=lambda _: False,
            is_move_over=lambda _: False,
            wall=lambda: self.now,
            reporter=Silence(),
        )

    def put(self, text: str) -> None:
        meta = {"name": CONFIG_MAP, "namespace": "paddock-system", "labels": {"of": "others"}}
        self.api.apply(FOLDER, {"metadata": meta, "data": {KEY: text, "note": "kept"}})

    @property
    def stored(self) -> set[str]:
        found = self.api.find(FOLDER, CONFIG_MAP, "paddock-system")
        return {each["queue"] for each in json.loads(found["data"][KEY])["closedQueues"]} if found else set()

    @property
    def writes(self) -> int:
        return sum(each.method in ("POST", "PATCH") for each in self.api.requests)


@pytest.fixture
async def bench(api: FakeApi, client: ApiClient, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    monkeypatch.setattr(module, "READ_AGAIN_AFTER", 0.01)
    monkeypatch.setattr(module, "TIDIED_EVERY", 0.01)
    made = Bench(api, client)
    task = asyncio.create_task(made.store.run())
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.rule("ACT-3")
async def test_a_change_is_stored_before_it_is_learned(bench: Bench) -> None:
    await bench.store.was_read.wait()
    seen: list[set[str]] = []
    bench.learned.clear()
    bench.store._learn = lambda actions: seen.append(bench.stored)
    before, after = await bench.store.changed(closing(A))
    assert (before, set(after.closed), seen) == (Actions(), {"root.a"}, [{"root.a"}])


@pytest.mark.rule("ACT-3")
async def test_other_keys_and_labels_stay(bench: Bench) -> None:
    bench.put(text_of(Actions()))
    await bench.store.changed(closing(A))
    found = bench.api.find(FOLDER, CONFIG_MAP, "paddock-system")
    assert found is not None
    assert (found["data"]["note"], found["metadata"]["labels"]) == ("kept", {"of": "others"})


@pytest.mark.rule("ACT-7")
async def test_a_dry_run_and_a_repeated_change_write_nothing(bench: Bench) -> None:
    _, after = await bench.store.changed(closing(A), dry_run=True)
    assert (set(after.closed), bench.writes, bench.stored) == ({"root.a"}, 0, set())
    for _ in range(3):
        await bench.store.changed(closing(A))
    assert (bench.writes, bench.stored) == (1, {"root.a"})


@pytest.mark.rule("ACT-3")
async def test_only_the_leader_writes(bench: Bench) -> None:
    bench.leads = False
    with pytest.raises(NotStored):
        await bench.store.changed(closing(A))
    assert (bench.writes, bench.stored) == (0, set())


@pytest.mark.rule("ACT-3")
async def test_the_change_of_another_writer_is_not_undone(bench: Bench) -> None:
    """Another instance writes between the read and the write, as a former leader may."""
    bench.put(text_of(Actions()))
    await bench.store.was_read.wait()
    reads = 0

    def change(before: Actions) -> Actions:
        nonlocal reads
        reads += 1
        if reads == 1:
            bench.put(text_of(closing(B)(Actions())))
        return closing(A)(before)

    await bench.store.changed(change)
    assert (bench.stored, reads) == ({"root.a", "root.b"}, 2)


@pytest.mark.rule("ACT-3")
@pytest.mark.parametrize("existing", [False, True], ids=["created", "changed"])
async def test_a_lost_answer_is_resolved_by_a_read(bench: Bench, existing: bool) -> None:
    if existing:
        bench.put(text_of(Actions()))
    await bench.store.was_read.wait()
    bench.api.lose_next_reply(method="PATCH" if existing else "POST")
    before, after = await bench.store.changed(closing(A))
    assert (before, set(after.closed), bench.stored) == (Actions(), {"root.a"}, {"root.a"})
    assert bench.learned[-1] == after


@pytest.mark.rule("ACT-3")
async def test_a_refused_write_is_no_action(bench: Bench) -> None:
    await bench.store.was_read.wait()
    bench.api.fail_next(403, method="POST", times=9)
    with pytest.raises(NotStored):
        await bench.store.changed(closing(A))
    assert (bench.learned, bench.stored) == ([Actions()], set())


@pytest.mark.rule("ACT-5")
async def test_an_unreadable_text_is_not_dropped(bench: Bench) -> None:
    bench.put(text_of(closing(A)(Actions())))
    await until(lambda: bool(bench.learned) and set(bench.learned[-1].closed) == {"root.a"})
    bench.put('{"version": 4}')
    await until(lambda: "version" in bench.store.problem)
    with pytest.raises(NotStored):
        await bench.store.changed(closing(B))
    assert set(bench.learned[-1].closed) == {"root.a"}
    bench.put(text_of(closing(B)(Actions())))
    await until(lambda: set(bench.learned[-1].closed) == {"root.b"})
    assert bench.store.problem == ""


@pytest.mark.rule("ACT-5")
async def test_it_is_not_read_before_its_text_is_valid(bench: Bench) -> None:
    bench.put("{}")
    await until(lambda: "version" in bench.store.problem)
    assert not bench.store.was_read.is_set()
    bench.api.delete(FOLDER, CONFIG_MAP, "paddock-system")
    await bench.store.was_read.wait()
    assert bench.learned == [Actions()]


@pytest.mark.rule("ACT-4")
async def test_an_entry_goes_when_its_time_is_over(bench: Bench) -> None:
    await bench.store.changed(closing(A, until=START + 60))
    await bench.store.changed(closing(B))
    bench.now = START + 59
    await asyncio.sleep(0)
    assert bench.stored == {"root.a", "root.b"}
    bench.now = START + 60
    await until(lambda: bench.stored == {"root.b"})
