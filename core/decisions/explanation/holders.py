"""Largest holders of what an ask lacks: applications under a limit, or pods on a node. In steps."""

from collections.abc import Generator, Iterable, Iterator
from heapq import heappop, heappush, nsmallest

from core.decisions.explanation.values import Holder
from core.ids import AppId, NodeName
from core.ledger.view import LedgerView
from core.queues.limit_state import LimitKey
from core.queues.queue import Queue
from core.queues.users.limits import Tracked
from core.workload.application import Application

HOLDERS = 5
"""Holders that are named. The others make up what is left."""

UNITS_AT_MOST = 200
"""Units of work, of about ten microseconds, for the holders under one limit."""

_APPLICATIONS_PER_UNIT = 10

Steps = Generator[int, None, tuple[Holder, ...]]


def holders_under(view: LedgerView, key: LimitKey) -> Steps:
    """Largest holders under a limit, the largest first. For one on their number, applications that count."""
    queue = view.tree.get(key.path)
    if queue is None:
        return ()
    tracked = Tracked(key.kind, key.name, key.path) if key.name else None
    if not key.resource:
        yield 1
        return _running(view, queue, tracked)
    return (yield from _by_amount(view, queue, tracked, key.resource))


def holders_on(view: LedgerView, node: NodeName, name: str) -> tuple[Holder, ...]:
    """Pods of queues that hold most of a resource on a node."""
    use = view.use_of(node)
    records = [view.pod(uid) for uid in use.pods] if use is not None else []
    pods = [each for each in records if each is not None and each.facts.size.get(name) > 0]
    first = nsmallest(HOLDERS, pods, key=lambda each: (-each.facts.size.get(name), each.uid))
    return tuple(
        Holder(
            each.facts.namespace,
            each.facts.name,
            queue.path if (queue := view.queue_of(each)) is not None else None,
            each.facts.size.get(name),
            is_pod=True,
        )
        for each in first
    )


def _running(view: LedgerView, queue: Queue, tracked: Tracked | None) -> tuple[Holder, ...]:
    """Applications that count under a limit on their number, those submitted first."""
    usage = view.book.get(tracked) if tracked is not None else None
    ids: Iterable[AppId] = queue.running if tracked is None else usage.applications if usage else ()
    known = (view.application(app_id) for app_id in ids)
    first = nsmallest(
        HOLDERS, (each for each in known if each is not None), key=lambda each: (each.submitted, each.id)
    )
    return tuple(_holder(each, 1) for each in first)


def _by_amount(view: LedgerView, top: Queue, tracked: Tracked | None, name: str) -> Steps:
    """Search from the queue that holds most downwards, so that few queues are read.

    A queue that the budget leaves unread stands for its applications.
    """
    heap: list[tuple[int, bool, str, Queue | Application]] = [(-_held(top, name), False, top.path, top)]
    found: list[Holder] = []
    left = UNITS_AT_MOST
    while heap and len(found) < HOLDERS:
        amount, _, _, first = heappop(heap)
        if not amount:
            break
        if isinstance(first, Application):
            found.append(_holder(first, -amount))
        elif left <= 0:
            found.append(Holder("", "", first.path, -amount))
        else:
            below = list(_below(view, first, tracked, name))
            for amount, name_of, item in below:
                # A queue is read before an application of the same amount, which may be below it.
                heappush(heap, (-amount, isinstance(item, Application), name_of, item))
            units = 1 + len(below) // _APPLICATIONS_PER_UNIT
            left -= units
            yield units
    return tuple(found)


def _below(
    view: LedgerView, queue: Queue, tracked: Tracked | None, name: str
) -> Iterator[tuple[int, str, Queue | Application]]:
    for child in queue.children.values():
        yield _held(child, name), child.path, child
    for application in view.applications_in(queue):
        counts = tracked is None or tracked in application.claimant.tracked(tracked.path)
        if counts and application.used.get(name) > 0:
            yield application.used.get(name), str(application.id), application


def _held(queue: Queue, name: str) -> int:
    return queue.allocated.get(name) + queue.reserved.get(name)


def _holder(application: Application, amount: int) -> Holder:
    return Holder(application.id.namespace, application.id.name, application.queue, amount)
