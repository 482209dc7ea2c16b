"""The holder of the Lease: read, compared completely, and accepted for a while."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from extender.kube.connection.client import ApiClient
from extender.kube.leadership import CONFIRM_WITHIN, POLL, STALE, Leadership, is_held_by
from tests.extender.fake_api import FakeApi, Request
from tests.extender.reflector_bench import cancelled, until

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


@pytest.mark.parametrize(
    ("holder", "host", "ours"),
    [
        ("node-1_0a1b", "node-1", True),
        ("node_1_0a1b", "node_1", True),
        ("node_1_0a1b", "node", False),
        ("node-1_0a1b", "node-10", False),
        ("node-10_0a1b", "node-1", False),
        ("node-1.example_0a1b", "node-1", False),
        ("node-1", "node-1", False),
        ("_0a1b", "node-1", False),
        ("", "", False),
        ("", "node-1", False),
    ],
)
def test_a_holder_is_compared_whole(holder: str, host: str, ours: bool) -> None:
    assert is_held_by(holder, host) is ours


class Bench:
    """A leadership of host ``mine`` over a fake API server, with a clock moved by hand."""

    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api = api
        self.time = 1000.0
        self.lease = "kube-system/kube-scheduler"
        self.pauses: list[float] = []
        self.begun: list[bool] = []
        self.ended: list[bool] = []
        self.leadership = Leadership(
            client,
            lease=lambda: self.lease,
            host="mine",
            clock=lambda: self.time,
            wall=lambda: self.time,
            began=lambda: self.begun.append(self.leadership.held),
            ended=lambda: self.ended.append(self.leadership.held),
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)

    def hold(self, holder: str | None, **spec: Any) -> None:
        self.api.apply(
            LEASES, {"metadata": {"name": "kube-scheduler"}, "spec": {"holderIdentity": holder, **spec}}
        )

    @property
    def asked(self) -> int:
        return sum(each.path.startswith(LEASES) for each in self.api.requests)


@pytest.fixture
async def bench(api: FakeApi, client: ApiClient) -> Bench:
    return Bench(api, client)


def held_answer(bench: Bench) -> Callable[[], None]:
    """Return a function that releases the next answer."""
    released = asyncio.Event()

    async def answer(_: Request) -> None:
        await released.wait()

    bench.api.break_next(answer, path=LEASES)
    return released.set


async def test_nothing_is_held_before_the_first_answer(bench: Bench) -> None:
    bench.hold("mine_1")
    assert not bench.leadership.held
    await bench.leadership.poll()
    assert bench.leadership.held


async def test_a_lease_that_changes_hands(bench: Bench) -> None:
    for holder, held in (("mine_1", True), ("other_1", False), (None, False), ("mine_2", True)):
        bench.hold(holder)
        await bench.leadership.poll()
        assert bench.leadership.held is held


async def test_the_holder_is_the_host_that_the_lease_names(bench: Bench) -> None:
    for holder, host in (("mine_1", "mine"), ("its_own_2", "its_own"), ("no-host", ""), (None, "")):
        bench.hold(holder)
        await bench.leadership.poll()
        assert bench.leadership.holder == host
    bench.hold("other_1")
    await bench.leadership.poll()
    bench.api.fail_next(500, path=LEASES)
    await bench.leadership.poll()
    assert bench.leadership.holder == "other"
    bench.api.delete(LEASES, "kube-scheduler")
    await bench.leadership.poll()
    assert bench.leadership.holder == ""


async def test_the_beginning_of_acting_is_reported_once(bench: Bench) -> None:
    """By then the instance may already act."""
    begun = []
    for holder in ("other_1", "mine_1", "mine_1", "mine_2", "other_1", "mine_2"):
        bench.hold(holder)
        await bench.leadership.poll()
        begun.append(len(bench.begun))
    assert begun == [0, 1, 1, 1, 1, 2]
    assert all(bench.begun)


async def test_the_end_of_acting_is_reported_once(bench: Bench) -> None:
    """An instance that never acts reports it, too, so that it begins nothing."""
    ended = []
    for holder in ("other_1", "other_1", "mine_1", "mine_1", "other_1", "other_2"):
        bench.hold(holder)
        await bench.leadership.poll()
        bench.leadership.note_end()
        ended.append(len(bench.ended))
    assert ended == [1, 1, 1, 1, 2, 2]
    assert not any(bench.ended)


async def test_a_call_has_the_lease_read_before_it_is_refused_for_another_leader(bench: Bench) -> None:
    """Only the leading kube-scheduler calls its extender, usually before the next poll."""
    bench.hold("other_1")
    await bench.leadership.poll()
    bench.leadership.note_end()
    bench.hold("mine_1")
    assert await bench.leadership.confirm()
    assert bench.begun == [True]
    asked = bench.asked
    assert await bench.leadership.confirm()
    assert bench.asked == asked


async def test_calls_share_a_read_and_there_is_one_a_second_at_most(bench: Bench) -> None:
    bench.hold("other_1")
    assert await asyncio.gather(*(bench.leadership.confirm() for _ in range(20))) == [False] * 20
    assert bench.asked == 1
    bench.time += CONFIRM_WITHIN - 0.01
    assert not await bench.leadership.confirm()
    assert bench.asked == 1
    bench.time += 0.01
    bench.hold("mine_1")
    assert await bench.leadership.confirm()
    assert bench.asked == 2


async def test_a_call_waits_a_second_at_most_for_it(bench: Bench) -> None:
    bench.hold("mine_1")
    release = held_answer(bench)
    began = asyncio.get_running_loop().time()
    assert not await bench.leadership.confirm()
    assert asyncio.get_running_loop().time() - began < 5 * CONFIRM_WITHIN
    release()


async def test_a_caller_that_hangs_up_leaves_the_read_to_others(bench: Bench) -> None:
    bench.hold("mine_1")
    calls = [asyncio.create_task(bench.leadership.confirm()) for _ in range(2)]
    await asyncio.sleep(0)
    calls[0].cancel()
    assert await calls[1]


async def test_without_a_lease_nothing_is_read_for_calls(bench: Bench) -> None:
    bench.lease = ""
    assert await bench.leadership.confirm()
    assert (bench.asked, bench.begun) == (0, [])


# -- how long a Lease is believed in ---------------------------------------------------------------------


def renewed(bench: Bench, at: float, *, holder: str = "mine_1", seconds: int = 15) -> None:
    """The Lease as kube-scheduler writes it; ``at``: on the bench's clock."""
    stamp = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    bench.hold(holder, renewTime=stamp, leaseDurationSeconds=seconds)


