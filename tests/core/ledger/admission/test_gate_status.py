"""Pods at Paddock's gate: opened when their turn comes, with a reason before that (DESIGN-6)."""

import pytest

from core.decisions.gating import decide_gate
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.gate_status import (
    LONG_HELD,
    LONG_HOLD,
    REPORTED_AT_ONCE,
    WRITTEN_AFTER,
    WRITTEN_AGAIN,
)
from core.ledger.effects import Effect, OpenGate, PostEvent, SetCondition
from core.ledger.ledger import Ledger
from core.reasons import Code
from core.workload.pod import ADMITTED, OWN_GATE
from tests.builders import START, make_ledger, make_node, make_pod, make_queue

A = make_queue("root.a", max={"vcore": 1000})


def gated(ledger: Ledger, name: str, **facts: object) -> tuple[Effect, ...]:
    pod = make_pod(name, app=name, gates=(OWN_GATE,), **facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START)
    return passed(ledger)


def passed(ledger: Ledger, *, now: float = START) -> tuple[Effect, ...]:
    effects: list[Effect] = []
    while ledger.view.cycle_wanted:
        effects += ledger.apply(on.CycleDue(), now=now)
    return tuple(effects)


def checked(ledger: Ledger, *, now: float = START) -> None:
    """A round over all pods at the gate, which writes nothing yet."""
    for uid in ledger.view.gated():
        held = decide_gate(ledger.view, uid, now=now)
        assert held is None or ledger.apply(held, now=now) == ()


def written(ledger: Ledger, now: float) -> list[str]:
    """Statuses that are written at a time."""
    effects = [each for each in ledger.apply(on.TimePassed(), now=now) if isinstance(each, SetCondition)]
    assert all((each.kind, each.status) == (ADMITTED, False) for each in effects)
    return [f"{each.name}: {each.message}" for each in effects]


def statuses(ledger: Ledger, *, now: float = START) -> list[str]:
    """Statuses written after a round over all pods at the gate, and a wait."""
    checked(ledger, now=now)
    return written(ledger, now + WRITTEN_AFTER)


def test_pods_that_fit_are_admitted_and_the_others_get_a_reason_once() -> None:
    ledger = make_ledger(A)
    assert gated(ledger, "first") == (OpenGate(PodUid("uid-first"), "default", "first"),)
    assert gated(ledger, "second") == ()
    assert statuses(ledger) == ["second: WaitingForTurn: root.a"]
    assert decide_gate(ledger.view, PodUid("uid-second"), now=START) is None


def test_the_lease_begins_when_the_gate_is_open() -> None:
    """Gates are opened one after the other, and a pod with a closed gate cannot use its turn."""
    ledger = make_ledger(A)
    gated(ledger, "first")
    gated(ledger, "second")
    first, lease = PodUid("uid-first"), ledger.view.settings.turn_lease
    ledger.apply(on.PodWoken(first, reached=True), now=START + 1.5)
    ledger.apply(on.TimePassed(), now=START + 1.4 + lease)
    assert ledger.view.has_turn(first)
    ledger.apply(on.TimePassed(), now=START + 1.5 + lease)
    assert not ledger.view.has_turn(first)


def test_the_text_follows_the_reason() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
    gated(ledger, "waits")
    assert statuses(ledger) == ["waits: QuotaExceeded: root.a max vcore=1"]
    ledger.apply(on.PodDeleted(PodUid("uid-running")), now=START)
    opened, condition = passed(ledger)
    assert isinstance(opened, OpenGate)
    assert isinstance(condition, SetCondition)
    assert (condition.status, condition.reason) == (True, "Admitted")
    assert statuses(ledger) == []


def test_a_pod_that_fits_on_no_node_gets_that_reason() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=1000)), now=START)
    assert gated(ledger, "large", cpu=1500) == ()
    assert statuses(ledger) == ["large: Unschedulable: no node has room for it"]


