"""Recent plans at the admin port, in metrics and in the log."""

import json
from typing import Any

import msgspec

from core.decisions.preemption.judging import Breach
from core.decisions.preemption.receipts import (
    Finding,
    Kind,
    NodeNotes,
    NoPlan,
    Plan,
    Receipt,
    Stop,
    Victim,
    passed,
)
from core.ids import NodeName, PodUid, QueuePath
from core.resource import Resource
from extender.views.recent_plans import RecentPlans
from tests.builders import START
from tests.extender.telemetry.test_witness import Reports

ASK = PodUid("uid-ask")
VICTIM = Victim(
    PodUid("uid-v"),
    "default",
    "v",
    NodeName("n1"),
    QueuePath("root.b"),
    0,
    Resource({"vcore": 1000}),
    opted_out=False,
    originator=False,
    created=START,
)
RECEIPT = Receipt(
    Kind.GUARANTEE,
    (Finding("LAW-4", "wants vcore=1"),),
    (passed(VICTIM, Finding("LAW-2", "above guarantees")),),
    NodeNotes(1),
)
PLAN = Plan(Kind.GUARANTEE, ASK, QueuePath("root.a"), NodeName("n1"), (VICTIM,), RECEIPT)


def refused(text: str = "left to its guarantee: none", law: str = "LAW-4") -> NoPlan:
    return NoPlan(ASK, Stop.GUARANTEE, law, text)


def entries(recent: RecentPlans) -> list[dict[str, Any]]:
    return [msgspec.json.decode(each) for each in recent.latest_first()]


def test_a_plan_is_shown_with_its_receipt() -> None:
    recent = RecentPlans()
    recent.note(PLAN, pod="default/ask", how="tick", now=START)
    (entry,) = entries(recent)
    assert (entry["pod"], entry["by"], entry["node"], entry["victims"]) == (
        "default/ask",
        "tick",
        "n1",
        ["default/v"],
    )
    assert "LAW-2" in json.dumps(entry["receipt"])


def test_the_last_is_the_first_and_a_refusal_that_comes_again_is_one() -> None:
    recent = RecentPlans()
    for outcome in (refused(), refused("another number"), PLAN, refused(), refused(law="LAW-7")):
        recent.note(outcome, pod="default/ask", how="tick", now=START)
    assert [entry.get("law", "plan") for entry in entries(recent)] == [
        "LAW-7",
        "LAW-4",
        "plan",
        "LAW-4",
    ]
    assert "another number" in json.dumps(entries(recent)[-1])


def test_their_number_is_bounded() -> None:
    recent = RecentPlans(plans=3)
    for number in range(5):
        recent.note(PLAN, pod=f"default/ask-{number}", how="tick", now=START)
    assert [entry["pod"] for entry in entries(recent)] == [f"default/ask-{at}" for at in (4, 3, 2)]


def test_refusals_push_no_plan_out() -> None:
    recent = RecentPlans(refusals=2)
    recent.note(PLAN, pod="default/ask", how="tick", now=START)
    for number in range(5):
        recent.note(refused(), pod=f"default/ask-{number}", how="tick", now=START)
    assert [entry["pod"] for entry in entries(recent)] == [f"default/ask{at}" for at in ("-4", "-3", "")]


def test_plans_are_counted_and_reported() -> None:
    heard = Reports()
    heard.witness.planned(PLAN, pod="default/ask", how="tick", now=START)
    heard.witness.planned(refused(), pod="default/ask", how="verb", now=START)
    heard.witness.breached(PLAN, (Breach("LAW-2", VICTIM.uid, "no"),), pod="default/ask", now=START)
    text = heard.metrics.exposition().decode()
    assert 'paddock_preemption_plans_total{kind="guarantee"} 1.0' in text
    assert 'paddock_preemption_victims_total{kind="guarantee"} 1.0' in text
    assert 'paddock_preemption_refusals_total{law="LAW-4"} 1.0' in text
    assert "paddock_preemption_breaches_total 1.0" in text
    story = [(line.what, line.detail) for line in heard.journal.story(ASK)]
    assert story[0] == ("tick: plan on n1 at the cost of default/v", "")
    assert story[1][0] == "verb: no plan"
    assert "preemption plan breaks a law" in heard.stream.getvalue()
