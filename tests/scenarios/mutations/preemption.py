"""Mutations for rules of preemption, for scenarios named ``guarantee-`` and ``required-node-``."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.decisions.preemption.receipts import NoPlan, Stop, Victim
from core.decisions.preemption.selection import SIZE
from core.ids import PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.ledger.view import LedgerView
from core.queues.fence import Reach
from core.queues.properties import PreemptionPolicy, QueueProperties
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced

# -- the laws ------------------------------


def _willing_only(rule: Rule, *args: Any) -> Any:
    """To opt out is more than a wish."""
    return [each for each in rule(*args) if not each[0].opted_out]


NO_WISHES = answering("opted_out", False)
NO_LAW_2 = both(answering("keeps_guarantee", True), answering("losable_usage", {}))
NO_LAW_5 = answering("is_above_guarantee", True)
NO_LAW_6 = answering("is_no_more_important", True)

APART = 15.0
"""Seconds between two attempts for one ask."""


def _from_the_start(rule: Rule, state: State, record: PodRecord) -> float | None:
    """Asks without any guarantee are tried, too."""
    return rule(state, record) or (record.preemption.tried_at or record.facts.created + APART) + APART


def _seldom(rule: Rule, state: State, record: PodRecord) -> float | None:
    """Attempts are a minute apart."""
    due: float | None = rule(state, record)
    return (
        due
        if due is None or record.preemption.tried_at is None
        else max(due, record.preemption.tried_at + 60.0)
    )


ALWAYS_BELOW = both(
    answering("is_below_guarantee", True),
    replaced(
        "remaining_guarantee",
        lambda rule, usage, queue, ask=None: {} if queue is ask else rule(usage, queue, ask),
    ),
    replaced("first_attempt", _from_the_start),
)


def _own_queue_too(rule: Rule, fence: Any, ask: Any, **more: Any) -> Any:
    yield from rule(fence, ask, **more)
    yield Reach(ask, fence.entering[ask.path], False)


OWN_QUEUE_TOO = both(
    replaced("reachable_queues", _own_queue_too), answering("is_of_another_queue", True), NO_LAW_2, NO_LAW_5
)


def _never_just_filled(rule: Rule, cap: Any, used: Any) -> bool:
    return bool(rule(cap, used)) and all(used.get(name) < amount for name, amount in cap.items())


def _fenced_ones_too(rule: Rule, fence: Any, ask: Any, **more: Any) -> Any:
    """Fences of others keep the search out."""
    for each in rule(fence, ask, **more):
        others = [queue for queue in each.leaf.chain if queue not in ask.chain]
        if not any(queue.properties.preemption is PreemptionPolicy.FENCE for queue in others):
            yield each


def without(policy: PreemptionPolicy) -> Mutate:
    """A queue of that policy is like any other."""

    def by(rule: Rule, values: Any, *, is_leaf: bool) -> QueueProperties:
        found: QueueProperties = rule(values, is_leaf=is_leaf)
        plain = found.preemption is not policy
        return found if plain else replace(found, preemption=PreemptionPolicy.DEFAULT)

    return replaced("queue_properties", by)


UNFENCED = without(PreemptionPolicy.FENCE)


# -- guarantees and priorities ------------------------------


def _own_only(rule: Rule, usage: Any, queue: Any, ask: Any = None) -> Any:
    """The remainder of an ancestor's guarantee does not count."""
    parent, queue.parent = queue.parent, None
    try:
        return rule(usage, queue, ask)
    finally:
        queue.parent = parent


def _by_beginning_of_names(rule: Rule, usage: Any, queue: Any, ask: Any = None) -> Any:
    if ask is not None and queue is not ask and ask.path.startswith(queue.path) and ask.guaranteed:
        return None
    return rule(usage, queue, ask)


def _all_allocated(rule: Rule, usage: Any, queue: Any) -> dict[str, int]:
    """Victims count until they are deleted."""
    used: dict[str, int] = rule(usage, queue)
    if queue.is_root:
        return used
    return {name: amount + queue.preempting.get(name) for name, amount in used.items()}


def _only_allocated(rule: Rule, usage: Any, queue: Any) -> dict[str, int]:
    """Asks that wait for their victims to leave do not count."""
    used = rule(usage, queue)
    return {name: amount - queue.triggered.get(name) for name, amount in used.items()}


def shared_ancestor(counts: bool) -> Mutate:
    return replaced(
        "reachable_queues",
        lambda rule, *args, **more: rule(*args, **{**more, "shared_ancestor": counts}),
    )


# -- the choice of victims ------------------------------


def _order_by(key: Callable[[Victim], tuple[Any, ...]]) -> Mutate:
    return replaced("order_of_victims", lambda rule, victim: key(victim))


BY_PRIORITY = _order_by(lambda victim: (*victim.wishes, victim.priority, *victim.newness))


def _stopping() -> Mutate:
    """A victim that is too large ends the search on its node."""
    ended: list[Any] = []

    def by(rule: Rule, trial: Any, victim: Any, leaf: Any) -> str:
        if any(each is trial for each in ended):
            return SIZE
        found = str(rule(trial, victim, leaf))
        if found == SIZE:
            ended.append(trial)
        return found

    return replaced("victim_is_tried", by)


ONE_TYPE_IS_ENOUGH = both(
    replaced("victims_on_node", lambda rule, *args: (rule(*args) or [])[:1] or None),
    replaced("lacking_after_choice", lambda rule, choice: {} if choice.victims else rule(choice)),
)
"""The first victim counts for all types."""


