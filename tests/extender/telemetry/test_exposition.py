"""Texts for scrapes: built in slices, shared between scrapes, and never older than the scrape."""

import asyncio
import gzip
from collections.abc import Iterator

from extender.telemetry.exposition import PAUSE, SLICE, Exposition


class Work:
    """Pieces that take time each, on a manual clock."""

    def __init__(self, *, pieces: int = 10, takes: float = 0.0) -> None:
        self.now = 0.0
        self.texts = 0
        self.slept: list[float] = []
        self.worked = 0.0
        self.longest = 0.0
        self._pieces, self._takes = pieces, takes

    def pieces(self) -> Iterator[bytes]:
        self.texts += 1
        for place in range(self._pieces):
            self.now += self._takes
            self.worked += self._takes
            self.longest = max(self.longest, self.worked)
            yield f"{self.texts}.{place}\n".encode()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.worked = 0.0
        self.now += seconds
        await asyncio.sleep(0)

    def exposition(self) -> Exposition:
        return Exposition(self.pieces, clock=lambda: self.now, sleep=self.sleep)


async def test_the_loop_is_given_back_between_slices() -> None:
    work = Work(pieces=100, takes=SLICE / 3)
    text = await work.exposition().text(gzipped=False)
    assert text.count(b"\n") == 100
    assert work.longest < 1.5 * SLICE
    assert set(work.slept) == {PAUSE}


async def test_scrapes_that_come_together_cost_two_texts() -> None:
    work = Work(pieces=20, takes=SLICE)
    exposition = work.exposition()
    texts = await asyncio.gather(*(exposition.text(gzipped=False) for _ in range(50)))
    assert work.texts <= 2
    assert {text.count(b"\n") for text in texts} == {20}


async def test_a_text_is_never_older_than_its_scrape() -> None:
    work = Work(takes=SLICE)
    exposition = work.exposition()
    assert (await exposition.text(gzipped=False)).startswith(b"1.0\n")
    assert (await exposition.text(gzipped=False)).startswith(b"2.0\n")
    first = asyncio.create_task(exposition.text(gzipped=False))
    await asyncio.sleep(0)
    assert (await exposition.text(gzipped=False)).startswith(b"4.0\n")
    assert (await first).startswith(b"3.0\n")


async def test_a_packed_text_is_the_same_text() -> None:
    work = Work(takes=SLICE)
    exposition = work.exposition()
    text = gzip.decompress(await exposition.text(gzipped=True))
    assert text == b"".join(f"1.{place}\n".encode() for place in range(10))


async def test_one_that_leaves_half_way_hinders_no_other() -> None:
    work = Work(pieces=50, takes=SLICE)
    exposition = work.exposition()
    leaving = asyncio.create_task(exposition.text(gzipped=False))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await exposition.text(gzipped=False)).count(b"\n") == 50
