"""Amounts that mean something else than they seem to: names for CPU, and bytes (RES-2)."""

from collections.abc import Iterator, Mapping

from core.errors import QuantityError
from core.quantity import queue_amount
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, Location, shown
from extender.queueconfig.schema import LimitEntry, Resources

TINY = 1024**2
"""Bytes: no pod runs in less memory."""

_CPU = frozenset(("cpu", "cpus", "vcpu", "vcpus", "vcores", "vcore"))
_VCORE, _MEMORY = "vcore", "memory"

Texts = Mapping[str, str]


def amounts(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Amounts of queues, of their templates and of limits."""
    yield from _of_limits(partition.section.limits, partition.at)
    for queue in partition.root.with_descendants():
        for texts, at in _of_queue(queue):
            yield from _names(texts, at)
            yield from _sizes(texts, at)
        yield from _of_limits(queue.section.limits, queue.at)


def _of_queue(queue: QueueNode) -> Iterator[tuple[Texts, Location]]:
    template = queue.section.childtemplate
    places: list[tuple[Location, Resources]] = [((), queue.section.resources)]
    if template is not None:
        places.append((("childtemplate",), template.resources))
    for step, section in places:
        for key, texts in (("guaranteed", section.guaranteed), ("max", section.max)):
            yield texts or {}, (*queue.at, *step, "resources", key)


def _of_limits(entries: list[LimitEntry], at: Location) -> Iterator[DocumentFinding]:
    for place, entry in enumerate(entries):
        where = (*at, "limits", place, "maxresources")
        yield from _names(entry.maxresources, where)
        yield from _sizes(entry.maxresources, where)


def _names(texts: Texts, at: Location) -> Iterator[DocumentFinding]:
    for name in texts:
        if name != _VCORE and name.lower() in _CPU:
            message = f"{shown(name)} is a resource that no pod asks for: CPU is vcore here; write vcore"
            yield DocumentFinding((*at, name), "RES-2", message)


def _sizes(texts: Texts, at: Location) -> Iterator[DocumentFinding]:
    text = texts.get(_MEMORY)
    amount = _amount(text) if text is not None else 0
    if 0 < amount < TINY:
        message = f"memory is in bytes, and {amount} of them hold no pod; write a unit, such as {amount}Mi"
        yield DocumentFinding((*at, _MEMORY), "RES-2", message)


def _amount(text: str) -> int:
    try:
        return queue_amount(_MEMORY, text)
    except QuantityError:
        return 0
