"""How each rule of preemption is switched off, for scenarios named ``guarantee-`` and ``required-node-``."""

from collections.abc import Callable
from typing import Any

import pytest

from core.decisions.preemption import case, eligibility, judging, laws, search, selection
from core.decisions.preemption import planning as preemption
from core.decisions.preemption.due_order import DueOrder
from core.decisions.preemption.receipts import Victim
from core.ids import PodUid
from core.ledger.preemption import attempts as tries
from core.ledger.preemption import execution as carrying
from core.ledger.preemption import in_vain
from core.ledger.view import Snapshot
from core.queues import fence, whatif
from core.queues import queue as queue_module
from core.queues.fence import Bound
from core.queues.properties import PreemptionPolicy
from extender.wire import translate
from tests.scenarios.mutating import Mutate, answering, both, replaced, valued

Rule = Callable[..., Any]


# -- the laws ------------------------------


def _willing_only(rule: Rule, *args: Any) -> Any:
    """To opt out is more than a wish."""
    return [each for each in rule(*args) if not each[0].opted_out]


NO_WISHES = answering(case, "is_opted_out", False)
NO_LAW_2 = both(answering(laws, "keeps_guarantee", True), answering(search, "losable", {}))
NO_LAW_5 = answering(laws, "is_above_guarantee", True)
NO_LAW_6 = answering(laws, "is_no_more_important", True)


def _from_the_start(rule: Rule, state: Any, record: Any) -> float | None:
    """Asks without any guarantee are tried too."""
    apart = tries.TRIES_APART
    return rule(state, record) or (record.tried_at or record.facts.created + apart) + apart


ALWAYS_BELOW = both(
    answering(laws, "is_below_guarantee", True),
    replaced(
        selection,
        "remaining",
        lambda rule, usage, queue, ask: {} if queue is ask else rule(usage, queue, ask),
    ),
    replaced(tries, "_first_try", _from_the_start),
)


def _own_queue_too(rule: Rule, queue: Any, priority: int, fair_game: bool, ask: Any, worth: Any) -> Any:
    return rule(queue, priority, fair_game, None, worth)


OWN_QUEUE_TOO = both(
    replaced(fence, "_down", _own_queue_too), answering(laws, "is_of_another", True), NO_LAW_2, NO_LAW_5
)


def unbound(*bounds: Bound) -> Mutate:
    """Those do not end the way up."""

    def by(rule: Rule, *args: Any) -> Bound | None:
        found: Bound | None = rule(*args)
        return None if found in bounds else found

    return replaced(fence, "_bound", by)


def _never_just_filled(rule: Rule, cap: Any, used: Any) -> bool:
    return bool(rule(cap, used)) and all(used.get(name) < amount for name, amount in cap.items())


def _fenced_ones_too(rule: Rule, fence_: Any, ask: Any, **more: Any) -> Any:
    """Fences of others keep the search out."""
    for each in rule(fence_, ask, **more):
        others = [queue for queue in each.leaf.chain if queue not in ask.chain]
        if not any(queue.properties.preemption is PreemptionPolicy.FENCE for queue in others):
            yield each


# -- guarantees and priorities ------------------------------


def _own_only(rule: Rule, usage: Any, queue: Any, ask: Any = None) -> Any:
    """What is left to an ancestor's guarantee does not count."""
    parent, queue.parent = queue.parent, None
    try:
        return rule(usage, queue, ask)
    finally:
        queue.parent = parent


def _by_beginning_of_names(rule: Rule, usage: Any, queue: Any, ask: Any = None) -> Any:
    if ask is not None and queue is not ask and ask.path.startswith(queue.path) and ask.guaranteed:
        return None
    return rule(usage, queue, ask)


def remaining_as(by: Callable[..., Any]) -> Mutate:
    return both(*(replaced(each, "remaining", by) for each in (judging, preemption, search, selection)))


def _all_allocated(rule: Rule, self: whatif.WhatIf, queue: Any) -> dict[str, int]:
    """Victims count until they are gone."""
    used: dict[str, int] = rule(self, queue)
    if queue.is_root:
        return used
    return {name: amount + queue.preempting.get(name) for name, amount in used.items()}


def _only_allocated(rule: Rule, self: whatif.WhatIf, queue: Any) -> dict[str, int]:
    """Asks that wait for their victims to go do not count."""
    used = rule(self, queue)
    return {name: amount - queue.triggered.get(name) for name, amount in used.items()}


def _untranslated(rule: Rule, self: fence.Reach, priority: int) -> bool:
    return priority <= 0


def shared_ancestor(counts: bool) -> Mutate:
    return replaced(
        case, "reach", lambda rule, *args, **more: rule(*args, **{**more, "shared_ancestor": counts})
    )


# -- the choice of victims ------------------------------


def _order_by(key: Callable[[Victim], tuple[Any, ...]]) -> Mutate:
    return valued(Victim, "order", property(key))


OLDEST_FIRST = _order_by(lambda victim: (*victim.wishes, victim.created, victim.seq))
BY_PRIORITY = _order_by(lambda victim: (*victim.wishes, victim.priority, *victim.newness))


def _stops(rule: Rule, self: selection.Trial, victim: Any, leaf: Any) -> str:
    """One that is too large ends the search on its node."""
    if self._case is None:
        return selection.SIZE
    found = str(rule(self, victim, leaf))
    if found == selection.SIZE:
        self._case = None
    return found


