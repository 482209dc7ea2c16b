"""Pods that only a verb's body has shown: how many are believed, for how long, and how they are confirmed.

A filter body precedes the watch in the common case (fact 16), so it is believed at once. Whoever reaches the
verbs' port can write one, though. So what a body said is read from the API server when no watch has shown it
after a second, and bodies about unknown pods are not believed for a minute after many were disproved (F-18).
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from core.errors import PaddockError
from core.ids import PodUid
from core.ledger import events as on
from core.workload.pod import PodFacts
from extender.engine.engine import Engine
from extender.wire.calls import extender_v1 as v1

AWAITED = 1.0
"""Seconds that the watch is given to show what a body said."""

MOST_UNCONFIRMED = 1_000
"""Pods whose bodies are believed at once; with so many, a body about another unknown pod is not."""

READERS = 8
READ_TIMEOUT = 10.0

DISPROVED, WITHIN = 10, 10.0
"""So many pods that do not exist, within so many seconds, make Paddock wary."""

WARY_FOR = 60.0
"""Seconds that bodies about unknown pods are not believed then; the watch shows the real ones."""

Read = Callable[[str, str, float], Awaitable[PodFacts | None]]
"""The pod of a namespace and name as the API server has it, None without one. Raises `PaddockError`."""


class Confirmation:
    """``count(outcome)``: confirmed, disproved, unread or not believed; ``warn(message)``: at most one a
    minute; ``clock``: seconds that never go back.
    """

    def __init__(
        self,
        engine: Engine,
        read: Read,
        *,
        clock: Callable[[], float],
        count: Callable[[str], None] = lambda _: None,
        warn: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._engine = engine
        self._read = read
        self._clock = clock
        self._count = count
        self._warn = warn
        self._sleep = sleep
        self._unconfirmed: set[PodUid] = set()
        self._due: asyncio.Queue[tuple[float, PodUid]] = asyncio.Queue()
        self._disproved: deque[float] = deque(maxlen=DISPROVED)
        self._wary_until = float("-inf")

    def believes(self) -> bool:
        """Whether a body about a pod that nothing has shown yet is believed now."""
        wary = self._clock() < self._wary_until
        if wary or len(self._unconfirmed) >= MOST_UNCONFIRMED:
            self._count("not believed")
            return False
        return True

    def believed(self, uid: PodUid) -> None:
        """What a body said of this pod was learned: see that it is confirmed."""
        if uid not in self._unconfirmed:
            self._unconfirmed.add(uid)
            self._due.put_nowait((self._clock() + AWAITED, uid))

    async def run(self) -> None:
        """Read what no watch has shown, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(READERS):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            due, uid = await self._due.get()
            left = due - self._clock()
            if left > 0:
                await self._sleep(left)
            self._unconfirmed.discard(uid)
            record = self._engine.view.pod(uid)
            if record is not None and not (record.is_confirmed or record.node):
                await self._confirm(record.facts)

    async def _confirm(self, facts: PodFacts) -> None:
        try:
            there = await self._read(facts.namespace, facts.name, READ_TIMEOUT)
        except PaddockError:
            # Without an API server nothing is bound either; what was promised ends by its own time.
            self._count("unread")
            self.believed(facts.uid)
            return
        if there is not None and there.uid == facts.uid:
            self._count("confirmed")
            self._engine.learn(on.PodRead(there))
            return
        self._count("disproved")
        self._engine.learn(on.PodRead(facts, exists=False))
        self._note_disproved()

    def _note_disproved(self) -> None:
        now = self._clock()
        self._disproved.append(now)
        if (
            len(self._disproved) == DISPROVED
            and now - self._disproved[0] <= WITHIN
            and now >= self._wary_until
        ):
            self._wary_until = now + WARY_FOR
            self._warn("verbs are called for pods that do not exist")


def why_unbindable(facts: PodFacts | None, request: v1.BindRequest) -> str:
    """Why a Binding for this pod must not be posted, empty if it may (F-18)."""
    if facts is None or facts.uid != request.uid or facts.terminal or facts.deleting:
        return "pod is gone"
    if (facts.namespace, facts.name) != (request.namespace, request.name):
        return f"uid belongs to pod {facts.namespace}/{facts.name}"
    if facts.gates:
        return "pod is held by a scheduling gate"
    if facts.node and facts.node != request.node:
        return f"pod is already bound to {facts.node}"
    return ""
