"""Queues, applications and usage as YuniKorn's REST interface shows them: pure projections of a snapshot.

Member names and units are those of REST-3, REST-6, REST-7 and REST-9: ``vcore`` in millicores, memory in
bytes, times in nanoseconds since the epoch. A member that would be zero or empty is left out, unless REST
says "always".
"""

from collections.abc import Mapping
from typing import Any

from core.ids import NO_NODE
from core.ledger.record import PodRecord
from core.ledger.snapshot import Snapshot
from core.queues.headroom import headroom
from core.queues.queue import Queue
from core.queues.spec import TemplateSpec
from core.resource import Limit, Resource, usage_percent
from core.workload.application import Application

PARTITION = "default"


def queue_view(
    snapshot: Snapshot, queue: Queue, *, subtree: bool = False, partition: bool = False
) -> dict[str, Any]:
    """A queue (REST-6). ``subtree``: with its children; ``partition``: name it, as in the full tree.

    An ask whose Binding is on its way counts as allocated, as it does in YuniKorn.
    """
    held = queue.allocated.as_resource() + queue.reserved.as_resource()
    view: dict[str, Any] = {
        "queuename": queue.path,
        "status": "Draining" if queue.draining else "Active",
        "partition": PARTITION if partition else "",
        "pendingResource": _amounts(queue.pending.as_resource()),
        "maxResource": _amounts(queue.max),
        "guaranteedResource": _amounts(queue.guaranteed),
        "allocatedResource": _amounts(held),
        "headroom": _all_amounts(headroom(queue.chain)),
        "properties": dict(queue.spec.properties),
        "parent": queue.parent.path if queue.parent is not None else "",
        "template": _template(queue.spec.template),
        "childNames": [child.path for child in queue.children.values()],
        "absUsedCapacity": _percentages(queue.max, held),
        "maxRunningApps": queue.spec.max_applications,
        "runningApps": _running(snapshot, queue),
    }
    if subtree:
        view["children"] = [
            queue_view(snapshot, child, subtree=True, partition=partition)
            for child in queue.children.values()
        ]
    always = {"queuename": queue.path, "isLeaf": queue.is_leaf, "isManaged": True}
    return {**always, **_without_empty(view)}


def application_view(snapshot: Snapshot, application: Application) -> dict[str, Any]:
    """An application (REST-7)."""
    records = [record for uid in sorted(application.pods) if (record := snapshot.pod(uid)) is not None]
    records.sort(key=lambda record: (record.seq, record.uid))
    held = [record for record in records if _holds(record)]
    asking = [record for record in records if record.is_ask and not _holds(record)]
    view = {
        "usedResource": _amounts(_sum(held)),
        "pendingResource": _amounts(_sum(asking)),
        "requests": [_request(application, record) for record in asking],
        "allocations": [_allocation(application, record) for record in held],
        "applicationState": _state(application, held),
        "rejectedMessage": application.refusal.text if application.refusal is not None else "",
        "maxRequestPriority": max((record.facts.priority for record in asking), default=0),
        "submissionTime": _nanoseconds(min((record.facts.created for record in records), default=0.0)),
    }
    always = {
        "applicationID": application.id,
        "partition": PARTITION,
        "queueName": application.queue or application.requested,
    }
    return {**always, **_without_empty(view)}


def _running(snapshot: Snapshot, queue: Queue) -> int:
    """Applications in or below a queue that have something on a node."""
    own = sum(
        1
        for app_id in queue.applications
        if (application := snapshot.application(app_id)) is not None and _is_running(snapshot, application)
    )
    return own + sum(_running(snapshot, child) for child in queue.children.values())


def _is_running(snapshot: Snapshot, application: Application) -> bool:
    records = (snapshot.pod(uid) for uid in application.pods)
    return any(record is not None and _holds(record) for record in records)


def _state(application: Application, held: list[PodRecord]) -> str:
    if application.refusal is not None and application.queue is None:
        return "Rejected"
    return "Running" if held else "Accepted"


def _holds(record: PodRecord) -> bool:
    return bool(record.node) or record.reservation is not None


def _sum(records: list[PodRecord]) -> Resource:
    total = Resource({})
    for record in records:
        total += record.facts.size
    return total


def _request(application: Application, record: PodRecord) -> dict[str, Any]:
    """An ask that has no node."""
    view = _pod(application, record)
    view["requestTime"] = _nanoseconds(record.facts.created)
    return _without_empty(view)


def _allocation(application: Application, record: PodRecord) -> dict[str, Any]:
    view = _pod(application, record)
    view["requestTime"] = _nanoseconds(record.facts.created)
    view["nodeId"] = record.node or (record.binding if record.binding != NO_NODE else "")
    return _without_empty(view)


def _pod(application: Application, record: PodRecord) -> dict[str, Any]:
    facts = record.facts
    tags = {"kubernetes.io/meta/namespace": facts.namespace, "kubernetes.io/meta/podName": facts.name}
    return {
        "allocationKey": facts.uid,
        "allocationTags": tags,
        "resource": _amounts(facts.size),
        "priority": str(facts.priority),
        "applicationId": application.id,
    }


def _template(template: TemplateSpec | None) -> dict[str, Any]:
    if template is None:
        return {}
    view = {
        "maxApplications": template.max_applications,
        "maxResource": _amounts(template.max),
        "guaranteedResource": _amounts(template.guaranteed),
        "properties": dict(template.properties),
    }
    return _without_empty(view)


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


def _without_empty(view: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in view.items() if value not in (0, "", None) and value not in ({}, [])}
