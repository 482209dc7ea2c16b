"""Queues, applications and usage as YuniKorn's REST interface shows them: pure projections of the ledger.

Member names and units are those of REST-3, REST-6, REST-7 and REST-9: ``vcore`` in millicores, memory in
bytes, times in nanoseconds since the epoch. A member that would be zero or empty is left out, unless REST
says "always".
"""

from collections.abc import Iterable, Mapping
from typing import Any

from core.durations import duration_text
from core.ids import NO_NODE, AppId
from core.ledger.gangs.index import is_promised
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.headroom import headroom
from core.queues.properties import PreemptionPolicy
from core.queues.queue import Queue
from core.queues.spec import TemplateSpec
from core.queues.users.limits import Tracked, entry_for
from core.resource import Limit, Resource, usage_percent
from core.workload.application import Application
from core.workload.gangs.progress import GangProgress
from core.workload.states import AppState

PARTITION = "default"


def queue_view(
    view: LedgerView, queue: Queue, *, subtree: bool = False, partition: bool = False
) -> dict[str, Any]:
    """A queue (REST-6). ``subtree``: with its children; ``partition``: name it, as in the full tree.

    An ask whose Binding is on its way counts as allocated, as it does in YuniKorn.
    """
    held = queue.allocated.as_resource() + queue.reserved.as_resource()
    body: dict[str, Any] = {
        "queuename": queue.path,
        "status": "Draining" if queue.draining else "Active",
        "partition": PARTITION if partition else "",
        "pendingResource": _amounts(queue.pending.as_resource()),
        "maxResource": _amounts(queue.max),
        "guaranteedResource": _amounts(queue.guaranteed),
        "allocatedResource": _amounts(held),
        "preemptingResource": _amounts(queue.preempting.as_resource()),
        "headroom": _all_amounts(headroom(queue.chain)),
        "properties": dict(queue.entries),
        "parent": queue.parent.path if queue.parent is not None else "",
        "template": _template(None if queue.is_leaf else queue.template),
        "childNames": [child.path for child in queue.children.values()],
        "absUsedCapacity": _percentages(queue.max, held),
        "maxRunningApps": queue.spec.max_applications,
        "runningApps": len(queue.running),
        **_property_members(queue),
    }
    if subtree:
        body["children"] = [
            queue_view(view, child, subtree=True, partition=partition) for child in queue.children.values()
        ]
    always = {
        "queuename": queue.path,
        "isLeaf": queue.is_leaf,
        "isManaged": not queue.dynamic,
        "prioritySorting": queue.properties.sort_by_priority,
        "preemptionEnabled": queue.properties.preemption is not PreemptionPolicy.DISABLED,
        "isPreemptionFence": queue.properties.preemption is PreemptionPolicy.FENCE,
        "isPriorityFence": queue.properties.priority_fence,
        "currentPriority": queue.priority,
    }
    return {**always, **_without_empty(body)}


def _property_members(queue: Queue) -> dict[str, Any]:
    """Delays as Go prints them; one that is off is left out."""
    known = queue.properties
    return {
        "sortingPolicy": known.sort_policy.value,
        "preemptionDelay": duration_text(known.preemption_delay),
        "quotaPreemptionDelay": duration_text(known.quota_preemption_delay)
        if known.quota_preemption_delay
        else "",
        "priorityOffset": known.priority_offset,
    }


def application_view(view: LedgerView, application: Application) -> dict[str, Any]:
    """An application (REST-7). What placeholders hold is not used by it (GANG-8)."""
    records = [record for uid in sorted(application.pods) if (record := view.pod(uid)) is not None]
    records.sort(key=lambda record: (record.seq, record.uid))
    held = [record for record in records if _holds(record)]
    asking = [record for record in records if _asks(view, record)]
    body = {
        "usedResource": _amounts(_sum([record for record in held if not record.facts.placeholder])),
        "pendingResource": _amounts(_sum(asking)),
        "requests": [_request(application, record) for record in asking],
        "allocations": [_allocation(application, record) for record in held],
        "applicationState": application.state.value,
        "namespace": application.id.namespace,
        "user": application.identity.user,
        "groups": list(application.groups or ()),
        "rejectedMessage": application.refusal.text if application.refusal is not None else "",
        "maxRequestPriority": max((record.facts.priority for record in asking), default=0),
        "submissionTime": _nanoseconds(application.submitted),
        "backoffDeadline": _nanoseconds(application.backs_off_until or 0.0),
        "finishedTime": _nanoseconds(application.since) if application.ended else 0,
        "stateLog": [
            {"time": _nanoseconds(since), "applicationState": state.value}
            for since, state in application.states
            if state is not AppState.NEW
        ],
        "placeholderData": _placeholder_data(application.gang_progress),
    }
    always = {
        "applicationID": application.id.name,
        "partition": PARTITION,
        "queueName": application.queue or application.requested,
    }
    return {**always, **_without_empty(body)}


