"""Waits for turns: no pod waits if all fit, and otherwise only behind pods that fit."""

from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from core.decisions.decision import Admitted, Refused
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.queues.spec import PartitionSpec
from core.reasons import Code
from core.workload.nodes.node import NodeFacts
from core.workload.pod import OWN_GATE
from tests.builders import filtered, make_node
from tests.properties.admission.reference_ordering import View, fits, next_ask, node_for, take, view_of
from tests.properties.admission.turn_world import (
    ORDERED,
    QUICK,
    World,
    arrivals,
    asks,
    clusters,
    documents,
    pair,
    picked,
    play,
    which,
)

Step = tuple[object, ...]

# -- nobody is held without need ------------------------------


def all_fit(world: World) -> bool:
    """True if every pending ask may be placed, one after the other, on one large node."""
    view = view_of(world.ledger, world.document, now=world.now)
    for pod in [each for each in view.pods.values() if not each.held]:
        if not fits(view, pod):
            return False
        view.pods[pod.uid] = replace(pod, held=True)
    return True


def in_which_all_fit(
    document: PartitionSpec, asks: list[Step], order: list[int], *, gates: tuple[str, ...] = ()
) -> World:
    """Create asks, and delete those that do not fit, in some order."""
    world = World([document], [make_node("n0", memory=10_000)], gates=gates)
    for ask in asks:
        world.step(ask)
    while not all_fit(world):
        world.ledger.apply(on.PodDeleted(world.pending[order[0] % len(world.pending)]), now=world.now)
    return world


def never_held(document: PartitionSpec, asks: list[Step], order: list[int]) -> None:
    """Call filter for the remaining asks in some order, and assert that none waits."""
    world = in_which_all_fit(document, asks, order)
    for at in order:
        for uid in picked(world.pending, at):
            assert isinstance(filtered(world.ledger, uid, now=world.now), Admitted), world.trace()


anywhere = asks.map(lambda ask: (*ask[:8], ""))
"""Asks without constraints on nodes."""

calls = st.lists(which, min_size=10, max_size=10)


@settings(QUICK, max_examples=150)
@given(documents(ORDERED, limited=False), arrivals, calls)
def test_no_pod_is_held_when_everything_fits(
    document: PartitionSpec, asks: list[Step], order: list[int]
) -> None:
    never_held(document, asks, order)


@settings(QUICK, max_examples=150)
@given(documents(ORDERED), arrivals, calls)
def test_no_pod_is_held_when_everything_fits_users_too(
    document: PartitionSpec, asks: list[Step], order: list[int]
) -> None:
    never_held(document, asks, order)


@settings(QUICK, max_examples=150)
@given(documents((*ORDERED, "fair")), st.lists(anywhere, min_size=2, max_size=10), calls)
def test_no_gate_stays_shut_when_everything_fits(
    document: PartitionSpec, asks: list[Step], order: list[int]
) -> None:
    world = in_which_all_fit(document, asks, order, gates=(OWN_GATE,))
    while world.ledger.view.cycle_wanted:
        world.ledger.apply(on.CycleDue(), now=world.now)
    assert all(world.ledger.view.has_turn(uid) for uid in world.pending), world.trace()


# -- whoever is held is held by somebody ------------------------------

young = asks.map(lambda ask: (*ask[:7], min(ask[7], 1), ask[8]))
"""Asks for which no node is reserved yet."""


@pytest.mark.rule("CYC-7")
@settings(QUICK, max_examples=200)
@given(pair("", "fair"), clusters(), which, st.lists(young, min_size=3, max_size=12))
def test_a_held_pod_is_held_by_asks_that_rank_before_it_and_have_capacity(
    documents: list[PartitionSpec], nodes: list[NodeFacts], closed: int, asks: list[Step]
) -> None:
    """``closed``: number of the cordoned node, if there is one."""
    nodes = [replace(node, unschedulable=at == closed) for at, node in enumerate(nodes)]
    world = World(documents, nodes)
    for ask in asks:
        world.step(ask)
    play(world, [("reload", 1)])
    for uid in world.pending:
        if not world.ledger.view.has_turn(uid):
            assert_held_by_others(world, uid)


def assert_held_by_others(world: World, uid: PodUid) -> None:
    """Assert that the asks before one have the turns, until no capacity is left for it.

    Before that a node had capacity for it, since kube-scheduler calls filter for no other pods.
    """
    view = without_turns(world)
    if node_for(view, view.pods[uid]) is None:
        return
    assert must_wait(world, uid) == fits(view, view.pods[uid]), world.trace()
    if not fits(view, view.pods[uid]):
        return
    before: list[tuple[str, str]] = []
    while has_capacity(view, uid):
        step = next_ask(view, "root")
        assert step is not None, world.trace()
        first, node = step
        assert first.uid != uid, world.trace()
        assert world.ledger.view.has_turn(PodUid(first.uid)), world.trace()
        assert not world.ledger.view.nodes[NodeName(node)].unschedulable
        take(view, before, first, node)
    assert before
    event(f"held by {len(before)}")


def without_turns(world: World) -> View:
    """The state before any turn was given. No pod has been placed yet."""
    view = view_of(world.ledger, world.document, now=world.now)
    view.pods = {each: replace(pod, held=False, node="") for each, pod in view.pods.items()}
    return view


def has_capacity(view: View, uid: PodUid) -> bool:
    pod = view.pods[uid]
    return fits(view, pod) and node_for(view, pod) is not None


def must_wait(world: World, uid: PodUid) -> bool:
    answer = filtered(world.ledger, uid, now=world.now)
    return isinstance(answer, Refused) and answer.refusal.code is Code.WAITING_FOR_TURN
