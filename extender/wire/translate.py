"""Translation of Kubernetes objects into core values. Pure.

Only here are the labels and annotations of YuniKorn's users read from pods. Raises `QuantityError` for an
invalid amount and `ValueError` for an invalid timestamp.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from sys import intern
from typing import Final

import msgspec

from core.ids import NO_NODE, NO_POD, NodeName, PodUid
from core.workload.budget import BudgetFacts
from core.workload.daemon_set import DaemonSetFacts, DaemonSetKey
from core.workload.nodes.affinity import Requirement
from core.workload.nodes.node import NodeFacts, Taint
from core.workload.pod import (
    ADMITTED,
    APPLICATION,
    EXECUTION,
    EXECUTION_TIMEOUT,
    GANG,
    GATE_OPENED,
    PREEMPTED_FOR,
    REPLACES,
    RESERVED_NODE,
    RUNNING_SINCE,
    TRIGGERED,
    NamespaceFacts,
    PodFacts,
    PriorityClassFacts,
)
from core.workload.timeouts.execution import LONGEST_RECORD
from extender.wire.annotations.gang import (
    DOMAIN,
    TASK_GROUP_NAME,
    carried_from,
    gang_from,
    is_placeholder,
    pod_group_from,
)
from extender.wire.annotations.identity import identity_from
from extender.wire.objects.budget import LabelSelector, WireBudget
from extender.wire.objects.constraints import (
    constraints_from,
    controller_of,
    has_volumes,
    is_complex,
    named_controller,
    required_node_of,
    requirements_from,
)
from extender.wire.objects.daemon_set import WireDaemonSet
from extender.wire.objects.namespace import (
    PARENT_QUEUE,
    guaranteed_from,
    max_applications_from,
    quota_from,
)
from extender.wire.objects.node import WireNode
from extender.wire.objects.plain import WireNamespace, WirePriorityClass
from extender.wire.objects.pod import PodMetadata, PodSpec, PodStatus, WirePod
from extender.wire.objects.sizing import asks_filter, markers_of, node_size, pod_size

APP_ID: Final = DOMAIN + "app-id"
QUEUE: Final = DOMAIN + "queue"
ENABLED: Final = DOMAIN + "namespace.enableYuniKorn"
GENERATE_APP_ID: Final = DOMAIN + "namespace.generateAppId"
STATE_AWARE_OFF: Final = "disableStateAware"
USER_INFO: Final = DOMAIN + "user.info"
ALLOW_PREEMPTION: Final = DOMAIN + "allow-preemption"
MIRROR: Final = "kubernetes.io/config.mirror"

LARGEST_SELECTOR: Final = 200
"""Requirements and values of a DaemonSet's selector, at most. It is evaluated at each event of its pods."""

TERMINAL: Final = ("Succeeded", "Failed")
_DEFAULT_GRACE: Final = 30
_LONGEST_QUEUE: Final = 1024
_LONGEST_EXECUTION: Final = LONGEST_RECORD + 1
"""Longest text that is kept: a character more than is read, so that a longer one stays invalid."""
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"
_NO_KEYS: Final[dict[str, str]] = {}


