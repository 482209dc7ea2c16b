"""Queues whose quota shrank: when eviction of their pods begins (QCP-2, QCP-3).

In memory only, as in YuniKorn.
"""

from collections.abc import Mapping

from core.ids import QueuePath
from core.instants import has_come
from core.ledger.pods.record import Charge, Held
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, is_any_set, set_timer, timer_at
from core.ledger.state.timers import TimerKind
from core.queues.queue import Queue
from core.queues.quota_change import QuotaTerms, is_due, start_after, start_after_growth, terms_of
from core.resource import within

CHECKED_EVERY = 1.0
"""Seconds between two checks of a queue (QCP-3)."""


def terms_now(state: State) -> Mapping[QueuePath, QuotaTerms]:
    """Quota terms of every queue, before a document is applied."""
    return {queue.path: terms_of(queue) for queue in state.config.tree if not queue.is_root}


def note_terms(state: State, before: Mapping[QueuePath, QuotaTerms]) -> None:
    """Set the start of quota reclaim for each queue after a document was applied."""
    for queue in state.config.tree:
        old = before.get(queue.path)
        if old is None or queue.dynamic or queue.draining:
            _set(state, queue, None)
            continue
        start = start_after(
            old,
            terms_of(queue),
            start=_start_of(state, queue),
            allocated=queue.allocated,
            running=queue.path in state.preemption.victims,
            now=state.now,
        )
        _set(state, queue, start)


def note_growth(state: State, old: Charge | None, new: Charge) -> None:
    """Note usage that grew without admission, by a recovery or a resize in place."""
    if not state.config.quota_preempts or new.held is not Held.ALLOCATED or new.queue is None:
        return
    if old is not None and old.held is not Held.PENDING and old.size == new.size:
        return
    leaf = state.config.tree.get(new.queue)
    for queue in leaf.chain[:-1] if leaf is not None else ():
        if queue.properties.quota_preemption_delay and not queue.dynamic:
            start = start_after_growth(
                terms_of(queue),
                start=_start_of(state, queue),
                allocated=queue.allocated,
                switched_on=True,
                now=state.now,
            )
            _set(state, queue, start)


def find_reclaims(state: State) -> None:
    """Find the queues whose reclaim is due, from the root down.

    A queue that begins hides all queues below it (QCP-3). The timer of a queue that begins runs until it has
    given up its pods. The timer of a queue within its quota ends early.
    """
    if state.config.quota_preempts and is_any_set(state, TimerKind.QUOTA_RECLAIM):
        _find_below(state, state.config.tree.root)


def _find_below(state: State, parent: Queue) -> None:
    for path in sorted(parent.children):
        queue = parent.children[path]
        start = _start_of(state, queue)
        if is_due(queue, start, now=state.now):
            state.preemption.reclaims[path] = None
            _put_off_below(state, queue)
            continue
        if start is not None and (has_come(start, now=state.now) or within(queue.max, queue.allocated)):
            _set(state, queue, None)
        _find_below(state, queue)


def _put_off_below(state: State, parent: Queue) -> None:
    for queue in parent.children.values():
        start = _start_of(state, queue)
        if start is not None:
            _set(state, queue, max(start, state.now + CHECKED_EVERY))
        _put_off_below(state, queue)


def reclaimed(state: State, path: QueuePath) -> None:
    """End the run of a queue's reclaim, whatever its result. One run per start (QCP-3)."""
    cancel_timer(state, TimerKind.QUOTA_RECLAIM, path)
    state.preemption.reclaims.pop(path, None)


def _start_of(state: State, queue: Queue) -> float | None:
    return timer_at(state, TimerKind.QUOTA_RECLAIM, queue.path)


def _set(state: State, queue: Queue, start: float | None) -> None:
    if start is None:
        cancel_timer(state, TimerKind.QUOTA_RECLAIM, queue.path)
    else:
        set_timer(state, TimerKind.QUOTA_RECLAIM, queue.path, start)
