"""Seven laws of preemption, one predicate each. The planner follows them, and plans are judged by them.

Predicates read usage as it is *before* the victim is evicted. `core.decisions.preemption.judging` uses them
again when a plan is committed.
"""

from collections.abc import Iterable, Mapping, Sequence

from core.decisions.preemption.receipts import Victim
from core.ids import AppId
from core.quantity import amount_text
from core.queues.fence import Fence, Reach
from core.queues.guarantees import Amounts, losable
from core.queues.queue import Queue
from core.queues.whatif import WhatIf
from core.resource import Resource

Wanted = Mapping[str, int]
"""Amounts that an ask wants: only those above zero."""


def willing_come_first(victims: Sequence[Victim]) -> bool:
    """LAW-1: victims that opted out come after all others, and so do originators.

    Victims guarded by a disruption budget come last (DESIGN-4).
    """
    wishes = [victim.wishes for victim in victims]
    return wishes == sorted(wishes)


def keeps_guarantee(usage: WhatIf, below: Iterable[Queue], size: Resource) -> bool:
    """LAW-2: no queue falls below its guarantee, from the victim's leaf up to the common ancestor."""
    spare = losable(usage, below)
    if not spare:
        return True
    return all(amount <= spare.get(name, amount) for name, amount in size.items() if amount > 0)


def is_of_another(victim: AppId | None, ask: AppId | None) -> bool:
    """LAW-3: no pod is evicted for its own application."""
    return victim != ask


def is_below_guarantee(rest: Amounts | None, wanted: Wanted, *, may_exceed: bool = False) -> bool:
    """LAW-4: the ask's queue is below its guarantee, and stays within it when the ask is placed.

    ``rest``: amounts left to the guarantee. A resource that the ask wants must be guaranteed (DIV-11). With
    ``may_exceed`` the last ask may exceed the guarantee (DIV-10).
    """
    if rest is None or not any(name in rest for name in wanted):
        return False
    if may_exceed:
        return all(rest[name] > 0 for name in wanted if name in rest)
    return all(amount <= rest[name] for name, amount in wanted.items() if name in rest)


def is_above_guarantee(rest: Amounts | None, wanted: Wanted) -> bool:
    """LAW-5: the victim's queue is above its guarantee in a wanted resource, or has no guarantee."""
    return rest is None or any(rest.get(name, 0) < 0 for name in wanted)


def is_no_more_important(reach: Reach | None, priority: int) -> bool:
    """LAW-6: the victim's priority is at most the ask's as its queue sees it; see `Reach`."""
    return reach is not None and reach.allows(priority)


def is_inside_fence(fence: Fence, leaf: Queue) -> bool:
    """LAW-7: the victim's leaf lies below the queue at which the ask's way up ends."""
    return fence.root in leaf.chain


def numbers(amounts: Mapping[str, int] | None, names: Iterable[str] | None = None) -> str:
    """Text of amounts, such as ``vcore=2,memory=-1Gi``; ``nothing`` for none."""
    if amounts is None:
        return "no guarantee"
    wanted = sorted(amounts if names is None else (name for name in names if name in amounts))
    return ",".join(f"{name}={_signed(name, amounts[name])}" for name in wanted) or "nothing"


def _signed(name: str, amount: int) -> str:
    return f"-{amount_text(name, -amount)}" if amount < 0 else amount_text(name, amount)