def _one_type_is_enough(patch: pytest.MonkeyPatch) -> None:
    """The first victim counts for all types."""
    replaced(preemption, "pick_on_node", lambda rule, *args: (rule(*args) or [])[:1] or None)(patch)
    replaced(selection.Choice, "lacking", lambda rule, self: {} if self.victims else rule(self))(patch)


def _by_rank(rule: Rule, self: DueOrder, snapshot: Snapshot) -> PodUid | None:
    """The oldest ask of all leaves goes first."""
    return min(snapshot.trying, key=lambda uid: snapshot._state.pods[uid].rank, default=None)


INHERITS_NOTHING = replaced(queue_module, "inherited", lambda rule, parent, own: dict(own))


PREEMPTION: dict[str, Mutate] = {
    "guarantee-after-a-delay": INHERITS_NOTHING,
    "guarantee-and-a-fence-of-the-root": replaced(
        queue_module, "inherited", lambda rule, parent, own: {**parent, **own}
    ),
    "guarantee-and-offsets": NO_LAW_6,
    "guarantee-and-originators": valued(
        Victim, "wishes", property(lambda self: (self.guarded, self.opted_out, False))
    ),
    "guarantee-at-equal-priority": replaced(
        fence.Reach, "allows", lambda rule, self, priority: rule(self, priority + 1)
    ),
    "guarantee-behind-its-own-fence": unbound(Bound.FENCE),
    "guarantee-below-a-full-parent": unbound(Bound.MAX),
    "guarantee-below-a-parent-just-filled": replaced(fence, "within", _never_just_filled),
    "guarantee-below-a-shared-parent": shared_ancestor(True),
    "guarantee-below-a-shared-parent-by-setting": shared_ancestor(False),
    "guarantee-beside-a-name-that-begins-alike": both(remaining_as(_by_beginning_of_names), NO_LAW_2),
    "guarantee-by-priority": NO_LAW_6,
    "guarantee-counts-victims-as-gone": replaced(whatif.WhatIf, "_read", _all_allocated),
    "guarantee-counts-who-waits-for-victims": replaced(whatif.WhatIf, "_read", _only_allocated),
    "guarantee-disabled-at-the-root": INHERITS_NOTHING,
    "guarantee-in-the-order-of-queues": replaced(DueOrder, "first", _by_rank),
    "guarantee-in-a-fence": replaced(case, "reach", _fenced_ones_too),
    "guarantee-into-a-fence": replaced(case, "reach", _fenced_ones_too),
    "guarantee-loop-1": both(ALWAYS_BELOW, NO_LAW_2, NO_LAW_5),
    "guarantee-loop-1b": ALWAYS_BELOW,
    "guarantee-loop-1b-exceeding": replaced(
        laws, "is_below_guarantee", lambda rule, rest, wanted, **_: rule(rest, wanted)
    ),
    "guarantee-loop-2": NO_LAW_2,
    "guarantee-loop-3": ALWAYS_BELOW,
    "guarantee-loop-bigger": both(NO_LAW_5, NO_LAW_2),
    "guarantee-loop-storm": NO_LAW_5,
    "guarantee-must-be-of-what-is-asked": ALWAYS_BELOW,
    "guarantee-never-for-who-never-preempts": replaced(
        translate, "PodFacts", lambda rule, *args, **more: rule(*args, **{**more, "never_preempts": False})
    ),
    "guarantee-not-from-its-own-queue": OWN_QUEUE_TOO,
    "guarantee-not-from-outside-the-fence": unbound(Bound.FENCE),
    "guarantee-of-a-disabled-queue": replaced(
        search.Open,
        "_why_closed",
        lambda rule, self, each: None if "safe" in each.leaf.path else rule(self, each),
    ),
    "guarantee-of-a-parent-of-victims": NO_LAW_2,
    "guarantee-of-a-part-of-what-is-asked": replaced(
        laws,
        "is_below_guarantee",
        lambda rule, rest, wanted, **more: set(wanted) <= set(rest or {}) and rule(rest, wanted, **more),
    ),
    "guarantee-of-the-parent": remaining_as(_own_only),
    "guarantee-of-two-queues": ALWAYS_BELOW,
    "guarantee-of-two-types": _one_type_is_enough,
    "guarantee-of-victims-of-another-type": NO_LAW_5,
    "guarantee-of-victims-used-up": both(NO_LAW_5, NO_LAW_2),
    "guarantee-passes-over-a-pod-too-large": replaced(selection.Trial, "take", _stops),
    "guarantee-spares-a-pod-too-large": NO_LAW_2,
    "guarantee-spares-who-opted-out": NO_WISHES,
    "guarantee-spares-who-opted-out-by-class": replaced(
        case, "is_opted_out", lambda rule, snapshot, record: record.facts.allow_preemption == "false"
    ),
    "guarantee-switched-off": both(
        valued(Snapshot, "preempts", True), replaced(tries, "_first_try", _from_the_start)
    ),
    "guarantee-takes-the-newest": BY_PRIORITY,
    "guarantee-takes-who-opted-out": replaced(preemption, "candidates_on", _willing_only),
    "guarantee-three-plans-at-most": valued(eligibility, "PLANS_AT_MOST", 9),
    "guarantee-translates-priorities": replaced(fence.Reach, "allows", _untranslated),
    "guarantee-tried-again": valued(tries, "TRIES_APART", 60.0),
    "guarantee-without-one": ALWAYS_BELOW,
    "preemption-in-vain": valued(in_vain, "FREE", 99),
    "preemption-offer-and-another-plan": answering(carrying, "offer", None),
    "preemption-offer-within-the-guarantee": answering(carrying, "offer", None),
}
