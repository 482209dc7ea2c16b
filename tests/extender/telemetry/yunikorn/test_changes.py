"""Counts of new, running, rejected and ended pods and applications."""

import pytest

from core.ids import NodeName
from core.ledger import events as on
from tests.builders import make_node, make_pod, make_queue
from tests.extender.telemetry.yunikorn.reading import Watched

ATTEMPTS = "yunikorn_scheduler_container_allocation_attempt_total"
SUBMISSIONS = "yunikorn_scheduler_application_submission_total"
APPLICATIONS = "yunikorn_scheduler_application_total"


def watched() -> Watched:
    return Watched(make_queue("root.a"), make_queue("root.b"), nodes=2)


def attempts(cluster: Watched) -> dict[str, float]:
    read = cluster.read()
    return {state: read.of(ATTEMPTS, state=state) for state in ("allocated", "released", "rejected")}


@pytest.mark.rule("METRIC-2", "METRIC-15")
def test_a_pod_is_counted_once_on_its_node_and_once_off_it() -> None:
    cluster = watched()
    cluster.place("p")
    cluster.see("p", node="n1", version=2)
    cluster.see("p", node="n1", version=3)
    assert attempts(cluster) == {"allocated": 1, "released": 0, "rejected": 0}
    cluster.drop("p")
    cluster.drop("p")
    assert attempts(cluster) == {"allocated": 1, "released": 1, "rejected": 0}
    read = cluster.read()
    assert read.of("yunikorn_root_a_queue_container", state="allocated") == 1
    assert read.of("yunikorn_root_a_queue_container", state="released") == 1
    assert read.of("yunikorn_root_b_queue_container", state="allocated") == 0


@pytest.mark.rule("METRIC-2")
def test_a_pod_that_a_list_lacks_has_left_its_node() -> None:
    cluster = watched()
    cluster.place("p")
    cluster.place("q")
    cluster.learn(on.PodsListBegun())
    cluster.see("q", node="n1", version=2)
    cluster.learn(on.PodsListed(frozenset({make_pod("q").uid})))
    assert attempts(cluster) == {"allocated": 2, "released": 1, "rejected": 0}


@pytest.mark.rule("METRIC-2", "METRIC-3")
def test_what_the_first_lists_show_was_there_before() -> None:
    """A start does not count as a burst of a thousand allocations."""
    cluster = Watched(make_queue("root.a"), listed=False)
    cluster.see("p", node="n1")
    cluster.learn(on.PodsListed(frozenset({make_pod("p").uid})))
    read = cluster.read()
    assert attempts(cluster)["allocated"] == 0
    assert read.of(SUBMISSIONS, result="new") == 0
    assert read.of(APPLICATIONS, state="running") == 1
    cluster.drop("p")
    assert attempts(cluster)["released"] == 1


@pytest.mark.rule("METRIC-2")
def test_a_foreign_pod_is_not_counted() -> None:
    cluster = watched()
    cluster.see("p", node="n1", scheduler_name="default-scheduler", app="", queue="")
    cluster.drop("p")
    assert attempts(cluster) == {"allocated": 0, "released": 0, "rejected": 0}


@pytest.mark.rule("METRIC-2")
def test_a_call_that_fails_is_an_error() -> None:
    cluster = watched()
    measured = cluster.metrics.calls.measure(cluster.metrics.failed)
    measured("filter", 0.001, "")
    measured("filter", 0.001, "bad body")
    assert cluster.read().of(ATTEMPTS, state="error") == 1


@pytest.mark.rule("METRIC-3", "METRIC-4", "METRIC-14")
def test_the_life_of_an_application() -> None:
    cluster = watched()
    cluster.place("p")
    read = cluster.read()
    assert [read.of(SUBMISSIONS, result=each) for each in ("new", "accepted", "rejected")] == [1, 1, 0]
    assert read.of(APPLICATIONS, state="running") == 1
    assert read.of("yunikorn_queue_app", queue="root.a", state="running") == 1
    assert read.of("yunikorn_root_a_queue_app", state="running") == 1
    cluster.drop("p")
    assert cluster.read().of(APPLICATIONS, state="completing") == 1
    cluster.pass_time(31)
    read = cluster.read()
    assert [read.of(APPLICATIONS, state=each) for each in ("running", "completing", "completed")] == [0, 0, 1]
    assert read.of("yunikorn_queue_app", queue="root.a", state="completed") == 1
    assert read.of("yunikorn_queue_app_total", queue="root.a", state="completed") == 1
    assert read.of("yunikorn_root_a_queue_app", state="completed") == 1


@pytest.mark.rule("METRIC-3")
def test_an_application_of_the_same_id_that_comes_later_is_a_new_one() -> None:
    cluster = watched()
    for name in ("p", "q"):
        cluster.place(name)
        cluster.drop(name)
        cluster.pass_time(31)
    read = cluster.read()
    assert read.of(SUBMISSIONS, result="new") == 2
    assert read.of(APPLICATIONS, state="completed") == 2


