"""Audit of the data for the order of asks: pending asks, their turns, and priorities of queues."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain

from core.ids import PodUid, QueuePath
from core.ledger.admission.pending import waiting_key
from core.ledger.audit.drift import KEYS_PER_STEP, Claims, Step, amounts, compare, compare_each
from core.ledger.state.admission import Seat, WaitingKey
from core.ledger.state.state import State
from core.queues.priority import exported
from core.queues.queue import NO_PRIORITY, Queue
from core.queues.quota_check import Extra
from core.resource import Tally
from core.workload.nodes.affinity import Toleration
from core.workload.promises import Promises


def admission_steps(state: State) -> Iterator[Step]:
    """Audit steps for pending asks, turns and priorities."""
    turns, pending = state.turns, state.pending
    yield from compare_each(state, [queue.path for queue in state.config.tree], _priority_claims)
    known = (state.pods.records, pending.waits_at, turns.of, turns.unwoken, turns.fresh)
    yield from compare_each(state, chain(*known), _ask_claims)
    yield from compare_each(state, _filed_seats(state), _seat_claims, lambda seat: seat.rank[-1])
    yield from compare_each(state, pending.waiting, _pending_index_claims)
    yield compare(_turn_claims(state))
    yield from _fresh_steps(state)
    yield from _tolerated_steps(state)


def _priority_claims(state: State, path: QueuePath) -> Claims:
    """Priorities of a queue, from what its applications ask for and its children export (PRI-3, PRI-4)."""
    queue = state.config.tree.get(path)
    if queue is None:
        return
    asked: Counter[int] = Counter()
    for app_id in queue.applications:
        application = state.applications.known.get(app_id)
        asked.update(application.asked if application is not None else {})
    raw = max((*asked, *(child.priority for child in queue.children.values())), default=NO_PRIORITY)
    shown = exported(raw, queue.properties, is_root=queue.is_root)
    yield "asked", dict(asked), queue.asked
    yield "shown", _shown(queue), queue.shown
    yield "priority", (raw, shown), (queue.raw_priority, queue.priority)


def _shown(queue: Queue) -> dict[int, int]:
    return dict(Counter(each.priority for each in queue.children.values() if each.priority != NO_PRIORITY))


# -- pending asks ----------------------------------------------------------------------------------------


def _ask_claims(state: State, uid: PodUid) -> Claims:
    """Claims about an ask. Only a pending ask can have a turn, be fresh, or wait for its wake-up."""
    record, seat = state.pods.records.get(uid), state.pending.waits_at.get(uid)
    key = waiting_key(record, state.usage.charges.get(uid)) if record is not None else None
    turn = state.turns.of.get(uid)
    waits = turn is not None or (record is not None and record.admission.opening)
    yield "waiting index", key, seat and seat.key
    yield "turn", turn and seat, turn and turn.seat
    yield "unwoken", False, uid in state.turns.unwoken and not waits
    yield "fresh", uid in state.turns.fresh and seat, uid in state.turns.fresh and state.turns.fresh[uid]


def _filed_seats(state: State) -> Iterator[Seat]:
    yield from state.pending.waits_at.values()
    for path, index in state.pending.waiting.items():
        for app_id, (size, constraints), rank in index:
            yield Seat(WaitingKey(path, size, app_id, constraints), rank)
    for asks in state.turns.awaiting.values():
        yield from asks.values()


def _seat_claims(state: State, seat: Seat) -> Claims:
    key, index = seat.key, state.pending.waiting.get(seat.key.queue)
    is_filed = index is not None and index.has(key.app, (key.size, key.constraints), seat.rank)
    waits, uid = state.pending.waits_at.get(seat.rank[-1]) == seat, seat.rank[-1]
    yield "waiting", waits, is_filed
    awaiting = state.turns.awaiting.get(key.queue, {})
    yield "awaiting a turn", waits and uid not in state.turns.of, awaiting.get(uid) == seat


def _pending_index_claims(state: State, path: QueuePath) -> Claims:
    """Claims about the number of asks of each size."""
    index = state.pending.waiting.get(path)
    if index is not None:
        sizes = Counter(size for _, (size, _), _ in index)
        yield "waiting: any", True, bool(sizes)
        yield "waiting: sizes", dict(sizes), index.sizes


# -- turns -----------------------------------------------------------------------------------------------


def _turn_claims(state: State) -> Claims:
    """Claims about the amounts that turns hold."""
    given = Extra()
    promised: dict[QueuePath, Promises] = {}
    for turn in state.turns.of.values():
        key = turn.seat.key
        given.add(turn.chain, turn.claimant, key.size)
        promised.setdefault(key.queue, Promises()).add(key.app, -turn.seat.rank[0], key.size)
    yield "leaves without asks that await a turn", 0, sum(not each for each in state.turns.awaiting.values())
    yield "given by turns", _extra_text(given), _extra_text(state.turns.given)
    yield "promised by turns", _promised_text(promised), _promised_text(state.turns.promised)


def _extra_text(extra: Extra) -> tuple[object, ...]:
    return (
        {path: amounts(tally) for path, tally in sorted(extra.queues.items())},
        {tracked: amounts(tally) for tracked, tally in sorted(extra.people.items())},
        {str(place): dict(times) for place, times in sorted(extra.started.items(), key=str)},
    )


def _promised_text(promised: Mapping[QueuePath, Promises]) -> tuple[object, ...]:
    return tuple(
        (path, sorted(promises.asked.items()), app_id, sorted(each.asked.items()), amounts(each.used))
        for path, promises in sorted(promised.items())
        for app_id, each in sorted(promises.applications.items())
    )


# -- sums over pending asks, from copies made in one step, as the ledger may change ---------------------


def _tolerated_steps(state: State) -> Iterator[Step]:
    seats, actual = list(state.pending.waits_at.values()), dict(state.usage.tolerated)
    yield []
    expected: Counter[tuple[Toleration, ...]] = Counter()
    for start in range(0, len(seats), KEYS_PER_STEP):
        expected.update(seat.key.constraints.tolerations for seat in seats[start : start + KEYS_PER_STEP])
        yield []
    yield compare([("tolerated", dict(expected), actual)])


def _fresh_steps(state: State) -> Iterator[Step]:
    seats = list(state.turns.fresh.values())
    counters = {queue.path: queue.fresh.copy() for queue in state.config.tree}
    chains = {queue.path: [each.path for each in queue.chain] for queue in state.config.tree}
    noted = state.turns.fresh_in.copy()
    yield []
    yield compare(
        (f"noted fresh {path}", True, path in noted) for path, counter in counters.items() if counter
    )
    sums = {path: Tally() for path in counters}
    for start in range(0, len(seats), KEYS_PER_STEP):
        for seat in seats[start : start + KEYS_PER_STEP]:
            for path in chains.get(seat.key.queue, ()):
                sums[path].add(seat.key.size)
        yield []
    yield compare((f"fresh of {path}", sums[path], counter) for path, counter in counters.items())
