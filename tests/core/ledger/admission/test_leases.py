"""The end of turns that no pod has used (DESIGN-3)."""

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.turns import EXPIRED_AT_ONCE
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.workload.pod import OWN_GATE
from tests.builders import START, make_ledger, make_pod, make_queue, woken
from tests.core.ledger.admission.test_turns import free, full, refused, tick


def leased(ledger: Ledger, seconds: float) -> None:
    ledger.apply(on.SettingsRead(LedgerSettings(turn_lease=seconds)), now=START)


def test_the_lease_of_an_ask_that_was_refused_is_over_though_no_other_ask_waits() -> None:
    ledger = full()
    refused(ledger, "one")
    free(ledger)
    assert woken(ledger, now=START) == ["uid-one"]
    leased(ledger, 0.5)
    assert ledger.view.next_due() == START + 0.5
    tick(ledger, 0.5)
    assert not ledger.view.has_turn(PodUid("uid-one"))


def test_that_of_one_that_was_not_refused_is_over_only_while_another_ask_waits() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 4000}))
    leased(ledger, 0.5)
    for name, due_then in (("first", False), ("second", True)):
        pod = make_pod(name, cpu=4000, gates=(OWN_GATE,), app=name)
        ledger.apply(on.PodObserved(pod), now=START)
        woken(ledger, now=START)
        assert (ledger.view.next_due() == START + 0.5) is due_then
    tick(ledger, 0.5)
    assert not ledger.view.has_turn(PodUid("uid-first"))


def test_leases_follow_a_change_of_the_setting() -> None:
    ledger = full()
    refused(ledger, "one")
    free(ledger)
    woken(ledger, now=START)
    for seconds in (0.9, 0.3, 0.6):
        leased(ledger, seconds)
        assert ledger.view.next_due() == START + seconds


def test_turns_end_in_the_order_in_which_they_were_given() -> None:
    """Leases begin when each pod is woken, and their order does not count."""
    ledger = full()
    names = refused(ledger, *(f"p{number:02}" for number in range(EXPIRED_AT_ONCE + 2)), cpu=50)
    leased(ledger, 0.5)
    free(ledger)
    assert woken(ledger, now=START) == names
    for number, uid in enumerate(reversed(names)):
        ledger.apply(on.PodWoken(PodUid(uid), reached=True), now=START + 0.001 * number)
    tick(ledger, 0.6)
    assert [uid for uid in names if ledger.view.has_turn(PodUid(uid))] == names[-2:]
    assert ledger.view.cycle.overdue
    assert ledger.view.next_due() == START + 0.5
