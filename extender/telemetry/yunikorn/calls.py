"""Durations of calls and plans (METRIC-6 to METRIC-11)."""

import time
from collections.abc import Callable

from core.ids import PodUid
from extender.telemetry.lines import heading
from extender.telemetry.yunikorn import families as of
from extender.telemetry.yunikorn.durations import Durations, histogram

ATTEMPTS_AWAITED = 1_000
"""Attempts to preempt whose end is awaited; beyond that all are dropped, as some have none."""


class Calls:
    """``clock()``: seconds, of which only differences count."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._filter, self._admitting = Durations(), Durations()
        self._per_node, self._plans, self._slices = Durations(), Durations(), Durations()
        self._unsorted = Durations()
        self._attempts: dict[PodUid, float] = {}

    def timed_filter(
        self, verb: Callable[[bytes], bytes], nodes_taken: Callable[[], int]
    ) -> Callable[[bytes], bytes]:
        """The verb, with its time observed. ``nodes_taken()``: nodes of the last call if it admitted, else 0.

        A call that ends in a fault is counted elsewhere.
        """

        def answer(body: bytes) -> bytes:
            began = self._clock()
            answered = verb(body)
            self.filtered(self._clock() - began, nodes_taken())
            return answered

        return answer

    def filtered(self, seconds: float, nodes: int) -> None:
        """A filter call was answered. ``nodes``: those that were taken, 0 for a refusal."""
        self._filter.observe(seconds)
        if nodes:
            self._admitting.observe(seconds)
            self._per_node.observe(seconds / nodes)

    def begin_attempt(self, uid: PodUid) -> None:
        """A plan for an ask is wanted."""
        if len(self._attempts) >= ATTEMPTS_AWAITED:
            self._attempts.clear()
        self._attempts[uid] = self._clock()

    def end_attempt(self, uid: PodUid) -> None:
        """There is a plan for an ask, or a refusal."""
        began = self._attempts.pop(uid, None)
        if began is not None:
            self._plans.observe(self._clock() - began)

    def sliced(self, seconds: float) -> None:
        """Observe a slice of a scheduling cycle that has ended."""
        self._slices.observe(seconds)

    def text(self) -> str:
        """All histograms."""
        sorting = of.SORTING.name
        return (
            histogram(of.SCHEDULING, self._admitting)
            + histogram(of.TRY_NODE, self._per_node)
            + histogram(of.TRY_PREEMPTION, self._plans)
            + histogram(of.CYCLE, self._filter)
            + histogram(of.EVALUATION, self._filter)
            + heading(of.SORTING)
            + self._unsorted.samples(sorting, 'level="app"')
            + self._slices.samples(sorting, 'level="queue"')
        )
