"""ACT-20 to ACT-23: the pods of an application that an administrator ends, whatever becomes of them."""

from dataclasses import replace

import pytest

from core.ids import AppId
from core.ledger import events as on
from core.ledger.effects import EvictPod, MarkFailed
from core.ledger.ledger import Ledger
from core.workload.ending import Ending
from tests.builders import START, make_ledger, make_pod, make_queue

APP = AppId("app-1", "default")
ENDING = Ending("ann", START, START + 600, START, "root")


@pytest.mark.rule("ACT-20")
def test_the_definer_of_an_application_without_a_queue_is_placed_by_force_while_it_ends() -> None:
    """The definer counts in the recovery queue then, and the pods that it leaves form one that ends, too."""
    ledger = make_ledger(make_queue("root.a"))
    pods = {name: make_pod(name, queue="root.none") for name in ("first", "second")}
    for pod in pods.values():
        ledger.apply(on.PodObserved(pod), now=START)
    effects = ledger.apply(on.ActionsRead({}, {APP: ENDING}), now=START)
    assert [type(each) for each in effects if isinstance(each, MarkFailed)] == [MarkFailed] * 2
    forced = replace(pods["first"], node="n1", version=pods["first"].version + 1)
    effects = ledger.apply(on.PodObserved(forced), now=START + 1)
    assert [each.uid for each in effects if isinstance(each, EvictPod)] == [forced.uid]
    assert_clean(ledger)
    assert all(each.ends for each in ledger.view.applications())


def assert_clean(ledger: Ledger) -> None:
    assert [drift for step in ledger.audit_steps() for drift in step] == []
