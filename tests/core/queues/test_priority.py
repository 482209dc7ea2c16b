"""Priorities of queues: pending asks, offsets, fences, and changes that reach ancestors (PRI-1 to PRI-13)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.priority import exported
from core.queues.properties import QueueProperties
from core.queues.queue import NO_PRIORITY
from core.queues.spec import QueueSpec
from tests.builders import START, filtered, make_ledger, make_partition, make_pod, make_queue

LARGEST, SMALLEST = 2**31 - 1, -(2**31)


def queue(path: str, *, leaf: bool = True, fence: bool = False, offset: int = 0) -> QueueSpec:
    properties = {"priority.offset": str(offset)}
    if fence:
        properties["priority.policy"] = "fence"
    return replace(make_queue(path, leaf=leaf), properties=properties)


def priorities(ledger: Ledger, *paths: str) -> list[int]:
    found = []
    for path in paths:
        known = ledger.view.tree.get(path)
        assert known is not None, path
        found.append(known.priority)
    return found


def asks(ledger: Ledger, by_queue: Mapping[str, Sequence[int]]) -> None:
    for path, wanted in by_queue.items():
        for priority in wanted:
            name = f"{path}-{priority}"
            pod = make_pod(name, queue=path, app=f"app-{path}", priority=priority, cpu=1)
            ledger.apply(on.PodObserved(pod), now=START)


@pytest.mark.rule("PRI-1", "PRI-2")
def test_the_best_ask_that_is_pending_counts() -> None:
    ledger = make_ledger(queue("root.a"))
    seen = []
    for priority in (10, 5, 15):
        asks(ledger, {"root.a": [priority]})
        seen += priorities(ledger, "root.a")
    for priority in (10, 15):
        ledger.apply(on.PodDeleted(PodUid(f"uid-root.a-{priority}")), now=START)
        seen += priorities(ledger, "root.a")
    assert seen == [10, 10, 15, 15, 5]


@pytest.mark.rule("PRI-2")
def test_an_ask_that_is_placed_does_not_count_and_one_that_is_not_after_all_does() -> None:
    ledger = make_ledger(queue("root.a"))
    asks(ledger, {"root.a": [10, 5, 15]})
    seen = []
    for name in ("15", "5", "10"):
        filtered(ledger, f"uid-root.a-{name}", now=START)
        seen += priorities(ledger, "root.a")
    ledger.apply(on.TimePassed(), now=START + 30)
    assert (seen, priorities(ledger, "root.a")) == ([10, 10, NO_PRIORITY], [15])


@pytest.mark.rule("PRI-3", "PRI-4")
@pytest.mark.parametrize(
    ("raw", "properties", "shown"),
    [
        (7, QueueProperties(), 7),
        (7, QueueProperties(priority_offset=-10), -3),
        (LARGEST, QueueProperties(priority_offset=1), LARGEST),
        (SMALLEST + 5, QueueProperties(priority_offset=-10), SMALLEST),
        (100, QueueProperties(priority_fence=True), 0),
        (100, QueueProperties(priority_fence=True, priority_offset=9), 9),
        (NO_PRIORITY, QueueProperties(priority_fence=True, priority_offset=9), NO_PRIORITY),
        (NO_PRIORITY, QueueProperties(priority_offset=9), NO_PRIORITY),
    ],
)
def test_what_a_queue_shows_its_parent(raw: int, properties: QueueProperties, shown: int) -> None:
    assert exported(raw, properties) == shown


@pytest.mark.rule("PRI-5", "PRI-7")
def test_properties_that_change_and_queues_that_go_are_carried_up() -> None:
    ledger = make_ledger(queue("root.p", leaf=False), queue("root.p.a"), queue("root.p.b"))
    asks(ledger, {"root.p.a": [3], "root.p.b": [8]})
    before = priorities(ledger, "root", "root.p")
    document = (queue("root.p", leaf=False, offset=100), queue("root.p.a"), queue("root.p.b", fence=True))
    ledger.apply(on.Configured(make_partition(*document), LedgerSettings()), now=START)
    assert (before, priorities(ledger, "root", "root.p")) == ([8, 8], [103, 103])
    ledger.apply(on.PodDeleted(PodUid("uid-root.p.a-3")), now=START)
    assert priorities(ledger, "root.p.a", "root.p") == [NO_PRIORITY, 100]


@pytest.mark.rule("PRI-6")
def test_offsets_add_up_and_are_clamped_level_by_level() -> None:
    ledger = make_ledger(queue("root.p", leaf=False, offset=-100), queue("root.p.a", offset=LARGEST))
    asks(ledger, {"root.p.a": [10]})
    assert priorities(ledger, "root.p.a", "root.p") == [LARGEST, 2147483547]


@pytest.mark.rule("PRI-8")
def test_on_the_root_neither_offset_nor_fence_counts() -> None:
    ledger = make_ledger()
    root = replace(
        make_queue("root", leaf=False), properties={"priority.offset": "50", "priority.policy": "fence"}
    )
    partition = replace(make_partition(), queues=(root, queue("root.a")))
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    asks(ledger, {"root.a": [10]})
    assert priorities(ledger, "root") == [10]


TENANTS = (
    queue("root.tenant1", leaf=False, fence=True),
    queue("root.tenant1.a", fence=True),
    queue("root.tenant1.b"),
    queue("root.tenant2", leaf=False, fence=True),
    queue("root.tenant2.q1"),
    queue("root.tenant2.q2"),
    queue("root.system"),
)


@pytest.mark.rule("PRI-12")
def test_the_example_of_two_tenants() -> None:
    ledger = make_ledger(*TENANTS)
    wanted = {
        "root.tenant1.a": [100],
        "root.tenant1.b": [5],
        "root.tenant2.q1": [50],
        "root.tenant2.q2": [60],
    }
    asks(ledger, {**wanted, "root.system": [10]})
    assert priorities(ledger, *(spec.path for spec in TENANTS)) == [0, 0, 5, 0, 50, 60, 10]
    raised = (queue("root.tenant1", leaf=False, fence=True, offset=7), *TENANTS[1:])
    ledger.apply(on.Configured(make_partition(*raised), LedgerSettings()), now=START)
    assert priorities(ledger, "root.tenant1", "root") == [7, 10]


@pytest.mark.rule("PRI-13")
def test_the_example_of_eleven_steps_at_its_start() -> None:
    shapes = (
        queue("root.system", leaf=False),
        queue("root.system.normal"),
        queue("root.system.high", offset=1000),
        queue("root.system.low", offset=-1000),
        queue("root.tenants", leaf=False, fence=True),
        queue("root.tenants.a", leaf=False, fence=True, offset=10),
        queue("root.tenants.a.a1"),
        queue("root.tenants.a.a2"),
        queue("root.tenants.b", leaf=False, fence=True),
        queue("root.tenants.b.b1"),
        queue("root.tenants.b.b2"),
    )
    ledger = make_ledger(*shapes)
    asks(
        ledger,
        {
            **{"root.system.normal": [10, 2], "root.system.high": [1], "root.system.low": [3]},
            **{"root.tenants.a.a1": [8, 5], "root.tenants.a.a2": [6, 4]},
            **{"root.tenants.b.b1": [9, 7], "root.tenants.b.b2": [8]},
        },
    )
    assert priorities(ledger, *(spec.path for spec in shapes)) == [1001, 10, 1001, -997, 0, 10, 8, 6, 0, 9, 8]
