"""Largest holders of what a pod lacks."""

from dataclasses import replace

import pytest

from core.decisions.explanation import holders
from core.decisions.explanation.explaining import explain_at_once
from core.decisions.explanation.values import Barrier, Holder
from core.ids import QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.queues.spec import LimitSpec
from core.queues.users.identity import Identity
from core.reasons import Code
from core.resource import Limit
from tests.builders import START, make_ledger, make_node, make_queue
from tests.core.decisions.explanation.scenes import ASK, cycled, observed

A, B = QueuePath("root.p.a"), QueuePath("root.p.b")


def held(ledger: Ledger, code: Code | Barrier) -> list[Holder]:
    found = explain_at_once(cycled(ledger).view, ASK, now=START)
    assert found is not None
    (only,) = (each for each in found.obstacles if each.code is code)
    return list(only.holders)


def world(*applications: tuple[str, str, int], cap: int = 1000) -> Ledger:
    """Applications that run, each with its queue and its vcores, and an ask below the same parent."""
    ledger = make_ledger(make_queue("root.p", leaf=False, max={"vcore": cap}), make_queue(A), make_queue(B))
    for name, queue, cpu in applications:
        observed(ledger, name, app=name, queue=queue, cpu=cpu, node="n1")
    observed(ledger, "ask", app="mine", queue=A)
    return ledger


def test_the_five_largest_applications_below_the_queue_are_named() -> None:
    amounts = [(f"x{at}", A if at % 2 else B, 100 + at) for at in range(7)]
    assert held(world(*amounts), Code.QUOTA_EXCEEDED) == [
        Holder("default", f"x{at}", A if at % 2 else B, 100 + at) for at in (6, 5, 4, 3, 2)
    ]


def test_a_queue_stands_for_its_applications_beyond_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holders, "UNITS_AT_MOST", 1)
    found = held(world(("x", A, 600), ("y", B, 400)), Code.QUOTA_EXCEEDED)
    assert found == [Holder("", "", A, 600), Holder("", "", B, 400)]


def test_only_the_users_own_applications_hold_his_limit() -> None:
    alice, limit = Identity("alice"), LimitSpec(("alice",), (), Limit({"vcore": 1000}))
    ledger = make_ledger(replace(make_queue("root.a"), limits=(limit,)))
    observed(ledger, "hers", app="hers", cpu=900, node="n1", identity=alice)
    observed(ledger, "other", app="other", cpu=5000, node="n1", identity=Identity("bob"))
    observed(ledger, "ask", app="mine", identity=alice)
    assert held(ledger, Code.USER_QUOTA_EXCEEDED) == [Holder("default", "hers", QueuePath("root.a"), 900)]


def test_applications_that_count_are_named_in_the_order_of_their_submission() -> None:
    ledger = make_ledger(replace(make_queue("root.a"), max_applications=2))
    for name, created in (("late", 9.0), ("early", 1.0)):
        observed(ledger, name, app=name, node="n1", created=created)
    observed(ledger, "ask", app="mine", created=20.0)
    assert [each.name for each in held(ledger, Code.MAX_APPLICATIONS_REACHED)] == ["early", "late"]


def test_pods_on_the_nearest_node_hold_what_it_lacks() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=2000)), now=START)
    observed(ledger, "large", node="n1", cpu=1500)
    observed(ledger, "small", node="n2", cpu=700)
    observed(ledger, "tiny", node="n2", cpu=600)
    observed(ledger, "ask", cpu=1200, created=START)
    assert held(ledger, Code.UNSCHEDULABLE) == [
        Holder("default", "small", QueuePath("root.a"), 700, is_pod=True),
        Holder("default", "tiny", QueuePath("root.a"), 600, is_pod=True),
    ]
