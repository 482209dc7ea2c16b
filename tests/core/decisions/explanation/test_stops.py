"""Every reason against a preemption plan, as an explanation names it: with its law and its figures."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.decisions.explanation.explaining import explain_at_once
from core.decisions.explanation.values import Preempting
from core.decisions.preemption.receipts import Stop
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.queues.spec import LimitSpec
from core.resource import Limit
from tests.core.decisions.test_required_node import HERE
from tests.core.ledger.admission.test_backoff import created, ledger_with
from tests.core.ledger.preemption.test_in_vain import Vanishing
from tests.core.preemption_world import LATER, START, World, queue, world_of

NEVER_NAMED = {Stop.NOT_AN_ASK, Stop.TRIGGERED, Stop.STALE, Stop.TRIED_RECENTLY}
"""Stops of pods that do not wait, or whose plan is under way, came too late, or was tried moments ago.

Of the last, an explanation says when the plan is tried next, and plans as if that time had come.
"""

State = tuple[Ledger, str, float]


def asking(world: World, size: int = 1, *, now: float = LATER, **facts: object) -> State:
    world.asks("ask", "root.a", size, **facts)
    return world.ledger, "ask", now


def _switched_off() -> State:
    world = world_of(1)
    world.configure(*world.queues, preemption=False)
    return asking(world)


def _limited() -> State:
    world, limit = world_of(1), LimitSpec(("nobody",), (), Limit({"vcore": 0}))
    world.configure(*(replace(each, limits=(limit,)) for each in world.queues))
    return asking(world)


def _held_back() -> State:
    world = Vanishing()
    for _ in range(3):
        world.vanishes()
    return asking(world, now=world.now)


def _backs_off() -> State:
    ledger = ledger_with(1)
    created(ledger, "large-0", "large-1", cpu=5000)
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START)
    return ledger, "uid-large-0", START + 29


def _no_headroom() -> State:
    world = World(queue("root.a", max=1), queue("root.b"), nodes={"n1": 5})
    world.runs("v", "root.b", 5)
    return asking(world, 2, required_node=HERE, priority=20)


def _no_node() -> State:
    world = World(
        queue("root.a", guaranteed={"vcore": 2, "memory": 2}),
        queue("root.b", guaranteed={"vcore": 1, "memory": 1}),
        nodes={"n1": {"vcore": 4, "memory": 1}},
    )
    world.runs("v", "root.b", {"vcore": 4, "memory": 1})
    world.asks("ask", "root.a", {"vcore": 1, "memory": 1})
    return world.ledger, "ask", LATER


def _no_victims() -> State:
    fenced = queue("root.a", guaranteed=1, preemption_policy="fence")
    world = World(fenced, queue("root.b"), nodes={"n1": 1})
    world.runs("v", "root.b")
    return asking(world)


STOPS: dict[Stop, tuple[str, Callable[[], State]]] = {
    Stop.SWITCHED_OFF: ("PRE-1", _switched_off),
    Stop.NEVER_PREEMPTS: ("PRE-4", lambda: asking(world_of(1), never_preempts=True)),
    Stop.TOO_YOUNG: ("PRE-3", lambda: asking(world_of(1), now=START + 1)),
    Stop.HELD_BACK: ("inVain", _held_back),
    Stop.LIMITED: ("CYC-5", _limited),
    Stop.BACKS_OFF: ("CYC-4", _backs_off),
    Stop.COMPLEX: ("complexAsks", lambda: asking(world_of(1), complex=True)),
    Stop.GUARANTEE: ("LAW-4", lambda: asking(world_of(3, 3, guaranteed=1), 2)),
    Stop.NO_VICTIMS: ("LAW-7", _no_victims),
    Stop.NO_NODE: ("LAW-2", _no_node),
    Stop.HEADROOM: ("RNP-1", _no_headroom),
    Stop.ENOUGH_CAPACITY: ("PRE-14", lambda: asking(world_of(1, total=2))),
}


def part(ledger: Ledger, uid: str, now: float) -> Preempting:
    found = explain_at_once(ledger.view, PodUid(uid), now=now)
    assert found is not None
    assert found.preemption is not None
    return found.preemption


def test_each_stop_has_its_state() -> None:
    assert {*STOPS, *NEVER_NAMED} == {*Stop}


def _rules(stop: Stop) -> tuple[pytest.MarkDecorator, ...]:
    """The rule that a test of this stop shows. Two stops come from a setting instead."""
    law = STOPS[stop][0]
    return (pytest.mark.rule(law),) if "-" in law else ()


@pytest.mark.parametrize("stop", [pytest.param(each, marks=_rules(each)) for each in STOPS])
def test_an_explanation_names_the_stop_with_its_law(stop: Stop) -> None:
    law, state = STOPS[stop]
    found = part(*state())
    assert (found.stop, found.law) == (stop, law)
    assert found.text
    assert (found.possible, found.under_way) == (False, False)
