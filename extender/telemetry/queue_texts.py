"""Texts of queues' amounts. They are rewritten only for queues that have changed.

A scrape of 2,000 queues has 60,000 lines. Most queues have not changed since the last scrape, so lines are
stored. Amounts are read first, for many queues in one slice. Lines are made from them afterwards.
"""

from collections.abc import Iterator

from core.ledger.view import LedgerView
from core.queues.queue import Queue
from extender.rest.projection.counting import Afloat, afloat_of, count_afloat
from extender.telemetry import own_queues
from extender.telemetry.own_queues import QueueAmounts
from extender.telemetry.shown import ShownResources, in_parts, shown_queues
from extender.telemetry.yunikorn.queue_amounts import NamesShown, path_lines, queue_lines

TAKEN_AT_ONCE, WRITTEN_AT_ONCE = 50, 10
"""Queues whose amounts are read, or whose lines are made, in one slice."""

FEW_AFLOAT = 50
"""Most pods with reserved quota and without a node that are counted again for each part of the queues."""


class QueueText:
    """Lines of one queue, and the amounts from which they were made."""

    __slots__ = ("amounts", "by_path", "names", "own", "resource", "shown")

    def __init__(self) -> None:
        self.amounts: QueueAmounts | None = None
        self.shown: frozenset[str] = frozenset()
        self.names = NamesShown()
        #: Samples of METRIC-1.
        self.resource = ""
        #: Samples of METRIC-18 without their names, which depend on the path.
        self.by_path: list[str] = []
        #: Samples of Paddock's own families.
        self.own: dict[str, str] = {}

    def write(self, amounts: QueueAmounts, shown: frozenset[str]) -> None:
        """Rewrite the lines. ``shown``: resources with series."""
        self.amounts, self.shown = amounts, shown
        self.own = own_queues.lines_of(amounts, shown)
        samples = self.names.samples_of(amounts, shown)
        self.resource, self.by_path = queue_lines(amounts.path, samples), path_lines(samples)


class QueueTexts:
    """Lines of every queue that is shown, after `refresh`."""

    def __init__(self) -> None:
        self._resources = ShownResources()
        self._texts: dict[str, QueueText] = {}
        #: Queues that are shown, by path.
        self.queues: list[Queue] = []
        #: Number of queues, and of resources, that have no series.
        self.queues_unshown = self.resources_unshown = 0

    def refresh(self, view: LedgerView) -> Iterator[None]:
        """Bring all lines up to date, with pauses."""
        self.queues = queues = shown_queues(view.tree)
        shown, self.resources_unshown = self._resources.of(view)
        self.queues_unshown = len(view.tree) - len(queues)
        paths = {queue.path for queue in queues}
        for path in [each for each in self._texts if each not in paths]:
            del self._texts[path]
        yield
        changed: list[tuple[QueueText, QueueAmounts]] = []
        yield from count_afloat(view, afloat := Afloat())
        for part in in_parts(queues, TAKEN_AT_ONCE):
            if len(view.reserved) + len(view.unguarded.placing) + len(view.unguarded.unplaced) <= FEW_AFLOAT:
                # Counted at the same moment as the amounts. With many pods, that would take too long.
                afloat = afloat_of(view)
            changed += self._changed(part, afloat, shown)
            yield
        for place, (text, amounts) in enumerate(changed):
            text.write(amounts, shown)
            if place % WRITTEN_AT_ONCE == 0:
                yield

    def of(self, queue: Queue) -> QueueText:
        """Return the lines of a queue with series."""
        return self._texts[queue.path]

    def _changed(
        self, queues: list[Queue], afloat: Afloat, shown: frozenset[str]
    ) -> Iterator[tuple[QueueText, QueueAmounts]]:
        for queue in queues:
            text, amounts = self._texts.get(queue.path), own_queues.amounts_of(queue, afloat)
            if text is None:
                text = self._texts[queue.path] = QueueText()
            if text.amounts != amounts or text.shown != shown:
                yield text, amounts
