"""Applications in back-off because no node takes their asks (``application.unschedasks.backoff``, CYC-4)."""

from dataclasses import replace

import pytest

from core.decisions.back_off import KINDS_COUNTED
from core.decisions.decision import Admitted, Refused
from core.decisions.preemption.planning import Planning
from core.decisions.preemption.receipts import NoPlan, Stop
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.reasons import Code
from core.workload.pod import OWN_GATE
from tests.builders import START, filtered, make_ledger, make_node, make_pod, make_queue, woken


def ledger_with(threshold: int, *, nodes: int = 2) -> Ledger:
    """A ledger with nodes of four cores, and a queue with this threshold."""
    properties = {"application.unschedasks.backoff": str(threshold)}
    ledger = make_ledger(replace(make_queue("root.a"), properties=properties), nodes=0)
    for at in range(nodes):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(f"n{at}", cpu=4000)), now=START)
    woken(ledger, now=START)
    return ledger


def created(ledger: Ledger, *names: str, cpu: int, at: float = START, **facts: object) -> None:
    for name in names:
        ledger.apply(on.PodObserved(make_pod(name, cpu=cpu, **facts)), now=at)  # type: ignore[arg-type]


def backs_off_until(ledger: Ledger) -> float | None:
    return next(iter(ledger.view.applications())).backs_off_until


@pytest.mark.rule("CYC-4", "QUO-7")
def test_filter_refuses_an_application_in_back_off_that_is_alone() -> None:
    ledger = ledger_with(2)
    created(ledger, "large-0", "large-1", cpu=5000)
    woken(ledger, now=START)
    assert backs_off_until(ledger) is None
    created(ledger, "small", cpu=1000, at=START + 5)
    for at in (START + 5, START + 34):
        answer = filtered(ledger, "uid-small", now=at)
        assert isinstance(answer, Refused)
        assert answer.refusal.code is Code.WAITING_FOR_TURN
        woken(ledger, now=at)
    assert backs_off_until(ledger) == START + 35
    for name in ("large-0", "large-1"):
        ledger.apply(on.PodDeleted(PodUid(f"uid-{name}")), now=START + 34)
    ledger.apply(on.TimePassed(), now=START + 35)
    assert woken(ledger, now=START + 35) == ["uid-small"]
    assert isinstance(filtered(ledger, "uid-small", now=START + 35), Admitted)


@pytest.mark.rule("CYC-4")
def test_back_off_begins_with_the_request_after_the_last_allowed() -> None:
    """kube-scheduler calls no filter for a pod that fits no node, so the ledger itself checks."""
    ledger = ledger_with(1)
    created(ledger, "large-0", "large-1", cpu=5000)
    assert ledger.view.cycle_wanted
    woken(ledger, now=START)
    assert backs_off_until(ledger) == START + 30


@pytest.mark.rule("CYC-4")
def test_asks_with_turns_are_none_that_found_no_node() -> None:
    ledger = ledger_with(2)
    created(ledger, *(f"p{at}" for at in range(5)), cpu=1500, gates=(OWN_GATE,))
    woken(ledger, now=START)
    assert (len(ledger.view.turns), backs_off_until(ledger)) == (4, None)
    created(ledger, "p5", cpu=1500, gates=(OWN_GATE,))
    woken(ledger, now=START)
    assert backs_off_until(ledger) is None
    created(ledger, "p6", cpu=500, gates=(OWN_GATE,))
    woken(ledger, now=START)
    assert backs_off_until(ledger) == START + 30


@pytest.mark.rule("CYC-4")
def test_of_very_many_kinds_only_a_pass_can_tell() -> None:
    ledger = ledger_with(10**6)
    for at in range(KINDS_COUNTED):
        created(ledger, f"p{at}", cpu=1 + at)
    woken(ledger, now=START)
    assert isinstance(filtered(ledger, "uid-p0", now=START), Admitted)
    created(ledger, "q", "r", cpu=500)
    created(ledger, "s", cpu=501)
    assert isinstance(filtered(ledger, "uid-q", now=START), Refused)
    woken(ledger, now=START)
    assert isinstance(filtered(ledger, "uid-q", now=START), Admitted)


@pytest.mark.rule("QUO-7", "CYC-4")
def test_nothing_is_preempted_for_an_application_in_back_off() -> None:
    ledger = ledger_with(1)
    created(ledger, "large-0", "large-1", cpu=5000)
    woken(ledger, now=START)
    search = Planning(ledger.view, PodUid("uid-large-0"), now=START + 29)
    search.slice()
    outcome = search.result
    assert isinstance(outcome, NoPlan)
    assert outcome.stop is Stop.BACKS_OFF
