"""Views of gangs: the story of a pod, the metrics, and a bound on what one pod may ask for."""

import pytest

from core.ledger.gangs.slots import UNTRIED_AT_MOST
from core.ledger.settings import LedgerSettings
from core.reasons import Code
from extender.telemetry.metrics import Metrics
from extender.views.journal import Journal
from extender.views.story import story_of
from tests.builders import make_gang, make_ledger, make_queue
from tests.core.ledger.gangs.play import GangPlay


def exposed(world: GangPlay) -> dict[str, float]:
    text = Metrics(lambda: world.ledger.view).exposition().decode()
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("paddock_gang")]
    return {name: float(value) for name, value in lines}


@pytest.mark.rule("REST-17")
def test_the_metrics_count_what_becomes_of_gangs() -> None:
    world = GangPlay(make_ledger(make_queue("root.a")))
    world.create("m1", gang=make_gang(2), task_group="g")
    assert exposed(world)["paddock_gangs_waiting"] == 1
    assert exposed(world)["paddock_gang_placeholders"] == 2
    world.wait(4)
    world.bind_placeholders()
    world.bind("uid-m1")
    seen = exposed(world)
    assert seen["paddock_gangs_waiting"] == 0
    assert seen["paddock_gang_complete_seconds_count"] == 1
    assert seen["paddock_gang_complete_seconds_sum"] == 4
    assert seen["paddock_gang_takeovers_total"] == 1
    world.create("m2", task_group="g")
    world.wait(UNTRIED_AT_MOST + 1)
    assert exposed(world)["paddock_gang_takeovers_cancelled_total"] == 1
    assert exposed(world)['paddock_gang_timeouts_total{style="Hard"}'] == 0


def test_the_story_of_a_member_says_how_far_its_gang_has_come() -> None:
    world = GangPlay(make_ledger(make_queue("root.a")))
    world.create("m1", gang=make_gang(2), task_group="g")
    world.bind_placeholders(most=1)
    story = story_of(world.ledger.view, Journal(), "default", "m1")
    assert story is not None
    gang = story["gang"]
    assert (gang["phase"], gang["memberOf"]) == ("Reserving", "g")
    (progress,) = gang["progress"]
    assert (progress["needed"], progress["placeholdersBound"], progress["placeholdersPending"]) == (2, 1, 1)
    assert story["verdict"]["code"] == Code.GANG_INCOMPLETE.value
    world.bind_placeholders()
    story = story_of(world.ledger.view, Journal(), "default", "m1")
    assert story is not None
    assert story["gang"]["on"] == "n1"
    assert story["verdict"]["state"] == "reserved"


@pytest.mark.rule("GANG-6")
def test_no_gang_may_ask_for_more_pods_than_the_setting_says() -> None:
    settings = LedgerSettings(gang_max_pods=5)
    world = GangPlay(make_ledger(make_queue("root.a"), settings=settings))
    world.create("m1", gang=make_gang(6), task_group="g")
    assert world.refusal("uid-m1") is Code.GANG_TOO_LARGE
    assert world.placeholders() == []
    world.create("n1", app="app-2", gang=make_gang(5), task_group="g")
    assert len(world.placeholders()) == 5