def pod_from(pod: WirePod) -> PodFacts:
    """Everything that core needs to know about a pod. Cost: about ten microseconds."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    # Not Mapping, of which mypyc would look up each method.
    labels: dict[str, str] = meta.labels or _NO_KEYS
    annotations: dict[str, str] = meta.annotations or _NO_KEYS
    markers, constraints = markers_of(pod), constraints_from(spec)
    controller = controller_of(meta.owner_references) if meta.owner_references else None
    gang = gang_from(annotations)
    preemptor, _, preempted_why = annotations.get(PREEMPTED_FOR, "").partition(" ")
    preempted_for, _, preempted_plan = preemptor.partition("/")
    # mypyc leaves the constructor to the interpreter, which would take longer than everything else here.
    facts: PodFacts = PodFacts.__new__(PodFacts)
    facts.uid = PodUid(meta.uid)
    facts.namespace = intern(meta.namespace or "default")
    facts.name = meta.name
    facts.size = pod_size(pod)
    facts.version = version_from(meta.resource_version)
    facts.created = seconds_from(meta.creation_timestamp)
    facts.scheduler_name = intern(spec.scheduler_name)
    facts.priority = spec.priority or 0
    facts.node = NodeName(intern(spec.node_name))
    facts.terminal = status.phase in TERMINAL
    facts.deleting = meta.deletion_timestamp is not None
    facts.app_id = intern(_app_id(labels, annotations))
    facts.queue = intern(_queue(labels, annotations))
    facts.marked = APP_ID in labels or QUEUE in labels or APP_ID in annotations or QUEUE in annotations
    facts.gates = tuple([gate.name for gate in spec.scheduling_gates]) if spec.scheduling_gates else ()
    facts.nominated = NodeName(status.nominated_node_name)
    facts.unscheduled = _refused_by(status, "PodScheduled")
    facts.attempt_broke_off = _broke_off(status)
    facts.identity = identity_from(annotations.get(USER_INFO))
    facts.claims = len(spec.resource_claims or ())
    facts.constraints = constraints
    facts.gate_reported = _refused_by(status, ADMITTED)
    facts.reserved_node = NodeName(annotations.get(RESERVED_NODE, ""))
    facts.asks_filter = asks_filter(markers)
    facts.gate_opened = GATE_OPENED in annotations
    facts.triggered = annotations.get(TRIGGERED, "")
    facts.preempted_for = preempted_for
    facts.preempted_plan = preempted_plan
    facts.preempted_why = preempted_why
    facts.starts_at_once = bool(labels.get(STATE_AWARE_OFF) or annotations.get(STATE_AWARE_OFF))
    facts.never_preempts = spec.preemption_policy == "Never"
    facts.allow_preemption = _allow_preemption(annotations)
    facts.priority_class = intern(spec.priority_class_name)
    facts.required_node = required_node_of(spec) if controller is not None else NO_NODE
    facts.daemon_set = controller
    facts.controller = named_controller(meta.owner_references) if meta.owner_references else ""
    facts.complex = is_complex(spec) or constraints.unread
    facts.has_volumes = has_volumes(spec)
    facts.grace = _DEFAULT_GRACE if (grace := spec.termination_grace_period_seconds) is None else grace
    facts.labels = _one_of_each(tuple(sorted(labels.items()))) if labels else _NO_KEYS
    facts.disrupted = _was_preempted(status)
    facts.task_group = intern(annotations.get(TASK_GROUP_NAME, ""))
    facts.placeholder = is_placeholder(annotations)
    facts.gang = gang
    facts.pod_group = pod_group_from(
        labels, spec.scheduling_group.pod_group_name if spec.scheduling_group is not None else ""
    )
    facts.owner = owner_of(meta) if meta.owner_references else NO_POD
    facts.pull_secrets = _pull_secrets(spec) if spec.image_pull_secrets else ()
    facts.markers = markers
    facts.replaces = PodUid(annotations.get(REPLACES, ""))
    facts.gang_noted = annotations.get(GANG, "")
    facts.gang_annotations = carried_from(gang, annotations) if gang is not None else _NO_KEYS
    facts.taken_as = annotations.get(APPLICATION, "")
    facts.scheduled_at = _scheduled_at(status) if spec.node_name else 0.0
    facts.mirror = MIRROR in annotations
    facts.execution_timeout = annotations.get(EXECUTION_TIMEOUT, "")[:_LONGEST_EXECUTION]
    facts.running_since = annotations.get(RUNNING_SINCE, "")[:_LONGEST_EXECUTION]
    facts.execution = annotations.get(EXECUTION, "")[:_LONGEST_EXECUTION]
    return facts


def node_from(node: WireNode) -> NodeFacts:
    """Everything that core needs to know about a node."""
    return NodeFacts(
        name=NodeName(node.metadata.name),
        allocatable=node_size(node),
        version=version_from(node.metadata.resource_version),
        unschedulable=node.spec.unschedulable,
        labels=node.metadata.labels or _NO_KEYS,
        taints=tuple(Taint(each.key, each.value, each.effect) for each in node.spec.taints or ()),
    )


def namespace_from(namespace: WireNamespace) -> NamespaceFacts:
    """Name and annotations of a namespace."""
    meta = namespace.metadata
    annotations = meta.annotations or _NO_KEYS
    return NamespaceFacts(
        meta.name,
        annotations.get(ENABLED, ""),
        annotations.get(PARENT_QUEUE, ""),
        quota_from(annotations),
        guaranteed_from(annotations),
        max_applications_from(annotations),
        annotations.get(GENERATE_APP_ID, ""),
    )


def priority_class_from(item: WirePriorityClass) -> PriorityClassFacts:
    """Value of a PriorityClass, and its annotation about preemption."""
    meta = item.metadata
    return PriorityClassFacts(meta.name, item.value, (meta.annotations or _NO_KEYS).get(ALLOW_PREEMPTION, ""))


def budget_from(budget: WireBudget) -> BudgetFacts:
    """Selector of a disruption budget, and the disruptions that it allows now."""
    meta, status = budget.metadata, budget.status
    current = status.observed_generation >= meta.generation
    return BudgetFacts(
        namespace=intern(meta.namespace or "default"),
        name=meta.name,
        selector=_selector(budget.spec.selector),
        allowed=status.disruptions_allowed if current else 0,
    )


def daemon_set_from(item: WireDaemonSet) -> DaemonSetFacts:
    """Name, uid and selector of a DaemonSet. A selector above `LARGEST_SELECTOR` counts as empty (F-10)."""
    meta = item.metadata
    key = DaemonSetKey(meta.namespace or "default", meta.name)
    selector = _selector(item.spec.selector) or ()
    size = sum(1 + len(each.values) for each in selector)
    return DaemonSetFacts(key, meta.uid, selector if size <= LARGEST_SELECTOR else ())


def _selector(selector: LabelSelector | None) -> tuple[Requirement, ...] | None:
    if selector is None:
        return None
    labels = sorted((selector.match_labels or _NO_KEYS).items())
    equal = (Requirement(key, "In", (value,)) for key, value in labels)
    return (*equal, *requirements_from(selector.match_expressions))


def owner_of(meta: PodMetadata) -> PodUid:
    """Uid of the pod that owns this one, or `NO_POD`. The first owner counts (GANG-2)."""
    for each in meta.owner_references or ():
        if each.kind == "Pod" and each.api_version == "v1":
            return PodUid(each.uid)
    return NO_POD


def version_from(text: str) -> int:
    """A resourceVersion as a number, which can be compared within one kind. 0 if it is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def seconds_from(timestamp: str | None) -> float:
    """Seconds since the epoch, from an RFC 3339 time. 0 without a timestamp. Raises ValueError."""
    return _seconds_from(timestamp) if timestamp else 0.0


