"""Answers about queues (REST-6, REST-31)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from core.durations import duration_text
from core.ids import QueuePath
from core.ledger.view import LedgerView
from core.queues.closing import closed_in
from core.queues.headroom import headroom
from core.queues.properties import PreemptionPolicy, QueueProperties
from core.queues.queue import Closure
from core.queues.queue import Queue as LiveQueue
from core.queues.spec import QueueSpec, TemplateSpec
from core.resource import UNLIMITED, Limit, Resource
from core.workload.states import STARTED
from extender.rest.facts import PARTITION, Facts
from extender.rest.model.queues import Queue, QueueClosure, QueueTemplate
from extender.rest.projection.counting import Afloat, afloat_of
from extender.rest.projection.units import amounts, limits, moment_text, nanoseconds, percentages


class QueueRow(NamedTuple):
    """A queue at one moment: references to constant values, and copies of its counters."""

    path: QueuePath
    #: Path of the parent; empty for the root.
    parent: str
    spec: QueueSpec
    max: Limit | None
    #: Amounts on nodes and reserved, as the ledger counts them.
    held: Resource
    pending: Resource
    preempting: Resource
    priority: int
    draining: bool
    #: The nearest closed queue, from this one up, and its order; None without one.
    closed: tuple[QueuePath, Closure] | None
    dynamic: bool
    is_leaf: bool
    entries: Mapping[str, str]
    properties: QueueProperties
    #: Child template in force.
    template: TemplateSpec | None


def queue_row(queue: LiveQueue) -> QueueRow:
    """Copy the present state of a queue. Cost: about five microseconds."""
    return QueueRow(
        queue.path,
        queue.parent.path if queue.parent is not None else "",
        queue.spec,
        queue.max,
        Resource.sum_of(queue.allocated, queue.reserved),
        queue.pending.as_resource(),
        queue.preempting.as_resource(),
        queue.priority,
        queue.draining,
        _closed(queue),
        queue.dynamic,
        queue.is_leaf,
        queue.entries,
        queue.properties,
        queue.template,
    )


def _closed(queue: LiveQueue) -> tuple[QueuePath, Closure] | None:
    found = closed_in(queue.chain)
    return (found.path, found.closed) if found is not None and found.closed is not None else None


@dataclass(frozen=True, slots=True)
class Reclaims:
    """Queues whose pods are evicted because their quota shrank."""

    #: Queues whose pods are being evicted now.
    running: frozenset[QueuePath] = frozenset()
    #: Past or future start, by queue.
    starts: Mapping[QueuePath, float] = field(default_factory=dict)


def reclaims_of(view: LedgerView) -> Reclaims:
    """Return the queues with a lowered quota. Cost: O(such queues)."""
    return Reclaims(frozenset(view.reclaims), dict(view.reclaim_starts()))


def queue_tree(facts: Facts) -> Queue:
    """Build the answer for the root with all queues below it. Only the root names the partition."""
    found = _queue(facts, facts.view.tree.root, afloat_of(facts.view), subtree=True)
    return msgspec.structs.replace(found, partition=PARTITION)


def one_queue(facts: Facts, queue: LiveQueue, *, subtree: bool = False) -> Queue:
    """Build the answer for a queue, alone or with all queues below it."""
    return _queue(facts, queue, afloat_of(facts.view), subtree=subtree)


def _queue(facts: Facts, queue: LiveQueue, afloat: Afloat, *, subtree: bool) -> Queue:
    children = [queue.children[path] for path in sorted(queue.children)]
    waiting = _waiting_to_run(facts, queue)
    found = queue_from(
        queue_row(queue),
        afloat=afloat.queues[queue.path].as_resource() if queue.path in afloat.queues else None,
        left=headroom(queue.chain),
        running=len(queue.running) - len(waiting),
        waiting=waiting,
        reclaims=reclaims_of(facts.view),
    )
    below = tuple(_queue(facts, each, afloat, subtree=True) for each in children) if subtree else ()
    names = tuple(each.path for each in children)
    return msgspec.structs.replace(found, children=below, child_names=names)


def own_left(row: QueueRow) -> Limit:
    """Return the capacity left under a queue's own max. Without a max, every resource is unlimited."""
    return row.max.minus(row.held) if row.max is not None else UNLIMITED


def queue_from(
    row: QueueRow,
    *,
    afloat: Resource | None,
    left: Limit,
    running: int,
    waiting: tuple[str, ...],
    reclaims: Reclaims,
) -> Queue:
    """Build the answer for a queue without its children.

    ``afloat``: quota in it that is reserved for pods without a node. ``left``: headroom under all limits.
    ``running``: number of running applications. ``waiting``: ids of those that count but do not run yet.
    """
    known = row.properties
    used = (row.held - afloat).pruned() if afloat is not None else row.held
    return Queue(
        queuename=row.path,
        status="Draining" if row.draining or row.closed else "Active",
        paddock_closed=_closure(*row.closed) if row.closed else None,
        partition="",
        pending_resource=amounts(row.pending + afloat if afloat is not None else row.pending),
        max_resource=limits(row.max),
        guaranteed_resource=limits(row.spec.guaranteed),
        allocated_resource=amounts(used),
        preempting_resource=amounts(row.preempting),
        headroom=limits(left),
        is_leaf=row.is_leaf,
        is_managed=not row.dynamic,
        properties=dict(sorted(row.entries.items())),
        parent=row.parent,
        template=_template(None if row.is_leaf else row.template),
        abs_used_capacity=percentages(row.max, used),
        max_running_apps=row.spec.max_applications,
        running_apps=running,
        current_priority=row.priority,
        allocating_accepted_apps=waiting,
        sorting_policy=known.sort_policy.value,
        priority_sorting=known.sort_by_priority,
        preemption_enabled=known.preemption is not PreemptionPolicy.DISABLED,
        is_preemption_fence=known.preemption is PreemptionPolicy.FENCE,
        preemption_delay=duration_text(known.preemption_delay),
        quota_preemption_delay=duration_text(known.quota_preemption_delay),
        is_priority_fence=known.priority_fence,
        priority_offset=known.priority_offset,
        is_quota_preemption_running=row.path in reclaims.running,
        quota_preemption_start_time=nanoseconds(reclaims.starts.get(row.path, 0.0)),
        unsched_ask_backoff=known.unscheduled_backoff,
        ask_backoff_delay=_backoff_delay(known),
    )


def _waiting_to_run(facts: Facts, queue: LiveQueue) -> tuple[str, ...]:
    """Return the ids of applications that count against the queue's limit and do not run yet."""
    found = []
    for app_id in sorted(queue.running):
        application = facts.view.application(app_id)
        if application is None or application.state not in STARTED:
            found.append(facts.view.identities.shown(app_id))
    return tuple(found)


def _backoff_delay(known: QueueProperties) -> str:
    return duration_text(known.unscheduled_delay) if known.unscheduled_backoff else ""


def _closure(path: QueuePath, closure: Closure) -> QueueClosure:
    return QueueClosure(
        queue=path,
        by=closure.by,
        since=moment_text(closure.since),
        reason=closure.reason,
        until=moment_text(closure.until) if closure.until is not None else "",
    )


def _template(template: TemplateSpec | None) -> QueueTemplate | None:
    if template is None:
        return None
    return QueueTemplate(
        max_applications=template.max_applications,
        max_resource=limits(template.max),
        guaranteed_resource=limits(template.guaranteed),
        properties=dict(sorted(template.properties.items())),
    )
