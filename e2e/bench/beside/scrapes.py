"""(n) filter at 200 calls a second beside scrapes of all metrics, in the world of `latency`.

A call's time begins when it is due, so that whatever holds the event loop up is in it. Rounds of three kinds
take turns: without scrapes, with one every second, and with scrapes without end. Scrapes come over loopback
from a process of their own, with and without gzip.
"""

import asyncio
import itertools
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from core.ledger import events as on
from e2e.bench.latency import bodies_of, fill
from e2e.bench.worlds.report import percentiles, ratio, show
from e2e.bench.worlds.rig import Rig, rig
from extender.host.garbage_collector import freeze_survivors, unfreeze
from extender.http.door import DOOR, Door
from extender.http.scraping import scrape_handler
from extender.http.server import Address, listen
from extender.telemetry.exposition import Exposition

CALLS_A_SECOND = 200
ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "5"))
SECONDS = 5.0
"""Length of a round."""

PAUSES = {"without": None, "each_second": 1.0, "without_end": 0.0}
"""Kinds of rounds, and the seconds between two scrapes; None for no scrapes."""

_SCRAPER = """
import itertools, sys, time, urllib.request
url, pause = sys.argv[1], float(sys.argv[2])
for turn in itertools.count():
    headers = {"Accept-Encoding": "gzip"} if turn % 2 else {}
    began = time.perf_counter()
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        size = len(answer.read())
    print(time.perf_counter() - began, size, flush=True)
    time.sleep(pause)
"""


@asynccontextmanager
async def _scraped(url: str, pause: float | None) -> AsyncIterator[list[str]]:
    """A process that scrapes meanwhile; yields its lines, which are there at the end: seconds and bytes."""
    lines: list[str] = []
    if pause is None:
        yield lines
        return
    scraper = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SCRAPER, url, str(pause), stdout=asyncio.subprocess.PIPE
    )
    try:
        yield lines
    finally:
        scraper.terminate()
        written, _ = await scraper.communicate()
        lines += written.decode().splitlines()


@asynccontextmanager
async def _served(here: Rig) -> AsyncIterator[str]:
    """The address of all metrics."""
    app = web.Application()
    app[DOOR] = Door()
    app.router.add_get("/metrics", scrape_handler(Exposition(here.metrics.pieces)))
    listener = await listen(app, Address("127.0.0.1", 0))
    yield f"http://127.0.0.1:{listener.addresses[0][1]}/metrics"
    await listener.cleanup()


async def _call(here: Rig, bodies: list[bytes], seconds: float) -> list[float]:
    """Times of the calls of one round."""
    took: list[float] = []
    began = due = time.perf_counter()
    for at in itertools.count():
        due += 1 / CALLS_A_SECOND
        if due - began > seconds:
            break
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        here.verbs.filter(bodies[at % len(bodies)])
        took.append(time.perf_counter() - due)
    return took


async def run() -> None:
    """Print p50, p99 and the longest wait of filter calls in microseconds, by kind of round."""
    here = rig()
    fill(here.engine)
    here.engine.learn(on.TimePassed())
    freeze_survivors()
    bodies = bodies_of(refused=False)
    rounds: dict[str, list[list[float]]] = {kind: [] for kind in PAUSES}
    scrapes: list[str] = []
    async with _served(here) as url:
        await _call(here, bodies, 1.0)
        for _ in range(ROUNDS):
            for kind, pause in PAUSES.items():
                async with _scraped(url, pause) as lines:
                    rounds[kind].append(await _call(here, bodies, SECONDS))
                scrapes += lines
    unfreeze()
    medians = {kind: [percentiles(each)["p50"] for each in rounds[kind]] for kind in PAUSES}
    show(
        "filter beside scrapes",
        unit="us",
        queues=len(here.engine.view.tree),
        rounds=ROUNDS,
        **{kind: percentiles(list(itertools.chain(*rounds[kind]))) for kind in PAUSES},
        ratio_each_second=ratio(medians["each_second"], medians["without"]),
        scrapes=len(scrapes),
        scrape=percentiles([float(line.split()[0]) for line in scrapes]),
        bytes=max(int(line.split()[1]) for line in scrapes),
    )
