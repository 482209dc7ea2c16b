"""Traces of a decision that users see: a count, a line of the log, and a line of the pod's story."""

import io
import json
from collections.abc import Callable

import pytest

from core.decisions.decision import Ignored, Scored, Unscored
from core.ids import NodeName, PodUid
from core.ledger.ledger import Ledger
from core.ledger.pods.parts import Membership
from core.ledger.pods.record import PodRecord
from extender.telemetry.logs import DecisionLog, configure_logs
from extender.telemetry.metrics import Metrics
from extender.telemetry.witness import DecisionWitness
from extender.views.journal import Journal
from extender.views.recent_plans import RecentPlans
from tests.builders import START, make_pod

UNSCORED = "no node policy is named: kube-scheduler chooses by itself"


class Reports:
    """A witness, and all its outputs."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.stream = io.StringIO()
        self.metrics = Metrics(lambda: Ledger().view)
        self.planned: list[Callable[[], None]] = []
        log = DecisionLog(lambda _, call: self.planned.append(call), self.stream)
        self.witness = DecisionWitness(
            self.journal, configure_logs(self.stream), log, self.metrics, RecentPlans()
        )

    def decided(self, verdict: object) -> None:
        record = PodRecord(make_pod("p"), seq=0, membership=Membership(managed=True))
        self.witness.decided("prioritize", record, verdict, now=START)

    def logged(self) -> list[tuple[str, str, str]]:
        for call in self.planned:
            call()
        lines = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        return [(line["verb"], line["code"], line["detail"]) for line in lines]

    def story(self) -> list[tuple[str, str]]:
        return [(line.what, line.detail) for line in self.journal.story(PodUid("uid-p"))]


def band(score: int, *names: str) -> tuple[int, tuple[NodeName, ...]]:
    return score, tuple(NodeName(name) for name in names)


@pytest.mark.parametrize(
    ("verdict", "code", "detail"),
    [
        pytest.param(
            Scored("binpacking", (band(10, "n2"), band(9, "n1", "n3"), band(0, "new"))),
            "Scored",
            "binpacking: of 4 nodes n2 is the best",
            id="scored",
        ),
        pytest.param(
            Scored("fair", (band(0, "new"),)),
            "Scored",
            "fair: of 1 nodes none is known",
            id="no node is known",
        ),
        pytest.param(Scored("fair", ()), "Scored", "fair: of 0 nodes none is known", id="no node at all"),
        pytest.param(Unscored(), "Unscored", UNSCORED, id="no policy"),
    ],
)
@pytest.mark.rule("NODE-1")
def test_a_verdict_of_prioritize_is_counted_logged_and_in_the_story(
    verdict: object, code: str, detail: str
) -> None:
    reports = Reports()
    reports.decided(verdict)
    assert (
        f'paddock_decisions_total{{code="{code}",verb="prioritize"}} 1.0'
        in reports.metrics.exposition().decode()
    )
    assert reports.logged() == [("prioritize", code, detail)]
    assert reports.story() == [(f"prioritize: {code}", detail)]


def test_nothing_is_reported_about_unmanaged_pods() -> None:
    reports = Reports()
    reports.decided(Ignored())
    assert 'verb="prioritize"' not in reports.metrics.exposition().decode()
    assert (reports.logged(), reports.story()) == ([], [])
