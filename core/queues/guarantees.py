"""How far a queue is below its guarantee, and how far above (PRE-8, PRE-9). Pure arithmetic over usage."""

from collections.abc import Iterable, Mapping

from core.queues.queue import Queue
from core.queues.whatif import WhatIf

Amounts = Mapping[str, int]
"""Signed amounts; a name that is absent is not guaranteed. ``None`` beside it: nothing is."""


def remaining(usage: WhatIf, queue: Queue, ask: Queue | None = None) -> Amounts | None:
    """What is left to a queue's guarantee, over it negative; None when nobody guarantees anything (PRE-8).

    ``ask``: the leaf that wants room. Its own values beat those of its ancestors; and when it has a
    guarantee of its own, those of common ancestors are hidden from its siblings. An ancestor is one by path
    segments, not by the beginning of a name (DIV-8).
    """
    parent = queue.parent
    above = remaining(usage, parent, ask) if parent is not None else None
    guaranteed = queue.guaranteed
    if not guaranteed:
        return above
    used = usage.used(queue)
    own = {name: amount - used.get(name, 0) for name, amount in guaranteed.items()}
    if ask is not None and parent is not None:
        if queue is ask:
            return own if above is None else {**above, **own}
        if ask.guaranteed and queue in ask.chain:
            return None
    return own if above is None else _smaller(own, above)


def _smaller(own: dict[str, int], above: Amounts) -> Amounts:
    """`min_union`."""
    for name, amount in above.items():
        if name not in own or amount < own[name]:
            own[name] = amount
    return own


def preemptable(usage: WhatIf, queue: Queue) -> Amounts | None:
    """What a queue uses above its guarantee, at most its parent does; None when it uses nothing (PRE-9)."""
    used = {name: amount for name, amount in usage.used(queue).items() if amount}
    if not used:
        return None
    guaranteed = queue.guaranteed
    over = {
        name: excess
        for name, amount in used.items()
        if (excess := amount - (guaranteed.get(name) if guaranteed is not None else 0)) > 0
    }
    above = preemptable(usage, queue.parent) if over and queue.parent is not None else None
    return (
        over
        if above is None
        else {name: min(excess, above.get(name, excess)) for name, excess in over.items()}
    )


def losable(usage: WhatIf, queues: Iterable[Queue]) -> Amounts:
    """The most that can be taken so that none of the queues falls below its guarantee (LAW-2).

    A name that none of them guarantees is absent: all of it may go. Negative where one is below already.
    """
    least: dict[str, int] = {}
    for queue in queues:
        guaranteed = queue.guaranteed
        if guaranteed:
            used = usage.used(queue)
            for name, amount in guaranteed.items():
                slack = used.get(name, 0) - amount
                if name not in least or slack < least[name]:
                    least[name] = slack
    return least


def below_common(leaf: Queue, ask: Queue) -> tuple[Queue, ...]:
    """The queues from a leaf up to, but without, the lowest common ancestor with another."""
    return tuple(queue for queue in leaf.chain if queue not in ask.chain)
