"""Memory and time of the past of 1,000 queues with three resources, over a day of samples (REST-50).

The ledger has 1,000 nodes with 30,000 pods. Before each sample 50 pods start and 50 end, in as many queues.
The clock is played. `PADDOCK_BENCH_SAMPLES` shortens the day.
"""

import os
import time
import tracemalloc
from collections import deque
from pathlib import Path

from aiohttp.test_utils import TestClient, TestServer

from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec, QueueSpec
from core.resource import Limit, Resource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PodFacts
from e2e.bench.worlds.report import percentiles, show
from e2e.bench.worlds.rig import rig
from extender.configuration.reload import LiveConfiguration
from extender.engine.engine import Engine
from extender.http.door import Door
from extender.http.endpoints import guarded_app
from extender.http.rest.service import RestService
from extender.rest.history.recorder import Recorder
from extender.rest.history.spans import DAY, TICK

QUEUES, NODES, PODS, CHANGES = 1_000, 1_000, 30_000, 50
SAMPLES = int(os.environ.get("PADDOCK_BENCH_SAMPLES", DAY))
READS = 200
PATH = "/ws/v1/history/queue"
SIZE = Resource({"vcore": 100, "memory": 2**28, "pods": 1})
LIMITS = {"vcore": 40_000, "memory": 2**37, "pods": 1_000}


def _queue(path: str) -> QueueSpec:
    leaf = path != "root"
    return QueueSpec(
        path=QueuePath(path),
        parent=QueuePath("root") if leaf else None,
        is_leaf=leaf,
        max=Limit(LIMITS) if leaf else None,
        guaranteed=Resource(LIMITS) if leaf else None,
        max_applications=0,
        properties={},
        submit_acl="*",
        admin_acl="",
    )


def _pod(at: int) -> PodFacts:
    return PodFacts(
        uid=PodUid(f"00000000-0000-4000-8000-{at:012d}"),
        namespace="default",
        name=f"running-{at}",
        size=SIZE,
        version=1,
        scheduler_name="yunikorn",
        node=NodeName(f"node-{at % NODES:05d}"),
        app_id=f"app-{at % QUEUES}",
        queue=f"root.q{at % QUEUES}",
        labels={"app": "bench", "yunikorn.apache.org/app-id": f"app-{at % QUEUES}"},
    )


def _fill(engine: Engine) -> None:
    queues = tuple(_queue(path) for path in ("root", *(f"root.q{at}" for at in range(QUEUES))))
    engine.learn(on.Configured(PartitionSpec("default", queues), LedgerSettings()))
    engine.learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
    engine.learn(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
    size = Resource({"vcore": 32_000, "memory": 2**37, "pods": 110})
    names = [NodeName(f"node-{at:05d}") for at in range(NODES)]
    for name in names:
        engine.learn(on.ObjectObserved(on.NODES, NodeFacts(name, size)))
    engine.learn(on.ObjectsListed(on.NODES, frozenset(names)))
    for at in range(PODS):
        engine.learn(on.PodObserved(_pod(at)))
    engine.learn(on.PodsListed(frozenset(_pod(at).uid for at in range(PODS))))


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def _resident() -> int:
    """Resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Day:
    """A day of samples."""

    def __init__(self, engine: Engine, recorder: Recorder, clock: Clock) -> None:
        self._engine = engine
        self._recorder = recorder
        self._clock = clock
        self._newest, self._oldest = PODS, 0
        #: CPU seconds of each of the last samples, and of their steps.
        self.samples: deque[float] = deque(maxlen=240)
        self.steps: deque[float] = deque(maxlen=10**6)

    def pass_samples(self, count: int) -> None:
        """Change some queues and take a sample, so many times."""
        for _ in range(count):
            for _ in range(CHANGES):
                self._engine.learn(on.PodObserved(_pod(self._newest)))
                self._engine.learn(on.PodDeleted(_pod(self._oldest).uid))
                self._newest, self._oldest = self._newest + 1, self._oldest + 1
            self._clock.now += self._recorder.wait()
            start = last = time.thread_time()
            for _ in self._recorder.sample():
                now = time.thread_time()
                self.steps.append(now - last)
                last = now
            self.samples.append(time.thread_time() - start)


async def _memory() -> None:
    """Print the memory of a store alone, as Python and as the system count it."""
    clock = Clock()
    wired = rig()
    _fill(wired.engine)
    recorder = Recorder(lambda: wired.engine.view, clock=clock, bound=lambda: 96 * 2**20)
    day = Day(wired.engine, recorder, clock)
    before = _resident()
    day.pass_samples(SAMPLES)
    figures, resident = recorder.past.figures, _resident() - before
    show(
        "past",
        series=figures.series,
        samples=SAMPLES,
        used_mib=round(figures.used / 2**20, 1),
        resident_mib=round(resident / 2**20, 1),
        plan=figures.plan,
        unrecorded=figures.unrecorded,
        sample_us=percentiles(list(day.samples)),
        step_us=percentiles(list(day.steps)),
    )


async def _traced() -> None:
    """Print what Python allocates for the samples of a ledger that does not change."""
    clock = Clock()
    wired = rig()
    _fill(wired.engine)
    recorder = Recorder(lambda: wired.engine.view, clock=clock, bound=lambda: 96 * 2**20)
    tracemalloc.start()
    for _ in range(SAMPLES):
        clock.now += recorder.wait()
        for _ in recorder.sample():
            pass
    current, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    show(
        "past_traced",
        samples=SAMPLES,
        used_mib=round(recorder.past.figures.used / 2**20, 1),
        traced_mib=round(current / 2**20, 1),
        peak_mib=round(peak / 2**20, 1),
    )


async def _answers() -> None:
    """Print how long answers over HTTP take, and the CPU of their longest step."""
    clock = Clock()
    services: list[RestService] = []
    wired = rig(settled=lambda uids, now: services[0].settled(uids, now))
    configuration = LiveConfiguration(
        wired.engine, overrides={}, on_refused=lambda *_: None, on_applied=lambda *_: None
    )
    service = RestService(
        wired.engine,
        configuration,
        clock=clock,
        version="bench",
        validate=lambda _: {},
        unready=lambda: "",
        on_bug=lambda *_: None,
    )
    services.append(service)
    _fill(wired.engine)
    await service.check_health()
    for _ in range(SAMPLES):
        clock.now += TICK
        await service.record()
    async with TestClient(TestServer(guarded_app(service.endpoints(), Door()))) as client:
        for span in ("1h", "6h", "24h"):
            for queue in ("root", "root.q7"):
                took: list[float] = []
                for _ in range(READS):
                    start = time.perf_counter()
                    async with client.get(f"{PATH}/{queue}?span={span}") as answer:
                        size = len(await answer.read())
                    took.append(time.perf_counter() - start)
                show("past_answers", unit="us", span=span, queue=queue, bytes=size, **percentiles(took))


async def run() -> None:
    """Print megabytes, and microseconds of samples, steps and answers. Times of steps are CPU."""
    await _memory()
    await _traced()
    await _answers()
