"""Mutations for rules of documents, queues, placement, quotas and limits."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.ids import DEFAULT_QUEUE, AppId, QueuePath
from core.ledger.applications.placement import settle_in
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.queues.headroom import Shortfall
from core.queues.placement.rules import Chosen
from core.queues.queue import Queue
from core.reasons import Code, Refusal
from core.resource import Resource
from core.workload.application import Application
from core.workload.ending import Ending
from core.workload.pod import PodFacts
from tests.scenarios.mutations.gangs import has_started
from tests.scenarios.mutations.ordering import leaf_only
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced

NO_QUOTA = both(answering("shortfall", None), answering("passed_queues", ()))

EACH_NAMESPACE_BY_ITSELF = replaced(
    "settings",
    lambda rule, keys, overrides: rule(keys, {**overrides, "applications_across_namespaces": "never"}),
)
"""Treat each namespace alone, whatever ``paddock.applications.acrossNamespaces`` says."""

# -- documents ------------------------------


def _no_blocks_of_zeros(rule: Rule, partition: Any, *, zero_blocks: bool = False) -> Any:
    return rule(partition)


def _empty_queues(rule: Rule, tree: Any, partition: Any) -> None:
    """Usage is not carried over."""
    rule(tree, partition)
    for queue in tree:
        queue.allocated = type(queue.allocated)()


def _still_dynamic(rule: Rule, queue: Queue, spec: Any) -> None:
    before = queue.dynamic
    rule(queue, spec)
    queue.dynamic = before


# -- actions ------------------------------


def _without_force(rule: Rule, state: State, record: PodRecord, ending: Ending) -> None:
    rule(state, record, replace(ending, force=False))


def _at_once(rule: Rule, target: float, known: float | None, *, is_new: bool, now: float) -> float:
    return target


def _now(rule: Rule, state: State, record: PodRecord) -> float:
    return state.now


# -- applications and their queues ------------------------------


def _per_queue(rule: Rule, pod: PodFacts, *, unique: bool) -> AppId:
    known: AppId = rule(pod, unique=unique)
    return known._replace(name=f"{known.name}-{pod.queue}")


def _whatever_its_namespace(rule: Rule, pod: PodFacts, *, unique: bool) -> AppId:
    known: AppId = rule(pod, unique=unique)
    return known._replace(namespace="")


def _all_of_it(rule: Rule, state: State, application: Application, running: Any) -> list[PodRecord]:
    """Waiting pods go to the recovery queue with the running ones."""
    settle_in(state, application, state.config.tree.recovery_queue().path)
    return []


def _unforced(rule: Rule, tree: Any, known: Any, request: Any) -> Any:
    return rule(tree, known, replace(request, forced=False))


def _without_parents(rule: Rule, tree: Any, known: Any, request: Any) -> Any:
    """Every rule begins at the root."""
    return rule(tree, [replace(each, parent=None) for each in known], request)


def _without_the_default(rule: Rule, *args: Any) -> Any:
    found = rule(*args)
    taken = isinstance(found, Chosen) and found.path == DEFAULT_QUEUE
    return Refusal(Code.PLACEMENT_FAILED, "no queue named") if taken else found


def _undrained(rule: Rule, tree: Any, *args: Any) -> Any:
    drained = [queue for queue in tree if queue.draining]
    for queue in drained:
        queue.draining = False
    found = rule(tree, *args)
    for queue in drained:
        queue.draining = True
    return found


def _opened(rule: Rule, tree: Any, partition: Any) -> None:
    """A document opens every queue."""
    rule(tree, partition)
    for queue in tree:
        queue.closed = None


def _failed(rule: Rule, *args: Any) -> Any:
    """All placements fail for the same reason."""
    found = rule(*args)
    return Refusal(Code.PLACEMENT_FAILED, "no queue") if isinstance(found, Refusal) else found


# -- quotas ------------------------------


def _all_types(rule: Rule, chain: Any, size: Resource, **more: Any) -> Any:
    """Including types that no pod requests."""
    for queue in chain:
        held, cap = queue.allocated.as_resource(), queue.max
        for name in cap.names() if cap is not None else ():
            if name not in size and held.get(name) > (cap.get(name) or 0):
                return Shortfall(queue, name)
    return rule(chain, size, **more)


def _known_types(rule: Rule, chain: Any, size: Resource, **more: Any) -> Any:
    """Types that no node offers do not count."""
    cap = chain[-1].max
    known = {name: amount for name, amount in size.items() if cap is not None and name in cap}
    return rule(chain, Resource(known) if chain[-1].is_root else size, **more)


def _clamped(rule: Rule, chain: Any) -> Any:
    headroom = rule(chain)
    return type(headroom)({name: max(0, amount) for name, amount in headroom.items()})


def placed(by: Callable[..., Any]) -> Mutate:
    return replaced("queue_of_application", by)


QUEUES: dict[str, Mutate] = {
    "access-denied": answering("may_submit", True),
    "application-across-namespaces-of-one-user": EACH_NAMESPACE_BY_ITSELF,
    "application-of-another-namespace": replaced("application_id", _whatever_its_namespace),
    "application-stays-in-its-first-queue": replaced("application_id", _per_queue),
    "cleaner-runs-every-ten-seconds": answering("unused_queues_go", None),
    "closed-queue": answering("queue_is_closed", None),
    "closed-queue-and-a-gang": answering("queue_is_closed", None),
    "closed-queue-during-a-preemption": answering("queue_is_closed", None),
    "closed-queue-opens-by-itself": answering("queue_opens", None),
    "ended-application": answering("application_is_barred", None),
    "ended-application-and-a-daemon-set": answering("pod_is_exempt", False),
    "ended-application-by-force": replaced("ended_pod_is_evicted", _without_force),
    "ended-application-during-a-preemption": answering("application_is_barred", None),
    "ended-application-killed": answering("applications_are_ended", ()),
    "ended-application-lifted": answering("application_is_barred", None),
    "ended-application-with-a-budget": answering("endings_go_on", ()),
    "ended-gang": answering("applications_are_ended", ()),
    "moved-application": answering("applications_are_moved", ()),
    "moved-application-during-a-preemption": answering("move_waits", ()),
    "moved-application-into-a-shorter-time": answering("execution_limit", None),
    "moved-application-refused": answering("move_is_refused", None),
    "moved-application-that-has-ended": answering("move_ends", None),
    "moved-application-whose-queue-goes": answering("moved_application_is_placed", None),
    "moved-gang": answering("applications_are_moved", ()),
    "execution-time-and-a-clock-that-is-ahead": answering("clock_is_ahead", 0.0),
    "execution-time-and-a-generated-id": answering("id_is_generated", False),
    "execution-time-becomes-shorter": replaced("execution_end_is_announced", _at_once),
    "execution-time-of-an-originator": answering("execution_is_asked_for", None),
    "timed-out-application": answering("execution_limit", None),
    "timed-out-application-after-a-restart": answering("execution_is_recovered", None),
    "timed-out-application-and-its-successor": replaced("own_time_of_a_pod", _now),
    "timed-out-application-killed": answering("execution_is_carried", None),
    "timed-out-application-with-a-bar": answering("execution_bar", 0.0),
    "timed-out-application-with-a-budget": answering("execution_is_carried", None),
    "timed-out-application-without-records": replaced("own_time_of_a_pod", _now),
    "timed-out-gang": answering("execution_limit", None),
    "closed-queue-that-returns": replaced("document_is_applied", _opened),
    "draining-takes-no-new-application": placed(_undrained),
    "limit-of-a-group": answering("limit_of_group", None),
    "limit-of-a-user": answering("limit_of_user", None),
    "limit-of-another-user-does-not-hold-mine": replaced(
        "limits_of_claimant", lambda rule, claimant, path: rule(replace(claimant, user="everybody"), path)
    ),
    "limit-of-applications": replaced("room_for_ask", has_started),
    "namespace-quota": answering("namespace_quota", None),
    "over-max-by-a-forced-pod": NO_QUOTA,
    "placement-by-namespace": answering("child_template", None),
    "placement-by-user": placed(_without_parents),
    "placement-fails-without-a-queue": answering("queue_of_application", Chosen(QueuePath("root.a"))),
    "placement-falls-back-to-default": placed(_without_the_default),
    "placement-filters": answering("placement_filter", True),
    "placement-of-a-bound-pod": placed(_unforced),
    "placement-of-a-bound-pod-beside-a-default-queue": placed(_unforced),
    "placement-of-what-waits-beside-a-bound-pod": replaced("recovery_queue", _all_of_it),
    "placement-refuses-a-parent": placed(_failed),
    "placement-rejection-can-fail-the-pods": answering("rejected_pods_fail", None),
    "properties-go-down-to-children": replaced("inherited_properties", lambda rule, parent, own: dict(own)),
    "queue-closed-above": replaced("queue_is_closed", lambda rule, chain: rule(chain[:1])),
    "queues-of-a-file": NO_QUOTA,
    "quota-checks-requested-types-only": replaced("shortfall", _all_types),
    "quota-holds-a-queue-at-its-max": NO_QUOTA,
    "quota-of-a-parent-binds-its-leaves": both(
        replaced("shortfall", leaf_only), replaced("passed_queues", leaf_only)
    ),
    "quota-of-nothing-but-zeros": replaced("partition_of_document", _no_blocks_of_zeros),
    "quota-of-the-root-is-its-nodes": replaced("shortfall", _known_types),
    "reload-keeps-usage": replaced("document_is_applied", _empty_queues),
    "reload-lowers-a-max": replaced("headroom", _clamped),
    "reload-refuses-a-broken-document": answering("problems_of_document", ()),
    "reload-takes-a-dynamic-queue-over": replaced("queue_is_configured", _still_dynamic),
    "restart-with-a-removed-queue": replaced("recovery_queue", _all_of_it),
    "template-of-the-nearest-parent": answering("child_template", None),
}
