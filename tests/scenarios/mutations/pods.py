"""Mutations for rules of single pods: their users, their charges and their turns."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import msgspec

from core.decisions.decision import Ignored
from core.ledger.events import NODES, ObjectDeleted, ObjectObserved
from core.ledger.pods.record import Charge, Held, PodRecord
from core.ledger.state.state import State
from core.resource import Resource
from core.workload.pod import PodFacts
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced

# -- what a pod holds ------------------------------


def _free_while_deleting(rule: Rule, state: State, record: PodRecord) -> Charge | None:
    charge: Charge | None = rule(state, record)
    return None if record.facts.deleting else charge


def _unreserved(rule: Rule, state: State, record: PodRecord) -> Charge | None:
    charge: Charge | None = rule(state, record)
    if charge is not None and charge.held is Held.RESERVED:
        return replace(charge, held=Held.PENDING)
    return charge


def _late(rule: Rule, state: State, record: PodRecord) -> Charge | None:
    """Only the state in the API counts."""
    charge: Charge | None = rule(state, record)
    if charge is not None and charge.held is Held.ALLOCATED and not record.facts.node:
        return replace(charge, held=Held.PENDING)
    return charge


def _first_size(rule: Rule, state: State, record: PodRecord) -> Charge | None:
    charge: Charge | None = rule(state, record)
    known = state.usage.charges.get(record.uid)
    return replace(charge, size=known.size) if charge is not None and known is not None else charge


def _no_init_containers(rule: Rule, pod: Any) -> Resource:
    without = msgspec.structs.replace(pod.spec, init_containers=None)
    found: Resource = rule(type(pod)(pod.metadata, without, pod.status))
    return found


def _none_counted(rule: Rule, pod: Any) -> Resource:
    return Resource({name: amount for name, amount in rule(pod).items() if name != "pods"})


# -- whose pods they are ------------------------------

ALL_MANAGED = answering("pod_is_managed", True)


def _no_namespace(rule: Rule, pod: PodFacts, namespace: Any, **more: Any) -> bool:
    return bool(rule(pod, None, **more))


def _no_system(rule: Rule, pod: PodFacts, *args: Any, **more: Any) -> Any:
    """Pods of the system are ordinary pods."""
    return rule(replace(pod, namespace="none"), *args, **more)


# -- turns ------------------------------


def _no_effects(rule: Rule, cycle: Any) -> Generator[None, None, tuple[()]]:
    yield from rule(cycle)
    return ()


def _plain_rank(rule: Rule, record: PodRecord) -> tuple[int, float, int, Any]:
    return (-record.facts.priority, 0.0, record.seq, record.facts.uid)


def _cordon_counts(rule: Rule, state: Any, event: Any) -> Any:
    cordoned = isinstance(event, ObjectObserved) and event.kind is NODES and event.facts.unschedulable
    return rule(state, ObjectDeleted(NODES, event.facts.name) if cordoned else event)


GUARDED = answering("pod_is_unguarded", False)
"""Filter counts as called for every pod, so an opened gate is only a turn, which ends."""


PODS: dict[str, Mutate] = {
    "application-id-from-old-labels": replaced("pod_facts", lambda rule, pod: replace(rule(pod), app_id="")),
    "bind-that-takes-long": replaced("charge_of_pod", _unreserved),
    "gate-alone-without-a-scheduler": GUARDED,
    "gate-of-another-is-no-request": answering("pod_is_gated", False),
    "gate-opens-when-there-is-room": replaced("cycle", _no_effects),
    "gate-removed-by-another": GUARDED,
    "managed-by-namespace": replaced("pod_is_managed", _no_namespace),
    "node-kept-for-a-large-pod": answering("may_reserve_node", False),
    "node-kept-with-gates": answering("may_reserve_node", False),
    "preemption-by-a-pod-in-no-queue": ALL_MANAGED,
    "preemption-vetoed-without-quota": answering("preemption_answer", Ignored()),
    "quota-counts-pods": replaced("pod_size", _none_counted),
    "quota-of-the-root-counts-cordoned-nodes": replaced("nodes_are_learnt", _cordon_counts),
    "release-at-success": answering("pod_is_deleted", ()),
    "release-not-before-a-pod-is-gone": replaced("charge_of_pod", _free_while_deleting),
    "resize-counts-unasked": replaced("charge_of_pod", _first_size),
    "settings-change-whose-pods-are-managed": replaced(
        "settings", lambda rule, keys, overrides: rule({}, overrides)
    ),
    "size-of-a-pod-with-init-containers": replaced("pod_size", _no_init_containers),
    "turns-beside-a-node-of-no-use": both(
        answering("turns_leave_no_node", False), answering("found_no_node", False)
    ),
    "turns-of-a-first-burst-beside-a-cordoned-node": answering("crowded_nodes", False),
    "unmanaged-in-kube-system": replaced("pod_is_managed", _no_system),
    "unmanaged-pods-pass": ALL_MANAGED,
    "wake-the-oldest-first": replaced("order_of_asks", _plain_rank),
    "wake-when-quota-is-raised": replaced("cycle", _no_effects),
    "watch-that-is-late": replaced("charge_of_pod", _late),
}
