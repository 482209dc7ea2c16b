"""Starts of quota reclaim: their times, events that cancel them, and events that do not."""

from dataclasses import replace

import pytest

from core.ids import NO_POD, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import QueueSpec
from tests.builders import START, make_ledger, make_partition, make_pod, make_queue

DELAY = 10.0
A, B = QueuePath("root.a"), make_queue("root.b")


def small(cpu: int) -> QueueSpec:
    """A queue whose pods are evicted ``DELAY`` seconds after its quota has shrunk."""
    return replace(make_queue(A, max={"vcore": cpu}), properties={"quota.preemption.delay": f"{DELAY:.0f}s"})


def configured(ledger: Ledger, *queues: QueueSpec, preempts: bool = True, at: float = 0.0) -> None:
    partition = replace(make_partition(*queues), quota_preemption=preempts)
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START + at)


def shrunk(*, preempts: bool = True) -> Ledger:
    """A queue whose usage has just come to exceed its quota."""
    ledger = make_ledger(make_queue(A, max={"vcore": 9000}), B)
    ledger.apply(on.PodObserved(make_pod("runs", cpu=6000, node="n1", queue=A)), now=START)
    configured(ledger, small(9000), B, preempts=preempts)
    configured(ledger, small(3000), B, preempts=preempts)
    return ledger


def tick(ledger: Ledger, at: float) -> None:
    ledger.apply(on.TimePassed(), now=START + at)


def wakes_for_it(ledger: Ledger) -> bool:
    """True if the next timer of the ledger is the queue's start."""
    moment = ledger.view.next_due()
    return moment is not None and moment <= START + DELAY


@pytest.mark.rule("QCP-3")
def test_a_start_is_due_after_its_delay_and_once() -> None:
    ledger = shrunk()
    assert ledger.view.next_due() == START + DELAY
    tick(ledger, DELAY - 1)
    assert not ledger.view.reclaims
    tick(ledger, DELAY)
    assert list(ledger.view.reclaims) == [A]
    ledger.apply(on.QuotaReclaimed(NO_POD, A, ()), now=START + DELAY)
    tick(ledger, DELAY + 1)
    assert (list(ledger.view.reclaims), wakes_for_it(ledger)) == ([], False)


@pytest.mark.rule("QCP-1")
def test_a_start_stands_still_while_quotas_do_not_preempt() -> None:
    ledger = shrunk(preempts=False)
    assert not wakes_for_it(ledger)
    tick(ledger, DELAY + 5)
    assert not ledger.view.reclaims
    configured(ledger, small(3000), B, at=DELAY + 5)
    assert wakes_for_it(ledger)
    tick(ledger, DELAY + 5)
    assert list(ledger.view.reclaims) == [A]


@pytest.mark.rule("QCP-3")
def test_a_start_ends_at_a_tick_within_the_quota() -> None:
    ledger = shrunk()
    ledger.apply(on.PodDeleted(PodUid("uid-runs")), now=START)
    assert wakes_for_it(ledger)
    tick(ledger, 1.0)
    assert not wakes_for_it(ledger)


def test_a_start_of_a_removed_queue_wakes_nothing() -> None:
    ledger = shrunk(preempts=False)
    ledger.apply(on.PodDeleted(PodUid("uid-runs")), now=START)
    tick(ledger, 3600.0)
    configured(ledger, B, at=3600.0)
    ledger.apply(on.CleanerDue(), now=START + 3600.0)
    assert ledger.view.tree.get(A) is None
    assert not wakes_for_it(ledger)
