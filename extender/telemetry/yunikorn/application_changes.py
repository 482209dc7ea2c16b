"""Counts of changes of applications: new, accepted, rejected and ended.

An application stores its former states, so a later check finds changes that were missed.
"""

from collections.abc import Callable, Iterator
from itertools import islice

from core.ids import AppId
from core.ledger.view import LedgerView
from core.workload.application import Application
from core.workload.states import AppState
from extender.telemetry.yunikorn.families import OTHER
from extender.telemetry.yunikorn.pod_changes import PodChanges
from extender.telemetry.yunikorn.totals import Totals, asked_queue

CHECKED_AT_ONCE, COUNTED_AT_ONCE = 100, 1_000
"""Applications that are checked each time that time passes, and in one slice of a scrape."""

_ENDS = {AppState.COMPLETED: "completed", AppState.FAILED: "failed"}


class _Followed:
    """Application with the number of its states that were counted."""

    __slots__ = ("application", "counted")

    def __init__(self, application: Application, counted: int) -> None:
        self.application = application
        self.counted = counted


class ApplicationChanges:
    """Counter of the states that applications enter. States from before the start are not counted."""

    def __init__(self, view: Callable[[], LedgerView], totals: Totals, pods: PodChanges) -> None:
        self._view = view
        self._totals = totals
        self._pods = pods
        self._followed: dict[AppId, _Followed] = {}
        self._round: Iterator[AppId] = iter(())

    def __len__(self) -> int:
        return len(self._followed)

    def notice(self, app_id: AppId) -> None:
        """Count the changes of an application. Cost: O(1) if there are none."""
        view = self._view()
        application, followed = view.application(app_id), self._followed.get(app_id)
        if followed is not None and followed.application is not application:
            # The application ended, and a new one may have its id.
            self._catch_up(followed)
            del self._followed[app_id]
            followed = None
        if application is None:
            return
        if followed is None:
            followed = self._followed[app_id] = self._begin(application)
        if followed.counted != application.entered:
            self._catch_up(followed)

    def notice_known(self) -> Iterator[None]:
        """Count the changes of all applications, with pauses."""
        for place, app_id in enumerate([*(each.id for each in self._view().applications()), *self._followed]):
            self.notice(app_id)
            if place % COUNTED_AT_ONCE == 0:
                yield

    def check_some(self) -> None:
        """Count the changes of some applications. Repeated calls go through all, so that none is missed."""
        some = list(islice(self._round, CHECKED_AT_ONCE))
        if not some:
            self._round = iter([*self._followed])
        for app_id in some:
            self.notice(app_id)

    def _begin(self, application: Application) -> _Followed:
        if not self._view().synced:
            return _Followed(application, application.entered)
        self._totals.submissions["new"] += 1
        return _Followed(application, 0)

    def _catch_up(self, followed: _Followed) -> None:
        """Count every state since the last check."""
        application = followed.application
        states = application.states
        # Only the last states are remembered.
        first = max(0, len(states) - (application.entered - followed.counted))
        before = states[first - 1][1] if first else None
        for _, state in states[first:]:
            self._count(application, before, state)
            before = state
        followed.counted = application.entered

    def _count(self, application: Application, before: AppState | None, state: AppState) -> None:
        if state is AppState.ACCEPTED and before is not AppState.RESUMING:
            self._totals.submissions["accepted"] += 1
        elif state is AppState.REJECTED:
            self._totals.submissions["rejected"] += 1
            self._end(application, "rejected")
            self._pods.notice_all(sorted(application.pods))
        elif state in _ENDS:
            self._totals.ended[_ENDS[state]] += 1
            self._end(application, _ENDS[state])

    def _end(self, application: Application, how: str) -> None:
        """Count an end in the application's queue, which may be deleted, or in the requested queue."""
        tree = self._view().tree
        asked = None if application.queue else asked_queue(tree, application.requested)
        path = application.queue or (asked.path if asked is not None else OTHER)
        queue = tree.get(path)
        self._totals.end(path, how, configured=queue is not None and not queue.dynamic)
