"""Names that users choose cannot create an unlimited number of series (METRIC-13, METRIC-16)."""

import gc
import time

import pytest

from core.resource import Resource
from extender.telemetry.metrics import Exported, Metrics
from extender.telemetry.shown import QUEUES_SHOWN, RESOURCES_SHOWN
from extender.telemetry.yunikorn.totals import DYNAMIC_APART, Totals
from tests.builders import make_queue, make_tree
from tests.extender.telemetry.yunikorn.reading import Watched, read

HOSTILE = 5_000


def queues_of(watched: Watched) -> set[str]:
    return {each["queue"] for each in watched.read().labels("yunikorn_queue_resource")}


@pytest.mark.rule("METRIC-13", "METRIC-16")
def test_names_of_unknown_queues_share_one_value() -> None:
    cluster = Watched(make_queue("root.a"))
    cluster.see("usual")
    before = len(cluster.read().samples)
    for place in range(HOSTILE):
        cluster.see(f"p{place}", queue=f'root.no-"{place}"\\\n', app=f"app{place}")
    after = cluster.read()
    assert len(after.samples) == before
    assert after.of("yunikorn_queue_app", queue="other", state="rejected") == HOSTILE


@pytest.mark.rule("METRIC-16")
def test_names_of_resources_are_bounded_and_those_of_nodes_come_first() -> None:
    cluster = Watched(make_queue("root.a", max={"zz.example/device": 4}))
    for place in range(HOSTILE):
        size = Resource({"vcore": 1, f"a.example/{place}": 1})
        cluster.see(f"p{place}", size=size)
    found = cluster.read()
    resources = {each["resource"] for each in found.labels("yunikorn_queue_resource")}
    assert len(resources) <= RESOURCES_SHOWN + 1
    assert {"vcore", "memory", "pods", "zz.example/device"} <= resources
    assert found.of("paddock_resources_unshown") == HOSTILE + 4 - RESOURCES_SHOWN


@pytest.mark.rule("METRIC-16")
def test_queues_are_bounded_and_their_number_is_reported() -> None:
    cluster = Watched(*(make_queue(f"root.q{place}") for place in range(HOSTILE)))
    found = cluster.read()
    shown = {each["queue"] for each in found.labels("yunikorn_queue_resource")}
    assert len(shown) == QUEUES_SHOWN
    assert {each["queue"] for each in found.labels("paddock_queue_max")} <= shown
    assert found.of("paddock_queues") == HOSTILE + 1
    assert found.of("paddock_queues_unshown") == HOSTILE + 1 - QUEUES_SHOWN
    assert len(found.kinds) < 3 * QUEUES_SHOWN + 200


@pytest.mark.rule("METRIC-16")
def test_dynamic_queues_take_no_series_from_configured_ones() -> None:
    tree = make_tree(*(make_queue(f"root.configured{place}") for place in range(10)))
    for place in range(HOSTILE):
        tree.create([f"root.made{place}"])  # type: ignore[list-item]
    totals = Totals()
    for queue in list(tree):
        totals.end(queue.path, "completed", configured=not queue.dynamic)
    assert len(totals.ended_in) == DYNAMIC_APART + 11 + 1
    assert totals.ended_in["other"]["completed"] == HOSTILE - DYNAMIC_APART
    assert totals.ended_in["root.configured9"]["completed"] == 1


@pytest.mark.rule("METRIC-15", "METRIC-18")
def test_of_two_paths_with_one_name_the_first_has_it() -> None:
    """Prometheus refuses a whole scrape for one duplicate sample."""
    cluster = Watched(make_queue("root.a-b", max={"vcore": 1}), make_queue("root.a_b", max={"vcore": 2}))
    assert cluster.read().of("yunikorn_root_a_b_queue_resource", state="max", resource="vcore") == 1


@pytest.mark.rule("METRIC-18")
def test_names_after_queues_are_an_option() -> None:
    plain = Watched(make_queue("root.a"), exported=Exported(queue_names=lambda: False)).read()
    assert "yunikorn_queue_resource" in plain.names()
    assert not [name for name in plain.names() if name.startswith("yunikorn_root_a_queue_r")]


@pytest.mark.rule("METRIC-16")
def test_a_standby_tells_of_itself_only() -> None:
    leads = [False]
    cluster = Watched(make_queue("root.a"), exported=Exported(leads=lambda: leads[0]))
    cluster.place("p")
    standby = cluster.read()
    assert not [name for name in standby.names() if name.startswith(("yunikorn", "paddock_queue"))]
    assert {"paddock_leading", "paddock_synced", "process_cpu_seconds_total"} <= standby.names()
    assert b"".join(cluster.metrics.yunikorn_pieces()) == b""
    leads[0] = True
    assert "yunikorn_queue_resource" in cluster.read().names()
    assert {name.split("_")[0] for name in read(b"".join(cluster.metrics.yunikorn_pieces())).names()} == {
        "yunikorn"
    }


def test_before_all_is_read_there_is_no_empty_cluster() -> None:
    cluster = Watched(make_queue("root.a"), listed=False)
    assert not [name for name in cluster.read().names() if name.startswith("yunikorn")]


@pytest.mark.timed
def test_no_piece_takes_long() -> None:
    """With 2,000 queues, the event loop can run other work at least every few milliseconds."""
    cluster = Watched(*(make_queue(f"root.q{place}") for place in range(1_999)), nodes=100)
    for place in range(1_000):
        cluster.see(f"p{place}", queue=f"root.q{place}", app=f"app-{place}")
    list(cluster.metrics.pieces())
    gc.collect()
    gc.disable()
    try:
        longest = min(longest_piece(cluster.metrics) for _ in range(3))
    finally:
        gc.enable()
    assert longest < 0.02


def longest_piece(metrics: Metrics) -> float:
    """Seconds of CPU of the longest piece of one scrape."""
    longest, began = 0.0, time.process_time()
    for _ in metrics.pieces():
        longest = max(longest, time.process_time() - began)
        began = time.process_time()
    return longest
