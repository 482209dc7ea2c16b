"""Answers about pods: requests, allocations and foreign allocations (REST-34 to REST-36)."""

from core.ledger.pods.record import PodRecord
from core.workload.application import Application
from core.workload.pod import PodFacts
from extender.rest.facts import Facts
from extender.rest.model.applications import Allocation, ForeignAllocation, Request
from extender.rest.projection.units import amounts, nanoseconds

NAMESPACE = "kubernetes.io/meta/namespace"
POD_NAME = "kubernetes.io/meta/podName"
LABEL = "kubernetes.io/label/"
REQUIRED_NODE = "yunikorn.apache.org/requiredNode"
CREATED = "creationTime"
FOREIGN = "foreign"


def request_from(facts: Facts, application: Application, record: PodRecord) -> Request:
    """Build the answer for a pod that waits for a node."""
    pod = record.facts
    return Request(
        allocation_key=pod.uid,
        allocation_tags=tags_of(record),
        request_time=nanoseconds(pod.created),
        resource=amounts(pod.size),
        priority=str(pod.priority),
        required_node_id=record.daemon.required_node,
        application_id=application.id.name,
        placeholder=pod.placeholder,
        task_group_name=pod.task_group,
        allocation_log=facts.past.reasons(pod.uid),
        triggered_preemption=bool(record.preemption.triggered or record.preemption.plans),
        originator=is_originator(application, pod),
        scheduling_attempted=was_tried(record),
        triggered_scale_up=bool(pod.unscheduled),
    )


def was_tried(record: PodRecord) -> bool:
    """True if a filter call or a quota check was made for the pod."""
    admission = record.admission
    asked = admission.sent is not None or admission.reservation is not None or admission.let_through
    return asked or admission.refused or record.preemption.tried_at is not None


def allocation_from(application: Application, record: PodRecord, node: str) -> Allocation:
    """Build the answer for a pod that is bound or being bound."""
    pod = record.facts
    bound = nanoseconds(bound_at(record))
    return Allocation(
        allocation_key=pod.uid,
        allocation_tags=tags_of(record),
        request_time=nanoseconds(pod.created),
        allocation_time=bound,
        allocation_delay=max(0, bound - nanoseconds(pod.created)),
        resource=amounts(pod.size),
        priority=str(pod.priority),
        node_id=node,
        application_id=application.id.name,
        placeholder=pod.placeholder,
        placeholder_used=bool(pod.replaces),
        task_group_name=pod.task_group,
        originator=is_originator(application, pod),
        preempted=record.preempting,
    )


def bound_at(record: PodRecord) -> float:
    """Return the time of binding from the pod's status, or the time when its node was first seen."""
    return record.facts.scheduled_at or record.placement.placed_at


def foreign_from(record: PodRecord, node: str) -> ForeignAllocation:
    """Build the answer for a pod that belongs to no queue."""
    pod = record.facts
    tags = tags_of(record) | {FOREIGN: "static" if pod.mirror else "default", CREATED: str(int(pod.created))}
    return ForeignAllocation(
        allocation_key=pod.uid,
        allocation_tags=tags,
        allocation_time=nanoseconds(bound_at(record)),
        resource=amounts(pod.size),
        priority=str(pod.priority),
        node_id=node,
        preemptable=not pod.mirror,
    )


def is_originator(application: Application, pod: PodFacts) -> bool:
    """True for the originator of an application (PRE-4)."""
    return application.originator is not None and application.originator[2] == pod.uid


def tags_of(record: PodRecord) -> dict[str, str]:
    """Return the namespace, name and labels of a pod, and its required node."""
    pod = record.facts
    tags = {NAMESPACE: pod.namespace, POD_NAME: pod.name}
    tags |= {LABEL + key: value for key, value in sorted(pod.labels.items())}
    if record.daemon.required_node:
        tags[REQUIRED_NODE] = record.daemon.required_node
    return tags
