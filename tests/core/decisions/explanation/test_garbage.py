"""Garbage of an explanation: it leaves nothing that only the garbage collector could free.

Otherwise whoever may ask could fill the memory; see `tests.garbage`.
"""

from collections.abc import Generator

import pytest

from core.decisions.arriving import ArrivalExplanation, explain_arrival
from core.decisions.explanation import playing
from core.decisions.explanation.explaining import explain_pod
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.reasons import Code
from tests.builders import START, make_ledger, make_node, make_pod, make_queue
from tests.core.decisions.explanation.scenes import ASK, SCENES, cycled, observed
from tests.garbage import without_garbage


def rivals(*, cap: int, cpu: int) -> Ledger:
    """Pods of three leaves wait. Six of them run: ``cap`` of each leaf, ``cpu`` of each of two nodes."""
    leaves = [make_queue(f"root.t.{name}", max={"vcore": cap}) for name in "abc"]
    ledger = make_ledger(make_queue("root.t", leaf=False, max={"vcore": 3 * cap}), *leaves)
    for number in range(2):
        node = make_node(f"n{number + 1}", cpu=cpu)
        ledger.apply(on.ObjectObserved(on.NODES, node), now=START)
    for number in range(12):
        at = f"n{number % 2 + 1}" if number < 6 else ""
        observed(ledger, f"p{number}", queue=f"root.t.{'abc'[number % 3]}", app=f"app-{number % 4}", node=at)
    observed(ledger, "ask", queue="root.t.a", app="asking")
    return cycled(ledger)


WORLDS = {
    "limits": lambda: rivals(cap=2000, cpu=16_000),
    "nodes": lambda: rivals(cap=9000, cpu=3000),
    "both": lambda: rivals(cap=3000, cpu=3000),
}


def run(steps: Generator[int, None, object], at_most: int = 10**6) -> bool:
    """Run some steps and close the rest. True if all were run."""
    try:
        for _ in range(at_most):
            next(steps)
    except StopIteration:
        return True
    steps.close()
    return False


@pytest.mark.parametrize("name", WORLDS)
def test_an_explanation_leaves_no_garbage(name: str) -> None:
    ledger = WORLDS[name]()
    assert ASK in ledger.view.waiting
    with without_garbage():
        assert run(explain_pod(ledger.view, ASK, now=START))


@pytest.mark.parametrize("code", SCENES)
def test_no_scene_leaves_garbage(code: Code) -> None:
    ledger, uid = SCENES[code]()
    with without_garbage():
        assert run(explain_pod(ledger.view, PodUid(uid), now=START))


@pytest.mark.parametrize("name", WORLDS)
def test_an_explanation_that_is_given_up_leaves_none(name: str) -> None:
    ledger, steps = WORLDS[name](), 0
    with without_garbage():
        while not run(explain_pod(ledger.view, ASK, now=START), steps):
            steps += 1
    assert steps > 20


@pytest.mark.parametrize("units", [1, 3, 10, 30])
@pytest.mark.parametrize("name", WORLDS)
def test_a_budget_that_is_over_leaves_none(name: str, units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "UNITS_AT_MOST", units)
    monkeypatch.setattr(playing, "RACED_AT_MOST", units)
    ledger = WORLDS[name]()
    with without_garbage():
        assert run(explain_pod(ledger.view, ASK, now=START))


@pytest.mark.parametrize("queue", ["root.t.a", "root.t.new"])
@pytest.mark.parametrize("name", WORLDS)
def test_pods_that_do_not_exist_leave_none(name: str, queue: str) -> None:
    ledger = WORLDS[name]()
    pods = [make_pod(f"new-{number}", queue=queue, app="new") for number in range(3)]

    def explained() -> Generator[int, None, None]:
        found: ArrivalExplanation = yield from explain_arrival(ledger.view, pods, now=START)
        found.arrival.dismantle()

    steps = 0
    with without_garbage():
        while not run(explained(), steps):
            steps += 1
    assert steps > 1