def user_view(view: LedgerView, user: str) -> dict[str, Any] | None:
    """A user's usage (REST-9), None for one who uses nothing and is limited nowhere."""
    queues = _usage(view, view.tree.root, "user", user)
    if queues is None:
        return None
    groups = {
        view.identities.shown(application.id): application.group
        for application in sorted(view.applications(), key=lambda each: each.id)
        if application.identity.user == user and application.group
    }
    return {"userName": user, **_without_empty({"groups": groups, "queues": queues})}


def group_view(view: LedgerView, group: str) -> dict[str, Any] | None:
    """A group's usage (REST-9), None for one that uses nothing and is limited nowhere."""
    queues = _usage(view, view.tree.root, "group", group)
    if queues is None:
        return None
    applications = _shown(view, (each.id for each in view.applications() if each.group == group))
    return {"groupName": group, **_without_empty({"applications": applications, "queues": queues})}


def _usage(view: LedgerView, queue: Queue, kind: str, name: str) -> dict[str, Any] | None:
    tracked = Tracked(kind, name, queue.path)
    usage, limit = view.book.get(tracked), entry_for(view.limits, tracked)
    children = [
        found for child in queue.children.values() if (found := _usage(view, child, kind, name)) is not None
    ]
    if usage is None and limit is None and not children:
        return None
    body = {
        "queuePath": queue.path,
        "resourceUsage": _amounts(usage.held.as_resource()) if usage is not None else {},
        "runningApplications": _shown(view, usage.applications) if usage is not None else [],
        "maxResources": _amounts(limit.max) if limit is not None else {},
        "maxApplications": limit.max_applications if limit is not None else 0,
        "children": children,
    }
    return _without_empty(body)


def _shown(view: LedgerView, app_ids: Iterable[AppId]) -> list[str]:
    return [view.identities.shown(each) for each in sorted(app_ids)]


def _holds(record: PodRecord) -> bool:
    return bool(record.node) or is_promised(record) or record.is_unguarded


def _sum(records: list[PodRecord]) -> Resource:
    total = Resource({})
    for record in records:
        total += record.facts.size
    return total


def _request(application: Application, record: PodRecord) -> dict[str, Any]:
    """An ask that has no node."""
    body = _pod(application, record)
    body["requestTime"] = _nanoseconds(record.facts.created)
    return _without_empty(body)


def _allocation(application: Application, record: PodRecord) -> dict[str, Any]:
    body = _pod(application, record)
    body["requestTime"] = _nanoseconds(record.facts.created)
    body["nodeId"] = record.node or (record.placement.binding if record.placement.binding != NO_NODE else "")
    body["placeholderUsed"] = bool(record.facts.replaces)
    return _without_empty(body)


def _pod(application: Application, record: PodRecord) -> dict[str, Any]:
    facts = record.facts
    tags = {"kubernetes.io/meta/namespace": facts.namespace, "kubernetes.io/meta/podName": facts.name}
    return {
        "allocationKey": facts.uid,
        "allocationTags": tags,
        "resource": _amounts(facts.size),
        "priority": str(facts.priority),
        "applicationId": application.id,
        "taskGroupName": facts.task_group,
        "placeholder": facts.placeholder,
        "originator": application.originator is not None and application.originator[2] == facts.uid,
    }


def _asks(view: LedgerView, record: PodRecord) -> bool:
    """Pods that wait for their gang are no requests yet (APP-11)."""
    return record.is_ask and not _holds(record) and not view.awaits_gang(record)


def _placeholder_data(gang_progress: GangProgress | None) -> list[dict[str, Any]]:
    """By task group, in the order of definition (GANG-16)."""
    return [
        _without_empty(
            {
                "taskGroupName": name,
                "count": each.count,
                "minResource": _amounts(each.group.size),
                "replaced": each.replaced,
                "timedout": each.timed_out,
            }
        )
        for name, each in (gang_progress.groups.items() if gang_progress is not None else ())
    ]


def _template(template: TemplateSpec | None) -> dict[str, Any]:
    if template is None:
        return {}
    body = {
        "maxApplications": template.max_applications,
        "maxResource": _amounts(template.max),
        "guaranteedResource": _amounts(template.guaranteed),
        "properties": dict(template.properties),
    }
    return _without_empty(body)


def _percentages(cap: Limit | None, used: Resource) -> dict[str, int]:
    return dict(sorted(usage_percent(cap, used).items())) if cap is not None else {}


def _amounts(values: Resource | Limit | None) -> dict[str, int]:
    """Zero entries mean nothing in a usage, and everything in a limit."""
    if values is None:
        return {}
    keep_zeros = isinstance(values, Limit)
    return {name: amount for name, amount in sorted(values.items()) if amount or keep_zeros}


def _all_amounts(values: Limit) -> dict[str, int]:
    return dict(sorted(values.items()))


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1000) * 1_000_000


def _without_empty(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value not in (0, "", None) and value not in ({}, [])}
