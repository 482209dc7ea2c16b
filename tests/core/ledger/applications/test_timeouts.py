"""ACT-41, ACT-42: time-outs of applications that others ended, and what is left of one that has ended."""

from dataclasses import replace

import pytest

from core.ids import RECOVERY_QUEUE, AppId
from core.ledger import events as on
from core.ledger.effects import DeletePod, EvictPod, MarkFailed, WriteRecord
from core.ledger.ledger import Ledger
from core.ledger.outcomes import Purpose
from core.ledger.settings import LedgerSettings
from core.workload.ending import Ending
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
def test_an_application_that_nothing_tells_of_has_no_time_where_records_are_not_protected() -> None:
    """The former leader has ended it. This instance saw no end, and its document gives more time."""
    ledger = standby(protected=False)
    ledger.apply(on.PodDeleted(make_pod("first").uid), now=START + 550)
    ledger.apply(on.ActingBegan(), now=START + 560)
    second = make_pod("second", created=START + 561, scheduled_at=START + 562, node="n1")
    ledger.apply(on.PodObserved(second), now=START + 562)
    assert removed(ledger, on.TimePassed(), at=1161) == []
    assert removed(ledger, on.TimePassed(), at=1163) == ["second"]
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-41")
@pytest.mark.parametrize("protected", [False, True])
@pytest.mark.parametrize("placed", [350.0, 450.0], ids=["before", "after"])
def test_what_no_pod_tells_does_not_count(placed: float, protected: bool) -> None:
    """The former leader restarted meanwhile, or ended the application, and a new one has its id.

    Its pod is placed before this instance begins to act at 400 s, or after.
    """
    ledger = standby(protected=protected)
    waits = make_pod("second", created=START + 300)
    runs = replace(waits, node="n1", scheduled_at=START + placed, version=2)
    ledger.apply(on.PodObserved(waits), now=START + 300)
    ledger.apply(on.PodDeleted(make_pod("first").uid), now=START + 310)
    events = sorted([(placed, on.PodObserved(runs)), (400.0, on.ActingBegan())], key=lambda each: each[0])
    for at, event in events:
        ledger.apply(event, now=START + at)
    since = min(placed, 400.0)
    assert removed(ledger, on.TimePassed(), at=601) == []
    found = ledger.view.application(APP)
    assert found is not None
    assert found.running_since == START + since
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-41")
@pytest.mark.parametrize("protected", [False, True])
@pytest.mark.parametrize("kind", [OF_AGENTS, {"deleting": True}], ids=["stays", "leaves"])
def test_a_pod_that_stays_or_leaves_does_not_tell_since_when_its_application_runs(
    kind: dict[str, object], protected: bool
) -> None:
    """A pod of a DaemonSet, or one that is terminating, may be older than the application is."""
    ledger = standby(protected=protected)
    ledger.apply(on.ObjectObserved(on.DAEMON_SETS, AGENTS), now=START)
    ledger.apply(on.ObjectsListed(on.DAEMON_SETS, frozenset({AGENTS.key})), now=START)
    facts: dict[str, object] = {**kind, "node": "n1", "created": START, "scheduled_at": START}
    ledger.apply(on.PodObserved(make_pod("other", **facts)), now=START)  # type: ignore[arg-type]
    second = make_pod("second", created=START + 605, scheduled_at=START + 605, node="n1")
    ledger.apply(on.PodObserved(second), now=START + 605)
    ledger.apply(on.PodDeleted(make_pod("first").uid), now=START + 606)
    assert removed(ledger, on.ActingBegan(), at=700) == []
    found = ledger.view.application(APP)
    assert found is not None
    assert found.running_since == START + 605


@pytest.mark.rule("ACT-42")
def test_a_record_that_is_being_written_is_taken_off_a_pod_that_outlives_its_application() -> None:
    """The originator goes first, so the others get the record. Then the last one that must go is gone."""
    ledger = make_ledger(TIMED, settings=LedgerSettings(records_protected=True))
    for name, at in (("first", 0.0), ("second", 1.0)):
        pod = make_pod(name, node="n1", created=START + at, scheduled_at=START + at)
        ledger.apply(on.PodObserved(pod), now=START + at)
    records = [
        each for each in ledger.apply(on.TimePassed(), now=START + 600) if isinstance(each, WriteRecord)
    ]
    assert [each.name for each in records] == ["first"]
    entries = tuple(records[0].entries)
    written_first = on.RecordWritten(records[0].uid, entries, reached=True, purpose=Purpose.EXECUTION)
    ledger.apply(written_first, now=START + 600)
    third = make_pod("third", queue="root.a", node="n1", created=START + 601, scheduled_at=START + 601)
    ledger.apply(on.PodObserved(third), now=START + 601)
    ledger.apply(on.PodDeleted(make_pod("first").uid), now=START + 602)
    effects = ledger.apply(on.PodDeleted(make_pod("second").uid), now=START + 602)
    written = [each for each in effects if isinstance(each, WriteRecord) and each.name == "third"]
    assert [each.purpose for each in written][:1] == [Purpose.WITHDRAWAL]
    assert {text for _, text in written[0].entries} == {None}


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


