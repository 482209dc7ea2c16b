"""How each rule of a quota that shrank is switched off, for the scenarios named ``quota-change``."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.decisions.preemption import quota_reclaim as reclaim
from core.decisions.preemption.receipts import Victim
from core.ledger.preemption import execution as carrying
from core.ledger.preemption import quota_reclaim as reclaiming
from core.ledger.state import State
from core.queues import queue as queue_module
from core.queues import quota_change
from core.queues.queue import Queue
from core.resource import Resource
from extender.queueconfig import translation
from tests.scenarios.mutating import Mutate, answering, both, replaced

Rule = Callable[..., Any]


# -- when ------------------------------


def starting(by: Callable[..., Any]) -> Mutate:
    return replaced(reclaiming, "start_after", by)


def _anew(rule: Rule, old: Any, new: Any, *, start: float | None, **more: Any) -> Any:
    """Each change begins a new wait."""
    return rule(replace(old, max=None), new, start=None, **more)


def _kept(rule: Rule, old: Any, new: Any, *, start: float | None, **more: Any) -> Any:
    """A start is never cleared."""
    return rule(old, new, start=start, **more) or start


def _begin_again(rule: Rule, state: State, path: Any) -> None:
    """A run that is over is followed by another."""
    rule(state, path)
    state.quota_starts[path] = state.now + 10.0


def _from_below(rule: Rule, state: State, parent: Queue) -> None:
    """Children first, and their parent as well."""
    for path, queue in sorted(parent.children.items()):
        _from_below(rule, state, queue)
        if quota_change.is_due(queue, state.quota_starts.get(path), now=state.now):
            state.reclaims[path] = None


# -- how much, where and whom ------------------------------


def _whatever_is_guaranteed(rule: Rule, queue: Queue) -> Resource | None:
    caps = dict(queue.max.items()) if queue.max is not None else {}
    return Resource({name: queue.allocated.get(name) - cap for name, cap in caps.items()})


def _unimportant(rule: Rule, *args: Any) -> list[Victim]:
    return [victim for victim in rule(*args) if victim.priority <= 0]


def _until_enough(rule: Rule, victims: Any, amount: Resource, **_: Any) -> list[Victim]:
    taken: list[Victim] = []
    for victim in victims:
        if sum(each.size.get("vcore") for each in taken) < amount.get("vcore"):
            taken.append(victim)
    return taken


def ordered(key: Callable[[Victim], Any]) -> Mutate:
    return replaced(reclaim, "_order", lambda rule, victim, *_: key(victim))


UNTIL_ENOUGH = replaced(reclaim, "pick", _until_enough)

QUOTA_CHANGE: dict[str, Mutate] = {
    "quota-change": answering(reclaiming, "start_after", None),
    "quota-change-above-a-guarantee": both(
        replaced(reclaim, "excess", _whatever_is_guaranteed), answering(reclaim, "keeps_guarantee", True)
    ),
    "quota-change-after-a-restart": replaced(
        reclaiming, "start_after_growth", lambda rule, terms, *, start, **_: start
    ),
    "quota-change-first-max": answering(quota_change, "_lowered_below_use", False),
    "quota-change-of-a-parent": replaced(
        reclaim, "_above", lambda rule, queue: queue.allocated.as_resource()
    ),
    "quota-change-of-a-parent-first": replaced(reclaiming, "_find_below", _from_below),
    "quota-change-of-two-types": answering(quota_change, "_lowered_below_use", False),
    "quota-change-once": replaced(carrying, "reclaimed", _begin_again),
    "quota-change-order": ordered(lambda victim: victim.newness),
    "quota-change-passes-over-what-does-not": UNTIL_ENOUGH,
    "quota-change-picks-what-fits": UNTIL_ENOUGH,
    "quota-change-spares-who-opted-out": ordered(lambda victim: tuple(not wish for wish in victim.wishes)),
    "quota-change-switched-off": replaced(
        translation,
        "PartitionSpec",
        lambda rule, *args, **more: rule(*args, **{**more, "quota_preemption": True}),
    ),
    "quota-change-taken-back": starting(_kept),
    "quota-change-takes-nobody-too-large": UNTIL_ENOUGH,
    "quota-change-takes-the-one-that-fits": UNTIL_ENOUGH,
    "quota-change-twice": starting(_anew),
    "quota-change-whoever-it-is": replaced(reclaim, "candidates", _unimportant),
    "quota-change-with-an-inherited-delay": replaced(
        queue_module, "inherited", lambda rule, parent, own: dict(own)
    ),
    "quota-change-with-another-delay": starting(
        lambda rule, old, new, **more: rule(replace(old, delay=new.delay), new, **more)
    ),
    "quota-change-with-grace": answering(carrying, "mark", None),
    "quota-change-without-a-delay": replaced(
        reclaiming, "terms_of", lambda rule, queue: replace(rule(queue), delay=10.0)
    ),
}
