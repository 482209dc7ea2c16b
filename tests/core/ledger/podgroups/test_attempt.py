"""Pod groups with a member that is deleted before its bind call. The others do not wait for it."""

from dataclasses import replace

import pytest

from core.decisions.decision import Admitted, BindWaits
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, EndWait
from core.ledger.ledger import Ledger
from core.ledger.podgroups.attempt import LEFT
from core.workload.gangs.gang import PodGroup
from core.workload.pod import PodFacts
from tests.builders import START, bind_called, filtered, make_ledger, make_pod, make_queue, woken


def member(name: str) -> PodFacts:
    return make_pod(name, pod_group=PodGroup("g", 3))


def with_turns(*names: str) -> Ledger:
    ledger = make_ledger(make_queue("root.a"))
    for name in names:
        ledger.apply(on.PodObserved(member(name)), now=START)
    woken(ledger, now=START)
    assert len(ledger.view.turns) == len(names)
    return ledger


def ended(effects: tuple[Effect, ...]) -> list[EndWait]:
    return [each for each in effects if isinstance(each, EndWait)]


@pytest.mark.rule("COS-6")
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "with a grace period"])
def test_a_member_that_is_deleted_before_it_has_come_fails_those_that_wait(*, at_once: bool) -> None:
    ledger = with_turns("p", "q", "r")
    assert isinstance(filtered(ledger, "uid-p", now=START), Admitted)
    assert isinstance(bind_called(ledger, "uid-p", now=START), BindWaits)
    deletion: on.Event = on.PodDeleted(PodUid("uid-q"))
    if not at_once:
        deletion = on.PodObserved(replace(member("q"), version=2, deleting=True))
    assert ended(ledger.apply(deletion, now=START)) == [
        EndWait(PodUid("uid-p"), f"pod group g: {LEFT}"),
    ]
    assert len(ledger.view.turns) == 0
