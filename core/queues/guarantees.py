"""Distance of a queue from its guarantee, below and above (PRE-8, PRE-9). Pure arithmetic over usage."""

from collections.abc import Iterable, Mapping

from core.queues.queue import Queue
from core.queues.whatif import WhatIf

Amounts = Mapping[str, int]
"""Signed amounts. An absent name is not guaranteed. ``None`` instead: nothing is."""


def remaining(usage: WhatIf, queue: Queue, ask: Queue | None = None) -> Amounts | None:
    """Amounts left to a queue's guarantee, negative above it. None without any guarantee (PRE-8).

    ``ask``: the leaf of the ask. Its own values override those of its ancestors. If it has a guarantee, those
    of common ancestors are hidden from its siblings. Ancestors are found by path segments, not by prefixes of
    names (DIV-8).
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
    """Smaller amount of every name (`min_union`)."""
    for name, amount in above.items():
        if name not in own or amount < own[name]:
            own[name] = amount
    return own


def preemptable(usage: WhatIf, queue: Queue) -> Amounts | None:
    """Usage of a queue above its guarantee, at most its parent's. None if it uses nothing (PRE-9)."""
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
    """Most that can be taken without any of the queues falling below its guarantee (LAW-2).

    An absent name is not guaranteed by any of them, so all of it may be taken. Negative if a queue is below
    its guarantee already.
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
    """Queues from a leaf up to, but without, the lowest common ancestor with the ask's leaf."""
    return tuple(queue for queue in leaf.chain if queue not in ask.chain)
