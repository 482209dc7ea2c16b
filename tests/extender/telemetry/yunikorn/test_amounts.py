"""METRIC-1 has the same numbers as the queues of REST-6, after any events."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger import events as on
from core.resource import Resource
from extender.rest.facts import Facts
from extender.rest.members import members
from extender.rest.projection.counting import AFLOAT_AT_ONCE, Afloat, count_afloat
from extender.rest.projection.queues import one_queue
from extender.telemetry.queue_texts import FEW_AFLOAT
from extender.telemetry.yunikorn.families import AMOUNTS
from tests.builders import bind_called, filtered, make_partition, make_pod, make_queue
from tests.extender.telemetry.yunikorn.reading import Read, Watched

QUEUES = ("root.a", "root.b.c", "root.b.d")
STEPS = ("see", "place", "filter", "bind", "drop", "raise", "lower")

Step = tuple[str, int, int]


def documents(vcore: int | None) -> list:  # type: ignore[type-arg]
    most = {"vcore": vcore} if vcore is not None else None
    return [
        make_queue("root.a", max=most, guaranteed={"memory": 5} if vcore else None),
        make_queue("root.b", leaf=False),
        make_queue("root.b.c"),
        make_queue("root.b.d", max={"memory": 0, "vcore": 10**15 + 1}),
    ]


def play(cluster: Watched, step: Step) -> None:
    what, place, amount = step
    name, queue = f"p{place}", QUEUES[place % 3]
    pod = {"queue": queue, "app": f"app-{place % 4}-{queue}", "size": Resource({"vcore": amount, "pods": 1})}
    known = cluster.ledger.view.pod(make_pod(name).uid)
    match what:
        case "see" if known is None:
            cluster.see(name, **pod)
        case "place" if known is None:
            cluster.see(name, node="n1", **pod)
        case "filter":
            filtered(cluster.ledger, make_pod(name).uid, now=cluster.now)
        case "bind":
            bind_called(cluster.ledger, make_pod(name).uid, "n1", now=cluster.now)
        case "drop":
            cluster.drop(name)
        case "raise" | "lower":
            partition = make_partition(*documents(amount * 100 if what == "raise" else None))
            cluster.learn(on.Configured(partition, cluster.ledger.view.settings))
        case _:
            pass


def read_amounts(read: Read, path: str) -> dict[str, dict[str, int]]:
    """The amounts of a queue by state, zeros left out."""
    found: dict[str, dict[str, int]] = {}
    for each in read.labels("yunikorn_queue_resource"):
        value = read.of("yunikorn_queue_resource", **each)
        if each["queue"] == path and value and each["state"] != "maxRunningApps":
            found.setdefault(each["state"], {})[each["resource"]] = int(value)
    return found


def shown(cluster: Watched, path: str) -> dict[str, dict[str, int]]:
    """The amounts of a queue as REST shows them."""
    view = cluster.ledger.view
    queue = view.tree.get(path)
    assert queue is not None
    body = members(one_queue(Facts(view), queue))
    shown = {state: body.get(f"{state}Resource", {}) for state in AMOUNTS}
    amounts = {state: {name: n for name, n in each.items() if n} for state, each in shown.items()}
    return {state: each for state, each in amounts.items() if each}


steps = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 5), st.sampled_from((1, 7, 200, 2**40))),
    min_size=1,
    max_size=25,
)


@pytest.mark.rule("METRIC-1")
@settings(max_examples=60, deadline=None)
@given(history=steps)
def test_random_histories(history: list[Step]) -> None:
    cluster = Watched(*documents(1000))
    for step in history:
        play(cluster, step)
        read = cluster.read()
        for queue in cluster.ledger.view.tree:
            assert read_amounts(read, queue.path) == shown(cluster, queue.path)


@pytest.mark.rule("METRIC-1")
def test_from_filter_to_node() -> None:
    """A pod is pending until its Binding is sent, and then allocated."""
    cluster = Watched(*documents(None))
    uid, size = make_pod("p").uid, {"vcore": 7, "pods": 1}
    cluster.see("p", size=Resource(size))
    filtered(cluster.ledger, uid, now=cluster.now)
    assert read_amounts(cluster.read(), "root.a") == shown(cluster, "root.a") == {"pending": size}
    bind_called(cluster.ledger, uid, "n1", now=cluster.now)
    assert read_amounts(cluster.read(), "root.a") == shown(cluster, "root.a") == {"allocated": size}


@pytest.mark.rule("METRIC-1")
def test_a_type_that_goes_is_set_to_zero() -> None:
    cluster = Watched(*documents(1000))
    cluster.see("p", size=Resource({"vcore": 1, "example.com/gpu": 2}))
    labels = {"queue": "root.a", "state": "pending", "resource": "example.com/gpu"}
    assert cluster.read().of("yunikorn_queue_resource", **labels) == 2
    cluster.see("q", queue="root.b.c", app="other", size=Resource({"vcore": 1, "example.com/gpu": 2}))
    cluster.drop("p")
    assert cluster.read().of("yunikorn_queue_resource", **labels) == 0
    cluster.learn(on.Configured(make_partition(*documents(None)), cluster.ledger.view.settings))
    assert cluster.read().of("yunikorn_queue_resource", queue="root.a", state="max", resource="vcore") == 0


@pytest.mark.rule("METRIC-1")
def test_whole_numbers_keep_every_digit() -> None:
    cluster = Watched(*documents(1000))
    line = b'yunikorn_queue_resource{queue="root.b.d",state="max",resource="vcore"} 1000000000000001\n'
    assert line in cluster.metrics.exposition()


@pytest.mark.rule("METRIC-1")
def test_the_number_of_applications_that_may_run() -> None:
    cluster = Watched(replace(make_queue("root.a"), max_applications=7))
    read = cluster.read()
    name = "yunikorn_queue_resource"
    assert read.of(name, queue="root.a", state="maxRunningApps", resource="apps") == 7
    assert {each["queue"] for each in read.labels(name) if each["state"] == "maxRunningApps"} == {"root.a"}


@pytest.mark.rule("METRIC-14")
def test_a_queue_that_is_made_again_keeps_what_has_ended_in_it() -> None:
    cluster = Watched(make_queue("root.a"), make_queue("root.b"))
    cluster.place("p")
    cluster.drop("p")
    cluster.pass_time(31)
    for queues in ((make_queue("root.b"),), (make_queue("root.a"), make_queue("root.b"))):
        cluster.learn(on.Configured(make_partition(*queues), cluster.ledger.view.settings))
        cluster.learn(on.CleanerDue())
        read = cluster.read()
        assert read.of("yunikorn_queue_app_total", queue="root.a", state="completed") == 1
    assert read.of("yunikorn_root_a_queue_container", state="allocated") == 0


@pytest.mark.rule("METRIC-1")
def test_many_pods_between_filter_and_node_are_counted_in_slices() -> None:
    cluster = Watched(*documents(None))
    for place in range(3 * FEW_AFLOAT):
        cluster.see(f"p{place}", size=Resource({"vcore": 7, "pods": 1}))
        filtered(cluster.ledger, make_pod(f"p{place}").uid, now=cluster.now)
    wanted = {"pending": {"vcore": 21 * FEW_AFLOAT, "pods": 3 * FEW_AFLOAT}}
    assert read_amounts(cluster.read(), "root.a") == shown(cluster, "root.a") == wanted
    pauses = sum(1 for _ in count_afloat(cluster.ledger.view, Afloat()))
    assert pauses == 3 * FEW_AFLOAT // AFLOAT_AT_ONCE
