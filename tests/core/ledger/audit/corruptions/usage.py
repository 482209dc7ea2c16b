"""Corruptions of usage, nodes and free capacity. No tests."""

from collections.abc import Callable
from dataclasses import replace

from core.ids import NodeName, PodUid, QueuePath
from core.ledger.pods.record import Charge, Held
from core.ledger.state.state import State
from core.ledger.state.usage import Episode
from core.queues.spec import NodeSortSpec
from core.workload.nodes.affinity import Constraints
from core.workload.nodes.free_capacity import LIGHT
from core.workload.nodes.node import NodeUse
from core.workload.nodes.ranking import NodeRanking
from tests.core.ledger.audit.corruptions.busy import GHOST, ONE, Corruption


def _stray_charge(state: State) -> None:
    state.usage.charges[PodUid("ghost")] = Charge(Held.PENDING, QueuePath("root.a"), NodeName(""), ONE)


def _lost_charge(state: State) -> None:
    del state.usage.charges[PodUid("uid-bound")]


def _wrong_charge(state: State) -> None:
    uid = PodUid("uid-bound")
    state.usage.charges[uid] = replace(state.usage.charges[uid], size=ONE)


def _wrong_verdict(state: State) -> None:
    heavy = Constraints(tuple((f"key-{at}", "value") for at in range(LIGHT + 1)))
    assert not state.usage.free_capacity.admits(state.cluster.nodes[NodeName("n1")], heavy)
    state.usage.free_capacity._judged[heavy][NodeName("n1")] = True


def _ranking(corrupt: Callable[[NodeRanking], object]) -> Callable[[State], object]:
    """Free capacity of nodes that was read before."""

    def corrupted(state: State) -> None:
        corrupt(state.usage.free_capacity.ranked(state.config.node_sort, state.cluster.nodes))

    return corrupted


RANKING: list[tuple[str, Callable[[NodeRanking], object]]] = [
    ("score of n1", lambda ranking: setattr(ranking, "sort", NodeSortSpec("binpacking"))),
    ("score of n1", lambda ranking: ranking._filed.update({NodeName("n1"): 7.0})),
    ("score of n1", lambda ranking: ranking._filed.clear()),
    ("score of n7", lambda ranking: ranking._refile(NodeName("n7"), 0.0)),
    ("score of n1", lambda ranking: ranking._scores.__setitem__(0, 7.0)),
    ("score of n1", lambda ranking: ranking._names.__setitem__(0, NodeName("n7"))),
    ("free capacity of no node", lambda ranking: ranking._names.append(NodeName("n7"))),
    ("free capacity of no node", lambda ranking: ranking._scores.append(7.0)),
    ("change of n7", lambda ranking: ranking.note_change(NodeName("n7"))),
]


USAGE: list[Corruption] = [
    ("usage.charges", "charge of uid-bound", _wrong_charge),
    ("usage.uses", "pods: any of n7", lambda state: state.usage.uses.__setitem__(NodeName("n7"), NodeUse())),
    (
        "usage.book",
        "usage of users and groups",
        lambda state: state.usage.book.add(GHOST, [QueuePath("root")], ONE),
    ),
    (
        "usage.book",
        "usage of users and groups",
        lambda state: state.usage.book.start(GHOST, [QueuePath("root")]),
    ),
    ("usage.charges", "charge of ghost", _stray_charge),
    ("usage.charges", "charge of uid-bound", _lost_charge),
    ("usage.uses", "allocated of n1", lambda state: state.usage.uses[NodeName("n1")].allocated.add(ONE)),
    (
        "usage.free_capacity",
        "free capacity of n1",
        lambda state: state.usage.free_capacity.take(NodeName("n1"), ONE),
    ),
    ("usage.free_capacity", "order of n1", lambda state: state.usage.free_capacity._order._places.clear()),
    (
        "usage.free_capacity",
        "free capacity of no node",
        lambda state: state.usage.free_capacity._order._places.append((99, NodeName("n7"))),
    ),
    *[("usage.free_capacity", named, _ranking(corrupt)) for named, corrupt in RANKING],
    ("usage.free_capacity", "left behind []", lambda state: state.usage.free_capacity.tainted._left.clear()),
    (
        "usage.free_capacity",
        "nodes behind bars",
        lambda state: state.usage.free_capacity.tainted._nodes.clear(),
    ),
    (
        "usage.free_capacity",
        "left behind",
        lambda state: state.usage.free_capacity.tainted.change(NodeName("n1"), {}, ONE.by_name(), 1),
    ),
    (
        "usage.free_capacity",
        "nodes behind bars",
        lambda state: state.usage.free_capacity.tainted._nodes.update({frozenset(): 7}),
    ),
    ("usage.free_capacity", "bars of n1", lambda state: state.usage.free_capacity.tainted._bars.clear()),
    ("usage.free_capacity", "verdict on n1", _wrong_verdict),
    ("usage.afloat", "reserved on no node", lambda state: state.usage.afloat.add(ONE)),
    ("usage.tolerated", "tolerated", lambda state: state.usage.tolerated.clear()),
    ("usage.uses", "occupied of n1", lambda state: state.usage.uses[NodeName("n1")].occupied.add(ONE)),
    (
        "usage.uses",
        "pods of n1/ghost",
        lambda state: state.usage.uses[NodeName("n1")].pods.add(PodUid("ghost")),
    ),
    ("usage.uses", "pods of n1/uid-bound", lambda state: state.usage.uses[NodeName("n1")].pods.clear()),
    (
        "usage.uses",
        "evictable of n1",
        lambda state: state.usage.uses[NodeName("n1")].evictable.groups.clear(),
    ),
    ("usage.capacity", "capacity", lambda state: state.usage.capacity.add(ONE)),
    ("usage.reserved", "reserved index of uid-reserved", lambda state: state.usage.reserved.clear()),
    ("usage.reserved", "reserved index of ghost", lambda state: state.usage.reserved.add(PodUid("ghost"))),
    (
        "usage.over_max",
        "above a max of root.a",
        lambda state: state.usage.over_max.update({QueuePath("root.a"): Episode(None)}),
    ),
]
