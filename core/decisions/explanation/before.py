"""Pending asks that go before an ask as the queues stand now, level by level, each with the reason. In steps.

Shares move with each turn, so this is the order of the next turn and not of the last one.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from heapq import nsmallest

from core.decisions.explanation.values import Ahead, Precedence
from core.ids import QueuePath
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.ordering import Contender, goes_before
from core.queues.properties import SortPolicy
from core.queues.queue import Queue
from core.workload.application import Application

NAMED = 5
"""Applications or queues of one level that are named."""

_LEAVES_PER_STEP = 50
_UNITS_PER_STEP = 10
_APPLICATIONS_PER_STEP = 50

Steps = Generator[int, None, tuple[Ahead, ...]]


def pods_before(view: LedgerView, record: PodRecord, leaf: Queue, application: Application) -> Steps:
    """Pending asks before an ask: of its application, of its leaf, then of the queues beside each ancestor.

    Asks of other levels are counted by application or by queue. Cost: O(leaves and applications that wait).
    """
    found = [*_of_application(view, record, leaf, application)]
    yield 1
    found += yield from _of_leaf(view, leaf, application)
    counts: Counter[QueuePath] = Counter()
    for number, (path, count) in enumerate(view.pending_counts(), 1):
        queue = view.tree.get(path)
        for each in queue.paths if queue is not None else ():
            counts[each] += count
        if number % _LEAVES_PER_STEP == 0:
            yield _UNITS_PER_STEP
    for queue in leaf.chain:
        if queue.parent is not None:
            found += yield from _of_siblings(view, queue, queue.parent, counts)
    return tuple(found)


def _of_application(
    view: LedgerView, record: PodRecord, leaf: Queue, application: Application
) -> Iterator[Ahead]:
    """Asks of the same application: more important ones, then older ones (REQ-1)."""
    lines, rank = view.lines_beside(record, leaf)
    first_of_priority = (rank[0], float("-inf"), -1, record.uid)
    important = sum(each.before(first_of_priority) for each in lines.values())
    older = sum(each.before(rank) for each in lines.values()) - important
    for count, why in ((important, Precedence.PRIORITY), (older, Precedence.AGE)):
        if count:
            yield Ahead(why, leaf.path, application.id, count)


def _of_leaf(view: LedgerView, leaf: Queue, application: Application) -> Generator[int, None, list[Ahead]]:
    """Applications of the same leaf that go first (SORT-5)."""
    own = view.application_order(application, leaf)
    ahead: list[tuple[Application, int]] = []
    for number, (app_id, count) in enumerate(view.pending_in(leaf.path), 1):
        other = view.application(app_id)
        if other is not None and other is not application and view.application_order(other, leaf) < own:
            ahead.append((other, count))
        if number % _APPLICATIONS_PER_STEP == 0:
            yield _UNITS_PER_STEP
    yield 1
    named = nsmallest(NAMED, ahead, key=lambda each: view.application_order(each[0], leaf))
    found = [
        Ahead(_why_application(view, other, application, leaf), leaf.path, other.id, count)
        for other, count in named
    ]
    return found + _others(leaf.path, (count for _, count in ahead), (count for _, count in named))


def _why_application(view: LedgerView, other: Application, own: Application, leaf: Queue) -> Precedence:
    mine, theirs = view.applicant(own, leaf), view.applicant(other, leaf)
    properties = leaf.properties
    if theirs.priority > mine.priority and properties.sort_by_priority:
        return Precedence.PRIORITY
    if properties.sort_policy is SortPolicy.FAIR and theirs.used != mine.used:
        return Precedence.SHARE
    return Precedence.AGE if theirs.submitted != mine.submitted else Precedence.NAME


def _of_siblings(
    view: LedgerView, queue: Queue, parent: Queue, counts: Counter[QueuePath]
) -> Generator[int, None, list[Ahead]]:
    """Queues beside one on the way to the root that go first (SORT-1, SORT-2)."""
    own, ahead = view.contender(queue), list[tuple[Contender, int]]()
    for number, (path, child) in enumerate(list(parent.children.items()), 1):
        if path != queue.path and counts[path]:
            other = view.contender(child)
            if goes_before(other, own) or (not goes_before(own, other) and path < queue.path):
                ahead.append((other, counts[path]))
        if number % _LEAVES_PER_STEP == 0:
            yield _UNITS_PER_STEP
    yield 1
    by_priority = parent.properties.sort_by_priority
    named = nsmallest(NAMED, ahead, key=lambda each: (each[0].key, each[0].path))
    found = [Ahead(_why_queue(other, own, by_priority), other.path, None, count) for other, count in named]
    return found + _others(parent.path, (count for _, count in ahead), (count for _, count in named))


def _why_queue(other: Contender, own: Contender, by_priority: bool) -> Precedence:
    reasons = (Precedence.PRIORITY, Precedence.SHARE)
    for why, theirs, mine in zip(reasons if by_priority else reasons[::-1], other.key, own.key, strict=True):
        if theirs != mine:
            return why
    return Precedence.DEMAND if goes_before(other, own) else Precedence.NAME


def _others(path: QueuePath, every: Iterable[int], named: Iterable[int]) -> list[Ahead]:
    """Entry for all that are not named."""
    rest = sum(every) - sum(named)
    return [Ahead(Precedence.UNNAMED, path, None, rest)] if rest else []
