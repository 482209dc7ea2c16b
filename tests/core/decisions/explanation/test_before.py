"""Pods before another one, and the reason at each level."""

from dataclasses import replace

import pytest

from core.decisions.explanation.before import NAMED
from core.decisions.explanation.explaining import explain_at_once
from core.decisions.explanation.values import Ahead, Precedence
from core.ids import AppId, QueuePath
from core.ledger.ledger import Ledger
from core.queues.properties import SORT_POLICY
from tests.builders import START, make_ledger, make_queue
from tests.core.decisions.explanation.scenes import ASK, cycled, observed

A = QueuePath("root.a")


def before(ledger: Ledger) -> list[tuple[Precedence, str, str, int]]:
    """Each entry with its queue, its application and its number of pods."""
    found = explain_at_once(cycled(ledger).view, ASK, now=START)
    assert found is not None
    return [_shown(each) for each in found.before]


def _shown(ahead: Ahead) -> tuple[Precedence, str, str, int]:
    return ahead.why, ahead.queue, ahead.application.name if ahead.application else "", ahead.pods


def full(**properties: str) -> Ledger:
    """A leaf that is full, with properties whose dots are underscores."""
    named = {name.replace("_", "."): value for name, value in properties.items()}
    ledger = make_ledger(replace(make_queue("root.a", max={"vcore": 1000}), properties=named))
    observed(ledger, "runs", node="n1", app="runs")
    return ledger


@pytest.mark.rule("REQ-1")
def test_asks_of_the_same_application_go_by_priority_and_then_by_age() -> None:
    ledger = full()
    observed(ledger, "ask", created=5.0, priority=3)
    for name, created, priority in (("x", 9.0, 4), ("y", 8.0, 5), ("z", 1.0, 3), ("later", 6.0, 3)):
        observed(ledger, name, created=created, priority=priority)
    assert before(ledger) == [
        (Precedence.PRIORITY, A, "app-1", 2),
        (Precedence.AGE, A, "app-1", 1),
    ]


@pytest.mark.rule("SORT-5")
def test_applications_of_a_leaf_go_by_priority_and_then_by_age() -> None:
    ledger = full()
    observed(ledger, "ask", app="mine", created=5.0)
    observed(ledger, "x", app="important", created=9.0, priority=1)
    observed(ledger, "y", app="older", created=1.0)
    observed(ledger, "z", app="younger", created=6.0)
    assert before(ledger) == [
        (Precedence.PRIORITY, A, "important", 1),
        (Precedence.AGE, A, "older", 1),
    ]


@pytest.mark.rule("SORT-7")
def test_in_a_fair_leaf_the_application_with_the_smaller_share_goes_first() -> None:
    ledger = full(**{SORT_POLICY: "fair"})
    observed(ledger, "ask", app="runs", created=1.0)
    observed(ledger, "x", app="other", created=5.0)
    assert before(ledger) == [(Precedence.SHARE, A, "other", 1)]


def test_further_applications_are_counted() -> None:
    ledger = full()
    observed(ledger, "ask", app="mine", created=50.0)
    for at in range(NAMED + 2):
        observed(ledger, f"p{at}", app=f"a{at}", created=float(at))
    named = [(Precedence.AGE, A, f"a{at}", 1) for at in range(NAMED)]
    assert before(ledger) == [*named, (Precedence.UNNAMED, A, "", 2)]


@pytest.mark.rule("SORT-1", "SORT-3", "PRI-4")
def test_queues_go_by_priority_and_then_by_share() -> None:
    full_below = {"vcore": 1000}
    ledger = make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 2000}),
        *(make_queue(f"root.p.{name}", guaranteed=full_below) for name in "abc"),
        make_queue("root.q", max={"vcore": 1}),
    )
    observed(ledger, "one", queue="root.p.a", app="r1", node="n1")
    observed(ledger, "two", queue="root.p.b", app="r2", node="n1")
    observed(ledger, "ask", queue="root.p.a", app="mine", created=1.0)
    observed(ledger, "x", queue="root.p.b", app="important", created=2.0, priority=1)
    observed(ledger, "y", queue="root.p.c", app="small", created=3.0)
    observed(ledger, "z", queue="root.q", app="beside", created=4.0)
    # The queue root.q has the smaller share, but nothing as important as root.p.
    assert before(ledger) == [
        (Precedence.PRIORITY, "root.p.b", "", 1),
        (Precedence.SHARE, "root.p.c", "", 1),
    ]


def test_a_pod_that_does_not_wait_has_no_pods_before_it() -> None:
    ledger = full()
    observed(ledger, "ask", node="n1", app=AppId("mine", "default").name)
    observed(ledger, "older", app="older", created=-5.0)
    assert before(ledger) == []
