"""Shortages of a move between two leaves, and what else it changes (ACT-32, ACT-35). Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from core.quantity import amount_text
from core.queues.priority import exported
from core.queues.properties import PreemptionPolicy
from core.queues.queue import Queue
from core.queues.quota_check import QuotaCheck, count_running
from core.queues.users.limits import Claimant, Tracked, entry_for
from core.resource import Counted, Limit, Resource, Tally

_NAME_SHOWN = 64
_NOTHING = Tally()


@dataclass(frozen=True, slots=True)
class MovingUsage:
    """Usage that moves with an application."""

    #: Application as limits see it in its queue.
    before: Claimant
    #: Application as limits would see it in the other one.
    after: Claimant
    #: Amounts that it holds.
    size: Resource
    #: True if it counts as running (QUO-13).
    counts: bool


def shortages(source: Queue, target: Queue, usage: MovingUsage, check: QuotaCheck) -> tuple[str, ...]:
    """Limits of the target that an application would break: one sentence for each.

    Queues above both have the usage already. So have a user and a group that stay the same there.
    """
    people = [_of_people(each, usage, check) for each in _new_places(source, target, usage)]
    return tuple(chain(_of_queues(source, target, usage), *people))


def _of_queues(source: Queue, target: Queue, usage: MovingUsage) -> Iterator[str]:
    for queue in target.chain:
        if queue in source.chain:
            return
        most = queue.max_applications
        if usage.counts and most and count_running(queue.running, queue.path, usage.after, None) >= most:
            yield f"{queue.path} has max applications={most}, and as many run"
        if queue.max is not None and not queue.is_root:
            yield from _over(queue.path, queue.max, usage.size, queue.allocated, queue.reserved)


def _new_places(source: Queue, target: Queue, usage: MovingUsage) -> Iterator[Tracked]:
    """Users and groups, by queue, that do not have the usage yet."""
    known = {each for path in source.paths for each in usage.before.tracked(path)}
    for path in target.paths:
        yield from (each for each in usage.after.tracked(path) if each not in known)


def _of_people(tracked: Tracked, usage: MovingUsage, check: QuotaCheck) -> Iterator[str]:
    entry = entry_for(check.limits, tracked)
    if entry is None:
        return
    known, name = check.book.get(tracked), f"{tracked.kind} {tracked.name[:_NAME_SHOWN]} in {tracked.path}"
    most = entry.max_applications
    running = known.applications if known is not None else set()
    if usage.counts and most and count_running(running, tracked, usage.after, None) >= most:
        yield f"{name} has max applications={most}, and as many run"
    if entry.max is not None:
        yield from _over(name, entry.max, usage.size, known.held if known is not None else _NOTHING)


def _over(name: str, cap: Limit, size: Resource, *held: Counted) -> Iterator[str]:
    total = Resource.sum_of(size, *held)
    for resource, most in sorted(cap.items()):
        lacks = total.get(resource) - most
        if size.get(resource) > 0 and lacks > 0:
            bound = f"max {resource}={amount_text(resource, most)}"
            yield f"{name} has {bound}, and {amount_text(resource, lacks)} of it would be missing"


# -- guarantees, fences and priority -------------------------------------------------------------------------


def changes_of_move(source: Queue, target: Queue, size: Resource) -> tuple[str, ...]:
    """Changes for an application that holds ``size``: guarantees, fences and priority. One sentence each."""
    return (
        *_guarantees(source, target, size),
        *_differs("preemption", _policy_of(source), _policy_of(target)),
        *_differs("search for victims", _search_of(source), _search_of(target)),
        *_differs("priority", _priority_of(source.chain), _priority_of(target.chain)),
    )


def _guarantees(source: Queue, target: Queue, size: Resource) -> Iterator[str]:
    for leaf, other, sign in ((source, target, -1), (target, source, 1)):
        for queue in leaf.chain:
            if queue in other.chain:
                break
            if queue.guaranteed:
                yield from _of_guarantee(queue, queue.guaranteed, size.times(sign))


def _of_guarantee(queue: Queue, guaranteed: Resource, more: Resource) -> Iterator[str]:
    held = queue.allocated.as_resource()
    for name, amount in sorted(guaranteed.items()):
        if more.get(name):
            bound, now, then = (
                amount_text(name, each) for each in (amount, held.get(name), (held + more).get(name))
            )
            yield f"{queue.path} has {bound} {name} guaranteed and holds {now}, then {then}"


def _differs(name: str, before: str, after: str) -> Iterable[str]:
    return () if before == after else (f"{name}: {before}, then {after}",)


def _policy_of(leaf: Queue) -> str:
    return f"policy {leaf.properties.preemption.value}"


def _search_of(leaf: Queue) -> str:
    fenced = (each for each in leaf.chain if each.properties.preemption is PreemptionPolicy.FENCE)
    return f"within {next(fenced, leaf.chain[-1]).path}"


def _priority_of(queues: Sequence[Queue]) -> str:
    """Priority with which an ask of priority 0 competes below the root (PRI-4)."""
    counts = 0
    for queue in queues:
        counts = exported(counts, queue.properties, is_root=queue.is_root)
    return f"0 counts as {counts}"