async def test_a_lease_counts_from_before_its_last_renewal(bench: Bench) -> None:
    """A waiting host counts from the same moment, and this process may have been stopped meanwhile."""
    renewed(bench, bench.time)
    await bench.leadership.poll()
    bench.time += 2
    renewed(bench, bench.time - 1)
    await bench.leadership.poll()
    for later, held in ((14 - 2 - 0.1, True), (0.1, False)):
        bench.time += later
        assert bench.leadership.held is held, bench.time


async def test_a_lease_that_is_not_renewed_is_lost_although_it_names_us(bench: Bench) -> None:
    renewed(bench, bench.time)
    for _ in range(10):
        await bench.leadership.poll()
        bench.time += 2
    assert not bench.leadership.held


async def test_the_first_one_is_as_old_as_this_hosts_clock_says(bench: Bench) -> None:
    renewed(bench, bench.time - 10)
    await bench.leadership.poll()
    bench.time += 3.9
    assert bench.leadership.held
    bench.time += 0.1
    assert not bench.leadership.held


async def test_an_answer_that_was_on_its_way_while_the_process_was_stopped_is_as_old_as_its_request(
    bench: Bench,
) -> None:
    bench.hold("mine_1")
    release = held_answer(bench)
    poll = asyncio.create_task(bench.leadership.poll())
    await until(lambda: bench.asked == 1)
    bench.time += STALE
    release()
    await poll
    assert not bench.leadership.held


async def test_a_lease_that_does_not_exist_is_named(bench: Bench) -> None:
    """Leader election is off, or the setting is wrong."""
    bench.hold("mine_1")
    await bench.leadership.poll()
    bench.api.delete(LEASES, "kube-scheduler")
    await bench.leadership.poll()
    assert not bench.leadership.held
    text = "the Lease kube-system/kube-scheduler that paddock.lease names does not exist"
    assert bench.leadership.problem == text
    bench.hold("mine_1")
    await bench.leadership.poll()
    assert bench.leadership.problem == ""


async def test_acting_begins_again_after_a_time_without_a_known_leader(bench: Bench) -> None:
    """Another instance may have acted in between."""
    bench.hold("mine_1")
    await bench.leadership.poll()
    bench.time += STALE
    await bench.leadership.poll()
    assert len(bench.begun) == 2


async def test_the_last_answer_is_believed_until_it_is_stale(bench: Bench) -> None:
    bench.hold("mine_1")
    await bench.leadership.poll()
    await bench.api.stop()
    bench.time += STALE - 0.1
    await bench.leadership.poll()
    assert bench.leadership.held
    bench.time += 0.1
    assert not bench.leadership.held
    await bench.api.start()
    await bench.leadership.poll()
    assert bench.leadership.held


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_a_lease_that_cannot_be_read_is_not_ours(bench: Bench, status: int) -> None:
    bench.api.fail_next(status, path=LEASES)
    await bench.leadership.poll()
    assert not bench.leadership.held


async def test_a_lease_that_makes_no_sense_changes_nothing(bench: Bench) -> None:
    bench.hold("mine_1")
    await bench.leadership.poll()
    bench.hold(5)  # type: ignore[arg-type]
    await bench.leadership.poll()
    assert bench.leadership.held


async def test_without_a_lease_effects_are_always_on(bench: Bench) -> None:
    bench.lease = ""
    assert bench.leadership.held
    running = asyncio.create_task(bench.leadership.run())
    await until(lambda: len(bench.pauses) > 2)
    await cancelled(running)
    assert bench.asked == 0


async def test_a_lease_named_later_is_followed(bench: Bench) -> None:
    """The name may be in the ConfigMap, which is read after the start."""
    bench.lease = ""
    bench.hold("other_1")
    running = asyncio.create_task(bench.leadership.run())
    await until(lambda: bool(bench.pauses))
    bench.lease = "kube-system/kube-scheduler"
    assert not bench.leadership.held
    await until(lambda: bench.asked > 0)
    bench.hold("mine_1")
    await until(lambda: bench.leadership.held)
    await cancelled(running)
    assert set(bench.pauses) == {POLL}
