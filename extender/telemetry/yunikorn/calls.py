"""Durations of calls and plans (METRIC-6 to METRIC-11)."""

import time
from collections.abc import Callable

from core.ids import PodUid
from extender.telemetry.counts import Durations
from extender.telemetry.lines import heading
from extender.telemetry.yunikorn import families as of
from extender.telemetry.yunikorn.durations import BOUNDS, histogram, samples

ATTEMPTS_AWAITED = 1_000
"""Unfinished preemption attempts that are stored. Beyond that, all are dropped, since some never end."""


class Calls:
    """Histograms of durations. ``clock()``: monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._filter, self._admitting = Durations(BOUNDS), Durations(BOUNDS)
        self._per_node, self._plans, self._slices = Durations(BOUNDS), Durations(BOUNDS), Durations(BOUNDS)
        self._unsorted = Durations(BOUNDS)
        self._attempts: dict[PodUid, float] = {}

    def timed_filter(
        self, verb: Callable[[bytes], bytes], nodes_taken: Callable[[], int]
    ) -> Callable[[bytes], bytes]:
        """Wrap filter to observe its duration. Faults are counted elsewhere.

        ``nodes_taken()``: number of nodes that the last call accepted.
        """

        def answer(body: bytes) -> bytes:
            began = self._clock()
            answered = verb(body)
            self.filtered(self._clock() - began, nodes_taken())
            return answered

        return answer

    def filtered(self, seconds: float, nodes: int) -> None:
        """Observe an answered filter call. ``nodes``: number of accepted nodes, 0 for a refusal."""
        self._filter.observe(seconds)
        if nodes:
            self._admitting.observe(seconds)
            self._per_node.observe(seconds / nodes)

    def begin_attempt(self, uid: PodUid) -> None:
        """Begin a preemption attempt for an ask."""
        if len(self._attempts) >= ATTEMPTS_AWAITED:
            self._attempts.clear()
        self._attempts[uid] = self._clock()

    def end_attempt(self, uid: PodUid) -> None:
        """End a preemption attempt, with a plan or a refusal."""
        began = self._attempts.pop(uid, None)
        if began is not None:
            self._plans.observe(self._clock() - began)

    def sliced(self, seconds: float) -> None:
        """Observe a slice of a scheduling cycle."""
        self._slices.observe(seconds)

    def text(self) -> str:
        """Text of all histograms."""
        sorting = of.SORTING.name
        return (
            histogram(of.SCHEDULING, self._admitting)
            + histogram(of.TRY_NODE, self._per_node)
            + histogram(of.TRY_PREEMPTION, self._plans)
            + histogram(of.CYCLE, self._filter)
            + histogram(of.EVALUATION, self._filter)
            + heading(of.SORTING)
            + samples(self._unsorted, sorting, 'level="app"')
            + samples(self._slices, sorting, 'level="queue"')
        )
