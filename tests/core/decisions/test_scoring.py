"""Which node is best: usage, weights, order and the scores that are sent (NODE-1 to NODE-3)."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from core.decisions.decision import Ignored, Scored, Scoring, Unscored
from core.decisions.scoring import TOP_SCORE, bands_by_rank, decide_scores
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import NodeSortSpec
from core.resource import Resource
from core.workload.nodes.node import NodeFacts
from core.workload.nodes.ranking import usage_of
from tests.builders import (
    START,
    bind_called,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
    woken,
)

FAIR = NodeSortSpec("fair", {}, named=True)
BINPACKING = NodeSortSpec("binpacking", {}, named=True)
HUNDRED = {"vcore": 100, "memory": 100}
SPEC_NODE = {"vcore": 2000, "memory": 16000}
FOUR_TO_ONE = {"vcore": 4.0, "memory": 1.0}


def left(capacity: Mapping[str, int], used: Mapping[str, int]) -> dict[str, int]:
    return {name: amount - used.get(name, 0) for name, amount in capacity.items()}


@pytest.mark.parametrize(
    ("capacity", "used", "weights", "usage"),
    [
        pytest.param(HUNDRED, {"vcore": 90, "memory": 50}, {}, 0.70, id="default weights"),
        pytest.param(HUNDRED, {"vcore": 90, "memory": 50}, FOUR_TO_ONE, 0.82, id="weights of 4 and 1"),
        pytest.param(SPEC_NODE, {"vcore": 500, "memory": 12000}, FOUR_TO_ONE, 0.35, id="node1"),
        pytest.param(SPEC_NODE, {"vcore": 1500, "memory": 4000}, FOUR_TO_ONE, 0.65, id="node2"),
        pytest.param(
            {"vcore": 0, "memory": 16000},
            {"memory": 8000},
            {"vcore": 4.0, "memory": 0.0},
            0.0,
            id="nothing of nothing is no number",
        ),
        pytest.param(
            HUNDRED, {"vcore": 90, "memory": 50}, {"vcore": 8.0, "memory": 2.0}, 0.82, id="only ratios matter"
        ),
        pytest.param(HUNDRED | {"gpu": 2}, {"gpu": 2}, {}, 0.0, id="what has no weight does not count"),
        pytest.param(
            HUNDRED | {"gpu": 2}, {"gpu": 1, "vcore": 100}, {"gpu": 1.0}, 0.5, id="only listed types"
        ),
        pytest.param(
            HUNDRED, {"vcore": 30}, {"vcore": 1.0, "gpu": 9.0}, 0.3, id="a weight of what the node has not"
        ),
        pytest.param(HUNDRED, {"vcore": 100, "memory": 100}, {}, 1.0, id="full"),
        pytest.param(HUNDRED, {"vcore": 150, "memory": 50}, {}, 1.0, id="beyond its capacity"),
        pytest.param({}, {}, {}, 0.0, id="a node with nothing"),
        pytest.param(HUNDRED, {"vcore": 90}, {"vcore": 0.0}, 0.0, id="nothing but zero weights"),
    ],
)
@pytest.mark.rule("NODE-1", "NODE-2")
def test_usage(
    capacity: dict[str, int], used: dict[str, int], weights: dict[str, float], usage: float
) -> None:
    assert usage_of(Resource(capacity), left(capacity, used), weights) == pytest.approx(usage)


@pytest.mark.rule("NODE-1")
def test_a_type_used_up_counts_as_nothing_left() -> None:
    assert usage_of(Resource(HUNDRED), {"memory": 50}, {}) == pytest.approx(0.75)


def test_pods_on_nothing_are_infinitely_many() -> None:
    assert usage_of(Resource({"vcore": 0, "memory": 10}), {"vcore": -1, "memory": 10}, {}) == math.inf


# -- order ---------------------------------------------------------------------------------------------------


def ledger_of(sort: NodeSortSpec, *nodes: NodeFacts, settings: LedgerSettings | None = None) -> Ledger:
    """A synced ledger with these nodes, and one ask ``uid-ask``."""
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    partition = replace(make_partition(make_queue("root.a")), node_sort=sort)
    ledger.apply(on.Configured(partition, settings or LedgerSettings()), now=START)
    for node in nodes:
        ledger.apply(on.ObjectObserved(on.NODES, node), now=START)
    ledger.apply(on.PodObserved(make_pod("ask", cpu=1)), now=START)
    return ledger


def hold(ledger: Ledger, node: str, *, cpu: int, memory: int = 0, foreign: bool = False) -> None:
    """A pod on a node, managed or unmanaged."""
    whose = {"scheduler_name": "other", "queue": "", "app": ""} if foreign else {}
    pod = make_pod(f"on-{node}-{cpu}-{memory}", cpu=cpu, memory=memory, node=node, **whose)
    ledger.apply(on.PodObserved(pod), now=START)


def decided(ledger: Ledger, *names: str, uid: str = "uid-ask") -> Scoring:
    return decide_scores(ledger.view, PodUid(uid), lambda: {NodeName(name) for name in names})


def scores(ledger: Ledger, *names: str, uid: str = "uid-ask") -> Mapping[NodeName, int]:
    verdict = decided(ledger, *names, uid=uid)
    return verdict.by_name() if isinstance(verdict, Scored) else {}


def order(ledger: Ledger, *names: str) -> list[str]:
    """Nodes by score, best first. All scores must differ."""
    found = scores(ledger, *names)
    assert len(set(found.values())) == len(names)
    return sorted(found, key=lambda name: -found[name])


def four_nodes(sort: NodeSortSpec) -> Ledger:
    names = ("n01", "n02", "n03", "n04")
    ledger = ledger_of(sort, *(make_node(name, cpu=10, memory=15) for name in names))
    for at, (name, vcore) in enumerate(zip(names, (2, 4, 6, 8), strict=True)):
        hold(ledger, name, cpu=vcore, memory=10, foreign=at % 2 == 0)
    return ledger


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        pytest.param(FAIR, ["n01", "n02", "n03", "n04"], id="fair"),
        pytest.param(BINPACKING, ["n04", "n03", "n02", "n01"], id="binpacking"),
        pytest.param(replace(FAIR, policy="other"), ["n01", "n02", "n03", "n04"], id="unknown, as fair"),
        pytest.param(replace(FAIR, policy="BinPacking"), ["n01", "n02", "n03", "n04"], id="case-sensitive"),
    ],
)
@pytest.mark.rule("NODE-1")
def test_the_order_of_the_seed_with_pods_of_both_kinds(sort: NodeSortSpec, wanted: list[str]) -> None:
    assert order(four_nodes(sort), "n03", "n01", "n04", "n02") == wanted


@pytest.mark.parametrize("sort", [FAIR, BINPACKING], ids=["fair", "binpacking"])
@pytest.mark.rule("NODE-1")
def test_equal_nodes_go_by_name(sort: NodeSortSpec) -> None:
    ledger = ledger_of(sort, *(make_node(name) for name in ("n10", "n2", "n1")))
    assert order(ledger, "n2", "n10", "n1") == ["n1", "n10", "n2"]


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        pytest.param(FAIR, ["n1", "n2"], id="fair"),
        pytest.param(BINPACKING, ["n2", "n1"], id="binpacking"),
    ],
)
@pytest.mark.rule("NODE-2")
def test_weights_decide_between_nodes(sort: NodeSortSpec, wanted: list[str]) -> None:
    nodes = [make_node(name, cpu=2000, memory=16000) for name in ("n1", "n2")]
    ledger = ledger_of(replace(sort, weights=FOUR_TO_ONE), *nodes)
    hold(ledger, "n1", cpu=500, memory=12000)
    hold(ledger, "n2", cpu=1500, memory=4000)
    assert order(ledger, "n1", "n2") == wanted


@pytest.mark.rule("NODE-3")
def test_the_order_follows_every_change_of_a_node() -> None:
    ledger = ledger_of(FAIR, make_node("n1", cpu=10), make_node("n2", cpu=10))
    hold(ledger, "n1", cpu=2)
    assert order(ledger, "n1", "n2") == ["n2", "n1"]
    hold(ledger, "n2", cpu=5, foreign=True)
    assert order(ledger, "n1", "n2") == ["n1", "n2"]
    ledger.apply(on.ObjectObserved(on.NODES, replace(make_node("n2", cpu=100), version=2)), now=START)
    assert order(ledger, "n1", "n2") == ["n2", "n1"]
    ledger.apply(on.PodDeleted(PodUid("uid-on-n1-2-0")), now=START)
    assert order(ledger, "n1", "n2") == ["n1", "n2"]


@pytest.mark.rule("NODE-3")
def test_only_nodes_that_kube_scheduler_offers_are_scored() -> None:
    """The fullest node is not among the nodes that fit the pod."""
    assert scores(four_nodes(BINPACKING), "n01", "n03") == {"n03": TOP_SCORE, "n01": 9}


def test_a_binding_under_way_counts_at_once() -> None:
    ledger = ledger_of(FAIR, make_node("n1", cpu=10), make_node("n2", cpu=10))
    ledger.apply(on.PodObserved(make_pod("first", cpu=1)), now=START)
    filtered(ledger, "uid-first", now=START)
    assert order(ledger, "n1", "n2") == ["n1", "n2"]
    bind_called(ledger, "uid-first", "n1", now=START)
    assert order(ledger, "n1", "n2") == ["n2", "n1"]


def test_what_a_pod_was_promised_itself_does_not_speak_against_a_node() -> None:
    """The turn counted the pod on n1, the first of equal nodes. For other pods it is there."""
    ledger = ledger_of(FAIR, make_node("n1", cpu=10), make_node("n2", cpu=10))
    woken(ledger, now=START)
    assert ledger.view.has_turn(PodUid("uid-ask"))
    filtered(ledger, "uid-ask", now=START)
    ledger.apply(on.PodObserved(make_pod("other", cpu=1)), now=START)
    assert scores(ledger, "n1", "n2") == {"n1": TOP_SCORE, "n2": 9}
    assert scores(ledger, "n1", "n2", uid="uid-other") == {"n2": TOP_SCORE, "n1": 9}
    bind_called(ledger, "uid-ask", "n1", now=START)
    assert scores(ledger, "n1", "n2") == {"n1": TOP_SCORE, "n2": 9}


# -- whether there are scores --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sort", "always", "scored"),
    [
        pytest.param(NodeSortSpec(), False, False, id="no policy is named"),
        pytest.param(NodeSortSpec("fair", FOUR_TO_ONE), False, False, id="weights alone are no policy"),
        pytest.param(NodeSortSpec(), True, True, id="the setting says policy"),
        pytest.param(FAIR, False, True, id="fair is named"),
        pytest.param(BINPACKING, False, True, id="binpacking is named"),
        pytest.param(BINPACKING, True, True, id="both"),
    ],
)
def test_the_policies_that_choose_among_nodes(sort: NodeSortSpec, always: bool, scored: bool) -> None:
    ledger = ledger_of(sort, make_node("n1"), settings=LedgerSettings(scores_nodes=always))
    assert scores(ledger, "n1") == ({"n1": TOP_SCORE} if scored else {})
    assert isinstance(decided(ledger, "n1"), Scored if scored else Unscored)


def test_without_a_named_policy_the_setting_means_fair() -> None:
    ledger = ledger_of(
        NodeSortSpec(),
        make_node("n1", cpu=10),
        make_node("n2", cpu=10),
        settings=LedgerSettings(scores_nodes=True),
    )
    hold(ledger, "n1", cpu=3)
    assert order(ledger, "n1", "n2") == ["n2", "n1"]


def test_no_scores_for_pods_that_are_not_ours_or_not_known() -> None:
    ledger = ledger_of(FAIR, make_node("n1"))
    ledger.apply(on.PodObserved(make_pod("free", scheduler_name="other", queue="", app="")), now=START)
    assert decided(ledger, "n1", uid="uid-free") == Ignored()
    assert decided(ledger, "n1", uid="unheard-of") == Ignored()


def test_no_scores_before_the_lists_are_in() -> None:
    ledger = Ledger()
    partition = replace(make_partition(make_queue("root.a")), node_sort=FAIR)
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1")), now=START)
    ledger.apply(on.PodObserved(make_pod("ask")), now=START)
    assert decided(ledger, "n1") == Ignored()


# -- scores by rank ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 10, 11, 12, 13, 100, 5000])
def test_the_best_has_the_top_score_alone_and_the_order_stays(count: int) -> None:
    names = [NodeName(f"n{at:04}") for at in range(count)]
    bands = list(bands_by_rank(names))
    found = [score for score, band in bands for _ in band]
    assert [name for _, band in bands for name in band] == names
    assert found[0] == TOP_SCORE
    assert found.count(TOP_SCORE) == 1
    assert found == sorted(found, reverse=True)
    assert min(found) >= 0
    assert len(set(found)) == min(count, TOP_SCORE + 1)


def test_scores_are_rounded_away_from_the_top() -> None:
    names = [NodeName(f"n{at:02}") for at in range(13)]
    found = [score for score, band in bands_by_rank(names) for _ in band]
    assert found == [10, 9, 8, 7, 6, 5, 5, 4, 3, 2, 1, 0, 0]


def test_unknown_names_have_the_lowest_score() -> None:
    ledger = four_nodes(FAIR)
    assert scores(ledger, "new", "n02", "n01") == {"n01": TOP_SCORE, "n02": 9, "new": 0}
    assert scores(ledger, "new", "newer") == {"new": 0, "newer": 0}


def test_a_name_given_twice_has_one_score() -> None:
    """kube-scheduler would add up the scores of repeated nodes."""
    assert scores(four_nodes(FAIR), "n02", "n01", "n02") == {"n01": TOP_SCORE, "n02": 9}


def test_no_node_is_offered() -> None:
    assert scores(four_nodes(FAIR)) == {}


@pytest.mark.rule("NODE-3")
def test_a_policy_taken_over_later_orders_anew() -> None:
    ledger = four_nodes(FAIR)
    assert order(ledger, "n01", "n03") == ["n01", "n03"]
    partition = replace(make_partition(make_queue("root.a")), node_sort=BINPACKING)
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    assert order(ledger, "n01", "n03") == ["n03", "n01"]


def test_few_of_many_nodes_are_ordered_as_all_are() -> None:
    names = [f"n{at:03}" for at in range(100)]
    ledger = ledger_of(FAIR, *(make_node(name, cpu=200) for name in names))
    for at, name in enumerate(names):
        hold(ledger, name, cpu=1 + at * 7 % 100)
    whole = decided(ledger, *names)
    assert isinstance(whole, Scored)
    by_rank = [name for _, band in whole.bands for name in band]
    assert by_rank == sorted(names, key=lambda name: names.index(name) * 7 % 100)
    few = [name for name in by_rank if name in names[::11]]
    assert order(ledger, *names[::11]) == few