@lru_cache(maxsize=1024)
def _seconds_from(timestamp: str) -> float:
    """Seconds of a time. Pods of one second, and all events of a pod, have the same text."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        # Python's own text repeats the value, however long it is.
        raise ValueError("creationTimestamp is not an RFC 3339 time") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _app_id(labels: dict[str, str], annotations: dict[str, str]) -> str:
    """Name of the pod's application: the first of four keys that is not empty (POD-3)."""
    return (
        labels.get(APP_ID)
        or annotations.get(APP_ID)
        or labels.get("applicationId")
        or labels.get("spark-app-selector")
        or ""
    )


def _queue(labels: dict[str, str], annotations: dict[str, str]) -> str:
    """Name of the pod's queue: the first of three keys that is not empty (POD-5).

    An overlong name is cut, with a character at the end that no queue name contains.
    """
    found = labels.get(QUEUE) or annotations.get(QUEUE) or labels.get("queue") or ""
    return found if len(found) <= _LONGEST_QUEUE else f"{found[:_LONGEST_QUEUE]}{_CUT}"


def _allow_preemption(annotations: dict[str, str]) -> str:
    """Value of the annotation if it is ``true`` or ``false``, else empty (PRE-4)."""
    text = annotations.get(ALLOW_PREEMPTION, "")
    return text if text in ("true", "false") else ""


def _pull_secrets(spec: PodSpec) -> tuple[str, ...]:
    return tuple(intern(each.name) for each in spec.image_pull_secrets or () if each.name)


def _was_preempted(status: PodStatus) -> bool:
    return bool(status.conditions) and any(
        each.type == "DisruptionTarget" and each.status == "True" and each.reason == "PreemptionByScheduler"
        for each in status.conditions or ()
    )


def _dict_of(labels: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return dict(labels)


_one_of_each: Final = lru_cache(maxsize=4096)(_dict_of)
"""Shared labels for all pods with equal ones."""


def _scheduled_at(status: PodStatus) -> float:
    """Time at which a pod was scheduled, in seconds since the epoch. 0 if it is absent or invalid."""
    # Only answers for people show it, so an invalid time is no error.
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "True":
            try:
                return seconds_from(condition.last_transition_time)
            except ValueError:
                return 0.0
    return 0.0


def _refused_by(status: PodStatus, kind: str) -> str:
    """Message of the condition of that type if its status is False, else empty."""
    for condition in status.conditions or ():
        if condition.type == kind and condition.status == "False":
            return condition.message
    return ""


def _broke_off(status: PodStatus) -> bool:
    """True if kube-scheduler's last attempt ended with an error, such as a filter call without an answer."""
    return any(
        each.type == "PodScheduled" and each.status == "False" and each.reason == "SchedulerError"
        for each in status.conditions or ()
    )


POD: msgspec.json.Decoder[WirePod] = msgspec.json.Decoder(WirePod)
NODE: msgspec.json.Decoder[WireNode] = msgspec.json.Decoder(WireNode)
NAMESPACE: msgspec.json.Decoder[WireNamespace] = msgspec.json.Decoder(WireNamespace)
BUDGET: msgspec.json.Decoder[WireBudget] = msgspec.json.Decoder(WireBudget)
DAEMON_SET: msgspec.json.Decoder[WireDaemonSet] = msgspec.json.Decoder(WireDaemonSet)
PRIORITY_CLASS: msgspec.json.Decoder[WirePriorityClass] = msgspec.json.Decoder(WirePriorityClass)
