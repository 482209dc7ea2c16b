"""The engine's own work, in small slices between verbs."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.cycle import WORK_PER_SLICE
from core.ledger.effects import Effect, OpenGate
from core.ledger.node_reservation.search import AGED_AT_ONCE
from core.reasons import Code
from core.workload.pod import OWN_GATE
from extender.engine.slices import (
    ASKED_RECENTLY,
    FREED_APART,
    PASSES_APART,
    REPORTED_AT_ONCE,
    ROUNDS_APART,
)
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
    assert rig.engine.calls == 0
    rig.engine.asked()
    assert rig.engine.calls == 1
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


def test_a_reason_is_given_again_when_a_turn_has_been_used_though_no_cycle_follows() -> None:
    """While another pod has the turn, a pod waits for its own. Then that pod has a node and the quota."""
    rig = Rig(ledger=make_ledger(make_queue("root.a", max={"vcore": 1000}), nodes=3))
    gated(rig, 2)
    rig.run_planned()
    assert reason_of(rig, "p1") is Code.WAITING_FOR_TURN
    begun = sum(rig.engine.view.cycle.begun.values())
    rig.engine.learn(on.PodObserved(make_pod("p0", app="a0", node="n1", created=0.0, version=2)))
    rig.run_planned()
    assert reason_of(rig, "p1") is Code.QUOTA_EXCEEDED
    assert sum(rig.engine.view.cycle.begun.values()) == begun


def reason_of(rig: Rig, name: str) -> Code:
    """Reason that is noted for a gated pod."""
    record = rig.engine.view.pod(PodUid(f"uid-{name}"))
    assert record is not None
    assert record.admission.hold is not None
    return record.admission.hold.reason


# -- how soon a cycle begins ---------------------------------------------------------------------------------


class Timed(Rig):
    """A rig whose plans have times. ``takes``: seconds that the clock advances at each opened gate."""

    def __init__(self, *, takes: float = 0.0) -> None:
        super().__init__(ledger=make_ledger(make_queue("root.a", max={"vcore": 1000}), nodes=3))
        self.takes = takes
        self.plans: list[tuple[float, Callable[[], None]]] = []

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        if hasattr(self, "plans"):
            self.plans.append((self.time + seconds, call))

    def _perform(self, effect: Effect) -> None:
        super()._perform(effect)
        if isinstance(effect, OpenGate):
            self.time += self.takes

    def cycle_at(self) -> float:
        """The time of the first plan that begins a cycle. It runs, and so do those before it."""
        while True:
            moment, call = min(self.plans, key=lambda plan: plan[0])
            self.plans.remove((moment, call))
            self.time = max(self.time, moment)
            begun = sum(self.engine.view.cycle.begun.values())
            call()
            if sum(self.engine.view.cycle.begun.values()) > begun:
                return moment

    def comes(self, name: str) -> None:
        self.engine.learn(on.PodObserved(make_pod(name, app=name, gates=(OWN_GATE,))))

    def ends(self, name: str) -> None:
        self.engine.learn(on.PodDeleted(PodUid(f"uid-{name}")))


def after_a_cycle(*, takes: float = 0.0) -> tuple[Timed, float]:
    """A full queue whose last cycle opened one gate, and the time of that cycle."""
    rig = Timed(takes=takes)
    rig.comes("runs")
    return rig, rig.cycle_at()


def test_cycles_for_asks_that_come_are_apart() -> None:
    rig, last = after_a_cycle()
    rig.comes("later")
    assert rig.cycle_at() == pytest.approx(last + PASSES_APART)


def test_a_freed_slot_waits_for_no_burst_and_for_no_cycle_that_is_planned_for_later() -> None:
    rig, last = after_a_cycle()
    rig.comes("later")
    rig.ends("runs")
    assert rig.cycle_at() == pytest.approx(last + FREED_APART)
    assert [effect.name for effect in rig.effects if isinstance(effect, OpenGate)] == ["runs", "later"]
    while rig.plans:
        rig.plans.pop(0)[1]()
    assert not rig.engine.view.cycle_wanted


@pytest.mark.parametrize(("takes", "apart"), [(0.001, 0.004), (0.004, 0.016), (0.006, 0.02), (0.05, 0.05)])
def test_cycles_for_freed_slots_are_apart_by_what_the_last_one_took(takes: float, apart: float) -> None:
    rig, last = after_a_cycle(takes=takes)
    rig.comes("later")
    rig.ends("runs")
    assert rig.cycle_at() == pytest.approx(last + apart)
