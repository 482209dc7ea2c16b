"""Pods that wait, over all applications: the oldest first, by queue and by node, with counts by reason."""

import json
from typing import Any

import pytest

from core.ledger import events as on
from core.ledger.ledger import Ledger
from extender.rest.facts import Facts, NoPast
from extender.rest.model.applications import LogEntry
from extender.rest.moment.stored import StoredRows
from extender.rest.routes.reply import Ask, Big
from extender.rest.routes.routes import ledger_routes
from extender.rest.routes.table import Router
from tests.builders import START, make_ledger, make_pod, make_queue

PATH = "/ws/v1/partition/default/pending"
TEAMS = ("root.unit.a", "root.unit.b", "root.c")
FULL = "Not enough queue quota"


class _Refused(NoPast):
    """Every pod was refused for its queue's quota, but the first."""

    def reasons(self, uid: str) -> tuple[LogEntry, ...]:
        return () if uid == "uid-p0" else (LogEntry(message="old"), LogEntry(message=FULL))


@pytest.fixture
def ledger() -> Ledger:
    """Six pods that wait, each of its own application, and one on a node."""
    made = make_ledger(make_queue("root.unit", leaf=False), *(make_queue(each) for each in TEAMS))
    for at in range(6):
        pod = make_pod(f"p{at}", app=f"app-{at}", queue=TEAMS[at % 3], created=START - at)
        made.apply(on.PodObserved(pod), now=START)
    made.apply(on.PodObserved(make_pod("on", app="app-0", queue=TEAMS[0], node="n1")), now=START)
    return made


@pytest.fixture
def router(ledger: Ledger) -> Router:
    def facts() -> Facts:
        return Facts(ledger.view, past=_Refused())

    rows = StoredRows(facts)
    return Router(ledger_routes(facts, lambda: rows))


def pending(router: Router, **query: str) -> Any:
    reply = router.answer(Ask(PATH, query=query))
    assert isinstance(reply, Big), reply
    return json.loads(b"".join(reply.steps()))


def names(found: Any) -> list[str]:
    return [each["request"]["allocationTags"]["kubernetes.io/meta/podName"] for each in found.get("pods", ())]


def test_the_oldest_come_first_with_their_application(router: Router) -> None:
    found = pending(router, count="2")
    assert names(found) == ["p5", "p4"]
    assert found["total"] == 6
    first = found["pods"][0]
    assert {key: first[key] for key in ("applicationID", "namespace", "queueName", "user")} == {
        "applicationID": "app-5",
        "namespace": "default",
        "queueName": "root.c",
        "user": "nobody",
    }


def test_a_queue_has_the_pods_of_those_below_it(router: Router) -> None:
    assert names(pending(router, queue="root.unit")) == ["p4", "p3", "p1", "p0"]
    assert names(pending(router, queue="ROOT.C")) == ["p5", "p2"]
    assert pending(router, queue="root.c")["total"] == 2


def test_reasons_are_counted_by_the_last_of_each_pod(router: Router) -> None:
    assert pending(router, count="1")["reasons"] == [
        {"reason": FULL, "pods": 5, "oldest": int((START - 5) * 1e9)},
        {"reason": "", "pods": 1, "oldest": int(START * 1e9)},
    ]


def test_no_pod_waits_for_a_node_that_is_held_for_none(router: Router) -> None:
    assert pending(router, node="n1") == {"total": 0}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"queue": "root.no"}, "Queue not found"),
        ({"queue": "root.!"}, "invalid queue name"),
        ({"count": "-1"}, "is not a whole number"),
        ({"count": "1e9"}, "is not a whole number"),
    ],
)
def test_faults(router: Router, query: dict[str, str], message: str) -> None:
    reply = router.answer(Ask(PATH, query=query))
    assert message in reply.message  # type: ignore[union-attr]


def test_no_answer_has_more_than_a_thousand_pods() -> None:
    made = make_ledger(make_queue("root.a"))
    for at in range(1100):
        made.apply(on.PodObserved(make_pod(f"p{at}", queue="root.a")), now=START)
    rows = StoredRows(lambda: Facts(made.view))
    router = Router(ledger_routes(lambda: Facts(made.view), lambda: rows))
    found = pending(router, count="99999")
    assert (found["total"], len(found["pods"])) == (1100, 1000)
    assert len(names(pending(router))) == 100