def test_what_is_written_there_already_is_not_written_again() -> None:
    """The condition is known after a restart, too."""
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
    text = "QuotaExceeded: root.a max vcore=1"
    gated(ledger, "before", gate_reported=text)
    gated(ledger, "fresh")
    assert statuses(ledger) == [f"fresh: {text}"]


def test_a_condition_whose_write_failed_is_written_again_after_a_while() -> None:
    """A missing right would fail thousands of writes, so they are not repeated at once."""
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
    gated(ledger, "waits")
    first = statuses(ledger)
    assert len(first) == 1
    failed = START + 3
    ledger.apply(on.GateReportFailed(PodUid("uid-waits")), now=failed)
    assert written(ledger, failed + WRITTEN_AGAIN - 0.1) == []
    assert written(ledger, failed + WRITTEN_AGAIN) == first


def test_a_pod_that_waits_for_moments_gets_no_condition() -> None:
    ledger = full_queue()
    ledger.apply(on.PodDeleted(PodUid("uid-running")), now=START + WRITTEN_AFTER - 0.1)
    (effect,) = passed(ledger, now=START + WRITTEN_AFTER - 0.1)
    assert isinstance(effect, OpenGate)
    assert written(ledger, START + 2 * WRITTEN_AFTER) == []


def test_of_texts_that_change_within_moments_the_last_is_written() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    gated(ledger, "first")
    gated(ledger, "waits", cpu=2000)
    checked(ledger)
    uid = PodUid("uid-waits")
    before = ledger.view.pod(uid)
    assert before is not None
    assert before.admission.sent is not None
    assert before.admission.sent.code is Code.WAITING_FOR_TURN
    ledger.apply(on.PodObserved(make_pod("first", node="n1")), now=START + 1)
    passed(ledger, now=START + 1)
    checked(ledger, now=START + 1)
    assert written(ledger, START + WRITTEN_AFTER - 0.1) == []
    assert written(ledger, START + WRITTEN_AFTER) == ["waits: QuotaExceeded: root.a max vcore=2"]


def test_few_conditions_are_written_at_once() -> None:
    ledger = full_queue()
    for at in range(2 * REPORTED_AT_ONCE):
        gated(ledger, f"p{at}")
    checked(ledger)
    due = START + WRITTEN_AFTER
    assert [len(written(ledger, due)) for _ in range(4)] == [REPORTED_AT_ONCE, REPORTED_AT_ONCE, 1, 0]


def test_an_instance_that_begins_to_act_writes_what_the_other_left() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.ActingEnded(), now=START)
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
    gated(ledger, "waits")
    assert statuses(ledger) == []
    ledger.apply(on.ActingBegan(), now=START + 9)
    assert written(ledger, START + 9) == ["waits: QuotaExceeded: root.a max vcore=1"]


def test_only_our_own_gate_is_spoken_of() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("other", app="o", gates=("example.com/wait",))), now=START)
    ledger.apply(on.PodObserved(make_pod("plain", app="p")), now=START)
    assert statuses(ledger) == []
    assert decide_gate(ledger.view, PodUid("uid-nobody"), now=START) is None


def test_a_turn_lasts_while_every_waiting_pod_has_one() -> None:
    """A cycle would only give the turn again. The turn ends when another pod waits for the capacity."""
    ledger = make_ledger(A)
    gated(ledger, "first")
    first, late = PodUid("uid-first"), START + 2 * ledger.view.settings.turn_lease
    ledger.apply(on.TimePassed(), now=late)
    assert ledger.view.has_turn(first)
    assert not ledger.view.cycle_wanted
    assert ledger.view.next_due() is None
    gated(ledger, "second")
    ledger.apply(on.TimePassed(), now=late)
    assert not ledger.view.has_turn(first)


