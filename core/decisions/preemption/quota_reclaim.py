"""Victims after a quota has shrunk below usage: how much, where and which pods (QCP-4 to QCP-8)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from core.decisions.preemption.case import victim_of
from core.decisions.preemption.laws import keeps_guarantee
from core.decisions.preemption.receipts import (
    Finding,
    Kind,
    NodeNotes,
    Receipt,
    Victim,
    VictimReceipt,
    passed,
)
from core.ids import QueuePath
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.queues.tree import QueueTree
from core.queues.whatif import WhatIf
from core.resource import Resource, within

HOUR = 3600.0


def excess(queue: Queue) -> Resource | None:
    """Amounts to evict: usage above the max, as far as guarantees allow. None for nothing (QCP-4).

    Guarantees of the queue and of all queues above count, each by itself. Per type the smallest possible loss
    decides, and it is never negative.
    """
    if queue.max is None:
        return None
    over = {name: more for name, cap in queue.max.items() if (more := _standing(queue, name) - cap) > 0}
    for each in queue.chain:
        for name, due in each.guaranteed.items() if each.guaranteed is not None else ():
            if name in over:
                over[name] = min(over[name], max(0, _standing(each, name) - due))
    return Resource(over).pruned() or None


def _standing(queue: Queue, name: str) -> int:
    return queue.allocated.get(name) - queue.preempting.get(name)


def shares(queue: Queue, amount: Resource) -> dict[QueuePath, Resource]:
    """Amounts that each leaf below must give up, in name order (QCP-5).

    Children share by their usage above their guarantee, level by level and type by type, rounded down.
    """
    if queue.is_leaf:
        return {queue.path: amount}
    found: dict[QueuePath, Resource] = {}
    children = [queue.children[path] for path in sorted(queue.children)]
    weights = {child.path: _above(child) for child in children if not _is_within_guarantee(child)}
    for child in children:
        if child.path in weights:
            part = _part(amount, weights[child.path], weights.values())
            if part:
                found |= shares(child, part)
    return found


def _is_within_guarantee(queue: Queue) -> bool:
    used = {name: left for name in queue.allocated.names() if (left := _standing(queue, name))}
    return not used or within(queue.guaranteed, Resource(used))


def _above(queue: Queue) -> Resource:
    """Usage above the guarantee by type, or all usage without a guarantee."""
    names = queue.guaranteed.names() if queue.guaranteed else queue.allocated.names()
    due = queue.guaranteed or Resource({})
    return Resource({name: max(0, _standing(queue, name) - due.get(name)) for name in names})


def _part(amount: Resource, weight: Resource, weights: Iterable[Resource]) -> Resource:
    totals: dict[str, int] = {}
    for each in weights:
        for name, size in each.items():
            totals[name] = totals.get(name, 0) + size
    return Resource(
        {
            name: size * weight.get(name) // totals[name]
            for name, size in amount.items()
            if totals.get(name, 0) > 0
        }
    ).pruned()


def candidates(view: LedgerView, leaf: Queue, amount: Resource) -> list[Victim]:
    """Pods of a leaf that may be evicted, in order (QCP-6, QCP-7, DIV-18)."""
    found = []
    for application in view.applications_in(leaf):
        for uid in application.pods:
            record = view.pod(uid)
            if record is None or not record.node or not record.evictable:
                continue
            if any(record.facts.size.get(name) > 0 for name in amount.names()):
                found.append(victim_of(view, record, leaf.path))
    return sorted(found, key=lambda victim: _order(victim, leaf, amount))


def _order(victim: Victim, leaf: Queue, amount: Resource) -> tuple[object, ...]:
    """Sort key of a victim.

    Willing ones first, then those that match the amounts best, the less important, the newer by the hour, the
    smaller.
    """
    size = [name for name, held in victim.size.items() if held > 0]
    match = 100 * sum(name in amount for name in size) // len(size)
    return (
        *victim.wishes,
        -match,
        victim.priority,
        -(victim.created // HOUR),
        _share(victim, leaf, amount),
        -victim.seq,
        victim.uid,
    )


def _share(victim: Victim, leaf: Queue, amount: Resource) -> float:
    """Sum of a pod's fractions of the queue's max, over the amounts to evict."""
    share = 0.0
    for name in amount.names():
        cap = leaf.max.get(name) if leaf.max is not None else None
        share += victim.size.get(name) / cap if cap else victim.size.get(name)
    return share


def pick(
    victims: Iterable[Victim], amount: Resource, *, may_go: Callable[[Victim], bool] = lambda _: True
) -> list[Victim]:
    """Victims that together hold no more than the amount. A victim that would exceed it is skipped (QCP-8).

    ``may_go`` is asked about each possible victim. If it returns True, the victim is taken.
    """
    left = dict(amount.items())
    taken = []
    for victim in victims:
        if all(victim.size.get(name) <= most for name, most in left.items()) and may_go(victim):
            taken.append(victim)
            left = {name: most - victim.size.get(name) for name, most in left.items()}
    return taken


def _goes(usage: WhatIf, leaf: Queue, victim: Victim) -> bool:
    """Take a victim out of the usage, unless that undercuts a guarantee."""
    if not keeps_guarantee(usage, leaf.chain, victim.size):
        return False
    usage.remove(leaf, victim.size)
    return True


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Evictions that bring a queue back under its max. ``amount``: the excess. ``shares``: by leaf.

    ``considered``: number of possible victims.
    """

    queue: QueuePath
    amount: Resource
    shares: Mapping[QueuePath, Resource]
    victims: tuple[Victim, ...]
    considered: int
    receipt: Receipt


def plan_reclaim(view: LedgerView, queue: Queue) -> Reclaim | None:
    """Victims of a queue above its max. None if none must or may be evicted. Best effort.

    No guarantee is undercut, neither of a leaf nor of a queue between it and the root (QCP-4).
    """
    return reclaim_in(view, view.tree, queue) if view.quota_preempts else None


def reclaim_in(view: LedgerView, tree: QueueTree, queue: Queue) -> Reclaim | None:
    """Victims as from `plan_reclaim`, in a tree of another document. It need not switch reclaim on."""
    amount = excess(queue)
    if amount is None:
        return None
    parts = shares(queue, amount)
    victims: list[Victim] = []
    receipts: list[VictimReceipt] = []
    considered = 0
    usage = WhatIf()
    for path, part in parts.items():
        leaf = tree.get(path)
        if leaf is None:
            continue
        found = candidates(view, leaf, part)
        considered += len(found)
        taken = pick(found, part, may_go=partial(_goes, usage, leaf))
        victims += taken
        receipts += [passed(each, Finding("QCP-8", f"{path} gives up {part!r}")) for each in taken]
    why = Finding("QCP-4", f"{queue.path} is over its max by {amount!r}")
    receipt = Receipt(Kind.QUOTA, (why,), tuple(receipts), NodeNotes())
    return Reclaim(queue.path, amount, parts, tuple(victims), considered, receipt)
