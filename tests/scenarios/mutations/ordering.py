"""Mutations for rules of the order and of back-off."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.queues.properties import PRIORITY_OFFSET, SORT_POLICY, QueueProperties, SortPolicy
from core.queues.queue import NO_PRIORITY, Queue
from core.resource import Limit, Resource
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced

# -- priorities ------------------------------


def exporting(shown: Callable[[int, QueueProperties], int]) -> Mutate:
    """Priorities that queues show their parents; the root shows what it sees."""

    def by(rule: Rule, raw: int, own: QueueProperties, *, is_root: bool = False) -> int:
        return raw if is_root or raw == NO_PRIORITY else shown(raw, own)

    return replaced("exported_priority", by)


PLAIN_PRIORITIES = exporting(lambda raw, own: raw)
"""Every queue shows the priority of its pending pods, whatever its offset and fence."""

UNCLAMPED = exporting(lambda raw, own: own.priority_offset + (0 if own.priority_fence else raw))
FENCES_AT_ZERO = exporting(lambda raw, own: 0 if own.priority_fence else raw + own.priority_offset)


def _as_any_other(rule: Rule, raw: int, own: QueueProperties, *, is_root: bool = False) -> int:
    """The root has a fence and an offset like other queues."""
    return int(rule(raw, own))


def by_priority(entry: str, wanted: bool) -> Mutate:
    """Sort by priority, whatever ``application.sort.priority`` says."""
    return replaced(entry, lambda rule, *args, **more: rule(*args, **{**more, "by_priority": wanted}))


def _as_configured(rule: Rule, queue: Queue) -> None:
    """A dynamic queue inherits like any other."""
    before, queue.dynamic = queue.dynamic, False
    rule(queue)
    queue.dynamic = before


def _of_any_length(rule: Rule, values: Mapping[str, str], *, is_leaf: bool) -> QueueProperties:
    """Every whole number is an offset."""
    found: QueueProperties = rule(values, is_leaf=is_leaf)
    return replace(found, priority_offset=int(values.get(PRIORITY_OFFSET, "0")))


# -- shares and usage ------------------------------

NO_SHARES = answering("fair_share", 0.0)


def _first_in_first_out(rule: Rule, applicant: Any, policy: SortPolicy, **more: Any) -> Any:
    return rule(applicant, SortPolicy.FIFO, **more)


def _in_small_letters(rule: Rule, values: Mapping[str, str], *, is_leaf: bool) -> Any:
    """A policy in capitals is read."""
    return rule({**values, SORT_POLICY: values.get(SORT_POLICY, "").lower()}, is_leaf=is_leaf)


def _undrained(rule: Rule, branch: Any, index: Any) -> None:
    if not branch.queue.draining:
        rule(branch, index)


def _as_first_seen(rule: Rule, state: State, record: PodRecord, *args: Any) -> Any:
    """An application keeps the time of the pod that was seen first."""
    known = {each.id: each.submitted for each in state.applications.known.values()}
    found = rule(state, record, *args)
    for each in state.applications.known.values():
        each.submitted = known.get(each.id, each.submitted)
    return found


# -- states, requests, nodes ------------------------------


def _none_held_back(rule: Rule, values: Mapping[str, str], *, is_leaf: bool) -> QueueProperties:
    """A ``stateaware`` leaf orders by first in, first out."""
    found: QueueProperties = rule(values, is_leaf=is_leaf)
    plain = found.sort_policy is not SortPolicy.STATE_AWARE
    return found if plain else replace(found, sort_policy=SortPolicy.FIFO)


ALL_LET_IN = replaced("queue_properties", _none_held_back)


def _rank_by_age(rule: Rule, record: PodRecord) -> tuple[int, float, int, Any]:
    return (0, record.facts.created, record.seq, record.uid)


def _last_in_first_out(rule: Rule, record: PodRecord) -> tuple[int, float, int, Any]:
    return (-record.facts.priority, record.facts.created, -record.seq, record.uid)


def _unweighted(rule: Rule, capacity: Any, available: Any, weights: Any) -> Any:
    return rule(capacity, available, {})


def _other_built_in_weights(rule: Rule, capacity: Any, available: Any, weights: Any) -> Any:
    return rule(capacity, available, weights or {"vcore": 4.0, "memory": 1.0})


def _full_of_nothing(rule: Rule, capacity: Any, available: Any, weights: Any) -> Any:
    """A resource that a node does not have is used up."""
    return rule(capacity, available, weights) if capacity.get("vcore") else 1.0


def nodes_by(policy: str) -> Mutate:
    """Sort nodes by one policy, whatever the document says."""
    return replaced("score_of_node", lambda rule, sort, *args: rule(replace(sort, policy=policy), *args))


# -- what is passed over ------------------------------


def leaf_only(rule: Rule, chain: Any, size: Resource, **more: Any) -> Any:
    """Queues above the leaf hold no pod."""
    return rule(chain[:1], size, **more)


def _whole_lines(rule: Rule, app_queue: Any, threshold: int, *, before: Any) -> bool:
    return bool(app_queue.more_are_unplaced(threshold - 1))


def _blocked(rule: Rule, cycle: Any, leaf: Any, *_: Any) -> None:
    """No pod of a queue goes before an ask that no node takes."""
    leaf.close()


ORDER: dict[str, Mutate] = {
    "back-off-begins-before-anybody-asks": answering("back_off_begins", None),
    "back-off-counts-what-ranks-before": replaced("unplaced_asks", _whole_lines),
    "back-off-of-the-only-application": both(
        answering("may_back_off", False), answering("in_back_off", False)
    ),
    "capacity-freed-by-a-pod-of-no-queue": answering("freed_by_charge", None),
    "capacity-freed-by-a-shrinking-pod-of-no-queue": answering("freed_by_charge", None),
    "capacity-freed-on-the-expected-node": answering("freed_on_node", None),
    "order-behind-fences": PLAIN_PRIORITIES,
    "order-behind-fences-by-shares": NO_SHARES,
    "order-behind-fences-of-a-system-below-zero": PLAIN_PRIORITIES,
    "order-behind-fences-with-an-offset": FENCES_AT_ZERO,
    "order-by-age-below-a-parent-that-says-so": replaced(
        "inherited_properties", lambda rule, parent, own: dict(own)
    ),
    "order-by-shares": NO_SHARES,
    "order-by-shares-of-several-types": replaced(
        "fair_share", lambda rule, held, guaranteed, fair: rule(held, guaranteed, Limit({}))
    ),
    "order-by-shares-one-by-one": NO_SHARES,
    "order-by-the-best-pending-ask": answering("pending_ask_goes", None),
    "order-by-the-nearest-max": replaced("fair_max", lambda rule, chain: rule(chain[-1:])),
    "order-by-what-is-asked-for": answering("strictly_more", False),
    "order-in-nested-fences": PLAIN_PRIORITIES,
    "order-into-a-state-aware-queue-by-age": by_priority("state_aware_applications", True),
    "order-into-a-state-aware-queue-by-priority": by_priority("state_aware_applications", False),
    "order-of-a-burst-while-a-pass-goes-on": by_priority("order_of_applications", False),
    "order-of-a-draining-queue": replaced("queue_takes_part", _undrained),
    "order-of-a-dynamic-queue": replaced("dynamic_queue_inherits", _as_configured),
    "order-of-a-dynamic-queue-by-its-template": answering("child_template", None),
    "order-of-a-state-aware-filter": ALL_LET_IN,
    "order-of-a-state-aware-queue": ALL_LET_IN,
    "order-of-a-state-aware-run": ALL_LET_IN,
    "order-of-an-application-with-an-older-pod": replaced("joins_application", _as_first_seen),
    "order-of-applications-first-in-first-out": by_priority("order_of_applications", False),
    "order-of-applications-without-priorities": by_priority("order_of_applications", True),
    "order-of-eleven-steps": PLAIN_PRIORITIES,
    "order-of-equal-requests": replaced("order_of_asks", _last_in_first_out),
    "order-of-fair-applications": replaced("order_of_applications", _first_in_first_out),
    "order-of-fair-applications-by-priority": by_priority("order_of_applications", False),
    "order-of-fair-applications-of-several-types": replaced(
        "usage_shares", lambda rule, used, guaranteed: rule(used, guaranteed)[:1]
    ),
    "order-of-fair-applications-without-priorities": by_priority("order_of_applications", True),
    "order-of-four-queues": by_priority("order_of_queues", False),
    "order-of-four-queues-without-priorities": by_priority("order_of_queues", True),
    "order-of-nodes-binpacking": nodes_by("fair"),
    "order-of-nodes-binpacking-by-weights": replaced("usage_of_node", _unweighted),
    "order-of-nodes-by-setting": answering("scores_nodes", False),
    "order-of-nodes-by-weights": replaced("usage_of_node", _unweighted),
    "order-of-nodes-fair": nodes_by("binpacking"),
    "order-of-nodes-that-have-nothing-of-a-type": replaced("usage_of_node", _full_of_nothing),
    "order-of-nodes-with-and-without-weights": replaced("usage_of_node", _other_built_in_weights),
    "order-of-queues-without-priorities": by_priority("order_of_queues", True),
    "order-of-requests": replaced("order_of_asks", _rank_by_age),
    "order-passes-over-a-queue-without-headroom": both(
        replaced("shortfall", leaf_only), replaced("passed_queues", leaf_only)
    ),
    "order-passes-over-the-limit-of-a-user": answering("limit_of_user", None),
    "order-passes-over-what-is-too-large": replaced("asks_left_out", _blocked),
    "order-when-the-accepted-one-goes": ALL_LET_IN,
    "order-with-a-policy-in-capitals": replaced("queue_properties", _in_small_letters),
    "order-with-an-application-that-need-not-rest": replaced(
        "more_unplaced_asks", lambda rule, app_queue, threshold: rule(app_queue, threshold - 1)
    ),
    "order-with-an-application-that-rests": answering("back_off_begins", None),
    "order-with-offsets-clamped-at-each-level": UNCLAMPED,
    "order-with-offsets-that-cannot-be-read": replaced("queue_properties", _of_any_length),
    "order-without-regard-to-the-root": replaced("exported_priority", _as_any_other),
}
