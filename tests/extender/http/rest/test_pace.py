"""Turns of work that is not a verb (REST-45)."""

import asyncio
from collections.abc import Callable, Generator, Iterator

import pytest

from extender.http.rest import pace
from extender.http.rest.pace import FREED_AT_ONCE, ROUNDS, give_way, in_rounds, in_slices, release, result_of
from tests.extender.reflector_bench import until


class Rounds:
    """Count of the rounds of the event loop, and the round of each step."""

    def __init__(self) -> None:
        self.now = 0
        self.steps: list[int] = []
        self._count()

    def _count(self) -> None:
        self.now += 1
        asyncio.get_running_loop().call_soon(self._count)

    def noted(self, count: int) -> Generator[bytes, None, int]:
        for _ in range(count):
            self.steps.append(self.now)
            yield b"x"
        return count

    @property
    def least_apart(self) -> int:
        return min(later - earlier for earlier, later in zip(self.steps, self.steps[1:], strict=False))


@pytest.fixture(autouse=True)
def _each_step_is_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SLICE", 0.0)


async def all_at_once(rounds: Rounds) -> None:
    """Two answers, an explanation and a client that takes pieces."""

    async def taken() -> None:
        for _ in range(20):
            await give_way()
            rounds.steps.append(rounds.now)

    answers = [in_slices(rounds.noted(20)) for _ in range(2)]
    await asyncio.gather(*answers, result_of(rounds.noted(20)), taken())


@pytest.mark.rule("REST-45")
async def test_slices_of_all_work_are_rounds_apart() -> None:
    rounds = Rounds()
    await all_at_once(rounds)
    assert len(rounds.steps) == 80
    assert rounds.least_apart >= ROUNDS


@pytest.mark.rule("REST-45")
async def test_work_without_turns_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""

    async def alone() -> None:
        for _ in range(ROUNDS):
            await asyncio.sleep(0)

    monkeypatch.setattr(pace, "give_way", alone)
    rounds = Rounds()
    await all_at_once(rounds)
    assert rounds.least_apart == 0


async def test_turns_are_in_the_order_of_the_requests() -> None:
    found: list[int] = []

    async def take(number: int) -> None:
        for _ in range(3):
            await give_way()
            found.append(number)

    await give_way()
    await asyncio.gather(*(take(number) for number in range(3)))
    assert found == [0, 1, 2] * 3


async def test_a_task_that_is_cancelled_leaves_the_turn_to_others() -> None:
    rounds = Rounds()
    tasks = [asyncio.create_task(in_slices(rounds.noted(10**6))) for _ in range(3)]
    await until(lambda: len(rounds.steps) > 5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await in_slices(rounds.noted(5)) == [b"xxxxx"]


def test_a_second_loop_has_turns_of_its_own() -> None:
    async def interrupted() -> None:
        await give_way()

    for _ in range(2):
        asyncio.run(interrupted())


async def test_pieces_are_cut_and_results_returned() -> None:
    parts = [b"a" * pace.PIECE, b"b", b"c"]
    assert await in_slices(iter(parts)) == [b"a" * pace.PIECE, b"bc"]
    assert await result_of(Rounds().noted(3)) == 3


async def most_in_a_round(count: Callable[[], int], begin: Callable[[], None]) -> int:
    """Most by which a number falls from one round to the next, until it is 0."""
    before, most = count(), 0
    begin()
    while before:
        now = count()
        before, most = now, max(most, before - now)
        await asyncio.sleep(0)
    return most


@pytest.mark.rule("REST-45")
async def test_a_body_is_freed_a_few_pieces_at_a_time() -> None:
    pieces = [b"x"] * 50
    assert await most_in_a_round(lambda: len(pieces), lambda: release(pieces)) == FREED_AT_ONCE


async def test_steps_are_performed_one_in_each_round() -> None:
    left = [1] * 10

    def steps() -> Iterator[None]:
        while left:
            left.pop()
            yield

    assert await most_in_a_round(lambda: len(left), lambda: in_rounds(steps())) == 1


def test_a_thread_without_a_loop_performs_all_steps_at_once() -> None:
    left = [1, 2, 3]
    in_rounds(iter(lambda: left.pop() if left else None, None))
    assert left == []
