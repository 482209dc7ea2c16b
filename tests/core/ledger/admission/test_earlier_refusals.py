"""Pods that were refused before this ledger began: by a former life of it, or by another instance."""

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.reasons import tells_of_refusal
from tests.builders import START, make_ledger, make_pod, make_queue, woken

REFUSED = "0/2 nodes are available: 2 QuotaExceeded: root.a max vcore=1. preemption: not helpful"
IN_TREE = "0/2 nodes are available: 2 Insufficient cpu. preemption: not helpful"


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        (REFUSED, True),
        ("0/1 nodes are available: 1 GangIncomplete: gang of 3 placeholders.", True),
        (IN_TREE, False),
        ("", False),
    ],
)
def test_our_texts_are_known_within_those_of_kube_scheduler(text: str, ours: bool) -> None:
    assert tells_of_refusal(text) is ours


@pytest.mark.parametrize(("text", "woken_up"), [(REFUSED, ["uid-p"]), (IN_TREE, [])])
def test_only_one_that_we_refused_is_woken_after_a_restart(text: str, woken_up: list[str]) -> None:
    ledger = make_ledger(make_queue("root.a"), listed=False)
    ledger.apply(on.PodObserved(make_pod("p", unscheduled=text)), now=START)
    ledger.apply(on.PodsListed(frozenset({PodUid("uid-p")})), now=START)
    assert woken(ledger, now=START) == woken_up


def test_one_that_another_instance_refuses_is_woken_too() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    ledger.apply(on.PodObserved(make_pod("runs", node="n1")), now=START)
    ledger.apply(on.PodObserved(make_pod("p")), now=START)
    ledger.apply(on.PodObserved(make_pod("p", version=2, unscheduled=REFUSED)), now=START)
    assert woken(ledger, now=START) == []
    ledger.apply(on.PodDeleted(PodUid("uid-runs")), now=START + 5)
    assert woken(ledger, now=START + 5) == ["uid-p"]
