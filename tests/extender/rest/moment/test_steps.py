"""No step of an answer does more than a fixed amount of work, however large the cluster is (REST-45).

Work is counted and not timed. 10,000 lines and calls of Python take less than a millisecond.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from extender.rest.facts import Facts
from extender.rest.moment import people, stored, trees, writing
from extender.rest.moment.moment import Moment, Taking
from extender.rest.moment.stored import StoredRows
from extender.rest.projection.health import Found, HealthRound
from tests.builders import START, make_ledger, make_pod, make_queue
from tests.extender.rest.moment.steps import most_of

NODES, PODS, QUEUES = 4, 1200, 300
PER_STEP = 10_000

ANSWERS: dict[str, Callable[[Moment], Iterator[bytes]]] = {
    "nodes": writing.all_nodes,
    "applications": writing.applications,
    "ended": lambda moment: writing.ended_applications(moment, rejected=False),
    "utilizations": writing.node_utilizations,
    "partition": writing.partition,
    "queues": trees.queue_tree,
    "users": lambda moment: people.everybody(moment, "user"),
}


def crowd() -> Ledger:
    """A large application, many small ones, and pods that wait."""
    ledger = make_ledger(*(make_queue(f"root.q{at}") for at in range(QUEUES)), nodes=NODES)
    for at in range(PODS):
        small = at % 3 == 0
        pod = make_pod(
            f"p{at}",
            app=f"app-{at}" if small else "large",
            queue=f"root.q{at % QUEUES if small else 0}",
            node=f"n{at % NODES + 1}" if at % 5 else "",
            cpu=1,
        )
        ledger.apply(on.PodObserved(replace(pod, labels={"app": "x", "tier": "y"})), now=START)
    return ledger


def taken(ledger: Ledger, rows: StoredRows) -> tuple[int, Moment]:
    """The largest step of the preparation, and the moment."""
    taking = Taking(Facts(ledger.view), rows)
    most = most_of(iter(taking))
    return most, taking.moment


@pytest.mark.rule("REST-45")
def test_no_step_is_longer_in_a_large_cluster() -> None:
    ledger = crowd()
    rows = StoredRows(lambda: Facts(ledger.view))
    first, moment = taken(ledger, rows)
    found = {name: most_of(answer(moment)) for name, answer in ANSWERS.items()}
    for at in range(stored.LAST * 3):
        event = on.PodDeleted(PodUid(f"uid-p{at}"))
        ledger.apply(event, now=START)
        rows.learned(event)
        rows.settled(ledger.settled)
    again, _ = taken(ledger, rows)
    assert {name: most for name, most in found.items() if most > PER_STEP} == {}
    assert max(first, again) <= PER_STEP


@pytest.mark.rule("REST-45")
def test_a_step_that_makes_every_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(stored, "AT_ONCE", PODS)
    ledger = crowd()
    assert taken(ledger, StoredRows(lambda: Facts(ledger.view)))[0] > 5 * PER_STEP


@pytest.mark.rule("REST-45")
def test_rows_are_dropped_a_few_in_each_step() -> None:
    """Freeing 30,000 rows at once takes longer than a step."""
    ledger = crowd()
    rows = StoredRows(lambda: Facts(ledger.view))
    taken(ledger, rows)
    before, most = len(rows._pods), 0
    assert before > PODS // 2
    for _ in rows.dropped():
        before, most = len(rows._pods), max(most, before - len(rows._pods))
    assert (len(rows._pods), len(rows.apps)) == (0, 0)
    assert most < 30


@pytest.mark.rule("REST-11", "REST-45")
def test_no_step_of_a_health_round_is_longer_with_many_nodes() -> None:
    checks = HealthRound(Facts(make_ledger(nodes=2_000).view), Found())
    assert most_of(iter(checks)) <= PER_STEP
    assert checks.health.healthy
