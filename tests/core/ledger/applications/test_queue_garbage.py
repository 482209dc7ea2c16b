"""Garbage of pods, dynamic queues and documents that are gone: there is none; see `tests.garbage`."""

from dataclasses import replace

from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from tests.builders import START, make_partition, make_queue
from tests.core.decisions.explanation.scenes import cycled
from tests.core.ledger.applications.test_queue_limits import RULES, TEAMS, end, ledger_of, submit
from tests.garbage import without_garbage


def test_pods_and_their_queues_leave_no_garbage() -> None:
    ledger = ledger_of(most=9)
    with without_garbage():
        for at in range(6):
            submit(ledger, f"p{at}", f"root.x.q{at}", at=at)
            cycled(ledger, now=START + at)
            end(ledger, f"p{at}", at=100.0 * at)
        assert len(ledger.view.tree) == 3
        ledger.apply(on.CleanerDue(), now=START + 1000)


def test_a_removed_queue_is_whole_while_a_cycle_may_read_it() -> None:
    ledger = ledger_of()
    submit(ledger, "p0", "root.x.q0")
    queue = ledger.view.tree.get("root.x.q0")
    assert queue is not None
    end(ledger, "p0", at=1.0)
    assert ledger.view.tree.get("root.x.q0") is None
    assert queue.chain[0] is queue
    cycled(ledger)
    ledger.apply(on.CleanerDue(), now=START + 1000)
    assert queue.chain == ()


def test_documents_leave_no_garbage() -> None:
    ledger = ledger_of()
    with without_garbage():
        for name in ("b", "c"):
            partition = replace(make_partition(*TEAMS, make_queue(f"root.{name}")), rules=RULES)
            ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
            cycled(ledger)
            ledger.apply(on.CleanerDue(), now=START + 1)
        ledger.apply(on.CleanerDue(), now=START + 2)
