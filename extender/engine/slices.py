"""Long work of the engine: scheduling cycles, reasons of gated pods, and expired timers.

The work is done in slices, and the event loop serves calls between them. Clock and timers are passed in.
"""

from collections.abc import Callable
from functools import partial

from core.decisions.gating import decide_gate
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.view import LedgerView

PASSES_APART = 0.02
"""Seconds between two cycles for asks that have come, so that a burst of them causes only one."""

FREED_APART, FREED_SHARE = 0.002, 4.0
"""Seconds between two cycles for freed capacity, at least, and how often the time that the last one took.

Between them they are at most `PASSES_APART`. So a slot is given away at once, and short cycles take at most
a quarter of the time.
"""

ROUNDS_APART = 3
"""Rounds of the event loop between two slices of a cycle or a plan. Calls are answered in these rounds."""

ASKED_RECENTLY = 1.0
"""Seconds without a call after which one round is enough.

A cluster that uses only gates makes no calls, and its pods are bound as fast as their gates open.
"""

REPORTED_AT_ONCE, CHECKED_AT_ONCE = 10, 30
"""Gated pods whose reason is reported in one slice, and gated pods that are checked in one slice, at most."""

REPORTS_APART = 0.05
"""Seconds between two such slices."""

REPORT_DELAY = 1.0
"""Seconds from the end of a cycle to the first such slice."""


class Slices:
    """Schedule the engine's long work between calls.

    ``later(seconds, call)``: calls back on the same thread.
    """

    def __init__(
        self,
        view: Callable[[], LedgerView],
        learn: Callable[[on.Event], None],
        clock: Callable[[], float],
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._view = view
        self._learn = learn
        self._clock = clock
        self._later = later
        self._planned_for: float | None = None
        self._passed_at = self._asked_at = float("-inf")
        #: Calls that have arrived.
        self.calls = 0
        self._took = 0.0
        self._to_report: list[PodUid] = []
        self._reporting = self._passed_since = self._catching_up = False
        self._turns = 0

    def asked(self) -> None:
        """Note that a call has arrived, for any pod."""
        self._asked_at = self._clock()
        self.calls += 1

    def wake(self, *, now: float) -> None:
        """Plan a cycle if one is requested, or an earlier one. Must be called after every event."""
        view = self._view()
        self._note_turns(len(view.turns))
        if not view.cycle_wanted:
            return
        if view.cycle.running:
            if self._planned_for is None:
                self._planned_for = now
                self._give_way(partial(self._run_pass, now))
            return
        moment = max(now, self._passed_at + self._pause(freed=view.cycle.freed))
        if self._planned_for is None or moment < self._planned_for:
            self._planned_for = moment
            self._later(moment - now, partial(self._run_pass, moment))

    def _note_turns(self, turns: int) -> None:
        """Plan to check the reasons of gated pods after a turn was used: what waited for it lacks quota now.

        No cycle follows, since nothing became free.
        """
        if turns < self._turns:
            self._passed_since = True
            self._report_later(REPORT_DELAY)
        self._turns = turns

    def _pause(self, *, freed: bool) -> float:
        """Seconds between the beginning of the last cycle's last slice and the next cycle."""
        return min(PASSES_APART, max(FREED_APART, FREED_SHARE * self._took)) if freed else PASSES_APART

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call back after some seconds. 0 means as soon as the calls that have arrived are answered."""
        if seconds:
            self._later(seconds, call)
        else:
            self._give_way(call)

    def pass_time(self) -> None:
        """Process expired timers, in batches if there are many."""
        self._learn(on.TimePassed())
        if self._view().cycle.overdue and not self._catching_up:
            self._catching_up = True
            self._give_way(self._catch_up)

    def _catch_up(self) -> None:
        self._catching_up = False
        self.pass_time()

    def _give_way(self, call: Callable[[], None]) -> None:
        """Call back as soon as the calls that have arrived are answered."""
        self._after(ROUNDS_APART if self._clock() - self._asked_at < ASKED_RECENTLY else 1, call)

    def _after(self, rounds: int, call: Callable[[], None]) -> None:
        self._later(0.0, call if rounds == 1 else partial(self._after, rounds - 1, call))

    def _run_pass(self, planned_for: float) -> None:
        """Run a slice of a cycle, unless another moment was planned instead."""
        if self._planned_for != planned_for:
            return
        self._planned_for = None
        view = self._view()
        if not view.synced:
            return
        self._passed_at = self._clock()
        took = self._took if view.cycle.running else 0.0
        self._learn(on.CycleDue())
        self._took = took + self._clock() - self._passed_at
        if not self._view().cycle.running:
            self._passed_since = True
            self._report_later(REPORT_DELAY)

    def _report_later(self, seconds: float) -> None:
        if not self._reporting and (self._to_report or self._passed_since):
            self._reporting = True
            self._later(seconds, self._report_gated)

    def _report_gated(self) -> None:
        """Check all gated pods for a new reason, in slices. A cycle in between starts another round."""
        if not self._to_report:
            self._to_report, self._passed_since = self._view().gated()[::-1], False
        now, reported = self._clock(), 0
        for _ in range(min(CHECKED_AT_ONCE, len(self._to_report))):
            held = decide_gate(self._view(), self._to_report.pop(), now=now)
            if held is not None:
                self._learn(held)
                reported += 1
            if reported == REPORTED_AT_ONCE:
                break
        self._reporting = False
        self._report_later(REPORTS_APART if self._to_report else REPORT_DELAY)
