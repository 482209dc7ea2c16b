"""The played kube-scheduler's queue: which pod is tried next, and what brings a refused pod back.

Source: pkg/scheduler/backend/queue (scheduling_queue.go, backoff_queue.go), with the order of format rules 4
and 5. Everything settles within one instant. A pod in back-off therefore never waits for its time: it is
popped early when no pod is active. Only the back-off after an error is waited out.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from core.ids import PodUid
from extender.simulator.cluster.clock import Clock, Kind, Timer
from extender.simulator.scheduler.node_cache import PodInfo

FIRST_BACKOFF = 1000
"""First back-off after an error, in milliseconds."""

Key = tuple[int, int, int]


class Place(Enum):
    """The part of the queue that a pod is in."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    ERROR = "error backoff"
    POOL = "pool"
    """Pods refused in-tree."""
    REFUSED = "refused"
    """Pods refused by the extender, which react to more kinds of events than the pool."""
    GATED = "gated"
    IN_FLIGHT = "in flight"


@dataclass(slots=True, eq=False)
class Queued:
    """A pod that has no node yet."""

    #: Pod as the scheduler holds it.
    info: PodInfo
    #: Time at which it came or last failed, in milliseconds.
    queued_at: int
    #: Part of the queue that it is in.
    place: Place = Place.ACTIVE
    #: Number of attempts that ended with no node.
    refusals: int = 0
    #: Number of errors in a row, since the last such attempt.
    errors: int = 0
    #: Number of attempts that began.
    attempts: int = 0
    #: Timer that ends the wait after an error; None while there is no such wait.
    timer: Timer | None = None

    @property
    def uid(self) -> PodUid:
        """Uid of the pod."""
        return self.info.uid

    @property
    def key(self) -> Key:
        """The sort key: priority, time, order of creation."""
        return (-self.info.priority, self.queued_at, self.info.pod.seq)


class PodQueue:
    """All pods that wait for a node. ``max_backoff``: in milliseconds."""

    def __init__(self, clock: Clock, *, max_backoff: int) -> None:
        self._clock = clock
        self._max_backoff = max_backoff
        self._all: dict[PodUid, Queued] = {}
        self._heaps: dict[Place, list[tuple[Key, PodUid]]] = {Place.ACTIVE: [], Place.BACKOFF: []}
        self._pools: dict[Place, dict[PodUid, Queued]] = {Place.POOL: {}, Place.REFUSED: {}}

    def get(self, uid: PodUid) -> Queued | None:
        """The pod of that uid if it waits here, or None."""
        return self._all.get(uid)

    def add(self, info: PodInfo) -> None:
        """Add a pod that has no node."""
        queued = Queued(info, self._clock.now)
        self._all[info.uid] = queued
        self._move(queued, Place.GATED if info.facts.gates else Place.ACTIVE)

    def remove(self, uid: PodUid) -> None:
        """Remove a pod."""
        queued = self._all.pop(uid, None)
        if queued is not None:
            self._leave(queued)

    def update(self, info: PodInfo) -> None:
        """Store a changed pod. Raises KeyError for one that does not wait here."""
        queued = self._all[info.uid]
        before, queued.info = queued.info, info
        if queued.place is Place.GATED:
            if not info.facts.gates:
                self._move(queued, Place.ACTIVE)
        elif queued.place is Place.REFUSED or (queued.place is Place.POOL and shrank(before, info)):
            self._requeue(queued)

    def pop(self) -> Queued | None:
        """The next pod to try: an active one, else the best of those in back-off."""
        for place in (Place.ACTIVE, Place.BACKOFF):
            heap = self._heaps[place]
            while heap:
                key, uid = heapq.heappop(heap)
                queued = self._all.get(uid)
                if queued is not None and queued.place is place and queued.key == key:
                    queued.place = Place.IN_FLIGHT
                    queued.attempts += 1
                    return queued
        return None

    def put_back(self, queued: Queued, place: Place) -> None:
        """Put a pod back after a failed attempt: into the pool, the refused, or the wait after an error."""
        if place is Place.ERROR:
            queued.errors += 1
        else:
            queued.refusals, queued.errors = queued.refusals + 1, 0
        queued.queued_at = self._clock.now
        self._all[queued.uid] = queued
        self._move(queued, place)

    # -- what wakes ----------------------------------------------------------------------------------------

    def on_bound_pod(self) -> None:
        """Wake pods that the extender refused, after a change of a pod on a node."""
        self._wake((Place.REFUSED,))

    def on_capacity_freed(self, *, most_priority: int | None = None) -> None:
        """Wake all pods, after a pod left a node or a node changed.

        ``most_priority``: wake only pods up to that priority.
        """
        self._wake((Place.REFUSED, Place.POOL), most_priority=most_priority)

    def _wake(self, places: Iterable[Place], *, most_priority: int | None = None) -> None:
        for place in places:
            for queued in list(self._pools[place].values()):
                if most_priority is None or queued.info.priority <= most_priority:
                    self._requeue(queued)

    def _requeue(self, queued: Queued) -> None:
        backing_off = self._clock.now < queued.queued_at + self._backoff(queued.refusals)
        self._move(queued, Place.BACKOFF if backing_off else Place.ACTIVE)

    def _backoff(self, failures: int) -> int:
        return min(FIRST_BACKOFF << min(max(failures - 1, 0), 20), self._max_backoff) if failures else 0

    # -- moving --------------------------------------------------------------------------------------------

    def _move(self, queued: Queued, place: Place) -> None:
        self._leave(queued)
        queued.place = place
        if place in self._heaps:
            heapq.heappush(self._heaps[place], (queued.key, queued.uid))
        elif place in self._pools:
            self._pools[place][queued.uid] = queued
        elif place is Place.ERROR:
            due = self._clock.now + self._backoff(queued.errors)
            queued.timer = self._clock.at(due, Kind.BACKOFF, lambda: self._move(queued, Place.ACTIVE))

    def _leave(self, queued: Queued) -> None:
        if queued.place in self._pools:
            self._pools[queued.place].pop(queued.uid, None)
        if queued.timer is not None:
            queued.timer.cancel()
            queued.timer = None


def shrank(before: PodInfo, after: PodInfo) -> bool:
    """True if a pod asks for less than before: UpdatePodScaleDown (pkg/scheduler/framework/events.go)."""
    now = dict(after.shape.requests)
    return any(now.get(name, 0) < amount for name, amount in before.shape.requests)
