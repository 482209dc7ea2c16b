"""CYC-6: no node is reserved for an ask that a limit holds back, though others of its kind find no node."""

from dataclasses import replace

import pytest

from core.ledger import events as on
from core.queues.spec import LimitSpec
from core.queues.users.identity import Identity
from core.resource import Limit
from tests.builders import START, drifts, make_ledger, make_node, make_queue
from tests.core.decisions.explanation.scenes import observed

MOST_CYCLES = 20
ALICE, BOB = Identity("alice", ()), Identity("bob", ())


@pytest.mark.rule("CYC-4", "CYC-6")
@pytest.mark.parametrize("users", [("alice",), ("*",)])
def test_cycles_end_though_the_user_of_an_ask_has_no_quota_and_no_node_takes_its_kind(
    users: tuple[str, ...],
) -> None:
    # One cycle reserved a node for it, and the next one released it.
    limits = (LimitSpec(users, (), Limit({"vcore": 2500}), 0),)
    ledger = make_ledger(replace(make_queue("root.a"), limits=limits), nodes=0)
    for name in ("n1", "n2", "n3"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=3000)), now=START)
        observed(ledger, f"on-{name}", app=name, cpu=2000, node=name, identity=Identity(name, ()))
    observed(ledger, "more", app="alices", cpu=1000, node="n3", identity=ALICE)
    observed(ledger, "first", app="bobs", cpu=2000, identity=BOB, created=1.0, priority=1)
    observed(ledger, "second", app="alices", cpu=2000, identity=ALICE, created=2.0)
    for _ in range(MOST_CYCLES):
        if not ledger.view.cycle_wanted:
            break
        ledger.apply(on.CycleDue(), now=START)
    assert not ledger.view.cycle_wanted
    assert list(ledger.view.reserved_nodes.values()) == ["uid-first"]
    assert drifts(ledger) == []
