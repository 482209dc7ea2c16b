"""Mutations for rules about freed and reserved capacity, and about restarts."""

from collections.abc import Iterator
from typing import Any

from core.decisions.preemption.receipts import NoPlan, Stop, Victim
from core.decisions.required_node import kind_of
from core.ids import PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.ledger.view import LedgerView
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced


def victims_by(text: str) -> Mutate:
    """Choose victims by one policy, whatever ``paddock.preemption.victims`` says."""
    return replaced(
        "settings",
        lambda rule, keys, overrides: rule(keys, {**overrides, "preemption_victims": text}),
    )


WHOLE_ASK = victims_by("yunikorn")
MINIMAL = victims_by("minimal")
NO_BUDGETS = answering("disruption_budgets", False)
OLDEST_FIRST = replaced("order_of_victims", lambda rule, victim: (*victim.wishes, victim.created, victim.seq))

# -- nodes ------------------------------


def _nowhere(*_: Any, **__: Any) -> Iterator[int]:
    """No node has capacity without evictions."""
    yield 1


def _without_number(rule: Rule, name: Any, picked: Any) -> Any:
    wishes, _, name = rule(name, picked)
    return wishes, 1, name


NOT_RESERVED = both(
    answering("reserved_nodes", ()),
    replaced("best_node_with_room", lambda rule, *args, besides=(), **more: rule(*args, **more)),
)


def _only_of_nodes(rule: Rule, state: State, uid: PodUid) -> Iterator[None]:
    """An ask that is deleted stays."""
    record = state.pods.records.get(uid)
    if record is None or record.node:
        yield from rule(state, uid)


# -- pods of one node ------------------------------


def _by_the_switch(rule: Rule, view: LedgerView, record: PodRecord, leaf: Any) -> Any:
    if view.preempts:
        return rule(view, record, leaf)
    return NoPlan(record.uid, Stop.SWITCHED_OFF, "PRE-1", "")


def _not_its_own(rule: Rule, pod: PodRecord, ask: PodRecord, *, strict: bool) -> str:
    return (
        "its own"
        if pod.membership.application == ask.membership.application
        else rule(pod, ask, strict=strict)
    )


def _as_documented(rule: Rule, victim: Victim) -> int:
    return 2 if victim.originator else 3 if victim.opted_out else 1


def _again(rule: Rule, view: Any, record: PodRecord, leaf: Any) -> Any:
    """Victims may be chosen again."""
    before, record.preemption.triggered = record.preemption.triggered, ""
    try:
        return rule(view, record, leaf)
    finally:
        record.preemption.triggered = before


NOTHING_RECOVERED = both(answering("plan_is_remembered", None), answering("plans_go_on", None))

CAPACITY: dict[str, Mutate] = {
    "guarantee-after-a-restart": NOTHING_RECOVERED,
    "guarantee-against-strangers": answering("guarantee_against_others", None),
    "guarantee-chooses-fewest-victims": replaced("score_of_plan", _without_number),
    "guarantee-chooses-the-willing-node": answering("opted_out", False),
    "guarantee-credits-free-quota": WHOLE_ASK,
    "guarantee-credits-free-room": WHOLE_ASK,
    "guarantee-credits-no-free-quota-by-setting": MINIMAL,
    "guarantee-credits-no-free-room-by-setting": MINIMAL,
    "guarantee-keeps-the-room": NOT_RESERVED,
    "guarantee-keeps-the-room-for-two-hours": answering("end_of_node_reservation", 1e9),
    "guarantee-killed-after-a-victim-was-marked": answering("plans_go_on", None),
    "guarantee-killed-after-an-eviction": answering("plans_go_on", None),
    "guarantee-killed-after-the-ask-was-marked": answering("plan_comes_together", True),
    "guarantee-killed-after-the-nomination": NOTHING_RECOVERED,
    "guarantee-nominates-when-all-are-gone": answering("node_is_nominated", ()),
    "guarantee-of-an-ask-that-goes": replaced("pod_is_deleted", _only_of_nodes),
    "guarantee-on-which-nodes": answering("why_node_is_unfit", ""),
    "guarantee-refused-by-a-budget": answering("plan_falls_short", None),
    "guarantee-spares-who-is-guarded": NO_BUDGETS,
    "guarantee-takes-no-more-than-needed": answering("victims_given_back", None),
    "guarantee-with-a-smaller-victim-by-setting": MINIMAL,
    "guarantee-with-a-victim-smaller-than-the-ask": WHOLE_ASK,
    "guarantee-with-victims-anywhere": OLDEST_FIRST,
    "guarantee-with-victims-of-another-node": replaced("node_with_room", _nowhere),
    "required-node-and-a-budget": NO_BUDGETS,
    "required-node-at-once": replaced("plan_for_required_node", _by_the_switch),
    "required-node-chooses-once": both(
        replaced("plan_for_required_node", _again), answering("coming_on_node", {})
    ),
    "required-node-credits-free-room": replaced("lacking_on_node", lambda rule, free, wanted: dict(wanted)),
    "required-node-keeps-guarantees-by-setting": answering("keeps_guarantee", True),
    "required-node-order-opted-out": replaced("kind_on_required_node", _as_documented),
    "required-node-order-originators": replaced(
        "order_on_required_node", lambda rule, victim: (kind_of(victim), -victim.priority, victim.seq)
    ),
    "required-node-order-regular": replaced(
        "order_on_required_node", lambda rule, victim: (kind_of(victim), *victim.newness)
    ),
    "required-node-spares": answering("spared_on_required_node", ""),
    "required-node-spares-equals-by-setting": both(
        replaced("spared_on_required_node", lambda rule, pod, ask, strict: rule(pod, ask, strict=False)),
        answering("breach_on_required_node", None),
    ),
    "required-node-takes-its-own": replaced("spared_on_required_node", _not_its_own),
    "required-node-within-its-quota": answering("shortfall", None),
    "required-node-without-enough": replaced(
        "enough_on_required_node", lambda rule, victims, missing: bool(victims)
    ),
}
