"""Peak usage and usage sums of applications, updated after each event (REST-7)."""

from collections import OrderedDict
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from core.ids import AppId, NodeName, PodUid
from core.ledger.pods.record import Charge
from core.ledger.view import LedgerView
from core.resource import Resource, Tally
from core.workload.application import Application
from extender.rest.memory.known import Allocated
from extender.rest.model.applications import ResourceHistory, Usage
from extender.rest.projection.counting import Counted, counted_as
from extender.rest.projection.pods import bound_at

# Each settled pod is compared with it, and mypyc would look it up by name.
_ALLOCATION: Final = Counted.ALLOCATION

INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
UNKNOWN: Final = "UNKNOWN"
"""Instance type of a node without the label."""

ENDED: Final = 10_000
"""Number of ended applications that are remembered. The oldest are dropped first."""


class Sums:
    """Usage sums of one application.

    ``used``: total size of its allocations without placeholders. ``peak``: highest ``used`` so far, by
    resource. ``usage``, ``preempted`` and ``placeholder``: amounts times seconds, by instance type and
    resource, of pods that ended by themselves, of victims and of placeholders.
    """

    __slots__ = ("peak", "placeholder", "preempted", "usage", "used")

    def __init__(self) -> None:
        self.used = Tally()
        self.peak: dict[str, int] = {}
        self.usage: Usage = {}
        self.preempted: Usage = {}
        self.placeholder: Usage = {}

    def begin(self, size: Resource) -> None:
        """Add an allocation that is no placeholder."""
        self.used.add(size)
        for name in size.by_name():
            used = self.used.get(name)
            if used > self.peak.get(name, 0):
                self.peak[name] = used

    def end(self, pod: Allocated, *, now: float) -> None:
        """Add an ended pod to the sums of its kind. A pod that was never bound adds nothing."""
        if not pod.since:
            return
        kind = self.placeholder if pod.placeholder else self.preempted if pod.preempted else self.usage
        amounts = kind.setdefault(pod.instance, {})
        seconds = max(0, int(now - pod.since))
        for name, amount in pod.size.by_name().items():
            amounts[name] = amounts.get(name, 0) + amount * seconds


class Allocations:
    """Usage of all applications. Cost: O(1) for each settled pod."""

    def __init__(self, *, most: int = ENDED) -> None:
        self._most = most
        self._pods: dict[PodUid, Allocated] = {}
        self._live: dict[AppId, Sums] = {}
        self._ended: OrderedDict[tuple[AppId, float], Sums] = OrderedDict()
        self._last: Application | None = None

    def settled(self, view: LedgerView, uids: Sequence[PodUid], *, now: float) -> None:
        """Update the usage of settled pods, and store the final sums of applications that have ended."""
        for uid in uids:
            old, charge = self._pods.get(uid), view.charge_of(uid)
            if old is None and counted_as(charge) is not _ALLOCATION:
                continue
            new = allocated(view, uid, charge)
            if old is not new and not _are_equal(old, new):
                self._move(uid, old, new, now)
        self._note_ended(view)

    def peak(self, application: Application) -> Resource:
        """Return the peak usage of an application, by resource."""
        found = self._of(application)
        return Resource(found.peak if found is not None else {})

    def history(self, application: Application) -> ResourceHistory:
        """Return the sums by instance type and resource, both sorted."""
        found = self._of(application)
        if found is None:
            return ResourceHistory()
        return ResourceHistory(
            resource_usage=_sorted(found.usage),
            preempted_resource=_sorted(found.preempted),
            placeholder_resource=_sorted(found.placeholder),
        )

    def _of(self, application: Application) -> Sums | None:
        # Ended applications may share an id, so each is found by the time of its end.
        ended = self._ended.get((application.id, application.since)) if application.ended else None
        return ended or self._live.get(application.id)

    def _move(self, uid: PodUid, old: Allocated | None, new: Allocated | None, now: float) -> None:
        if old is not None and new is not None and _uses_as_much(old, new):
            self._pods[uid] = new
            return
        if old is not None:
            self._release(old, new, now)
        if new is None:
            del self._pods[uid]
            return
        self._pods[uid] = new
        sums = self._sums_of(new.app)
        if not new.placeholder:
            sums.begin(new.size)

    def _sums_of(self, app: AppId) -> Sums:
        found = self._live.get(app)
        if found is None:
            found = self._live[app] = Sums()
        return found

    def _release(self, old: Allocated, new: Allocated | None, now: float) -> None:
        """Subtract an allocation that has ended or changed, such as after a resize."""
        sums = self._sums_of(old.app)
        if not old.placeholder:
            sums.used.subtract(old.size)
        if new is None:
            sums.end(old, now=now)

    def _note_ended(self, view: LedgerView) -> None:
        """Store the final sums of all applications that have ended since the last call."""
        ended = view.identities.all_ended()
        if not ended or ended[-1] is self._last:
            return
        fresh = list(takewhile(lambda each: each is not self._last, reversed(ended)))
        for application in reversed(fresh):
            sums = self._live.pop(application.id, None)
            if sums is not None:
                self._ended[application.id, application.since] = sums
                if len(self._ended) > self._most:
                    self._ended.popitem(last=False)
        self._last = ended[-1]


def _are_equal(old: Allocated | None, new: Allocated | None) -> bool:
    """True if nothing has changed that is known of an allocation."""
    return (
        old is not None
        and new is not None
        and _uses_as_much(old, new)
        and old.since == new.since
        and old.instance == new.instance
        and old.preempted == new.preempted
    )


def _uses_as_much(old: Allocated, new: Allocated) -> bool:
    """True if an allocation changed in nothing that its application's usage depends on."""
    return old.app == new.app and old.size == new.size and old.placeholder == new.placeholder


def allocated(view: LedgerView, uid: PodUid, charge: Charge | None) -> Allocated | None:
    """Return a pod's allocation, or None if its charge is no allocation of an application."""
    if charge is None or counted_as(charge) is not _ALLOCATION:
        return None
    record = view.pod(uid)
    app = record.membership.application if record is not None else None
    if record is None or app is None:
        return None
    return Allocated(
        app,
        charge.size,
        bound_at(record),
        instance_of(view, charge.node),
        placeholder=record.facts.placeholder,
        preempted=record.preempting,
    )


def instance_of(view: LedgerView, node: NodeName) -> str:
    """Return a node's instance type from its label, or `UNKNOWN` without one."""
    known = view.nodes.get(node)
    return (known.labels.get(INSTANCE_TYPE) if known is not None else None) or UNKNOWN


def _sorted(usage: Usage) -> Usage:
    return {instance: dict(sorted(usage[instance].items())) for instance in sorted(usage)}