@pytest.mark.rule("METRIC-2", "METRIC-3", "METRIC-13")
def test_a_refused_application_counts_once_under_the_one_label_of_unknown_queues() -> None:
    cluster = watched()
    for place in range(3):
        cluster.see(f"p{place}", queue="root.nowhere", app="lost")
    read = cluster.read()
    assert [read.of(SUBMISSIONS, result=each) for each in ("new", "accepted", "rejected")] == [1, 0, 1]
    assert attempts(cluster)["rejected"] == 3
    assert read.of("yunikorn_queue_app", queue="other", state="rejected") == 1
    assert read.of("yunikorn_queue_app_total", queue="other", state="rejected") == 1
    assert not [each for each in read.labels("yunikorn_queue_app") if "nowhere" in each["queue"]]


@pytest.mark.rule("METRIC-5")
def test_nodes_by_state() -> None:
    cluster = watched()
    cluster.learn(on.ObjectObserved(on.NODES, make_node("n1")))
    cluster.learn(on.ObjectObserved(on.NODES, make_node("n2")))
    cluster.learn(on.ObjectDeleted(on.NODES, NodeName("n2")))
    cluster.learn(on.ObjectDeleted(on.NODES, NodeName("n2")))
    read = cluster.read()
    assert {
        state: read.of("yunikorn_scheduler_node", state=state)
        for state in ("active", "draining", "failed", "decommissioned")
    } == {"active": 1, "draining": 0, "failed": 0, "decommissioned": 1}


@pytest.mark.rule("METRIC-12")
@pytest.mark.parametrize(
    ("cpu", "label"),
    [
        pytest.param(1, "[0,10%]", id="hardly used"),
        pytest.param(10_000, "[0,10%]", id="ten percent"),
        pytest.param(11_000, "(10%,20%]", id="eleven percent"),
        pytest.param(90_000, "(80%,90%]", id="ninety percent"),
        pytest.param(100_000, "(90%,100%]", id="full"),
        pytest.param(250_000, "(90%,100%]", id="above"),
    ],
)
def test_a_node_is_in_the_tenth_of_its_usage(cpu: int, label: str) -> None:
    cluster = Watched(make_queue("root.a"))
    cluster.see("p", node="n1", cpu=cpu)
    read = cluster.read()
    usage = "yunikorn_scheduler_vcore_node_usage_total"
    assert [each["range"] for each in read.labels(usage) if read.of(usage, **each)] == [label]


@pytest.mark.rule("METRIC-6", "METRIC-7")
def test_filter_calls_are_timed_in_seconds() -> None:
    cluster = watched()
    cluster.metrics.yunikorn.calls.filtered(0.05, 10)
    cluster.metrics.yunikorn.calls.filtered(0.5, 0)
    read = cluster.read()
    scheduler = "yunikorn_scheduler_"
    assert read.of(f"{scheduler}scheduling_latency_milliseconds_count") == 1
    assert read.of(f"{scheduler}scheduling_latency_milliseconds_bucket", le="0.01") == 0
    assert read.of(f"{scheduler}scheduling_latency_milliseconds_bucket", le="0.1") == 1
    assert read.of(f"{scheduler}trynode_latency_milliseconds_sum") == pytest.approx(0.005)


@pytest.mark.rule("METRIC-9", "METRIC-10")
def test_a_filter_call_is_a_cycle_and_an_evaluation_of_nodes() -> None:
    cluster = watched()
    cluster.metrics.yunikorn.calls.filtered(0.05, 10)
    cluster.metrics.yunikorn.calls.filtered(0.5, 0)
    read = cluster.read()
    scheduler = "yunikorn_scheduler_"
    for name in ("scheduling_cycle", "trynode_evaluation"):
        assert read.of(f"{scheduler}{name}_milliseconds_count") == 2
        assert read.of(f"{scheduler}{name}_milliseconds_sum") == pytest.approx(0.55)


@pytest.mark.rule("METRIC-8", "METRIC-11")
def test_attempts_and_slices_are_timed() -> None:
    cluster = watched()
    calls = cluster.metrics.yunikorn.calls
    calls.begin_attempt(make_pod("p").uid)
    calls.end_attempt(make_pod("p").uid)
    calls.end_attempt(make_pod("p").uid)
    calls.sliced(0.0005)
    read = cluster.read()
    assert read.of("yunikorn_scheduler_trypreemption_latency_milliseconds_count") == 1
    sorting = "yunikorn_scheduler_node_sorting_latency_milliseconds_count"
    assert (read.of(sorting, level="queue"), read.of(sorting, level="app")) == (1, 0)


def test_nothing_stays_of_what_was_deleted() -> None:
    cluster = watched()
    for place in range(50):
        cluster.place(f"p{place}", app=f"app-{place}")
    for place in range(50):
        cluster.drop(f"p{place}")
    cluster.pass_time(31)
    for _ in range(4):
        cluster.pass_time(0.1)
    series = cluster.metrics.yunikorn
    assert (len(series._pods), len(series._applications)) == (0, 0)
