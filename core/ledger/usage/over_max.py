"""Queues, users and groups above their max: found, counted, and reported once per episode.

Paddock admits nothing above a max. Other causes do: a pod with ``spec.nodeName``, a resize in place, a gate
removed by another party. Such usage is charged at once (RES-8, QUO-9) and reported here. It blocks further
use until usage is within the max (QUO-8). The root is left out, because its max is the cluster's size.
"""

from collections.abc import Iterable, Iterator, Sequence

from core.ids import PodUid
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.state import State
from core.ledger.state.usage import Episode, OverMaxPlace
from core.quantity import amount_text
from core.queues.queue import Queue
from core.queues.quota_check import passed_limits, passed_queues
from core.queues.tree import over_max
from core.queues.users.limits import Tracked, entry_for
from core.resource import Resource

OVER_MAX = "OverMax"
"""Reason of the Warning Event on the pod whose charge exceeded a max."""

_SHOWN = 5
_NAME_SHOWN = 64


def excess_of(state: State, place: OverMaxPlace) -> Resource | None:
    """Amounts above the max of a queue, or of a user or group in it. None if it is within."""
    if not isinstance(place, Tracked):
        queue = state.config.tree.get(place)
        return over_max(queue) if queue is not None and not queue.is_root else None
    entry, usage = entry_for(state.config.limits, place), state.usage.book.get(place)
    if entry is None or entry.max is None or usage is None:
        return None
    over = {name: usage.held.get(name) - cap for name, cap in entry.max.items() if usage.held.get(name) > cap}
    return Resource(over) if over else None


def note_use(state: State, record: PodRecord, charge: Charge) -> None:
    """Begin the episodes that a grown charge causes, and report them on its pod.

    An episode that a lowered max began is reported on the first pod that adds to it. Cost: O(depth).
    """
    begun = []
    for place in _passed(state, record, charge):
        known = state.usage.over_max.get(place)
        if known is None:
            _begin(state, place, record)
        elif known.pod is None:
            state.usage.over_max[place] = known._replace(pod=record.uid)
        else:
            continue
        begun.append(place)
    _report(state, record, begun)


def note_release(state: State, record: PodRecord, charge: Charge) -> None:
    """End the episodes that a released charge ends. Cost: O(depth)."""
    if not state.usage.over_max:
        return
    leaf = state.config.tree.get(charge.queue) if charge.queue is not None else None
    if leaf is not None:
        _end(state, _places(state, record, leaf))


def recount_over_max(state: State) -> None:
    """Find all episodes anew after a document. No pod caused those that it began."""
    _end(state, list(state.usage.over_max))
    for place in places_over_max(state):
        if place not in state.usage.over_max:
            _begin(state, place, None)


def recount_queue(state: State, queue: Queue) -> None:
    """Find the episodes of one queue anew, whose max was set by its namespace."""
    _end(state, (queue.path,))
    if excess_of(state, queue.path) is not None and queue.path not in state.usage.over_max:
        _begin(state, queue.path, None)


def places_over_max(state: State) -> Iterator[OverMaxPlace]:
    """Every queue, user and group that is above a max now, recorded or not. Cost: O(all of them)."""
    for queue in state.config.tree:
        if excess_of(state, queue.path) is not None:
            yield queue.path
    for tracked, _ in state.usage.book:
        if excess_of(state, tracked) is not None:
            yield tracked


def report_unreported(state: State) -> None:
    """Report what no instance may have reported, because this instance begins to act."""
    unreported: dict[PodUid, list[OverMaxPlace]] = {}
    for place, known in state.usage.over_max.items():
        if known.pod in state.pods.records and not known.reported:
            unreported.setdefault(known.pod, []).append(place)
    for uid, places in unreported.items():
        _report(state, state.pods.records[uid], places)


def doubt_reports(state: State) -> None:
    """Note that this instance does not act any more, so its reports may not have been written."""
    for place, known in state.usage.over_max.items():
        state.usage.over_max[place] = known._replace(reported=False)


def _places(state: State, record: PodRecord, leaf: Queue) -> Iterator[OverMaxPlace]:
    application = state.application_of(record)
    for queue in leaf.chain:
        if not queue.is_root:
            yield queue.path
        yield from application.claimant.tracked(queue.path) if application is not None else ()


def _passed(state: State, record: PodRecord, charge: Charge) -> list[OverMaxPlace]:
    """Places above a max in a resource of which the charge has some."""
    leaf = state.config.tree.get(charge.queue) if charge.queue is not None else None
    application = state.application_of(record)
    if leaf is None or application is None:
        return []
    found: list[OverMaxPlace] = [queue.path for queue, _ in passed_queues(leaf.chain, charge.size)]
    limits, book = state.config.limits, state.usage.book
    if limits:
        limited = passed_limits(limits, book, leaf.chain, application.claimant, charge.size)
        found += [tracked for tracked, _ in limited]
    return found


def _begin(state: State, place: OverMaxPlace, record: PodRecord | None) -> None:
    kind = kind_of(place)
    state.usage.over_max[place] = Episode(record.uid if record is not None else None)
    state.usage.over_max_begun[kind] = state.usage.over_max_begun.get(kind, 0) + 1


def _end(state: State, places: Iterable[OverMaxPlace]) -> None:
    for place in places:
        if place in state.usage.over_max and excess_of(state, place) is None:
            del state.usage.over_max[place]


def kind_of(place: OverMaxPlace) -> str:
    """Kind of a place: ``queue``, ``user`` or ``group``."""
    return place.kind if isinstance(place, Tracked) else "queue"


def _report(state: State, record: PodRecord, places: Sequence[OverMaxPlace]) -> None:
    """Post one Event for everything that a pod brought above a max. A standby leaves it for later."""
    if not places or not state.acts:
        return
    for place in places:
        state.usage.over_max[place] = state.usage.over_max[place]._replace(reported=True)
    more = f"; and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    texts = "; ".join(_excess_text(state, place) for place in places[:_SHOWN])
    post(state, record, OVER_MAX, f"{texts}{more}. Nothing that needs more of it is admitted meanwhile")


def _excess_text(state: State, place: OverMaxPlace) -> str:
    excess = excess_of(state, place)
    amounts = (
        ", ".join(f"{name} by {amount_text(name, amount)}" for name, amount in excess.items())
        if excess
        else ""
    )
    if isinstance(place, Tracked):
        return f"{place.kind} {place.name[:_NAME_SHOWN]} is above the max in {place.path}: {amounts}"
    return f"queue {place} is above its max: {amounts}"
