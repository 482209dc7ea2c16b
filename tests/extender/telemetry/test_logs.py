"""Decisions in the log: which repeat the last one of their pod, and how much is stored."""

import io
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decisions.decision import Admitted, Refused, Scored
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.pods.parts import Membership
from core.ledger.pods.record import PodRecord
from core.reasons import Code, Refusal, SentRefusal
from extender.telemetry.logs import DecisionLog, LastVerdicts, configure_logs
from extender.telemetry.metrics import Metrics
from extender.telemetry.witness import DecisionWitness
from extender.views.journal import Journal
from extender.views.recent_plans import RecentPlans
from tests.builders import START, make_pod

UID = PodUid("uid-p")
ADMITTED = Admitted((), ())


def refused(text: str) -> Refused:
    code = Code.QUOTA_EXCEEDED
    return Refused(Refusal(code, text), SentRefusal(text, code, 0), ())


def scored(best: str) -> Scored:
    return Scored("fair", ((10, (NodeName(best),)),))


class Stand:
    """A witness with its log."""

    def __init__(self, *, debug: bool) -> None:
        self.stream = io.StringIO()
        self.calls: list[Callable[[], None]] = []
        log = DecisionLog(lambda _, call: self.calls.append(call), self.stream)
        logger = configure_logs(self.stream, debug=debug)
        metrics = Metrics(lambda: Ledger().view)
        self.witness = DecisionWitness(Journal(), logger, log, metrics, RecentPlans())

    def decide(self, verb: str, verdict: object, *, pod: str = "p", now: float = START) -> None:
        record = PodRecord(make_pod(pod), seq=0, membership=Membership(managed=True))
        self.witness.decided(verb, record, verdict, now=now)

    def lines(self) -> list[Mapping[str, Any]]:
        for call in self.calls:
            call()
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def codes(self) -> list[tuple[str, str]]:
        return [(line["level"], line["code"]) for line in self.lines()]


def test_a_repeated_decision_is_not_logged() -> None:
    stand = Stand(debug=False)
    for _ in range(3):
        stand.decide("filter", refused("root.a: cpu"))
    assert stand.codes() == [("info", "QuotaExceeded")]


def test_a_repeated_decision_is_logged_with_debug() -> None:
    stand = Stand(debug=True)
    for _ in range(2):
        stand.decide("filter", refused("root.a: cpu"))
    assert stand.codes() == [("info", "QuotaExceeded"), ("debug", "QuotaExceeded")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(refused("root.a: cpu"), ADMITTED, id="another code"),
        pytest.param(refused("root.a: cpu"), refused("root.b: cpu"), id="another reason"),
    ],
)
def test_a_changed_decision_is_logged(first: object, second: object) -> None:
    stand = Stand(debug=False)
    stand.decide("filter", first)
    stand.decide("filter", second)
    assert [level for level, _ in stand.codes()] == ["info", "info"]


def test_other_scores_are_no_change() -> None:
    stand = Stand(debug=False)
    stand.decide("prioritize", scored("n1"))
    stand.decide("prioritize", scored("n2"))
    assert stand.codes() == [("info", "Scored")]


def test_a_verb_and_a_pod_repeat_only_themselves() -> None:
    stand = Stand(debug=False)
    stand.decide("filter", ADMITTED)
    stand.decide("preempt", ADMITTED)
    stand.decide("filter", ADMITTED, pod="q")
    stand.decide("filter", ADMITTED)
    assert [(line["verb"], line["pod"]) for line in stand.lines()] == [
        ("filter", "p"),
        ("preempt", "p"),
        ("filter", "q"),
    ]


def test_a_deleted_pod_is_forgotten() -> None:
    stand = Stand(debug=False)
    stand.decide("filter", ADMITTED)
    stand.witness.learned(on.PodDeleted(UID), now=START)
    stand.decide("filter", ADMITTED)
    assert len(stand.codes()) == 2


def test_no_more_than_some_pods_are_stored() -> None:
    verdicts = LastVerdicts(pods=2)
    for name in ("a", "b", "a", "c"):
        verdicts.is_new(PodUid(name), "filter", ("Admitted", ""))
    assert len(verdicts) == 2
    assert not verdicts.is_new(PodUid("a"), "filter", ("Admitted", ""))
    assert verdicts.is_new(PodUid("b"), "filter", ("Admitted", ""))


SECONDS = st.floats(min_value=START, max_value=START + 100) | st.integers(0, 10).map(
    lambda at: START + at - 2e-7
)


@given(st.lists(SECONDS, min_size=1, max_size=5))
def test_each_line_has_the_time_of_its_decision(times: list[float]) -> None:
    stand = Stand(debug=False)
    for at, now in enumerate(times):
        stand.decide("filter", ADMITTED, pod=f"p{at}", now=now)
    expected = [datetime.fromtimestamp(now, UTC).isoformat(timespec="microseconds") for now in times]
    assert [line["timestamp"] for line in stand.lines()] == expected