def test_a_gate_that_is_the_only_guard_is_opened_on_no_old_turn() -> None:
    """The opening failed and was to be repeated. Meanwhile forced pods took the capacity (F-2)."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    gated = make_pod("gated", gates=(OWN_GATE,), asks_filter=False)
    ledger.apply(on.PodObserved(gated), now=START)
    assert opened(ledger, now=START) == [gated.uid]
    ledger.apply(on.PodWoken(gated.uid, reached=False), now=START)
    assert opened(ledger, now=START) == []
    ledger.apply(on.PodObserved(make_pod("forced", cpu=2000, node="n1", app="other")), now=START + 0.5)
    ledger.apply(on.TimePassed(), now=START + 2)
    assert opened(ledger, now=START + 2) == []
    ledger.apply(on.PodDeleted(PodUid("uid-forced")), now=START + 3)
    ledger.apply(on.TimePassed(), now=START + 3)
    assert opened(ledger, now=START + 3) == [gated.uid]


def opened(ledger: Ledger, *, now: float) -> list[PodUid]:
    return [effect.uid for effect in passed(ledger, now=now) if isinstance(effect, OpenGate)]


# -- reasons that last (E5) -------------------------------------------------------------------------------


def posted(ledger: Ledger, now: float) -> list[str]:
    effects = ledger.apply(on.TimePassed(), now=now)
    return [each.message for each in effects if isinstance(each, PostEvent) and each.reason == LONG_HELD]


def full_queue() -> Ledger:
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
    gated(ledger, "waits")
    checked(ledger)
    return ledger


def test_e5_a_reason_that_has_held_for_a_minute_becomes_an_event_once() -> None:
    ledger = full_queue()
    assert posted(ledger, START + LONG_HOLD - 0.1) == []
    assert ledger.view.next_due() == START + LONG_HOLD
    assert posted(ledger, START + LONG_HOLD) == [
        "waits at the gate: QuotaExceeded: root.a max vcore=1"
        " (root.a has too little capacity left for it: max vcore=1)"
    ]
    assert posted(ledger, START + 2 * LONG_HOLD) == []


def test_e5_another_reason_begins_its_own_minute() -> None:
    ledger = full_queue()
    for name in ("n1", "n2", "n3"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=600)), now=START + 50)
    ledger.apply(on.PodDeleted(PodUid("uid-running")), now=START + 50)
    passed(ledger, now=START + 50)
    statuses(ledger, now=START + 50)
    assert posted(ledger, START + LONG_HOLD) == []
    (said,) = posted(ledger, START + 50 + LONG_HOLD)
    assert said == (
        "waits at the gate: Unschedulable: no node has room for it"
        " (it needs 1 cpu, which no node has free for it)"
    )


def test_e5_a_reason_that_returns_is_no_new_event() -> None:
    ledger = full_queue()
    assert len(posted(ledger, START + LONG_HOLD)) == 1
    for name in ("n1", "n2", "n3"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=600)), now=START + 100)
    ledger.apply(on.PodDeleted(PodUid("uid-running")), now=START + 100)
    checked(ledger, now=START + 100)
    assert len(posted(ledger, START + 100 + LONG_HOLD)) == 1
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START + 200)
    checked(ledger, now=START + 200)
    assert posted(ledger, START + 200 + LONG_HOLD) == []


@pytest.mark.parametrize("how", ["opened", "deleted"])
def test_e5_a_pod_that_waits_no_more_has_no_event(how: str) -> None:
    ledger = full_queue()
    uid = PodUid("uid-running" if how == "opened" else "uid-waits")
    ledger.apply(on.PodDeleted(uid), now=START + 1)
    passed(ledger, now=START + 1)
    assert posted(ledger, START + 2 * LONG_HOLD) == []


def test_e5_an_instance_that_stands_by_posts_none() -> None:
    ledger = full_queue()
    ledger.apply(on.ActingEnded(), now=START + 1)
    assert posted(ledger, START + LONG_HOLD) == []
