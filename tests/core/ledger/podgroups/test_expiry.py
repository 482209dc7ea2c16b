"""Expiry of pod groups: when members that do not reach bind lose their turns."""

import pytest

from core.decisions.decision import Admitted
from core.ledger.settings import LedgerSettings
from tests.builders import START, filtered, make_ledger
from tests.core.ledger.podgroups.play import A, group_of, passed, ring, seen


@pytest.mark.rule("COS-6")
def test_calls_about_other_pods_hold_back_the_leases_of_a_group() -> None:
    """While kube-scheduler tries other pods, the members only wait in its queue."""
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    seen(ledger, "other", pod_group=None, at=START + 1)
    assert isinstance(filtered(ledger, "uid-other", now=START + 1), Admitted)
    passed(ledger, START + 2)
    assert len(ledger.view.turns) == 3
    assert ledger.view.next_due() == START + 3
    passed(ledger, START + 3)
    assert len(ledger.view.turns) == 0


@pytest.mark.rule("COS-6")
def test_an_attempt_ends_together_with_the_reservations_of_all_that_came() -> None:
    ledger = make_ledger(A, settings=LedgerSettings(reservation_ttl=5))
    ring(ledger, "p", "q", "r")
    for name in ("p", "q", "r"):
        assert isinstance(filtered(ledger, f"uid-{name}", now=START), Admitted)
    passed(ledger, START + 4)
    assert group_of(ledger).attempts
    passed(ledger, START + 5)
    assert not group_of(ledger).attempts
