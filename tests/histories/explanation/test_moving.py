"""Explanations while the cluster goes on: events between two steps end none of them with an error."""

from random import Random

import pytest

from core.decisions.explanation.explaining import explain_pod
from core.decisions.explanation.together import explain_application
from core.decisions.explanation.values import PodExplanation
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.trial.moved import LedgerMovedOn
from tests.histories.explanation.frozen import Frozen, run_cycles
from tests.histories.ordering import nodes as nodes_of

SEEDS_PER_TEST = 25


def moved(world: Frozen) -> None:
    """Let something happen, as between two slices: pods, documents and nodes change."""
    what = world.chance.random()
    if what < 0.3:
        world.some_asks()
    elif what < 0.4:
        world.step(("reload", world.chance.randrange(2)))
    elif what < 0.5:
        change_a_node(world)
    else:
        world.happens(world.chance.choice(("come", "bind", "delete", "wait")))
    if world.chance.random() < 0.5:
        run_cycles(world.ledger, now=world.now)


def change_a_node(world: Frozen) -> None:
    """Remove a node, or let one come back."""
    nodes = sorted(world.ledger.view.nodes)
    if len(nodes) > 1 and world.chance.random() < 0.6:
        event: on.Event = on.ObjectDeleted(on.NODES, NodeName(world.chance.choice(nodes)))
    else:
        event = on.ObjectObserved(on.NODES, world.chance.choice(nodes_of(world.chance)))
    world.ledger.apply(event, now=world.now)


def explained_while_moving(world: Frozen, uid: PodUid) -> PodExplanation | None:
    """An explanation of a pod that may end meanwhile. None if it is to begin anew, as a server does."""
    steps = explain_pod(world.ledger.view, uid, now=world.now)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: PodExplanation | None = end.value
            return found
        except LedgerMovedOn:
            return None
        if world.chance.random() < 0.3:
            moved(world)


@pytest.mark.parametrize("first", range(0, 100, SEEDS_PER_TEST))
def test_events_in_between_break_no_explanation(first: int) -> None:
    explained = 0
    for seed in range(first, first + SEEDS_PER_TEST):
        world = Frozen(Random(seed))
        world.prepare()
        for uid in world.chance.sample(world.pending, min(2, len(world.pending))):
            explained += explained_while_moving(world, uid) is not None
    assert explained > SEEDS_PER_TEST // 2


def test_an_application_that_loses_its_pods_meanwhile_is_explained() -> None:
    world = Frozen(Random(3))
    world.prepare()
    application = next(iter(world.ledger.view.applications()))
    steps = explain_application(world.ledger.view, application.id, application.id.namespace, now=world.now)
    for _ in steps:
        moved(world)