@pytest.mark.rule("ACT-41", "ACT-42")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_new_leader_ends_no_more_pods_by_the_time_of_one_that_is_away(is_there: bool) -> None:
    """For the former leader, which had found a queue missing, that pod was an application for itself."""
    ledger = standby(protected=True)
    text = f'{{"asked":60.0,"ends":{START + 60},"through":{START}}}'
    second = make_pod("second", node="n1", queue="root.a", created=START, scheduled_at=START, version=2)
    recorded = replace(second, running_since=SINCE, execution=text)
    ledger.apply(on.PodObserved(recorded), now=START + 60)
    failing = ledger.view.application(APP)
    assert failing is not None
    assert failing.ends
    if not is_there:
        ledger.apply(on.PodDeleted(second.uid), now=START + 61)
    assert removed(ledger, on.ActingBegan(), at=62) == (["first", "second"] if is_there else [])
    found = ledger.view.application(APP)
    assert (found is not None and found.ends) == is_there
    if not is_there:
        assert removed(ledger, on.TimePassed(), at=590) == []
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


@pytest.mark.rule("ACT-20", "ACT-41")
def test_an_order_about_a_rejected_application_with_a_record_leaves_no_timer() -> None:
    """After a restart no queue takes it. A record tells when its time would be over."""
    ledger = make_ledger(TIMED, settings=LedgerSettings(records_protected=True), listed=False)
    text = f'{{"ends":{START + 600}}}'
    pod = make_pod("first", queue="root.gone", created=START, running_since=SINCE, execution=text)
    ledger.apply(on.PodObserved(pod), now=START + 1)
    ledger.apply(on.PodsListed(frozenset({pod.uid})), now=START + 1)
    found = ledger.view.application(APP)
    assert found is not None
    assert (found.state, found.running_since) == (AppState.REJECTED, START)
    assert ledger.view.next_due() is not None
    order = Ending("ann", START + 2, START + 600, START, "root")
    assert removed(ledger, on.ActionsRead({}, {APP: order}), at=2) == ["first"]
    assert drifts(ledger) == []


def older(*, since: float) -> on.ActionsRead:
    """An order about a pod that was there before all others, and is gone."""
    return on.ActionsRead({}, {APP: Ending("ann", since, since, START - 1, "root.a")})


@pytest.mark.timeout(30)
@pytest.mark.rule("ACT-42", "ACT-45")
@pytest.mark.parametrize("ahead", [0, 40])
def test_a_standby_ends_what_ran_for_too_long_beside_an_order_that_concerns_none_of_it(ahead: int) -> None:
    """The order was given right now, or by a clock that is ahead. It once made a standby's loop endless."""
    ledger = standby(protected=True)
    ledger.apply(older(since=START + 600 + ahead), now=START + 600)
    text = f'{{"ends":{START + 600},"through":{START}}}'
    first = make_pod("first", node="n1", created=START, scheduled_at=START, version=2)
    ledger.apply(on.PodObserved(replace(first, running_since=SINCE, execution=text)), now=START + 600)
    found = ledger.view.application(APP)
    assert found is not None
    assert (found.state, found.ends) == (AppState.FAILING, True)
    ledger.apply(on.PodDeleted(first.uid), now=START + 601)
    assert ledger.view.application(APP) is None
    assert drifts(ledger) == []


@pytest.mark.rule("ACT-42", "ACT-45")
def test_a_time_that_is_over_counts_beside_an_order_by_a_clock_that_is_ahead() -> None:
    ledger = make_ledger(replace(TIMED, properties={"application.execution.timeout": "30s"}))
    assert removed(ledger, older(since=START + 40), at=0) == []
    pod = make_pod("first", node="n1", created=START, scheduled_at=START)
    ledger.apply(on.PodObserved(pod), now=START)
    assert removed(ledger, on.TimePassed(), at=27) == []
    assert removed(ledger, on.TimePassed(), at=30) == ["first"]
    found = ledger.view.application(APP)
    assert found is not None
    assert (found.state, found.ends) == (AppState.FAILING, True)
    assert drifts(ledger) == []
