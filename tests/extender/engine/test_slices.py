"""The engine's own work, in small slices between verbs."""

from itertools import pairwise

from core.ledger import events as on
from core.ledger.admission.cycle import WORK_PER_SLICE
from core.ledger.effects import OpenGate
from core.ledger.node_reservation.search import AGED_AT_ONCE
from core.workload.pod import OWN_GATE
from extender.engine.slices import ASKED_RECENTLY, REPORTED_AT_ONCE, ROUNDS_APART
from tests.builders import make_ledger, make_pod, make_queue
from tests.extender.rigs import Rig


def gated(rig: Rig, count: int) -> None:
    """Pods at Paddock's gate, each of an application of its own."""
    for at in range(count):
        pod = make_pod(f"p{at}", app=f"a{at}", gates=(OWN_GATE,), created=float(at))
        rig.engine.learn(on.PodObserved(pod))


def rounds(rig: Rig) -> list[int]:
    """Run planned work during a cycle, one round of the loop at a time. Returns the opened gates of each."""
    found = []
    while rig.engine.view.cycle_wanted:
        before, planned = len(rig.effects), rig.planned[:]
        del rig.planned[: len(planned)]
        for call in planned:
            call()
        found.append(sum(isinstance(effect, OpenGate) for effect in rig.effects[before:]))
    return found


def test_a_call_that_came_during_a_slice_is_read_and_answered_before_the_next() -> None:
    """An answer needs some rounds of the loop before it is written."""
    rig = gates_to_open()
    rig.engine.asked()
    assert rounds_apart(rig) == {ROUNDS_APART}


def test_gates_open_without_a_pause_while_no_call_comes() -> None:
    rig = gates_to_open()
    rig.engine.asked()
    rig.time += ASKED_RECENTLY
    assert rounds_apart(rig) == {1}


def gates_to_open() -> Rig:
    rig = Rig(ledger=make_ledger(make_queue("root.a"), nodes=3))
    gated(rig, WORK_PER_SLICE)
    return rig


def rounds_apart(rig: Rig) -> set[int]:
    """Rounds of the loop between any two slices of a cycle that opens all gates."""
    opened = rounds(rig)
    slices = [at for at, count in enumerate(opened) if count]
    assert sum(opened) == WORK_PER_SLICE
    assert len(slices) > 2
    return {later - earlier for earlier, later in pairwise(slices)}


def test_of_what_has_expired_some_is_taken_at_a_time_until_none_is_left() -> None:
    rig = Rig(ledger=make_ledger(make_queue("root.a"), nodes=0))
    for at in range(4 * AGED_AT_ONCE + 1):
        rig.engine.learn(on.PodObserved(make_pod(f"p{at}")))
    rig.engine.pass_time()
    planned = len(rig.planned)
    rig.engine.pass_time()  # The clock continues meanwhile, and must not start a second series of slices.
    assert len(rig.planned) == planned
    assert rig.engine.view.cycle.overdue
    while rig.planned:
        rig.planned.pop(0)()
    assert not rig.engine.view.cycle.overdue
    assert rig.engine.view.next_due() is None


def test_few_pods_at_a_time_get_a_reason() -> None:
    rig = Rig(ledger=make_ledger(make_queue("root.a", max={"vcore": 0, "memory": 1}), nodes=3))
    gated(rig, 2 * REPORTED_AT_ONCE + 1)
    assert reasons_by_slice(rig) == [REPORTED_AT_ONCE, REPORTED_AT_ONCE, 1]


def test_a_pod_that_comes_while_others_get_reasons_gets_one_too() -> None:
    rig = Rig(ledger=make_ledger(make_queue("root.a", max={"vcore": 0, "memory": 1}), nodes=3))
    gated(rig, 3 * REPORTED_AT_ONCE)
    while not reasons(rig):
        rig.planned.pop(0)()
    rig.engine.learn(on.PodObserved(make_pod("late", app="late", gates=(OWN_GATE,))))
    assert reasons_by_slice(rig) == [REPORTED_AT_ONCE, REPORTED_AT_ONCE, 1]


def reasons(rig: Rig) -> int:
    """Number of gated pods whose reason is noted."""
    return sum(each.admission.hold is not None for each in rig.engine.view.pods())


def reasons_by_slice(rig: Rig) -> list[int]:
    """Run all planned work. Returns the number of noted reasons of each slice, without zeros."""
    noted = []
    while rig.planned:
        before = reasons(rig)
        rig.planned.pop(0)()
        noted.append(reasons(rig) - before)
    return [count for count in noted if count]
