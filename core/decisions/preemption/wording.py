"""Sentences for users that say why a pod was evicted. The laws follow in parentheses."""

from core.decisions.preemption.case import Case
from core.decisions.preemption.receipts import Kind, VictimReceipt
from core.queues.guarantees import below_common
from core.queues.queue import Queue
from core.queues.whatif import WhatIf
from core.sentences import amount_phrase, in_order, signed_amount

LONGEST = 400
"""Most characters of the text on a victim."""

_OF_KIND = {
    Kind.GUARANTEE: "a queue was below its guarantee",
    Kind.REQUIRED_NODE: "a DaemonSet's pod may run on no other node",
    Kind.QUOTA: "the max of its queue was lowered below what the queue uses",
}


def guarantee_sentence(case: Case, usage: WhatIf, leaf: Queue) -> str:
    """Return ``root.a was below its guarantee (28 of 44 cpu), root.b above (34 of 16)``.

    ``usage``: usage before the victim is evicted. ``leaf``: the victim's leaf.
    """
    below = _below(case, usage)
    if below is None:
        return _OF_KIND[Kind.GUARANTEE]
    queue, name = below
    there = f"{queue.path} was below its guarantee ({_used(usage, queue, name, unit=True)})"
    return f"{there}, {_above(case, usage, leaf, name)}"


def _below(case: Case, usage: WhatIf) -> tuple[Queue, str] | None:
    """Find the first queue, from the ask's leaf upwards, that is below its guarantee of a wanted resource."""
    for name in in_order(case.wanted):
        for queue in case.leaf.chain:
            due = queue.guaranteed.get(name) if queue.guaranteed else 0
            if due > usage.used(queue).get(name, 0):
                return queue, name
    return None


def _above(case: Case, usage: WhatIf, leaf: Queue, name: str) -> str:
    chain = below_common(leaf, case.leaf) or (leaf,)
    for queue in chain:
        if queue.guaranteed and name in queue.guaranteed.names():
            return f"{queue.path} above ({_used(usage, queue, name, unit=False)})"
    return f"{leaf.path} has none"


def _used(usage: WhatIf, queue: Queue, name: str, *, unit: bool) -> str:
    due = queue.guaranteed.get(name) if queue.guaranteed else 0
    of = amount_phrase(name, due) if unit else signed_amount(name, due)
    return f"{signed_amount(name, usage.used(queue).get(name, 0))} of {of}"


def eviction_reason(kind: Kind, victim: VictimReceipt) -> str:
    """Return the text for a victim: the sentence, wishes that could not be respected, and the laws."""
    wishes = "".join(f"; {each.text}" for each in victim.findings if each.law == "LAW-1")
    laws = ", ".join(dict.fromkeys(each.law for each in victim.findings))
    behind = f" ({kind}: {laws})" if laws else f" ({kind})"
    front = f"{victim.why or _OF_KIND[kind]}{wishes}"
    left = LONGEST - len(behind)
    return (front if len(front) <= left else front[: left - 1] + "…") + behind
