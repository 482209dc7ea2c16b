"""Consequences of another document for what runs: who would be above a limit, and who could be preempted.

Nothing is changed. The steps read the ledger as it is while they run, so it may move on between two of them.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.decisions.preemption.quota_reclaim import reclaim_in
from core.ids import AppId, QueuePath
from core.ledger.view import LedgerView
from core.queues.guarantees import preemptable
from core.queues.properties import PreemptionPolicy
from core.queues.queue import Queue
from core.queues.quota_change import start_after, terms_of
from core.queues.spec import PartitionSpec
from core.queues.tree import QueueTree, over_max
from core.queues.users.limits import Limits, Tracked, Usage, entry_for
from core.queues.whatif import WhatIf

SHOWN = 100
"""Applications and pods that are named for one queue, at most."""


@dataclass(frozen=True, slots=True)
class Above:
    """A queue, or a user or group in it, whose running applications exceed a limit of the document."""

    queue: str
    #: ``user`` or ``group``; empty for the queue itself.
    kind: str
    name: str
    #: Amounts above the max; empty if only the number of applications is.
    over: Mapping[str, int]
    #: Number of running applications above ``maxapplications``; 0 for none.
    applications_over: int
    #: True if this holds with the document in force, too.
    is_old: bool
    #: The first `SHOWN` of its applications, as ``namespace/id``, sorted, and their number.
    applications: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Preemptible:
    """A leaf whose pods could be preempted because of the document."""

    queue: str
    #: ``quota``: they exceed a max, and quota preemption is on. ``guarantee``: the guarantee covers less.
    why: str
    #: Amounts that these pods may lose.
    amounts: Mapping[str, int]
    #: Seconds until the first is evicted; 0 unless ``why`` is ``quota``.
    delay: float
    #: The first `SHOWN` of them, as ``namespace/name``, sorted, and their number.
    pods: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Consequences:
    """Consequences of a document, by queue in the order of paths."""

    above: tuple[Above, ...]
    preemptible: tuple[Preemptible, ...]


def find_consequences(
    view: LedgerView, before: PartitionSpec | None, after: PartitionSpec
) -> Generator[None, None, Consequences]:
    """Find the consequences in steps. ``before``: document in force, None before the first.

    Cost: O(queues, users and applications), and O(pods) of leaves that lose protection.
    """
    tree = view.tree.twin()
    yield
    tree.apply(after)
    yield
    starts = view.reclaim_starts()
    above: list[Above] = []
    preemptible: list[Preemptible] = []
    for queue in sorted(tree, key=lambda each: each.path):
        above += _above_in(queue, view.tree.get(queue.path))
        preemptible += _by_quota(view, tree, queue, after, starts)
        preemptible += _by_guarantee(view, queue, before, after)
        yield
    old, new = Limits(before.queues if before is not None else ()), Limits(after.queues)
    for tracked, usage in sorted(view.book if new else (), key=lambda each: (each[0].path, each[0])):
        above += _above_limit(tracked, usage, old, new)
        yield
    return Consequences(
        tuple(sorted(above, key=lambda each: (each.queue, each.kind, each.name))),
        tuple(sorted(preemptible, key=lambda each: (each.queue, each.why))),
    )


def _above_in(queue: Queue, now: Queue | None) -> Iterator[Above]:
    over, many = _excess(queue)
    if over or many:
        was = _excess(now) if now is not None else ({}, 0)
        is_old = was[1] >= many and all(was[0].get(name, 0) >= amount for name, amount in over.items())
        yield Above(queue.path, "", "", over, many, is_old, *_named(queue.running))


def _excess(queue: Queue) -> tuple[Mapping[str, int], int]:
    over = over_max(queue) if not queue.is_root else None
    most = queue.max_applications
    return dict(over.items()) if over else {}, max(0, len(queue.running) - most) if most else 0


def _above_limit(tracked: Tracked, usage: Usage, old: Limits, new: Limits) -> Iterator[Above]:
    over, many = _excess_of(tracked, usage, new)
    if over or many:
        was = _excess_of(tracked, usage, old)
        is_old = was[1] >= many and all(was[0].get(name, 0) >= amount for name, amount in over.items())
        named = _named(usage.applications)
        yield Above(tracked.path, tracked.kind, tracked.name, over, many, is_old, *named)


def _excess_of(tracked: Tracked, usage: Usage, limits: Limits) -> tuple[Mapping[str, int], int]:
    entry = entry_for(limits, tracked)
    if entry is None:
        return {}, 0
    caps = entry.max.items() if entry.max is not None else ()
    over = {name: more for name, cap in caps if (more := usage.held.get(name) - cap) > 0}
    most = entry.max_applications
    return over, max(0, len(usage.applications) - most) if most else 0


def _named(applications: Iterable[AppId]) -> tuple[tuple[str, ...], int]:
    found = sorted(f"{each.namespace}/{each.name}" for each in applications)
    return tuple(found[:SHOWN]), len(found)


def _by_quota(
    view: LedgerView,
    tree: QueueTree,
    queue: Queue,
    after: PartitionSpec,
    starts: Mapping[QueuePath, float],
) -> Iterator[Preemptible]:
    """Pods that quota preemption would evict (QCP-2, QCP-4)."""
    now = view.tree.get(queue.path)
    if now is None or queue.is_root or queue.dynamic or queue.draining or not after.quota_preemption:
        return
    terms = terms_of(queue)
    start = start_after(
        terms_of(now),
        terms,
        start=starts.get(queue.path),
        allocated=queue.allocated,
        running=queue.path in view.reclaims,
        now=0.0,
    )
    found = reclaim_in(view, tree, queue) if start is not None else None
    if found is not None and found.victims:
        pods = sorted(f"{each.namespace}/{each.name}" for each in found.victims)
        amounts = dict(found.amount.items())
        yield Preemptible(queue.path, "quota", amounts, terms.delay, tuple(pods[:SHOWN]), len(pods))


def _by_guarantee(
    view: LedgerView, queue: Queue, before: PartitionSpec | None, after: PartitionSpec
) -> Iterator[Preemptible]:
    """Pods of a leaf of which the guarantee covers less than it does now (PRE-9)."""
    now = view.tree.get(queue.path)
    if now is None or not now.is_leaf or not after.preemption:
        return
    was = _losable(now) if before is not None and before.preemption else {}
    losable = _losable(queue)
    more = {name: amount for name, amount in losable.items() if amount > was.get(name, 0)}
    pods = _evictable(view, now, more) if more else []
    if pods:
        yield Preemptible(queue.path, "guarantee", more, 0.0, tuple(pods[:SHOWN]), len(pods))


def _losable(queue: Queue) -> Mapping[str, int]:
    """Amounts of a leaf above its guarantee; none where no other queue may take any."""
    if queue.properties.preemption is PreemptionPolicy.DISABLED:
        return {}
    return preemptable(WhatIf(), queue) or {}


def _evictable(view: LedgerView, leaf: Queue, amounts: Mapping[str, int]) -> list[str]:
    found = []
    for application in view.applications_in(leaf):
        for uid in application.pods:
            record = view.pod(uid)
            if record is None or not record.node or not record.evictable:
                continue
            if any(record.facts.size.get(name) > 0 for name in amounts):
                found.append(f"{record.facts.namespace}/{record.facts.name}")
    return sorted(found)
