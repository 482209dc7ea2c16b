"""Turns compared with a reference ordering, and the time for which an unused turn holds capacity."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.decisions.decision import Admitted
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec
from core.workload.nodes.node import NodeFacts
from tests.builders import START, filtered, make_ledger, make_node, make_pod, woken
from tests.builders import make_queue as queue
from tests.properties.admission.reference_ordering import fits, node_for, view_of
from tests.properties.admission.turn_world import (
    ORDERED,
    QUICK,
    World,
    arrivals,
    clusters,
    documents,
    pair,
    play,
    steps,
    which,
)

LEASE = LedgerSettings().turn_lease

histories = st.lists(steps, min_size=10, max_size=30)


def one_pass(documents: list[PartitionSpec], nodes: list[NodeFacts], asks: list[tuple[object, ...]]) -> None:
    world = World(documents, nodes)
    for ask in asks:
        world.step(ask)
    play(world, [("reload", 1)])


@pytest.mark.rule("CYC-4", "CYC-5", "CYC-7")
@settings(QUICK, max_examples=300)
@given(pair(*ORDERED), clusters(), arrivals)
def test_a_cycle_gives_the_turns_of_the_reference(
    documents: list[PartitionSpec], nodes: list[NodeFacts], asks: list[tuple[object, ...]]
) -> None:
    one_pass(documents, nodes, asks)


@settings(QUICK, max_examples=200)
@given(pair("fair"), clusters(), arrivals)
def test_a_cycle_shares_a_fair_leaf_as_the_reference_does(
    documents: list[PartitionSpec], nodes: list[NodeFacts], asks: list[tuple[object, ...]]
) -> None:
    one_pass(documents, nodes, asks)


@settings(QUICK, max_examples=200)
@given(pair("stateaware"), clusters(), arrivals)
def test_a_cycle_admits_the_pods_that_the_reference_admits(
    documents: list[PartitionSpec], nodes: list[NodeFacts], asks: list[tuple[object, ...]]
) -> None:
    one_pass(documents, nodes, asks)


@pytest.mark.rule("REQ-3")
@settings(QUICK, max_examples=250)
@given(pair("", "fair", "stateaware"), clusters(), histories)
def test_every_cycle_of_a_history_gives_the_turns_of_the_reference(
    documents: list[PartitionSpec], nodes: list[NodeFacts], history: list[tuple[object, ...]]
) -> None:
    play(World(documents, nodes), history)


# -- ghosts ------------------------------


@settings(QUICK, max_examples=150)
@given(documents(ORDERED, limited=False), clusters(), arrivals, st.sets(which))
def test_a_ghost_holds_capacity_for_one_lease(
    document: PartitionSpec, nodes: list[NodeFacts], asks: list[tuple[object, ...]], ghosts: set[int]
) -> None:
    """The other pods are tried at once and end soon. Each unused turn may delay them by two leases."""
    world = World([document], nodes)
    uids = [world.ask(*ask[1:]) for ask in asks]  # type: ignore[arg-type]
    coming = {uid for at, uid in enumerate(uids) if at not in ghosts and fits_alone(world, uid)}
    for _ in range(int(2 * (2 * LEASE * len(asks) + len(asks)))):
        world.now += 0.5
        world.ledger.apply(on.TimePassed(), now=world.now)
        woken(world.ledger, now=world.now)
        turns, waiting = world.ledger.view.turns, world.ledger.view.waiting
        assert turns.keys() == waiting.keys() or all(world.now < turn.at + LEASE for turn in turns.values())
        for uid in sorted(coming & turns.keys()):
            assert isinstance(filtered(world.ledger, uid, now=world.now), Admitted)
            world.ledger.apply(on.PodDeleted(uid), now=world.now)
            coming.discard(uid)
    assert not coming


def fits_alone(world: World, uid: PodUid) -> bool:
    view = view_of(world.ledger, world.document, now=world.now)
    view.pods = {uid: view.pods[uid]}
    return fits(view, view.pods[uid]) and node_for(view, view.pods[uid]) is not None


@pytest.mark.rule("PRI-2", "SORT-1")
def test_a_pod_with_a_turn_does_not_lift_its_queue() -> None:
    ledger = make_ledger(queue("root.a"), queue("root.b"), nodes=0)
    for name, path, priority in (("high", "root.a", 5), ("low", "root.a", 0), ("middle", "root.b", 3)):
        ledger.apply(on.PodObserved(make_pod(name, queue=path, app=path, priority=priority)), now=START)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=1000)), now=START)
        woken(ledger, now=START)
    assert list(ledger.view.turns) == ["uid-high", "uid-middle"]
