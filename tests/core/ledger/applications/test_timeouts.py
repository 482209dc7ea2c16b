"""ACT-41, ACT-42: time-outs of applications that others ended, and what is left of one that has ended."""

from dataclasses import replace

import pytest

from core.ids import RECOVERY_QUEUE, AppId
from core.ledger import events as on
from core.ledger.effects import DeletePod, EvictPod, MarkFailed
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.workload.states import AppState
from tests.builders import AGENTS, OF_AGENTS, START, drifts, make_ledger, make_partition, make_pod, make_queue

APP = AppId("app-1", "default")
TIMED = replace(make_queue("root.a"), properties={"application.execution.timeout": "10m"})
SINCE = "1970-01-12T13:46:40.000Z"
"""`START`, as a record has it."""


def standby(*, protected: bool) -> Ledger:
    """A ledger of an instance that does not act, with a running application."""
    ledger = make_ledger(TIMED, settings=LedgerSettings(records_protected=protected))
    ledger.apply(on.ActingEnded(), now=START)
    ledger.apply(on.PodObserved(make_pod("first", node="n1", created=START, scheduled_at=START)), now=START)
    return ledger


def removed(ledger: Ledger, event: on.Event, *, at: float) -> list[str]:
    effects = ledger.apply(event, now=START + at)
    return [each.name for each in effects if isinstance(each, EvictPod | DeletePod | MarkFailed)]


@pytest.mark.rule("ACT-41", "ACT-42")
def test_an_instance_that_begins_to_act_does_not_end_the_successor_of_an_ended_application() -> None:
    """The former leader has ended the application. Its next pod has the same id, and a time of its own."""
    ledger = standby(protected=False)
    second = make_pod("second", created=START + 605, scheduled_at=START + 606, node="n1")
    ledger.apply(on.PodObserved(second), now=START + 606)
    ledger.apply(on.PodDeleted(make_pod("first").uid), now=START + 610)
    assert removed(ledger, on.ActingBegan(), at=700) == []
    assert removed(ledger, on.TimePassed(), at=1205) == []
    assert removed(ledger, on.TimePassed(), at=1207) == ["second"]
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-41")
def test_an_instance_that_begins_to_act_knows_a_longer_time() -> None:
    """The oldest pods are gone, and the application goes on. Its end has not come."""
    ledger = standby(protected=False)
    second = make_pod("second", created=START + 300, scheduled_at=START + 300, node="n1")
    ledger.apply(on.PodObserved(second), now=START + 300)
    ledger.apply(on.PodDeleted(make_pod("first").uid), now=START + 310)
    ledger.apply(on.ActingBegan(), now=START + 400)
    assert removed(ledger, on.TimePassed(), at=599) == []
    assert removed(ledger, on.TimePassed(), at=601) == ["second"]


@pytest.mark.rule("ACT-42")
def test_a_standby_sees_the_end_in_the_record_and_forms_the_new_application_too() -> None:
    ledger = standby(protected=True)
    text = f'{{"ends":{START + 600},"through":{START}}}'
    first = make_pod("first", node="n1", created=START, scheduled_at=START, version=2)
    second = make_pod("second", queue="root.a", created=START + 601)
    recorded = replace(first, running_since=SINCE, execution=text)
    assert removed(ledger, on.PodObserved(recorded), at=600) == []
    ledger.apply(on.PodObserved(second), now=START + 601)
    former = ledger.view.application(APP)
    assert former is not None
    assert (former.state, former.ends) == (AppState.FAILING, True)
    ledger.apply(on.PodDeleted(first.uid), now=START + 602)
    found = ledger.view.application(APP)
    assert (former.state, found is former) == (AppState.FAILED, False)
    assert found is not None
    assert (found.pods, found.running_since) == ({second.uid}, None)
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-21", "ACT-42")
def test_an_application_of_exempt_pods_leaves_no_timer() -> None:
    """No pod has to go, so the end comes while the write of a record is still due to be repeated."""
    ledger = make_ledger()
    root = replace(make_queue("root", leaf=False), properties={"application.execution.timeout": "10m"})
    settings = LedgerSettings(records_protected=True)
    ledger.apply(on.Configured(replace(make_partition(), queues=(root,)), settings), now=START)
    ledger.apply(on.ObjectObserved(on.DAEMON_SETS, AGENTS), now=START)
    pod = make_pod("p", queue="root.a", node="n1", **OF_AGENTS)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START)
    assert [each.queue for each in ledger.view.applications()] == [RECOVERY_QUEUE]
    # What is left goes to the queue that it names, as an application of another key.
    document = replace(make_partition(), queues=(root, make_queue("root.a")))
    ledger.apply(on.Configured(document, settings), now=START)
    for at in range(0, 700, 10):
        assert removed(ledger, on.TimePassed(), at=at) == []
        assert drifts(ledger) == []
    assert [each.queue for each in ledger.view.applications()] == ["root.a"]
