"""Paddock's own series of queues, ``paddock_queue_…``. There is one family for each counter."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from core.queues.queue import Queue
from core.resource import Limit, Resource, Tally
from extender.rest.projection.counting import Afloat, allocated_in, pending_in
from extender.telemetry.lines import Family, escaped, heading

Amounts = tuple[tuple[str, int], ...]
"""Amounts by resource."""

AMOUNTS = ("max", "guaranteed", "allocated", "reserved", "pending", "preempting")

FAMILIES: Mapping[str, Family] = {
    amount: Family(f"paddock_queue_{amount}", "gauge", ("queue", "resource"), f"Of a queue: {amount}")
    for amount in AMOUNTS
}


class QueueAmounts(NamedTuple):
    """All amounts of a queue at one moment."""

    path: str
    max: Amounts
    guaranteed: Amounts
    allocated: Amounts
    reserved: Amounts
    pending: Amounts
    preempting: Amounts
    #: Total sizes of its allocations and of its requests, as REST counts them.
    allocations: Amounts
    requests: Amounts
    max_applications: int


def amounts_of(queue: Queue, afloat: Afloat) -> QueueAmounts:
    """Read all amounts of a queue. Cost: some ten microseconds."""
    return QueueAmounts(
        queue.path,
        _items(queue.max),
        _items(queue.guaranteed),
        _items(queue.allocated),
        _items(queue.reserved),
        _items(queue.pending),
        _items(queue.preempting),
        _items(allocated_in(queue, afloat)),
        _items(pending_in(queue, afloat)),
        queue.max_applications,
    )


def lines_of(queue: QueueAmounts, shown: frozenset[str]) -> dict[str, str]:
    """Return the samples of a queue, by counter."""
    path = escaped(queue.path)
    return {
        amount: "".join(
            f'{family.name}{{queue="{path}",resource="{escaped(resource)}"}} {value}.0\n'
            for resource, value in getattr(queue, amount)
            if resource in shown
        )
        for amount, family in FAMILIES.items()
    }


def text_of(amount: str, samples: Iterable[str]) -> str:
    """Return the text of a whole family."""
    return heading(FAMILIES[amount]) + "".join(samples)


def _items(amounts: Limit | Resource | Tally | None) -> Amounts:
    return tuple(amounts.items()) if amounts is not None else ()
