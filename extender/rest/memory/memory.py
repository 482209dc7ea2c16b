"""Data that the REST interface remembers beside the ledger, from reports of the engine."""

from collections.abc import Callable, Sequence
from typing import Final

from core.decisions.decision import Refused
from core.decisions.preemption.planning import Outcome
from core.decisions.preemption.receipts import Kind, Plan
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.resource import Resource
from core.workload.application import Application
from extender.rest.memory.allocations import Allocations
from extender.rest.memory.faults import Faults
from extender.rest.memory.limits import LimitRecords
from extender.rest.memory.objects import Objects
from extender.rest.memory.reasons import Reasons, message_of
from extender.rest.memory.recording import Recording
from extender.rest.memory.records import of_queue, of_request
from extender.rest.memory.ring import EventRing
from extender.rest.memory.samples import Samples
from extender.rest.model.applications import LogEntry, ResourceHistory
from extender.rest.model.events import Change, Detail, EventRecord
from extender.rest.projection.units import total

REASON_EVERY = 15.0
"""Seconds between two event records about why one pod waits."""

_RECORDED: Final = frozenset({on.ObjectObserved, on.ObjectDeleted, on.ObjectsListed, on.Configured})
"""Types of the events that are recorded. The changes of pods come from `RestMemory.settled`."""

MOST_REPORTED = 20_000
"""Number of pods for which the time of that record is stored."""


class RestMemory:
    """Histories, events, reasons and faults. ``view()``: the present view. All times are the ledger's."""

    def __init__(self, view: Callable[[], LedgerView], *, instance: str, started: float) -> None:
        self._view = view
        self.samples = Samples(started=started)
        self.ring = EventRing(instance)
        self.faults = Faults()
        #: False while no event records are stored.
        self.tracking = True
        self._allocations = Allocations()
        self._reasons = Reasons()
        self._recording = Recording(self._put, on_forgotten=lambda app: self._limits.forget(app))
        self._objects = Objects(self._put)
        self._limits = LimitRecords(self._put)
        self._reported: dict[PodUid, tuple[float, str]] = {}

    def _put(self, record: EventRecord) -> None:
        if self.tracking:
            self.ring.add(record)

    # -- the past of applications and pods -------------------------------------------------------------------

    def peak(self, application: Application) -> Resource:
        """Return the peak usage of an application, by resource."""
        return self._allocations.peak(application)

    def history(self, application: Application) -> ResourceHistory:
        """Return the sums over the application's ended allocations."""
        return self._allocations.history(application)

    def reasons(self, uid: PodUid) -> tuple[LogEntry, ...]:
        """Return the reasons given for a pod's wait, oldest first."""
        return self._reasons.of(uid)

    # -- reports of the engine -------------------------------------------------------------------------------

    def settled(self, uids: Sequence[PodUid], now: float) -> None:
        """Record changes of pods whose charges may have changed."""
        view = self._view()
        self._allocations.settled(view, uids, now=now)
        self._recording.settled(view, uids, now=now)
        for uid in uids:
            if view.pod(uid) is None:
                self._reasons.forget(uid)
                self._reported.pop(uid, None)

    def decided(self, record: PodRecord, verdict: object, *, now: float) -> None:
        """Record the decision of a verb on a pod. The reason of a refusal is stored."""
        if record.membership.application is not None:
            self._limits.decided(record.membership.application, verdict, now=now)
        if not isinstance(verdict, Refused):
            return
        uid, app = record.uid, record.membership.application
        self._reasons.note(uid, verdict.refusal, now=now)
        message = message_of(verdict.refusal)
        at, said = self._reported.get(uid, (float("-inf"), ""))
        if app is None or (said == message and now - at < REASON_EVERY):
            return
        if len(self._reported) >= MOST_REPORTED:
            self._reported.pop(next(iter(self._reported)))
        self._reported[uid] = now, message
        self._put(of_request(uid, app, message, now=now))

    def learned(self, event: on.Event, *, now: float) -> None:
        """Record the changes of an event that the ledger has applied."""
        if type(event) not in _RECORDED:
            return
        view = self._view()
        match event:
            case on.ObjectObserved(kind, facts) if kind is on.NODES:
                self.faults.read(facts.name)
                self._objects.node(view, facts.name, now=now)
            case on.ObjectDeleted(kind, key) if kind is on.NODES:
                self.faults.read(key)
                self._objects.node(view, key, now=now)
            case on.ObjectsListed(kind) if kind is on.NODES:
                self._objects.all_nodes(view, now=now)
            case on.Configured():
                self._objects.queues(view, now=now)
                self._limits.configured(view, now=now)
            case _:
                pass

    def planned(self, outcome: Outcome, *, now: float) -> None:
        """Record a plan for a lowered quota as an event of its queue. Other outcomes are ignored."""
        if isinstance(outcome, Plan) and outcome.kind is Kind.QUOTA:
            change, detail = Change.SET, Detail.QUEUE_QUOTA_PREEMPTION
            size = total(victim.size for victim in outcome.victims)
            self._put(of_queue(outcome.queue, change, detail, now=now, size=size))

    def drifted(self, drifts: Sequence[Drift]) -> None:
        """Store the differences that an audit found."""
        self.faults.drifts = tuple(f"{each.what}: {each.actual}, not {each.expected}" for each in drifts)

    def pass_time(self, *, now: float) -> None:
        """Take due samples, and record states that have ended by time. To be called every few seconds."""
        view = self._view()
        self.samples.pass_time(view, now=now)
        self._recording.pass_time(view, now=now)
        self._objects.held(view.reserved_nodes, now=now)
        if len(view.tree) != self._objects.known_queues():
            self._objects.queues(view, now=now)
