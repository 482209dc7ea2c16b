"""Races beside trials, on random states: where a race gives figures, a trial finds the same ones."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from core.decisions.explanation.changes import BEYOND_ALL
from core.decisions.explanation.playing import raised, resized
from core.ids import PodUid
from core.ledger.trial.change import NO_CHANGE, Change
from core.ledger.trial.figures import Figures, figures_of
from core.ledger.trial.race.places import Place
from core.queues.limit_state import LimitKey, LimitKind, limits_of_ask
from core.queues.spec import PartitionSpec
from core.workload.nodes.node import NodeFacts
from tests.builders import make_node
from tests.histories.explanation import frozen
from tests.histories.explanation.frozen import Frozen
from tests.histories.ordering import document
from tests.properties.admission.turn_world import ZONES

SEEDS_PER_TEST = 60
COMPARED_AT_LEAST = 10
"""Pods of one test for which a race does not give up."""

HUGE = {"vcore": BEYOND_ALL, "memory": BEYOND_ALL, "pods": BEYOND_ALL}


def plain(chance: Random, policy: str) -> PartitionSpec:
    """A document without limits of users and on applications, before which a race would give up."""
    found = document(chance, "" if policy == "stateaware" else policy)
    queues = (replace(each, limits=(), max_applications=0) for each in found.queues)
    return replace(found, queues=tuple(queues))


def new_node(chance: Random) -> NodeFacts:
    return resized(replace(make_node("new"), labels={"zone": chance.choice(ZONES) or ""}), HUGE)


def lifted_for(world: Frozen, uid: PodUid) -> list[LimitKey]:
    """Limits of queues that the ask lacks capacity under."""
    view = world.ledger.view
    record = view.pod(uid)
    assert record is not None
    leaf, app_id = view.queue_of(record), record.membership.application
    application = view.application(app_id) if app_id is not None else None
    if leaf is None or application is None:
        return []
    found = limits_of_ask(
        view.quota_check, leaf.chain, application.claimant, record.facts.size, extra=view.given
    )
    return [each.key for each in found if each.short and each.key.kind is LimitKind.QUEUE]


def raced(world: Frozen, uid: PodUid, lifted: list[LimitKey], node: NodeFacts) -> Figures | None:
    record = world.ledger.view.pod(uid)
    assert record is not None
    race = world.ledger.view.race(record, lifted, node)
    for _ in race.run():
        pass
    return race.figures


def differing(world: Frozen, uid: PodUid) -> Iterator[str | None]:
    """Difference between a race and a trial, None for none. Nothing where the race gives up."""
    lifted, node = lifted_for(world, uid), new_node(world.chance)
    figures = raced(world, uid, lifted, node)
    if figures is None:
        return
    change = Change(raised(dict.fromkeys(lifted, BEYOND_ALL)), node=node)
    trial = world.ledger.view.trial(uid, change, measure=NO_CHANGE)
    for _ in trial.run():
        pass
    if trial.unsure:
        return
    record = world.ledger.view.pod(uid)
    assert record is not None
    theirs = figures_of(trial, record.facts.size, node)
    used = {key: figures.used.get(key, 0) for key in theirs.used}
    on_node = {name: figures.on_node.get(name, 0) for name in theirs.on_node}
    # An ask with a reserved node is served before the order begins, where a trial gathers no evidence.
    is_tight = trial.is_tight or bool(record.node_reservation.node)
    same = is_tight and used == theirs.used and on_node == theirs.on_node
    yield None if same else f"{uid}: {figures}, but {theirs}, tight: {trial.is_tight}"


def compared(seeds: range) -> Iterator[str | None]:
    """Differences for all pods that wait in the states of these seeds."""
    for seed in seeds:
        world = Frozen(Random(seed))
        world.prepare()
        for uid in [each for each in world.pending if not world.ledger.view.has_turn(each)]:
            for difference in differing(world, uid):
                yield f"seed {seed}: {difference}" if difference is not None else None


@pytest.mark.rule("SORT-1", "SORT-3", "SORT-5")
@pytest.mark.parametrize("first", range(0, 240, SEEDS_PER_TEST))
def test_a_race_gives_the_turns_of_a_trial(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    monkeypatch.setattr(frozen, "document", plain)
    found = list(compared(range(first, first + SEEDS_PER_TEST)))
    assert [each for each in found if each is not None] == []
    assert len(found) >= COMPARED_AT_LEAST


@pytest.mark.parametrize("what", ["share", "priority"])
def test_a_wrong_order_is_found(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setattr(frozen, "document", plain)
    if what == "share":
        monkeypatch.setattr(Place, "share", lambda self: -sum(self.held.values()))
    else:
        monkeypatch.setattr(Place, "_priority", lambda self: len(self.queue.path))
    assert any(each is not None for each in compared(range(2 * SEEDS_PER_TEST)))
