"""Counts of changes of managed pods: allocated, released and rejected."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from core.ids import PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.workload.states import AppState
from extender.telemetry.yunikorn.totals import Totals

CHECKED_AT_ONCE = 20
"""Waiting pods that are checked in one slice."""


class _Noted:
    """Pod with its counted changes."""

    __slots__ = ("placed", "queue", "refused")

    def __init__(self) -> None:
        self.queue = ""
        self.placed = self.refused = False


class PodChanges:
    """Counter of changes of pods. Changes from before the start are not counted."""

    def __init__(self, view: Callable[[], LedgerView], totals: Totals) -> None:
        self._view = view
        self._totals = totals
        self._noted: dict[PodUid, _Noted] = {}
        #: Pods that are neither placed nor refused. Only these can change without an event of their own.
        self._waiting: dict[PodUid, None] = {}
        self._round: Iterator[PodUid] = iter(())

    def __len__(self) -> int:
        return len(self._noted)

    def notice(self, uid: PodUid) -> PodRecord | None:
        """Count the changes of a pod. Cost: O(1)."""
        view = self._view()
        record = view.pod(uid)
        if record is None:
            self._leave(uid, view)
        elif record.membership.managed:
            noted = self._noted.get(uid)
            was_known = noted is not None
            if noted is None:
                noted = self._noted[uid] = _Noted()
                self._waiting[uid] = None
            if record.node and not noted.placed:
                self._place(record, noted, view, counted=was_known or view.synced)
            elif not (noted.placed or noted.refused):
                self._refuse(record, noted, view)
        return record

    def notice_all(self, uids: Iterable[PodUid]) -> None:
        """Count the changes of several pods."""
        for uid in uids:
            self.notice(uid)

    def notice_deleted(self) -> None:
        """Count deleted pods, after a list. Cost: O(pods)."""
        view = self._view()
        for uid in [each for each in self._noted if view.pod(each) is None]:
            self._leave(uid, view)

    def check_some(self) -> None:
        """Count changes of some waiting pods without an event. Repeated calls go through all of them."""
        some = list(islice(self._round, CHECKED_AT_ONCE))
        if not some:
            self._round = iter(list(self._waiting))
        for uid in some:
            if uid in self._waiting:
                self.notice(uid)

    def _place(self, record: PodRecord, noted: _Noted, view: LedgerView, *, counted: bool) -> None:
        queue = view.queue_of(record)
        noted.placed, noted.queue = True, queue.path if queue is not None else ""
        self._waiting.pop(record.uid, None)
        if counted:
            self._count("allocated", noted.queue, view)

    def _leave(self, uid: PodUid, view: LedgerView) -> None:
        noted = self._noted.pop(uid, None)
        self._waiting.pop(uid, None)
        if noted is not None and noted.placed:
            self._count("released", noted.queue, view)

    def _refuse(self, record: PodRecord, noted: _Noted, view: LedgerView) -> None:
        app_id = record.membership.application
        application = view.application(app_id) if app_id is not None else None
        if application is not None and application.state is AppState.REJECTED:
            noted.refused = True
            self._waiting.pop(record.uid, None)
            self._totals.pods["rejected"] += 1

    def _count(self, what: str, queue: str, view: LedgerView) -> None:
        self._totals.pods[what] += 1
        if queue and view.tree.get(queue) is not None:
            counts = self._totals.pods_in.get(queue)
            if counts is None:
                counts = self._totals.pods_in[queue] = Counter()
            counts[what] += 1
