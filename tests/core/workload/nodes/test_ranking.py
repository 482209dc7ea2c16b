"""The stored order of nodes equals a new sort, although only changed nodes are checked."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from core.ids import NodeName
from core.queues.spec import NodeSortSpec
from core.workload.nodes.ranking import FEW, NodeRanking

FAIR, BINPACKING = NodeSortSpec("fair"), NodeSortSpec("binpacking")
NAMES = [NodeName(f"n{at:02}") for at in range(2 * FEW + 5)]

names = st.sampled_from(NAMES)
scores = st.sampled_from([0.0, 0.1, 0.5, 1.0, float("inf"), -float("inf")])


class Nodes:
    """Nodes with given scores, and a list of the nodes that were checked."""

    def __init__(self, count: int) -> None:
        self.ranking = NodeRanking()
        self.scores: dict[NodeName, float] = {}
        self.checked: list[NodeName] = []
        for at, name in enumerate(NAMES[:count]):
            self.set(name, at / 100)

    def set(self, name: NodeName, score: float) -> None:
        self.scores[name] = score
        self.ranking.note_change(name)

    def drop(self, name: NodeName) -> None:
        self.scores.pop(name, None)
        self.ranking.drop(name)

    def settled(self, sort: NodeSortSpec = FAIR) -> NodeRanking:
        self.checked.clear()
        self.ranking.settle(sort, self.scores, self._use_of)
        return self.ranking

    def _use_of(self, name: NodeName) -> float:
        self.checked.append(name)
        return self.scores[name]

    def sorted(self, offered: Iterable[NodeName], *instead: tuple[float, NodeName]) -> list[NodeName]:
        now = self.scores | {name: score for score, name in instead}
        return sorted((name for name in offered if name in now), key=lambda name: (now[name], name))


Change = tuple[NodeName, float | None]


@given(
    count=st.sampled_from([0, 5, len(NAMES)]),
    rounds=st.lists(st.tuples(st.lists(st.tuples(names, st.none() | scores)), st.sets(names), scores)),
)
def test_any_changes_leave_the_order_as_if_sorted_anew(
    count: int, rounds: list[tuple[list[Change], set[NodeName], float]]
) -> None:
    """``rounds``: changed scores (None removes a node), offered nodes, and another score for one of them."""
    nodes = Nodes(count)
    for changes, offered, score in rounds:
        for name, changed in changes:
            if changed is None:
                nodes.drop(name)
            else:
                nodes.set(name, changed)
        ranking = nodes.settled()
        assert list(ranking.among(set(NAMES))) == nodes.sorted(NAMES)
        assert list(ranking.among(offered)) == nodes.sorted(offered)
        for own in sorted(offered & nodes.scores.keys())[:1]:
            assert ranking.among(offered, instead=(score, own)) == nodes.sorted(offered, (score, own))
        assert [ranking.score_filed(name) for name in NAMES] == [nodes.scores.get(name) for name in NAMES]
        assert ranking.strays == 0


def test_only_changed_nodes_are_checked() -> None:
    nodes = Nodes(len(NAMES))
    nodes.settled()
    assert sorted(nodes.checked) == NAMES
    nodes.settled()
    assert nodes.checked == []
    nodes.set(NAMES[3], 0.9)
    nodes.set(NAMES[3], 0.8)
    nodes.settled()
    assert nodes.checked == [NAMES[3]]


def test_another_policy_checks_all_and_the_same_one_none() -> None:
    nodes = Nodes(len(NAMES))
    nodes.settled()
    nodes.settled(NodeSortSpec("fair"))
    assert nodes.checked == []
    nodes.settled(BINPACKING)
    assert sorted(nodes.checked) == NAMES


def test_before_the_first_request_nothing_is_cached() -> None:
    nodes = Nodes(len(NAMES))
    assert list(nodes.ranking) == []
