"""Histories, a sample a minute."""

import pytest

from core.ledger import events as on
from extender.rest.members import members
from extender.rest.memory.samples import Samples
from tests.builders import START, make_ledger, make_pod, make_queue


@pytest.mark.rule("REST-28", "REST-29")
def test_one_sample_a_minute_oldest_first() -> None:
    ledger = make_ledger(make_queue("root.a"))
    samples = Samples(started=START)
    samples.pass_time(ledger.view, now=START + 59)
    assert (samples.applications(), samples.containers()) == ((), ())
    ledger.apply(on.PodObserved(make_pod("p", node="n1")), now=START)
    ledger.apply(on.PodObserved(make_pod("q", app="app-2")), now=START)
    for second in (60, 61, 119, 120):
        samples.pass_time(ledger.view, now=START + second)
    assert [members(each) for each in samples.applications()] == [
        {"timestamp": int(START + at) * 10**9, "totalApplications": "1"} for at in (60, 120)
    ]
    assert [each.total_containers for each in samples.containers()] == ["1", "1"]


@pytest.mark.rule("REST-28")
def test_a_count_of_nought_is_a_text_too_and_missed_minutes_are_absent() -> None:
    samples = Samples(started=START)
    view = make_ledger(make_queue("root.a")).view
    for second in (60, 400, 420):
        samples.pass_time(view, now=START + second)
    found = [members(each) for each in samples.applications()]
    assert [each["timestamp"] // 10**9 - int(START) for each in found] == [60, 400, 420]
    assert {each["totalApplications"] for each in found} == {"0"}


@pytest.mark.rule("REST-28")
def test_the_newest_day_stays() -> None:
    samples = Samples(started=START, most=2)
    view = make_ledger(make_queue("root.a")).view
    for minute in range(1, 5):
        samples.pass_time(view, now=START + 60 * minute)
    assert [each.timestamp // 10**9 - int(START) for each in samples.containers()] == [180, 240]
