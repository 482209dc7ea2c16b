"""Confirmation of pods that are known only from the body of a call (F-18).

A filter call usually arrives before the watch shows its pod (fact 16), so its body is accepted at once. But
anything that reaches the verbs' port can send such a body. If no watch has shown the pod after a second, it
is read from the API server. After many bodies about pods that do not exist, no body about an unknown pod is
accepted for a minute.
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
"""Seconds for the watch to show a pod before it is read."""

MOST_UNCONFIRMED = 1_000
"""Unconfirmed pods at once. Beyond this, no body about another unknown pod is accepted."""

READERS = 8
"""Reads of pods at once."""

READ_TIMEOUT = 10.0
"""Seconds for one read of a pod."""

DISPROVED, WITHIN = 10, 10.0
"""Number of pods that do not exist, and the seconds within which so many make Paddock wary."""

WARY_FOR = 60.0
"""Seconds for which no body about an unknown pod is accepted then. The watch still shows real pods."""

Read = Callable[[str, str, float], Awaitable[PodFacts | None]]
"""Read a pod from the API server by namespace and name, within some seconds.

Returns None if it does not exist. Raises `PaddockError`.
"""


class Confirmation:
    """Confirm the pods that are known only from the bodies of calls.

    ``clock``: monotonic seconds.
    ``count(outcome)``: called with confirmed, disproved, unread or not believed.
    ``warn(message)``: called at most once a minute.
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

    def accepts(self) -> bool:
        """True if a body about an unknown pod is accepted now."""
        wary = self._clock() < self._wary_until
        if wary or len(self._unconfirmed) >= MOST_UNCONFIRMED:
            self._count("not believed")
            return False
        return True

    def expect(self, uid: PodUid) -> None:
        """Plan the confirmation of a pod that was learned from a body."""
        if uid not in self._unconfirmed:
            self._unconfirmed.add(uid)
            self._due.put_nowait((self._clock() + AWAITED, uid))

    async def run(self) -> None:
        """Read the pods that no watch has shown in time, until cancelled."""
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
            # While the API server does not answer, nothing is bound either, and reservations expire.
            self._count("unread")
            self.expect(facts.uid)
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
    """Why a Binding for this pod must not be posted, or empty if it may be (F-18)."""
    if facts is None or facts.uid != request.uid or facts.terminal or facts.deleting:
        return "pod is gone"
    if (facts.namespace, facts.name) != (request.namespace, request.name):
        return f"uid belongs to pod {facts.namespace}/{facts.name}"
    if facts.gates:
        return "pod is held by a scheduling gate"
    if facts.node and facts.node != request.node:
        return f"pod is already bound to {facts.node}"
    return ""
