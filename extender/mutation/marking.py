"""Marker resources and gate of managed pods, as the policies that mark and gate them."""

from collections.abc import Collection

from core.workload.managed import SYSTEM_NAMESPACE
from core.workload.pod import OWN_GATE, NamespaceFacts
from extender.mutation.pod import NewPod
from extender.wire.translate import APP_ID, QUEUE

MARKERS = ("paddock.dev/filter", "paddock.dev/preempt", "paddock.dev/bind")
"""Extended resources, one for each `extenders` entry of kube-scheduler."""

OWN_SCHEDULERS = frozenset({"yunikorn", "paddock"})
"""Scheduler names whose pods are managed."""

ALL_SCHEDULERS = OWN_SCHEDULERS | {"default-scheduler"}
"""Scheduler names of all profiles that Paddock ships."""


def mark(pod: NewPod, namespace: NamespaceFacts, schedulers: Collection[str]) -> None:
    """Add the markers to a managed pod without a node, if one of these schedulers places it."""
    if _waits_for(pod, schedulers) and pod.spec.containers and _is_managed(pod, namespace):
        pod.request(MARKERS)


def gate(pod: NewPod, namespace: NamespaceFacts) -> None:
    """Add the gate to a managed pod without a node that does not have it."""
    gates = {each.name for each in pod.spec.scheduling_gates or ()}
    if _waits_for(pod, ALL_SCHEDULERS) and OWN_GATE not in gates and _is_managed(pod, namespace):
        pod.gate(OWN_GATE)


def _waits_for(pod: NewPod, schedulers: Collection[str]) -> bool:
    return not pod.spec.node_name and pod.spec.scheduler_name in schedulers


def _is_managed(pod: NewPod, namespace: NamespaceFacts) -> bool:
    if namespace.enabled == "true":
        return True
    is_named = pod.spec.scheduler_name in OWN_SCHEDULERS
    has_key = any(key in pod.labels or key in pod.annotations for key in (APP_ID, QUEUE))
    return namespace.name != SYSTEM_NAMESPACE and (is_named or has_key)
