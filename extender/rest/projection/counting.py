"""Rule that says how a pod counts: as a request, an allocation, a foreign allocation or nothing (REST-41).

Queues, applications, users and nodes share this rule, so their sums agree. A pod becomes an allocation when
its Binding is sent. While its quota is reserved and its node is unknown, it is a request.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from core.ids import PodUid, QueuePath
from core.ledger.pods.record import Charge, Held
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.queues.users.limits import Tracked
from core.resource import Resource, Tally

AFLOAT_AT_ONCE = 50
"""Pods that are counted in one step."""


class Counted(Enum):
    """How a pod counts in answers."""

    REQUEST = "request"
    ALLOCATION = "allocation"
    FOREIGN = "foreign"


# Each settled pod is compared with these, and mypyc would look them up by name.
_REQUEST: Final = Counted.REQUEST
_ALLOCATION: Final = Counted.ALLOCATION
_FOREIGN: Final = Counted.FOREIGN
_OCCUPIED: Final = Held.OCCUPIED
_PENDING: Final = Held.PENDING


def counted_as(charge: Charge | None) -> Counted | None:
    """Return how a pod counts; None for a pod that no answer lists, such as one that waits for its gang."""
    if charge is None:
        return None
    if charge.held is _OCCUPIED:
        return _FOREIGN
    if charge.queue is None:
        # Until a member has replaced its placeholder, only the placeholder counts (GANG-11).
        return None
    return _ALLOCATION if charge.node and charge.held is not _PENDING else _REQUEST


@dataclass(frozen=True, slots=True)
class Afloat:
    """Quota that is reserved for pods without a node. The ledger counts it as reserved, REST as pending."""

    #: Amounts by queue.
    queues: defaultdict[QueuePath, Tally] = field(default_factory=lambda: defaultdict(Tally))
    #: Amounts by user or user group, and queue.
    people: defaultdict[Tracked, Tally] = field(default_factory=lambda: defaultdict(Tally))


def afloat_of(view: LedgerView) -> Afloat:
    """Count the quota at once. Cost: O(pods between filter and bind, and unguarded pods)."""
    found = Afloat()
    for _ in count_afloat(view, found):
        pass
    return found


def count_afloat(view: LedgerView, found: Afloat) -> Iterator[None]:
    """Add to ``found``, with pauses. Pods that change meanwhile count in their old or their new state."""
    uids = sorted({*view.reserved, *view.unguarded.placing, *view.unguarded.unplaced})
    for place, uid in enumerate(uids, 1):
        if place % AFLOAT_AT_ONCE == 0:
            yield
        charge = view.charge_of(uid)
        if charge is not None and charge.held is Held.RESERVED and charge.queue and not charge.node:
            _add(view, found, uid, charge.queue, charge.size)


def _add(view: LedgerView, found: Afloat, uid: PodUid, path: QueuePath, size: Resource) -> None:
    leaf, record = view.tree.get(path), view.pod(uid)
    app_id = record.membership.application if record is not None else None
    application = view.application(app_id) if app_id is not None else None
    for queue in leaf.chain if leaf is not None else ():
        found.queues[queue.path].add(size)
        for tracked in application.claimant.tracked(queue.path) if application is not None else ():
            found.people[tracked].add(size)


def allocated_in(queue: Queue, afloat: Afloat) -> Resource:
    """Return the total size of a queue's allocations."""
    held = queue.allocated.as_resource() + queue.reserved.as_resource()
    return (held - afloat.queues[queue.path]).pruned() if queue.path in afloat.queues else held


def pending_in(queue: Queue, afloat: Afloat) -> Resource:
    """Return the total size of a queue's requests."""
    waiting = queue.pending.as_resource()
    return waiting + afloat.queues[queue.path] if queue.path in afloat.queues else waiting
