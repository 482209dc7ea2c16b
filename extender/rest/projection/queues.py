"""Answers about queues (REST-6, REST-31)."""

from core.durations import duration_text
from core.queues.headroom import headroom
from core.queues.properties import PreemptionPolicy, QueueProperties
from core.queues.queue import Queue as LiveQueue
from core.queues.spec import TemplateSpec
from core.workload.states import STARTED
from extender.rest.facts import PARTITION, Facts
from extender.rest.model.queues import Queue, QueueTemplate
from extender.rest.projection.counting import Afloat, afloat_of, allocated_in, pending_in
from extender.rest.projection.units import amounts, limits, percentages


def queue_tree(facts: Facts) -> Queue:
    """Build the tree of all queues. Only its root names the partition."""
    return queue_from(facts, facts.view.tree.root, afloat_of(facts.view), subtree=True, partition=PARTITION)


def one_queue(facts: Facts, queue: LiveQueue, *, subtree: bool = False) -> Queue:
    """Build the answer for a queue. ``subtree``: True to include all queues below it."""
    return queue_from(facts, queue, afloat_of(facts.view), subtree=subtree)


def queue_from(
    facts: Facts, queue: LiveQueue, afloat: Afloat, *, subtree: bool, partition: str = ""
) -> Queue:
    """Build the answer for a queue. ``partition``: empty except at the root of the whole tree (REST-6)."""
    known, used = queue.properties, allocated_in(queue, afloat)
    children = [queue.children[path] for path in sorted(queue.children)]
    waiting = _waiting_to_run(facts, queue)
    return Queue(
        queuename=queue.path,
        status="Draining" if queue.draining else "Active",
        partition=partition,
        pending_resource=amounts(pending_in(queue, afloat)),
        max_resource=limits(queue.max),
        guaranteed_resource=limits(queue.guaranteed),
        allocated_resource=amounts(used),
        preempting_resource=amounts(queue.preempting),
        headroom=limits(headroom(queue.chain)),
        is_leaf=queue.is_leaf,
        is_managed=not queue.dynamic,
        properties=dict(sorted(queue.entries.items())),
        parent=queue.parent.path if queue.parent is not None else "",
        template=_template(None if queue.is_leaf else queue.template),
        children=tuple(queue_from(facts, each, afloat, subtree=True) for each in children) if subtree else (),
        child_names=tuple(each.path for each in children),
        abs_used_capacity=percentages(queue.max, used),
        max_running_apps=queue.max_applications,
        running_apps=len(queue.running) - len(waiting),
        current_priority=queue.priority,
        allocating_accepted_apps=waiting,
        sorting_policy=known.sort_policy.value,
        priority_sorting=known.sort_by_priority,
        preemption_enabled=known.preemption is not PreemptionPolicy.DISABLED,
        is_preemption_fence=known.preemption is PreemptionPolicy.FENCE,
        preemption_delay=duration_text(known.preemption_delay),
        quota_preemption_delay=duration_text(known.quota_preemption_delay),
        is_priority_fence=known.priority_fence,
        priority_offset=known.priority_offset,
        is_quota_preemption_running=queue.path in facts.view.reclaims,
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


def _template(template: TemplateSpec | None) -> QueueTemplate | None:
    if template is None:
        return None
    return QueueTemplate(
        max_applications=template.max_applications,
        max_resource=limits(template.max),
        guaranteed_resource=limits(template.guaranteed),
        properties=dict(sorted(template.properties.items())),
    )
