"""Amounts of all queues at one moment."""

from collections.abc import Iterator, Mapping

import pytest

from core.ids import NodeName, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.queue import Queue
from core.queues.spec import PartitionSpec
from core.resource import Limit, Resource
from core.workload.nodes.node import NodeFacts
from extender.rest.history import rows as module
from extender.rest.history.band import UNSET, WIDTH
from extender.rest.history.rows import MOST_RESOURCES, MomentRows, Row, Rows, row_of
from tests.builders import START, make_ledger, make_pod, make_queue

BOUND = 96 * 2**20


def taken(rows: MomentRows, ledger: Ledger, *, bound: int = BOUND) -> Rows:
    for _ in rows.freshen(ledger.view, bound=bound):
        pass
    return rows.taken(ledger.view, bound=bound)


def amounts(row: Row) -> Mapping[str, list[int]]:
    return {
        name: list(row.amounts[place * WIDTH : (place + 1) * WIDTH]) for place, name in enumerate(row.names)
    }


@pytest.mark.rule("REST-50")
def test_what_a_row_has() -> None:
    ledger = make_ledger(
        make_queue("root.a", max={"vcore": 8000, "gpu": 0}, guaranteed={"vcore": 4000, "memory": 5}),
        make_queue("root.b"),
    )
    ledger.apply(on.PodObserved(make_pod("p", cpu=3000, node="n1")), now=START)
    ledger.apply(on.PodObserved(make_pod("q", cpu=2000, app="app-2")), now=START)
    found = taken(MomentRows(), ledger)
    assert amounts(found[QueuePath("root.a")]) == {
        "gpu": [0, 0, UNSET, 0],
        "memory": [0, 0, 5, UNSET],
        "pods": [1, 1, UNSET, UNSET],
        "vcore": [3000, 2000, 4000, 8000],
    }
    assert amounts(found[QueuePath("root.b")]) == {}
    assert amounts(found[QueuePath("root")])["vcore"] == [3000, 2000, UNSET, 100_000]


@pytest.mark.rule("REST-50")
def test_reserved_quota_is_used() -> None:
    queue = Queue(make_queue("root.a"), None)
    queue.allocated.add(Resource({"vcore": 2000}))
    queue.reserved.add(Resource({"vcore": 500}))
    assert amounts(row_of(queue)) == {"vcore": [2500, 0, UNSET, UNSET]}


def test_amounts_at_the_ends_of_64_bits_stay_numbers() -> None:
    queue = Queue(make_queue("root.a"), None)
    queue.pending.add(Resource({"vcore": 2**63 - 1}))
    queue.pending.add(Resource({"vcore": 2**63 - 1}))
    queue.max = Limit({"vcore": -(2**63)})
    assert amounts(row_of(queue)) == {"vcore": [0, 2**63 - 1, UNSET, UNSET + 1]}


def _events() -> Iterator[on.Event]:
    """Events that change what a row of root.a, of root.b or of the root has."""
    yield on.PodObserved(make_pod("p", cpu=3000, node="n1"))
    yield on.PodObserved(make_pod("q", cpu=2000, queue="root.b", app="app-2"))
    yield on.PodDeleted(make_pod("p").uid)
    yield on.ObjectObserved(on.NODES, NodeFacts(NodeName("n1"), Resource({"vcore": 5, "pods": 3})))
    yield on.ObjectDeleted(on.NODES, NodeName("n1"))
    queues = (make_queue("root", leaf=False), make_queue("root.a", max={"vcore": 7}))
    yield on.Configured(PartitionSpec("default", queues), LedgerSettings())
    yield on.PodObserved(make_pod("r", cpu=1000, queue="root.a", app="app-3"))
    yield on.PodDeleted(make_pod("q").uid)


@pytest.mark.rule("REST-50")
def test_rows_that_are_reused_are_those_made_anew() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 8000}), make_queue("root.b"))
    rows = MomentRows()
    taken(rows, ledger)
    for at, event in enumerate(_events()):
        ledger.apply(event, now=START + at)
        assert taken(rows, ledger) == taken(MomentRows(), ledger)


@pytest.mark.rule("REST-50")
def test_a_namespace_that_limits_its_queue_changes_the_row() -> None:
    ledger = make_ledger(make_queue("root.a"))
    queue = ledger.view.tree.get("root.a")
    assert queue is not None
    rows = MomentRows()
    taken(rows, ledger)
    queue.dynamic = True
    ledger.view.tree.limit(queue, max=Limit({"vcore": 5}), guaranteed=None, max_applications=0)
    assert amounts(taken(rows, ledger)[queue.path]) == {"vcore": [0, 0, UNSET, 5]}


@pytest.mark.rule("REST-50", "REST-45")
def test_a_moment_has_what_changed_while_it_was_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LAST", 0)
    ledger = make_ledger(*(make_queue(f"root.q{at}") for at in range(40)))
    rows = MomentRows()
    # A pod comes to the first queue after its row was copied.
    for step, _ in enumerate(rows.freshen(ledger.view, bound=BOUND)):
        if step == 2:
            ledger.apply(on.PodObserved(make_pod("p", cpu=3000, node="n1", queue="root.q0")), now=START)
    found = rows.taken(ledger.view, bound=BOUND)
    for path in ("root", "root.q0"):
        assert amounts(found[QueuePath(path)])["vcore"][0] == 3000


def test_a_queue_that_comes_back_is_another_one() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1}))
    rows = MomentRows()
    taken(rows, ledger)
    other = make_ledger(make_queue("root.a", max={"vcore": 2}))
    assert amounts(taken(rows, other)[QueuePath("root.a")]) == {"vcore": [0, 0, UNSET, 2]}


@pytest.mark.rule("REST-50")
def test_bounds_on_hostile_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"r{at:03}": at + 1 for at in range(MOST_RESOURCES + 6)}
    ledger = make_ledger(*(make_queue(f"root.q{at}", max=many) for at in range(20)))
    row = taken(MomentRows(), ledger)[QueuePath("root.q0")]
    assert (len(row.names), len(row.amounts), row.left_out) == (MOST_RESOURCES, WIDTH * MOST_RESOURCES, 6)
    # Names may take a quarter of the bound.
    rows = MomentRows()
    for _ in range(2):
        found = taken(rows, ledger, bound=4 * 5 * row.size_of_names + 10_000)
        named = [each for path, each in found.items() if path != "root" and each.names]
        assert len(named) == 5
        assert sum(each.left_out for each in found.values()) == 15 * (MOST_RESOURCES + 6) + 5 * 6
    monkeypatch.setattr(module, "MOST_QUEUES", 4)
    assert list(taken(MomentRows(), ledger)) == ["root", "root.q0", "root.q1", "root.q2"]
