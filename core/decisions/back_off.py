"""Rule about an application that may back off before one of its asks is checked (CYC-4)."""

from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.queue import Queue

KINDS_COUNTED = 64
"""Kinds of asks of an application, at most, that one answer counts."""


def may_back_off(view: LedgerView, record: PodRecord, leaf: Queue) -> bool:
    """True if only a cycle can tell whether an application backs off before one of its asks is tried.

    True if as many asks rank before this one as may fit on no node. Also true for very many kinds. Cost:
    O(kinds).
    """
    threshold = leaf.properties.unscheduled_backoff
    if not threshold:
        return False
    lines, rank = view.lines_beside(record, leaf)
    if not lines:
        return False
    kinds = len(lines) + ((record.facts.size, record.facts.constraints) not in lines)
    return kinds > KINDS_COUNTED or sum(each.before(rank) for each in lines.values()) >= threshold
