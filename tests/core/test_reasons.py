"""Texts that are sent to refused asks, and when they may change."""

import pytest

from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.reasons import (
    CODE_SETTLES,
    Code,
    Refusal,
    SentRefusal,
    contains_refusal,
    contradicts_turn,
    next_sent,
)
from tests.builders import START, filtered, make_ledger, make_partition, make_pod, make_queue

QUOTA = Refusal(Code.QUOTA_EXCEEDED, "root.a", "max vcore=2")
PARENT = Refusal(Code.QUOTA_EXCEEDED, "root", "max vcore=8")
UNPLACED = Refusal(Code.PLACEMENT_FAILED, "no queue root.a")
DRAINING = Refusal(Code.QUEUE_DRAINING, "root.a")


def texts_of(
    *refusals: tuple[float, Refusal], generation: int = 1, last: SentRefusal | None = None
) -> list[str]:
    """The texts sent at each attempt."""
    texts = []
    for now, refusal in refusals:
        last = next_sent(last, refusal, generation=generation, now=now)
        texts.append(last.text)
    return texts


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        (QUOTA, "QuotaExceeded: root.a max vcore=2"),
        (DRAINING, "QueueDraining: root.a"),
    ],
)
def test_a_text_is_code_queue_and_limit(refusal: Refusal, text: str) -> None:
    assert refusal.text == text


def test_the_text_stays_while_its_code_holds_whoever_refuses() -> None:
    assert texts_of((0, QUOTA), (50, PARENT), (100, PARENT)) == [QUOTA.text] * 3


def test_another_code_takes_over_when_it_has_held_for_30_s() -> None:
    attempts = [(0.0, QUOTA), (5.0, UNPLACED), (34.9, UNPLACED), (35.0, UNPLACED), (36.0, UNPLACED)]
    assert texts_of(*attempts) == [QUOTA.text] * 3 + [UNPLACED.text] * 2


def test_a_wait_for_a_turn_is_replaced_at_once_and_does_not_take_over_so_soon() -> None:
    turn = Refusal(Code.WAITING_FOR_TURN, "root.a")
    attempts = [(0.0, turn), (0.1, QUOTA), (0.2, turn), (30.1, turn), (30.3, turn)]
    assert texts_of(*attempts) == [turn.text, *[QUOTA.text] * 2, QUOTA.text, turn.text]


def test_a_break_starts_the_30_s_again() -> None:
    attempts = [
        (0.0, QUOTA),
        (5.0, UNPLACED),
        (30.0, QUOTA),
        (31.0, UNPLACED),
        (60.9, UNPLACED),
        (61.0, UNPLACED),
    ]
    assert texts_of(*attempts) == [QUOTA.text] * 5 + [UNPLACED.text]


def test_a_third_code_starts_the_30_s_again() -> None:
    attempts = [(0.0, QUOTA), (5.0, UNPLACED), (30.0, DRAINING), (36.0, DRAINING), (60.0, DRAINING)]
    assert texts_of(*attempts) == [QUOTA.text] * 4 + [DRAINING.text]


def test_a_flapping_code_never_changes_the_text() -> None:
    attempts = [(float(at), QUOTA if at % 20 else UNPLACED) for at in range(0, 400, 10)]
    assert set(texts_of(*attempts)) == {UNPLACED.text}


def test_a_new_document_changes_the_text_when_it_has_held_for_30_s() -> None:
    raised = Refusal(Code.QUOTA_EXCEEDED, "root.a", "max vcore=4")
    last = next_sent(None, QUOTA, generation=1, now=0.0)
    attempts = [(10.0, raised), (39.0, raised), (40.0, raised)]
    assert texts_of(*attempts, generation=2, last=last) == [QUOTA.text, QUOTA.text, raised.text]


@pytest.mark.rule("QUO-7")
def test_a_text_never_shows_usage() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    texts = set()
    for at in range(6):
        ledger.apply(on.PodObserved(make_pod(f"p{at}", cpu=700)), now=START)
        verdict = filtered(ledger, f"uid-p{at}", now=START)
        texts |= {verdict.sent.text} if hasattr(verdict, "sent") else set()
    assert texts == {"QuotaExceeded: root.a max vcore=2"}


def test_being_admitted_breaks_the_30_s() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}), nodes=1)
    pod = make_pod(cpu=2000)
    ledger.apply(on.PodObserved(pod), now=START)
    filtered(ledger, pod.uid, now=START)
    ledger.apply(on.Configured(make_partition(make_queue("root.a")), LedgerSettings()), now=START)
    lowered = on.Configured(make_partition(make_queue("root.a", max={"vcore": 500})), LedgerSettings())
    ledger.apply(lowered, now=START + 1)
    filtered(ledger, pod.uid, now=START + 2)
    ledger.apply(on.Configured(make_partition(make_queue("root.a")), LedgerSettings()), now=START + 3)
    filtered(ledger, pod.uid, now=START + 4)
    record = ledger.view.pod(pod.uid)
    assert record is not None
    assert record.admission.sent is not None
    assert (record.admission.refused, record.admission.sent.rival) == (False, None)
    ledger.apply(lowered, now=START + 5)
    filtered(ledger, pod.uid, now=START + 2 + CODE_SETTLES + 1)
    assert record.admission.sent.text == "QuotaExceeded: root.a max vcore=1"


@pytest.mark.parametrize(
    ("reasons", "contradicts"),
    [
        ("4 Insufficient cpu.", True),
        ("2 Insufficient cpu, 1 Insufficient nvidia.com/gpu, 3 Too many pods. preemption: 0/4 nodes.", True),
        ("1 Insufficient cpu, 3 node(s) didn't match Pod's node affinity/selector.", True),
        ("2 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.", True),
        ("3 Insufficient cpu, 1 node(s) had untolerated taint {dedicated: ci}.", True),
        ("1 Insufficient cpu, 3 node(s) didn't match pod affinity rules.", False),
        ("4 node(s) didn't have free ports for the requested pod ports.", False),
        ("1 NodeReserved: n1, 3 Insufficient cpu.", False),
        ("", False),
    ],
)
def test_a_failure_that_names_only_what_turns_judge_contradicts_a_turn(
    reasons: str, contradicts: bool
) -> None:
    assert contradicts_turn(f"0/4 nodes are available: {reasons}") is contradicts


@pytest.mark.parametrize("text", ["", "running PreBind plugin: conflict", "no nodes available"])
def test_other_texts_contradict_no_turn(text: str) -> None:
    assert not contradicts_turn(text)


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("0/2 nodes are available: 2 QuotaExceeded: root.a max vcore=1. preemption: not helpful", True),
        ("0/1 nodes are available: 1 GangIncomplete: gang starts once its 3 placeholders have nodes.", True),
        ("0/2 nodes are available: 2 Insufficient cpu. preemption: not helpful", False),
        ("", False),
    ],
)
def test_our_texts_are_known_within_those_of_kube_scheduler(text: str, ours: bool) -> None:
    assert contains_refusal(text) is ours
