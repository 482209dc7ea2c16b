"""The end of turns that no pod has used (DESIGN-3)."""

from core.decisions.decision import Admitted
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.leases import CALLS_APART, LONGEST_LEASE
from core.ledger.admission.turns import EXPIRED_AT_ONCE
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.workload.pod import OWN_GATE
from tests.builders import START, filtered, make_ledger, make_pod, make_queue, woken
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


# -- while kube-scheduler is busy with other asks (DESIGN-3) ------------------------------------------------

STEP = CALLS_APART / 2


def busy(*, others: int) -> tuple[Ledger, list[str]]:
    """A ledger in which the first of many refused asks has just got its turn, and the uids of the others."""
    ledger = full()
    first, *rest = refused(ledger, *(f"p{number:03}" for number in range(others + 1)), cpu=4000)
    free(ledger)
    assert woken(ledger, now=START) == [first]
    ledger.apply(on.PodWoken(PodUid(first), reached=True), now=START + 0.001)
    return ledger, rest


def call(ledger: Ledger, uids: list[str], *, since: float) -> float:
    """Have kube-scheduler try asks one after the other. Returns the time of the last call."""
    for number, uid in enumerate(uids):
        now = since + (number + 1) * STEP
        filtered(ledger, uid, now=START + now)
        tick(ledger, now)
        woken(ledger, now=START + now)
    return since + len(uids) * STEP


def has_turn(ledger: Ledger) -> bool:
    return ledger.view.has_turn(PodUid("uid-p000"))


def test_no_lease_is_over_while_kube_scheduler_is_on_its_way_to_the_ask() -> None:
    ledger, others = busy(others=16)
    now = call(ledger, others, since=0.001)
    assert now > ledger.view.settings.turn_lease
    assert has_turn(ledger)
    assert isinstance(filtered(ledger, "uid-p000", now=START + now), Admitted)


def test_a_lease_is_over_once_kube_scheduler_has_tried_another_ask_twice_since() -> None:
    ledger, others = busy(others=12)
    now = call(ledger, others, since=0.001)
    assert has_turn(ledger)
    call(ledger, others[:1], since=now)
    assert not has_turn(ledger)
    assert ledger.view.has_turn(PodUid(others[0]))


def test_two_calls_within_the_lease_do_not_cut_it() -> None:
    ledger, others = busy(others=2)
    call(ledger, others * 3, since=0.001)
    assert has_turn(ledger)


def test_a_lease_is_over_once_kube_scheduler_has_nothing_left_to_try() -> None:
    ledger, others = busy(others=12)
    now = call(ledger, others, since=0.001)
    assert has_turn(ledger)
    tick(ledger, now + CALLS_APART)
    assert not has_turn(ledger)


def test_no_lease_is_longer_than_its_bound_however_many_asks_come_before() -> None:
    ledger, others = busy(others=int(LONGEST_LEASE / STEP) + 2)
    now = call(ledger, others[: int(LONGEST_LEASE / STEP) - 2], since=0.001)
    assert has_turn(ledger)
    call(ledger, others[-4:], since=now)
    assert not has_turn(ledger)
