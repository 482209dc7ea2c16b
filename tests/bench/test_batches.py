"""Pods that the client of the benchmarks creates, and what its watch notes."""

import msgspec

from e2e.bench.rates.creating import GATED, Batch
from e2e.bench.rates.watching import Question, Seen, prefix_of


def test_pods_go_round_the_leaves_in_one_application_each() -> None:
    pods = [msgspec.json.decode(body) for body in Batch("ns", "m", 5, leaves=2).bodies()]
    assert [pod["metadata"]["name"] for pod in pods] == ["m-0-0", "m-1-1", "m-0-2", "m-1-3", "m-0-4"]
    queues = [pod["metadata"]["labels"]["yunikorn.apache.org/queue"] for pod in pods]
    assert queues[:3] == ["root.tenants.q0", "root.tenants.q1", "root.tenants.q0"]
    assert len({pod["metadata"]["labels"]["yunikorn.apache.org/app-id"] for pod in pods}) == 2
    assert prefix_of("m-0-4") == "m"


def test_pods_with_gates_of_their_own_are_applications_of_their_own() -> None:
    pod = Batch("ns", "x", 1, leaves=1, spec=GATED, parent="root.full").pod(0)
    assert pod["spec"]["schedulingGates"] == [{"name": "paddock.dev/queue"}]
    assert pod["metadata"]["labels"]["yunikorn.apache.org/queue"] == "root.full.q0"
    assert pod["metadata"]["labels"]["yunikorn.apache.org/app-id"] == "x-0"


def test_pods_that_no_queue_manages_have_no_labels() -> None:
    pod = Batch("ns", "u", 1, leaves=1, labelled=False).pod(0)
    assert pod["metadata"]["labels"] == {}
    assert pod["spec"]["schedulerName"] == "default-scheduler"


def test_only_the_first_event_of_each_kind_counts() -> None:
    seen = Seen()
    seen.note("ADDED", "m-0-0", "", 1.0)
    seen.note("MODIFIED", "m-0-0", "", 2.0)
    seen.note("MODIFIED", "m-0-0", "n1", 3.0)
    seen.note("MODIFIED", "m-0-0", "n1", 4.0)
    seen.note("DELETED", "m-0-0", "n1", 5.0)
    assert (seen.added, seen.bound, seen.deleted) == ({"m-0-0": 1.0}, {"m-0-0": 3.0}, {"m-0-0": 5.0})
    assert [(each.added, each.bound) for each in seen.times()] == [(1.0, 3.0)]


def test_a_question_is_answered_once_all_counts_are_reached() -> None:
    seen = Seen({"m-0-0": 1.0}, {"m-0-0": 2.0}, {})
    assert Question("m", added=1, bound=1).is_answered(seen)
    assert not Question("m", bound=2).is_answered(seen)
    assert not Question("m", deleted=1).is_answered(seen)
