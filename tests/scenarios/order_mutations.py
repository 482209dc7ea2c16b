"""How each rule of the order and of back-off is switched off, for scenarios that are named so."""

from collections.abc import Callable
from typing import Any

from core.decisions import scoring
from core.decisions.preemption import contention
from core.ledger import view as snapshot
from core.ledger.admission import cycle as turn_pass
from core.ledger.admission import ordering as walk
from core.ledger.admission.application_queue import Lane
from core.ledger.applications import classification as enrolment
from core.ledger.pods.record import PodRecord
from core.ledger.usage import charges as accounts
from core.queues import ordering as queue_ordering
from core.queues import priority, properties, room
from core.queues import queue as queue_module
from core.queues.properties import QueueProperties, SortPolicy
from core.queues.queue import NO_PRIORITY, Queue
from core.queues.users.limits import Limits
from core.resource import Limit, Resource
from core.workload import ordering
from core.workload.nodes import ranking as node_ranking
from tests.scenarios.mutating import Mutate, answering, both, replaced, valued

Rule = Callable[..., Any]


# -- priorities ------------------------------


def exporting(shown: Callable[[int, QueueProperties], int]) -> Mutate:
    """What queues show their parents, of something pending; the root shows what it sees."""

    def by(rule: Rule, raw: int, own: QueueProperties, *, is_root: bool = False) -> int:
        return raw if is_root or raw == NO_PRIORITY else shown(raw, own)

    return both(replaced(walk, "exported", by), replaced(priority, "exported", by))


PLAIN_PRIORITIES = exporting(lambda raw, own: raw)
"""Every queue shows what is pending in it, whatever its offset and fence."""

UNCLAMPED = exporting(lambda raw, own: own.priority_offset + (0 if own.priority_fence else raw))
FENCES_AT_ZERO = exporting(lambda raw, own: 0 if own.priority_fence else raw + own.priority_offset)


def _as_any_other(rule: Rule, raw: int, own: QueueProperties, *, is_root: bool = False) -> int:
    """The root has a fence and an offset like other queues."""
    return int(rule(raw, own))


OF_QUEUES = (walk, "order_key")
OF_APPLICATIONS = (walk, "application_key")


def by_priority(where: tuple[object, str], wanted: bool) -> Mutate:
    """Whatever ``application.sort.priority`` says."""
    return replaced(*where, lambda rule, *args, **more: rule(*args, **{**more, "by_priority": wanted}))


def _as_configured(rule: Rule, queue: Queue) -> None:
    """A dynamic queue inherits like any other."""
    before, queue.dynamic = queue.dynamic, False
    rule(queue)
    queue.dynamic = before


# -- shares and usage ------------------------------

NO_SHARES = answering(walk, "fair_share", 0.0)


def _first_in_first_out(rule: Rule, applicant: Any, policy: SortPolicy, **more: Any) -> Any:
    return rule(applicant, SortPolicy.FIFO, **more)


def _in_small_letters(rule: Rule, text: str) -> SortPolicy:
    return SortPolicy(rule(text.lower()))


def _undrained(rule: Rule, self: walk.Walk, leaf: Queue, *others: Any) -> None:
    if not leaf.draining:
        rule(self, leaf, *others)


def _as_first_seen(rule: Rule, state: Any, record: PodRecord, *args: Any) -> Any:
    """An application keeps the time of the pod that it was seen with first."""
    known = {each.id: each.submitted for each in state.applications.values()}
    found = rule(state, record, *args)
    for each in state.applications.values():
        each.submitted = known.get(each.id, each.submitted)
    return found


# -- states, requests, nodes ------------------------------

ALL_LET_IN = both(answering(contention, "_kept_back", None), answering(walk.Branch, "_filter", None))


def _rank_by_age(record: PodRecord) -> tuple[int, float, int, Any]:
    return (0, record.facts.created, record.seq, record.uid)


def _last_in_first_out(record: PodRecord) -> tuple[int, float, int, Any]:
    return (-record.facts.priority, record.facts.created, -record.seq, record.uid)


def _unweighted(rule: Rule, capacity: Any, available: Any, weights: Any) -> Any:
    return rule(capacity, available, {})


def _full_of_nothing(rule: Rule, capacity: Any, available: Any, weights: Any) -> Any:
    """What a node has none of is used up."""
    return rule(capacity, available, weights) if capacity.get("vcore") else 1.0


# -- what is passed over ------------------------------


def _leaf_only(rule: Rule, chain: Any, size: Resource, **more: Any) -> Any:
    return rule(chain[:1], size, **more)


def _whole_lines(rule: Rule, lane: Lane, threshold: int, *, before: Any) -> bool:
    return lane.more_are_unplaced(threshold - 1)


def _blocked(rule: Rule, self: turn_pass.TurnPass, leaf: walk.Branch, *_: Any) -> None:
    """Nobody in a queue goes before an ask that no node takes."""
    leaf.close()