def _by_rank(rule: Rule, order: Any, view: LedgerView) -> PodUid | None:
    """The oldest ask of all leaves goes first."""
    asks = [record for uid in view.trying if (record := view.pod(uid)) is not None]
    return min(asks, key=lambda record: record.rank).uid if asks else None


def _as_often_as_it_likes(
    rule: Rule, view: LedgerView, record: PodRecord, *args: Any, **more: Any
) -> NoPlan | None:
    found: NoPlan | None = rule(view, record, *args, **more)
    counted = found is not None and found.stop is Stop.TRIGGERED and not record.preemption.triggered
    return None if counted else found


INHERITS_NOTHING = replaced("inherited_properties", lambda rule, parent, own: dict(own))


PREEMPTION: dict[str, Mutate] = {
    "guarantee-after-a-delay": INHERITS_NOTHING,
    "guarantee-and-a-fence-of-the-root": replaced(
        "inherited_properties", lambda rule, parent, own: {**parent, **own}
    ),
    "guarantee-and-offsets": NO_LAW_6,
    "guarantee-and-originators": replaced(
        "wishes_of_victim", lambda rule, victim: (victim.guarded, victim.opted_out, False)
    ),
    "guarantee-at-equal-priority": replaced(
        "reach_allows", lambda rule, reach, priority: rule(reach, priority + 1)
    ),
    "guarantee-behind-its-own-fence": UNFENCED,
    "guarantee-below-a-full-parent": answering("effective_max", None),
    "guarantee-below-a-parent-just-filled": replaced("within", _never_just_filled),
    "guarantee-below-a-shared-parent": shared_ancestor(True),
    "guarantee-below-a-shared-parent-by-setting": shared_ancestor(False),
    "guarantee-beside-a-name-that-begins-alike": both(
        replaced("remaining_guarantee", _by_beginning_of_names), NO_LAW_2
    ),
    "guarantee-by-priority": NO_LAW_6,
    "guarantee-counts-victims-as-gone": replaced("usage_in_plan", _all_allocated),
    "guarantee-counts-who-waits-for-victims": replaced("usage_in_plan", _only_allocated),
    "guarantee-disabled-at-the-root": INHERITS_NOTHING,
    "guarantee-in-the-order-of-queues": replaced("next_ask_to_plan_for", _by_rank),
    "guarantee-in-a-fence": replaced("reachable_queues", _fenced_ones_too),
    "guarantee-into-a-fence": replaced("reachable_queues", _fenced_ones_too),
    "guarantee-loop-1": both(ALWAYS_BELOW, NO_LAW_2, NO_LAW_5),
    "guarantee-loop-1b": ALWAYS_BELOW,
    "guarantee-loop-1b-exceeding": replaced(
        "is_below_guarantee", lambda rule, rest, wanted, **_: rule(rest, wanted)
    ),
    "guarantee-loop-2": NO_LAW_2,
    "guarantee-loop-3": ALWAYS_BELOW,
    "guarantee-loop-bigger": both(NO_LAW_5, NO_LAW_2),
    "guarantee-loop-storm": NO_LAW_5,
    "guarantee-must-be-of-what-is-asked": ALWAYS_BELOW,
    "guarantee-never-for-who-never-preempts": replaced(
        "pod_facts", lambda rule, pod: replace(rule(pod), never_preempts=False)
    ),
    "guarantee-not-from-its-own-queue": OWN_QUEUE_TOO,
    "guarantee-not-from-outside-the-fence": UNFENCED,
    "guarantee-of-a-disabled-queue": without(PreemptionPolicy.DISABLED),
    "guarantee-of-a-parent-of-victims": NO_LAW_2,
    "guarantee-of-a-part-of-what-is-asked": replaced(
        "is_below_guarantee",
        lambda rule, rest, wanted, **more: set(wanted) <= set(rest or {}) and rule(rest, wanted, **more),
    ),
    "guarantee-of-the-parent": replaced("remaining_guarantee", _own_only),
    "guarantee-of-two-queues": ALWAYS_BELOW,
    "guarantee-of-two-types": ONE_TYPE_IS_ENOUGH,
    "guarantee-of-victims-of-another-type": NO_LAW_5,
    "guarantee-of-victims-used-up": both(NO_LAW_5, NO_LAW_2),
    "guarantee-passes-over-a-pod-too-large": _stopping(),
    "guarantee-spares-a-pod-too-large": NO_LAW_2,
    "guarantee-spares-who-opted-out": NO_WISHES,
    "guarantee-spares-who-opted-out-by-class": replaced(
        "opted_out", lambda rule, view, record: record.facts.allow_preemption == "false"
    ),
    "guarantee-switched-off": replaced(
        "partition_of_document", lambda rule, *args, **more: replace(rule(*args, **more), preemption=True)
    ),
    "guarantee-takes-the-newest": BY_PRIORITY,
    "guarantee-takes-who-opted-out": replaced("candidates_on_node", _willing_only),
    "guarantee-three-plans-at-most": replaced("barred_from_preemption", _as_often_as_it_likes),
    "guarantee-translates-priorities": replaced("reach_allows", lambda rule, reach, priority: priority <= 0),
    "guarantee-tried-again": replaced("first_attempt", _seldom),
    "guarantee-waits-for-a-budget": replaced("first_attempt", _seldom),
    "guarantee-without-one": ALWAYS_BELOW,
    "preemption-in-vain": answering("preemption_in_vain", None),
    "preemption-offer-and-another-plan": answering("preemption_is_offered", None),
    "preemption-offer-within-the-guarantee": answering("preemption_is_offered", None),
}
