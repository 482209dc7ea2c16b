"""Audit of the free capacity of nodes: amounts, ranking, taints, and remembered verdicts."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from core.ids import NodeName
from core.ledger.audit.drift import KEYS_PER_STEP, Claims, Step, compare, compare_each
from core.ledger.state.state import State
from core.resource import Resource, Tally
from core.workload.nodes.affinity import Constraints, admits, bars_of
from core.workload.nodes.node import NodeUse, Taint
from core.workload.nodes.ranking import score_of

VERDICTS = 16
"""Nodes, at most, on which a remembered verdict is checked."""


def free_capacity_steps(state: State) -> Iterator[Step]:
    """Audit steps for the free capacity of nodes."""
    capacity = state.usage.free_capacity
    known = [*state.cluster.nodes, *(name for name, _ in capacity), *capacity.ranking]
    yield from compare_each(state, known, _node_claims)
    yield compare([("free capacity of no node", (0, 0), (capacity.strays, capacity.ranking.strays))])
    for constraints, judged in list(capacity.judged()):
        yield compare(_verdict_claims(state, constraints, judged))
    yield from _tainted_steps(state)


def _verdict_claims(state: State, constraints: Constraints, judged: Mapping[NodeName, bool]) -> Claims:
    """Claims about some remembered verdicts on nodes (F-17)."""
    for name, verdict in list(islice(judged.items(), VERDICTS)):
        node = state.cluster.nodes.get(name)
        yield f"verdict on {name}", admits(node, constraints) if node is not None else None, verdict


def _node_claims(state: State, name: NodeName) -> Claims:
    """Claims about free amounts, the order and ranking of nodes (NODE-1), and the taints."""
    node, free = state.cluster.nodes.get(name), state.usage.free_capacity
    yield "free capacity", _expected_free(state, name), _amounts(dict(free.free_on(name)))
    yield "order", node is not None, free.is_filed(name)
    yield "bars", bars_of(node) if node is not None else None, free.tainted.bars_of(name)
    if free.ranking.awaits(name):
        yield "change", True, node is not None
    else:
        sort = free.ranking.sort if node is not None else None
        score = score_of(sort, node.allocatable, free.free_on(name)) if node is not None and sort else None
        yield "score", score, free.ranking.score_filed(name)


def _expected_free(state: State, name: NodeName) -> dict[str, int]:
    """Allocatable amounts less those of pods and turns. Negative where a node holds too much."""
    node, use = state.cluster.nodes.get(name), state.usage.uses.get(name, NodeUse())
    if node is None:
        return {}
    expected = Counter(dict(node.allocatable.items()))
    turns = [turn.seat.key.size for turn in state.turns.of.values() if turn.node == name]
    for taken in (use.allocated, use.occupied, *turns):
        expected.subtract(dict(taken.items()))
    return {resource: amount for resource, amount in sorted(expected.items()) if amount}


def _amounts(free: Mapping[str, int]) -> dict[str, int]:
    return {resource: amount for resource, amount in sorted(free.items()) if amount}


def _tainted_steps(state: State) -> Iterator[Step]:
    """Audit steps for the capacity behind each set of taints, from copies made in one step."""
    capacity = state.usage.free_capacity
    nodes = [(node, dict(capacity.free_on(name))) for name, node in state.cluster.nodes.items()]
    actual = [(bars, count, dict(left)) for bars, count, left in capacity.tainted]
    yield []
    expected: dict[frozenset[Taint], Tally] = {}
    counts: Counter[frozenset[Taint]] = Counter()
    for start in range(0, len(nodes), KEYS_PER_STEP):
        for node, free in nodes[start : start + KEYS_PER_STEP]:
            counts[bars_of(node)] += 1
            positive = {resource: amount for resource, amount in free.items() if amount > 0}
            expected.setdefault(bars_of(node), Tally()).add(Resource(positive))
        yield []
    yield compare([("nodes behind bars", dict(counts), {bars: count for bars, count, _ in actual})])
    yield compare(
        (f"left behind {sorted(bars)}", expected.get(bars, Tally()), Tally(left)) for bars, _, left in actual
    )