ORDER: dict[str, Mutate] = {
    "back-off-begins-before-anybody-asks": answering(turn_pass, "back_off", None),
    "back-off-counts-what-ranks-before": replaced(Lane, "are_unplaced", _whole_lines),
    "back-off-of-the-only-application": both(
        answering(snapshot, "may_back_off", False), answering(snapshot, "backs_off", False)
    ),
    "order-behind-fences": PLAIN_PRIORITIES,
    "order-behind-fences-by-shares": NO_SHARES,
    "order-behind-fences-of-a-system-below-zero": PLAIN_PRIORITIES,
    "order-behind-fences-with-an-offset": FENCES_AT_ZERO,
    "order-by-age-below-a-parent-that-says-so": replaced(
        queue_module, "inherited", lambda rule, parent, own: dict(own)
    ),
    "order-by-shares": NO_SHARES,
    "order-by-shares-of-several-types": replaced(
        walk, "fair_share", lambda rule, held, guaranteed, fair: rule(held, guaranteed, Limit({}))
    ),
    "order-by-shares-one-by-one": NO_SHARES,
    "order-by-the-best-pending-ask": answering(accounts, "ask_goes", None),
    "order-by-the-nearest-max": replaced(walk, "fair_max", lambda rule, chain: rule(chain[-1:])),
    "order-by-what-is-asked-for": answering(queue_ordering, "strictly_more", False),
    "order-in-nested-fences": PLAIN_PRIORITIES,
    "order-into-a-state-aware-queue-by-age": by_priority((walk, "may_be_looked_at"), True),
    "order-into-a-state-aware-queue-by-priority": by_priority((walk, "may_be_looked_at"), False),
    "order-of-a-burst-while-a-pass-goes-on": by_priority(OF_APPLICATIONS, False),
    "order-of-a-draining-queue": replaced(walk.Walk, "_add", _undrained),
    "order-of-a-dynamic-queue": replaced(Queue, "inherit", _as_configured),
    "order-of-a-dynamic-queue-by-its-template": valued(Queue, "template", None),
    "order-of-a-state-aware-filter": ALL_LET_IN,
    "order-of-a-state-aware-queue": ALL_LET_IN,
    "order-of-a-state-aware-run": ALL_LET_IN,
    "order-of-an-application-with-an-older-pod": replaced(enrolment, "join", _as_first_seen),
    "order-of-applications-first-in-first-out": by_priority(OF_APPLICATIONS, False),
    "order-of-applications-without-priorities": by_priority(OF_APPLICATIONS, True),
    "order-of-eleven-steps": PLAIN_PRIORITIES,
    "order-of-equal-requests": valued(PodRecord, "rank", property(_last_in_first_out)),
    "order-of-fair-applications": replaced(walk, "application_key", _first_in_first_out),
    "order-of-fair-applications-by-priority": by_priority(OF_APPLICATIONS, False),
    "order-of-fair-applications-of-several-types": replaced(
        ordering, "usage_shares", lambda rule, used, guaranteed: rule(used, guaranteed)[:1]
    ),
    "order-of-fair-applications-without-priorities": by_priority(OF_APPLICATIONS, True),
    "order-of-four-queues": by_priority(OF_QUEUES, False),
    "order-of-four-queues-without-priorities": by_priority(OF_QUEUES, True),
    "order-of-nodes-binpacking": valued(node_ranking, "BINPACKING", ""),
    "order-of-nodes-binpacking-by-weights": replaced(node_ranking, "usage_of", _unweighted),
    "order-of-nodes-by-setting": answering(scoring, "scores_nodes", False),
    "order-of-nodes-by-weights": replaced(node_ranking, "usage_of", _unweighted),
    "order-of-nodes-fair": valued(node_ranking, "BINPACKING", "fair"),
    "order-of-nodes-that-have-nothing-of-a-type": replaced(node_ranking, "usage_of", _full_of_nothing),
    "order-of-nodes-with-and-without-weights": valued(
        node_ranking, "DEFAULT_WEIGHTS", {"vcore": 4.0, "memory": 1.0}
    ),
    "order-of-queues-without-priorities": by_priority(OF_QUEUES, True),
    "order-of-requests": valued(PodRecord, "rank", property(_rank_by_age)),
    "order-passes-over-a-queue-without-headroom": both(
        replaced(room, "shortfall", _leaf_only),
        replaced(room, "passed_queues", _leaf_only),
        replaced(walk, "shortfall", _leaf_only),
    ),
    "order-passes-over-the-limit-of-a-user": replaced(Limits, "of_user", lambda rule, self, path, user: None),
    "order-passes-over-what-is-too-large": replaced(turn_pass.TurnPass, "_leave_out", _blocked),
    "order-when-the-accepted-one-goes": ALL_LET_IN,
    "order-with-a-policy-in-capitals": replaced(properties, "_sort_policy", _in_small_letters),
    "order-with-an-application-that-need-not-rest": replaced(
        Lane, "more_are_unplaced", lambda rule, self, threshold: rule(self, threshold - 1)
    ),
    "order-with-an-application-that-rests": answering(turn_pass, "back_off", None),
    "order-with-offsets-clamped-at-each-level": UNCLAMPED,
    "order-with-offsets-that-cannot-be-read": valued(properties, "_int32", int),
    "order-without-regard-to-the-root": both(
        replaced(walk, "exported", _as_any_other), replaced(priority, "exported", _as_any_other)
    ),
}
