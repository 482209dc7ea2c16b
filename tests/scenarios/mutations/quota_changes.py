"""Mutations for rules of quota reclaim, for scenarios named ``quota-change``."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.decisions.preemption.receipts import Victim
from core.ids import QueuePath
from core.ledger.state.state import State
from core.ledger.state.timer_heap import set_timer, timer_at
from core.ledger.state.timers import TimerKind
from core.queues.queue import Queue
from core.queues.quota_change import is_due
from core.resource import Resource
from core.resource.comparisons import strictly_more
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced

# -- when ------------------------------


def starting(by: Rule) -> Mutate:
    return replaced("quota_change_start", by)


def _anew(rule: Rule, old: Any, new: Any, *, start: float | None, **more: Any) -> Any:
    """Each change begins a new wait."""
    return rule(replace(old, max=None), new, start=None, **more)


def _retained(rule: Rule, old: Any, new: Any, *, start: float | None, **more: Any) -> Any:
    """A start is never cleared."""
    return rule(old, new, start=start, **more) or start


def _of_all_types(rule: Rule, old: Any, new: Any, *, start: float | None, **more: Any) -> Any:
    """Only a max that is lower in every type begins a wait."""
    lowered = strictly_more(old.max, new.max) or start is not None
    return rule(old, new, start=start, **more) if lowered else None


def _begin_again(rule: Rule, state: State, path: Any) -> None:
    """Another reclaim follows a completed one."""
    rule(state, path)
    set_timer(state, TimerKind.QUOTA_RECLAIM, path, state.now + 10.0)


def _from_below(state: State, parent: Queue) -> None:
    """Children first, and their parent as well."""
    for path, queue in sorted(parent.children.items()):
        _from_below(state, queue)
        if is_due(queue, timer_at(state, TimerKind.QUOTA_RECLAIM, path), now=state.now):
            state.preemption.reclaims[path] = None


# -- how much, where and whom ------------------------------


def _whatever_is_guaranteed(rule: Rule, queue: Queue) -> Resource | None:
    caps = dict(queue.max.items()) if queue.max is not None else {}
    return Resource({name: queue.allocated.get(name) - cap for name, cap in caps.items()})


def _alike(rule: Rule, queue: Queue, amount: Resource) -> dict[QueuePath, Resource]:
    """All children lose equal amounts, whatever their usage."""
    if queue.is_leaf:
        return {queue.path: amount}
    part = Resource({name: much // len(queue.children) for name, much in amount.items()})
    return {path: much for each in queue.children.values() for path, much in _alike(rule, each, part).items()}


def _unimportant(rule: Rule, *args: Any) -> list[Victim]:
    return [victim for victim in rule(*args) if victim.priority <= 0]


def _until_enough(rule: Rule, victims: Any, amount: Resource, **_: Any) -> list[Victim]:
    taken: list[Victim] = []
    for victim in victims:
        if sum(each.size.get("vcore") for each in taken) < amount.get("vcore"):
            taken.append(victim)
    return taken


def ordered(key: Callable[[Victim], Any]) -> Mutate:
    return replaced("reclaim_candidates", lambda rule, *args: sorted(rule(*args), key=key))


UNTIL_ENOUGH = replaced("reclaim_choice", _until_enough)

QUOTA_CHANGE: dict[str, Mutate] = {
    "quota-change": answering("quota_change_start", None),
    "quota-change-above-a-guarantee": both(
        replaced("excess_of_queue", _whatever_is_guaranteed), answering("keeps_guarantee", True)
    ),
    "quota-change-after-a-restart": replaced(
        "quota_change_after_growth", lambda rule, terms, *, start, **_: start
    ),
    "quota-change-first-max": starting(_of_all_types),
    "quota-change-of-a-parent": replaced("shares_of_excess", _alike),
    "quota-change-of-a-parent-first": replaced(
        "quota_changes_due", lambda rule, state: _from_below(state, state.config.tree.root)
    ),
    "quota-change-of-two-types": starting(_of_all_types),
    "quota-change-once": replaced("quota_change_is_over", _begin_again),
    "quota-change-order": ordered(lambda victim: victim.newness),
    "quota-change-passes-over-what-does-not": UNTIL_ENOUGH,
    "quota-change-picks-what-fits": UNTIL_ENOUGH,
    "quota-change-spares-who-opted-out": ordered(lambda victim: tuple(not wish for wish in victim.wishes)),
    "quota-change-switched-off": replaced(
        "partition_of_document",
        lambda rule, *args, **more: replace(rule(*args, **more), quota_preemption=True),
    ),
    "quota-change-taken-back": starting(_retained),
    "quota-change-takes-nobody-too-large": UNTIL_ENOUGH,
    "quota-change-takes-the-one-that-fits": UNTIL_ENOUGH,
    "quota-change-twice": starting(_anew),
    "quota-change-whoever-it-is": replaced("reclaim_candidates", _unimportant),
    "quota-change-with-an-inherited-delay": replaced(
        "inherited_properties", lambda rule, parent, own: dict(own)
    ),
    "quota-change-with-another-delay": starting(
        lambda rule, old, new, **more: rule(replace(old, delay=new.delay), new, **more)
    ),
    "quota-change-with-grace": answering("victim_is_marked", None),
    "quota-change-without-a-delay": replaced(
        "quota_change_terms", lambda rule, queue: replace(rule(queue), delay=10.0)
    ),
}
