"""Choice of the queues and resources with series. Their number is bounded (METRIC-16)."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.queues.tree import QueueTree

QUEUES_SHOWN = 2_000
"""Queues with series of their own."""

RESOURCES_SHOWN = 64
"""Resources with series of their own."""

ALWAYS = ("memory", "pods", "vcore")
"""Resources with series in every queue, so that a panel has a line before they are used."""


def shown_queues(tree: QueueTree) -> list[Queue]:
    """Queues with series, sorted by path.

    Queues of the document precede dynamic ones, and older queues precede newer ones. Dynamic queues thus
    never displace configured ones.
    """
    configured = (queue for queue in tree if not queue.dynamic)
    dynamic = (queue for queue in tree if queue.dynamic)
    return sorted(islice(chain(configured, dynamic), QUEUES_SHOWN), key=lambda queue: queue.path)


class ShownResources:
    """Resources with series: first the usual ones, those of nodes and of the document, then those of pods."""

    def __init__(self) -> None:
        self._generation = -1
        self._configured: frozenset[str] = frozenset()

    def of(self, view: LedgerView) -> tuple[frozenset[str], int]:
        """Return the resources with series, and the number of other resources in use."""
        if view.generation != self._generation:
            self._generation, self._configured = view.generation, _configured(view.tree)
        root = view.tree.root
        held = (root.allocated, root.reserved, root.pending, root.preempting)
        offered = [name for name, _ in root.max.items()] if root.max is not None else []
        asked = {name for tally in held for name, _ in tally.items()}
        names = _unique(chain(ALWAYS, sorted(offered), sorted(self._configured), sorted(asked)))
        return frozenset(names[:RESOURCES_SHOWN]), max(0, len(names) - RESOURCES_SHOWN)


def _configured(tree: QueueTree) -> frozenset[str]:
    """Resources that the document names in a max or a guarantee."""
    specs = [queue.spec for queue in tree if not queue.dynamic]
    amounts = (each for spec in specs for each in (spec.max, spec.guaranteed) if each is not None)
    return frozenset(name for each in amounts for name, _ in each.items())


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def in_parts(queues: list[Queue], size: int) -> Iterator[list[Queue]]:
    """Parts of a list, so that work on it can pause between them."""
    for start in range(0, len(queues), size):
        yield queues[start : start + size]
