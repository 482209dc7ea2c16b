"""ACT-21, ACT-22: the pods that an order to end an application is about."""

from dataclasses import replace

import pytest

from core.workload.daemon_set import Controller
from core.workload.ending import Ending, concerns, got_node_after, is_left_failed
from tests.builders import START, make_pod

ENDING = Ending("ann", START, START + 600, START - 60, "root.a")


@pytest.mark.rule("ACT-20")
@pytest.mark.parametrize(
    ("created", "concerned"), [(START - 61, True), (START - 60, True), (START - 59, False)]
)
def test_an_order_is_about_the_pods_of_its_time(created: float, concerned: bool) -> None:
    assert concerns(ENDING, replace(make_pod(), created=created), of_daemon_set=False) is concerned


@pytest.mark.rule("ACT-21")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"namespace": "kube-system"}, id="of the system"),
        pytest.param({"mirror": True}, id="of a kubelet"),
    ],
)
def test_pods_that_no_order_is_about(change: dict[str, object]) -> None:
    pod = replace(make_pod(), created=START - 100)
    assert concerns(ENDING, pod, of_daemon_set=False)
    assert not concerns(ENDING, replace(pod, **change), of_daemon_set=False)  # type: ignore[arg-type]


@pytest.mark.rule("ACT-21")
def test_a_pod_of_a_daemon_set_is_not_ended_but_one_that_only_names_it_is() -> None:
    pod = replace(make_pod(), created=START - 100, daemon_set=Controller("agents", "uid"))
    assert not concerns(ENDING, pod, of_daemon_set=True)
    assert concerns(ENDING, pod, of_daemon_set=False)


@pytest.mark.rule("ACT-21")
@pytest.mark.parametrize(
    ("controller", "fails"),
    [
        ("", True),
        ("Job.batch/one", True),
        ("Job.batch.volcano.sh/one", False),
        ("ReplicaSet.apps/one", False),
        ("Job/batch/one", False),
    ],
)
def test_only_some_pending_pods_are_failed(controller: str, fails: bool) -> None:
    assert is_left_failed(replace(make_pod(), controller=controller)) is fails


@pytest.mark.rule("ACT-22")
@pytest.mark.parametrize(
    ("bar", "placed", "skew", "is_after"),
    [
        pytest.param(600, 0, 0.0, False, id="as the order was given"),
        pytest.param(600, 4, 0.0, False, id="by a clock that is ahead"),
        pytest.param(600, 594, 0.0, False, id="before the end"),
        pytest.param(600, 596, 0.0, True, id="after the end, by a clock that is behind"),
        pytest.param(600, 560, -40.0, True, id="after the end, by a clock that is known to be behind"),
        pytest.param(600, 630, 40.0, False, id="before the end, by a clock that is known to be ahead"),
        pytest.param(1, 0, 0.0, False, id="without a bar, in the second of the order"),
        pytest.param(1, 1, 0.0, True, id="without a bar, afterwards"),
    ],
)
def test_a_pod_that_got_its_node_after_the_bar(bar: int, placed: int, skew: float, is_after: bool) -> None:
    ending = replace(ENDING, until=START + bar)
    assert got_node_after(ending, START + placed, skew=skew) is is_after
