"""The audit of what decides who goes next: priorities, turns, and who has not been looked at."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from core.ids import NodeName, PodUid, QueuePath
from core.ledger.audit.drift import KEYS_PER_STEP, Step, amounts, compare, compare_tallies, each
from core.ledger.state.admission import Seat
from core.ledger.state.state import State
from core.queues.priority import exported
from core.queues.queue import NO_PRIORITY, Queue
from core.queues.quota_check import Extra
from core.resource import Resource, Tally
from core.workload.nodes.affinity import Constraints, Toleration, admits, bars_of
from core.workload.nodes.node import NodeUse, Taint
from core.workload.nodes.ranking import score_of
from core.workload.promises import Promises

VERDICTS = 16
"""On as many nodes, at most, it is judged anew whether they take a pod."""


def turn_steps(state: State) -> Iterator[Step]:
    yield from each([queue.path for queue in state.config.tree], lambda path: _priority_drifts(state, path))
    yield from each({*state.turns.of, *state.turns.unwoken}, lambda uid: _turn_drifts(state, uid))
    yield from each(state.turns.fresh, lambda uid: _fresh_drifts(state, uid))
    yield _given_drifts(state)
    yield from _room_steps(state)
    yield from _barred_steps(state)
    yield from _demand_steps(state)
    yield from _tolerated_steps(state)


def _priority_drifts(state: State, path: QueuePath) -> Step:
    """Priorities of a queue, from what its applications ask for and its children export (PRI-3, PRI-4)."""
    queue = state.config.tree.get(path)
    if queue is None:
        return []
    asked: Counter[int] = Counter()
    for app_id in queue.applications:
        application = state.applications.known.get(app_id)
        asked.update(application.asked if application is not None else {})
    raw = max((*asked, *(child.priority for child in queue.children.values())), default=NO_PRIORITY)
    shown = exported(raw, queue.properties, is_root=queue.is_root)
    return [
        *compare(f"asked of {path}", dict(asked), queue.asked),
        *compare(f"shown to {path}", _shown(queue), queue.shown),
        *compare(f"priority of {path}", (raw, shown), (queue.raw_priority, queue.priority)),
    ]


def _shown(queue: Queue) -> dict[int, int]:
    return dict(Counter(each.priority for each in queue.children.values() if each.priority != NO_PRIORITY))


def _turn_drifts(state: State, uid: PodUid) -> Step:
    """Only an ask that waits can have a turn, and only one that has one can be unwoken."""
    turn = state.turns.of.get(uid)
    return [
        *compare(
            f"turn of {uid}", turn.seat if turn else None, state.pending.waits_at.get(uid) if turn else None
        ),
        *compare(
            f"unwoken: {uid}",
            False,
            uid in state.turns.unwoken and turn is None and not _is_opening(state, uid),
        ),
    ]


def _is_opening(state: State, uid: PodUid) -> bool:
    """Whether the removal of its gate is to be requested again."""
    record = state.pods.records.get(uid)
    return record is not None and record.admission.opening


def _fresh_drifts(state: State, uid: PodUid) -> Step:
    seat = state.turns.fresh.get(uid)
    return compare(f"fresh: {uid}", seat, state.pending.waits_at.get(uid) if seat else None)


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


def _given_drifts(state: State) -> Step:
    """What turns hold."""
    given = Extra()
    promised: dict[QueuePath, Promises] = {}
    for turn in state.turns.of.values():
        key = turn.seat.key
        given.add(turn.chain, turn.claimant, key.size)
        promised.setdefault(key.queue, Promises()).add(key.app, -turn.seat.rank[0], key.size)
    return [
        *compare("given by turns", _extra_text(given), _extra_text(state.turns.given)),
        *compare("promised by turns", _promised_text(promised), _promised_text(state.turns.promised)),
    ]


def _room_steps(state: State) -> Iterator[Step]:
    room = state.usage.free_capacity
    known = {*state.cluster.nodes, *(name for name, _ in room), *room.ranking}
    yield from each(known, lambda name: _room_drifts(state, name))
    yield from each(known, lambda name: _order_drifts(state, name))
    yield from each(known, lambda name: _bars_drifts(state, name))
    yield compare("room: places of nobody", (0, 0), (room.strays, room.ranking.strays))
    for constraints, judged in list(room.judged()):
        yield _verdict_drifts(state, constraints, judged)


def _verdict_drifts(state: State, constraints: Constraints, judged: Mapping[NodeName, bool]) -> Step:
    """Some of what is remembered of which nodes take a pod (F-17)."""
    known = [
        (name, verdict, state.cluster.nodes.get(name)) for name, verdict in islice(judged.items(), VERDICTS)
    ]
    return [
        drift
        for name, verdict, node in known
        for drift in compare(
            f"verdict on {name}", admits(node, constraints) if node is not None else None, verdict
        )
    ]


def _room_drifts(state: State, name: NodeName) -> Step:
    """What is left on a node, pods and turns counted."""
    node, free = state.cluster.nodes.get(name), dict(state.usage.free_capacity.free_on(name))
    expected: dict[str, int] = {}
    if node is not None:
        use = state.usage.uses.get(name, NodeUse())
        turns = [turn.seat.key.size for turn in state.turns.of.values() if turn.node == name]
        for amounts_, sign in (
            (node.allocatable, 1),
            *((each, -1) for each in (use.allocated, use.occupied, *turns)),
        ):
            for resource, amount in amounts_.items():
                expected[resource] = expected.get(resource, 0) + sign * amount
    return compare(
        f"room on {name}",
        {resource: amount for resource, amount in sorted(expected.items()) if amount},
        {resource: amount for resource, amount in sorted(free.items()) if amount},
    )


def _order_drifts(state: State, name: NodeName) -> Step:
    """Where a node stands by its free room, and by the policy that was asked for last (NODE-1)."""
    node, room, ranking = (
        state.cluster.nodes.get(name),
        state.usage.free_capacity,
        state.usage.free_capacity.ranking,
    )
    found = compare(f"order of {name}", node is not None, room.is_filed(name))
    if ranking.awaits(name):
        return found + compare(f"change of {name}", True, node is not None)
    score = None
    if node is not None and ranking.sort is not None:
        score = score_of(ranking.sort, node.allocatable, room.free_on(name))
    return found + compare(f"score of {name}", score, ranking.score_filed(name))


def _bars_drifts(state: State, name: NodeName) -> Step:
    """What keeps pods off a node."""
    node = state.cluster.nodes.get(name)
    filed = state.usage.free_capacity.barred.bars_of(name)
    return compare(f"bars of {name}", bars_of(node) if node is not None else None, filed)


def _barred_steps(state: State) -> Iterator[Step]:
    """What is left behind which bars; adds up copies that were taken in one step."""
    room = state.usage.free_capacity
    nodes = [(node, dict(room.free_on(name))) for name, node in state.cluster.nodes.items()]
    actual = [(bars, count, dict(left)) for bars, count, left in room.barred]
    yield []
    expected: dict[frozenset[Taint], Tally] = {}
    counts: Counter[frozenset[Taint]] = Counter()
    for start in range(0, len(nodes), KEYS_PER_STEP):
        for node, free in nodes[start : start + KEYS_PER_STEP]:
            counts[bars_of(node)] += 1
            positive = {resource: amount for resource, amount in free.items() if amount > 0}
            expected.setdefault(bars_of(node), Tally()).add(Resource(positive))
        yield []
    yield compare("nodes behind bars", dict(counts), {bars: count for bars, count, _ in actual})
    for bars, _, left in actual:
        yield compare_tallies(f"left behind {sorted(bars)}", expected.get(bars, Tally()), Tally(left))


def _tolerated_steps(state: State) -> Iterator[Step]:
    """What those who wait tolerate; adds up copies that were taken in one step."""
    seats, actual = list(state.pending.waits_at.values()), dict(state.usage.tolerated)
    yield []
    expected: Counter[tuple[Toleration, ...]] = Counter()
    for start in range(0, len(seats), KEYS_PER_STEP):
        expected.update(seat.key.constraints.tolerations for seat in seats[start : start + KEYS_PER_STEP])
        yield []
    yield compare("tolerated", dict(expected), actual)


def _demand_steps(state: State) -> Iterator[Step]:
    """What fresh asks want; adds up copies that were taken in one step."""
    seats: list[Seat] = list(state.turns.fresh.values())
    counters = {queue.path: queue.fresh.copy() for queue in state.config.tree}
    chains = {queue.path: [each.path for each in queue.chain] for queue in state.config.tree}
    yield []
    sums = {path: Tally() for path in counters}
    for start in range(0, len(seats), KEYS_PER_STEP):
        for seat in seats[start : start + KEYS_PER_STEP]:
            for path in chains.get(seat.key.queue, ()):
                sums[path].add(seat.key.size)
        yield []
    for path, counter in counters.items():
        yield compare_tallies(f"fresh of {path}", sums[path], counter)
