"""Pods that are woken when capacity appears (DESIGN-3, Waking)."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.cycle import WORK_PER_SLICE
from core.ledger.effects import WakePod
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import QueueSpec
from tests.builders import (
    START,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
    usage,
    woken,
)

BLOCKER = make_pod("blocker", node="n1", cpu=4000, app="blocker")


def refused(ledger: Ledger, *names: str, **facts: object) -> list[str]:
    """Asks that were refused at `START`, in that order."""
    uids = []
    for name in names:
        pod = make_pod(name, **{"app": f"app-{name}", **facts})  # type: ignore[arg-type]
        ledger.apply(on.PodObserved(pod), now=START)
        filtered(ledger, pod.uid, now=START)
        record = ledger.view.pod(pod.uid)
        assert record is not None
        assert record.admission.refused
        uids.append(str(pod.uid))
    return uids


def full(*queues: QueueSpec) -> Ledger:
    """``root.a`` of 4 cores, all of them taken by one pod; no cycle is wanted."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 4000}), *queues)
    ledger.apply(on.PodObserved(BLOCKER), now=START)
    woken(ledger, now=START)
    return ledger


def free(ledger: Ledger, *, now: float = START) -> None:
    ledger.apply(on.PodDeleted(BLOCKER.uid), now=now)


def tick(ledger: Ledger, at: float) -> None:
    ledger.apply(on.TimePassed(), now=START + at)


# -- when, and how many ------------------------------


@pytest.mark.parametrize(
    "free_capacity",
    [
        lambda ledger: ledger.apply(on.PodDeleted(BLOCKER.uid), now=START),
        lambda ledger: ledger.apply(on.PodObserved(make_pod("blocker", node="n1", terminal=True)), now=START),
        lambda ledger: ledger.apply(on.PodsListed(_uids(ledger) - {BLOCKER.uid}), now=START),
        lambda ledger: ledger.apply(
            on.Configured(make_partition(make_queue("root.a", max={"vcore": 8000})), LedgerSettings()),
            now=START,
        ),
    ],
    ids=["a deleted pod", "a finished pod", "a pod a list lacks", "a raised quota"],
)
def test_freed_capacity_wakes_as_many_as_fit(free_capacity: Callable[[Ledger], None]) -> None:
    ledger = full()
    uids = refused(ledger, *(f"p{at}" for at in range(6)))
    assert not ledger.view.cycle_wanted
    free_capacity(ledger)
    assert woken(ledger, now=START) == uids[:4]
    assert not ledger.view.cycle_wanted


def _uids(ledger: Ledger) -> frozenset[PodUid]:
    return frozenset(record.uid for record in ledger.view.pods())


def test_a_new_node_is_capacity() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    uids = refused(ledger, "one", "two")
    woken(ledger, now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node(cpu=1000)), now=START)
    assert woken(ledger, now=START) == uids[:1]


def test_an_expired_reservation_is_capacity() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    ledger.apply(on.PodObserved(make_pod("held", app="held")), now=START)
    filtered(ledger, "uid-held", now=START)
    (uid,) = refused(ledger, "next")
    tick(ledger, 30)
    assert woken(ledger, now=START + 30) == [uid]


def test_a_wake_up_names_the_pod_and_a_new_token() -> None:
    ledger = full()
    refused(ledger, "p")
    free(ledger)
    (first,) = ledger.apply(on.CycleDue(), now=START)
    tick(ledger, 2)
    (second,) = ledger.apply(on.CycleDue(), now=START + 2)
    assert isinstance(first, WakePod)
    assert isinstance(second, WakePod)
    assert (first.uid, first.namespace, first.name) == ("uid-p", "default", "p")
    assert first.token != second.token


@pytest.mark.rule("REQ-1")
def test_higher_priority_first_then_older_then_seen_earlier() -> None:
    ledger = full()
    facts = [("young", 0, 50.0), ("old", 0, 10.0), ("high", 9, 99.0), ("old-too", 0, 10.0), ("low", -1, 1.0)]
    for name, priority, created in facts:
        refused(ledger, name, priority=priority, created=created)
    free(ledger)
    assert woken(ledger, now=START) == ["uid-high", "uid-old", "uid-old-too", "uid-young"]


def test_an_ask_that_does_not_fit_does_not_hold_back_smaller_ones() -> None:
    ledger = full()
    refused(ledger, "huge", cpu=5000, priority=9)
    big = refused(ledger, "big", cpu=3000)
    small = refused(ledger, "small", "smaller", cpu=600)
    free(ledger)
    assert woken(ledger, now=START) == [*big, small[0]]


@pytest.mark.rule("QUO-8", "SORT-1")
def test_the_parents_capacity_is_divided_by_share() -> None:
    """Each of two asks in ``x`` is half of its max. Each of three in ``p`` is a third of the max of ``y``."""
    ledger = make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 3000}),
        make_queue("root.p.x", max={"vcore": 2000}),
        make_queue("root.p.y"),
    )
    blocker = make_pod("blocker", node="n1", cpu=3000, queue="root.p.y", app="blocker")
    ledger.apply(on.PodObserved(blocker), now=START)
    woken(ledger, now=START)
    in_x = refused(ledger, "x1", "x2", "x3", queue="root.p.x")
    in_y = refused(ledger, "y1", "y2", queue="root.p.y")
    ledger.apply(on.PodDeleted(blocker.uid), now=START)
    assert woken(ledger, now=START) == [in_x[0], *in_y]


def test_only_asks_whose_last_answer_was_our_refusal_are_woken() -> None:
    ledger = full()
    refused(ledger, "told")
    ledger.apply(on.PodObserved(make_pod("untold", app="untold")), now=START)
    refused(ledger, "bound", "left", "held")
    ledger.apply(on.PodObserved(make_pod("bound", app="app-bound", node="n1", version=2)), now=START)
    ledger.apply(on.PodDeleted(make_pod("left").uid), now=START)
    ledger.apply(on.PodObserved(make_pod("held", gates=("example.com/wait",), version=2)), now=START)
    free(ledger)
    assert woken(ledger, now=START) == ["uid-told"]


def test_a_pod_placed_by_a_new_document_is_woken() -> None:
    ledger = make_ledger(make_queue("root.a"))
    uids = refused(ledger, "one", "two", queue="root.b")
    woken(ledger, now=START)
    document = make_partition(make_queue("root.a"), make_queue("root.b", max={"vcore": 1000}))
    ledger.apply(on.Configured(document, LedgerSettings()), now=START)
    assert woken(ledger, now=START) == uids[:1]


# -- on its way, and overlooked ------------------------------


def test_capacity_given_to_an_ask_on_its_way_is_not_given_again() -> None:
    ledger = full()
    uids = refused(ledger, *(f"p{at}" for at in range(6)))
    free(ledger)
    assert woken(ledger, now=START) == uids[:4]
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2")), now=START)
    assert woken(ledger, now=START + 1) == []
    for uid in uids[:4]:
        filtered(ledger, uid, now=START + 1)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n3")), now=START + 1)
    assert woken(ledger, now=START + 1) == []
    assert usage(ledger, "root.a") == (0, 4000, 2000)


def test_an_ask_is_not_woken_twice_within_a_second() -> None:
    ledger = full()
    (uid,) = refused(ledger, "p")
    free(ledger)
    assert woken(ledger, now=START) == [uid]
    ledger.apply(on.PodObserved(BLOCKER_AGAIN), now=START)
    filtered(ledger, uid, now=START)
    ledger.apply(on.PodDeleted(BLOCKER_AGAIN.uid), now=START + 0.5)
    assert woken(ledger, now=START + 0.5) == []
    tick(ledger, 0.9)
    assert woken(ledger, now=START + 0.9) == []
    tick(ledger, 1.0)
    assert woken(ledger, now=START + 1.0) == [uid]


BLOCKER_AGAIN = make_pod("again", node="n1", cpu=4000, app="blocker")


def test_an_ask_that_does_not_come_holds_no_pod_up() -> None:
    ledger = full()
    first, second = refused(ledger, "first", "second", cpu=4000)
    free(ledger)
    assert woken(ledger, now=START) == [first]
    tick(ledger, 1.9)
    assert woken(ledger, now=START + 1.9) == []
    tick(ledger, 2.0)
    assert woken(ledger, now=START + 2.0) == [second]


@pytest.mark.parametrize(("placeholder", "next_one"), [(False, "uid-second"), (True, "uid-first")])
def test_a_placeholder_that_does_not_come_keeps_its_place(placeholder: bool, next_one: str) -> None:
    """Otherwise parts of several gangs would share the capacity, and none of them start (GANG-9)."""
    ledger = full()
    refused(ledger, "first", cpu=4000, placeholder=placeholder)
    refused(ledger, "second", cpu=4000)
    free(ledger)
    assert woken(ledger, now=START) == ["uid-first"]
    tick(ledger, 2.0)
    assert woken(ledger, now=START + 2.0) == [next_one]


def test_an_ask_that_never_comes_is_woken_ever_more_rarely() -> None:
    ledger = full()
    refused(ledger, "p")
    free(ledger)
    times = [at for at in range(400) if _tick_and_pass(ledger, float(at))]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps == [2, 4, 6, 10, 18, 34, *[62] * 5]


def _tick_and_pass(ledger: Ledger, at: float) -> list[str]:
    tick(ledger, at)
    return woken(ledger, now=START + at)


def test_coming_back_makes_it_prompt_again() -> None:
    ledger = full()
    (uid,) = refused(ledger, "p", cpu=4000)
    free(ledger)
    for at in range(20):
        _tick_and_pass(ledger, float(at))
    ledger.apply(on.PodObserved(BLOCKER_AGAIN), now=START + 20)
    filtered(ledger, uid, now=START + 20)
    ledger.apply(on.PodDeleted(BLOCKER_AGAIN.uid), now=START + 21)
    assert woken(ledger, now=START + 21) == [uid]


def test_a_wake_up_that_was_not_written_is_tried_again() -> None:
    ledger = full()
    (uid,) = refused(ledger, "p")
    free(ledger)
    assert woken(ledger, now=START) == [uid]
    ledger.apply(on.PodWoken(PodUid(uid), reached=False), now=START)
    tick(ledger, 1)
    assert woken(ledger, now=START + 1) == [uid]


@pytest.mark.parametrize(
    "event",
    [
        on.PodDeleted(make_pod("first").uid),
        on.PodObserved(make_pod("first", cpu=4000, version=2, deleting=True)),
        on.PodObserved(make_pod("first", cpu=9000, version=2)),
    ],
    ids=["deleted", "leaving", "grown beyond the room"],
)
def test_the_capacity_of_an_ask_that_cannot_take_it_goes_to_the_next(event: on.Event) -> None:
    ledger = full()
    first, second = refused(ledger, "first", "second", cpu=4000)
    free(ledger)
    assert woken(ledger, now=START) == [first]
    ledger.apply(event, now=START)
    assert woken(ledger, now=START) == [second]


# -- slices ------------------------------

MANY = WORK_PER_SLICE


def crowded_queues(parent_cores: int) -> list[QueueSpec]:
    parent = make_queue("root.p", leaf=False, max={"vcore": parent_cores * 1000, "pods": 9999})
    return [parent, *(make_queue(f"root.p.q{at:04}") for at in range(MANY))]


def crowd(*, parent_cores: int = 2 * MANY) -> tuple[Ledger, list[str]]:
    """Queues with one refused ask each, enough for many slices of a cycle.

    Then their parent gets capacity.
    """
    ledger = make_ledger(*crowded_queues(0), nodes=10)
    uids = [
        refused(ledger, f"p{at:04}", queue=f"root.p.q{at:04}", created=float(at))[0] for at in range(MANY)
    ]
    woken(ledger, now=START)
    opened = make_partition(*crowded_queues(parent_cores))
    ledger.apply(on.Configured(opened, LedgerSettings()), now=START)
    return ledger, uids


def slice_of(ledger: Ledger, *, now: float = START) -> list[str]:
    """The uids that the next slice with wake-ups wakes."""
    found: list[str] = []
    while ledger.view.cycle_wanted and not found:
        found = [effect.uid for effect in ledger.apply(on.CycleDue(), now=now) if isinstance(effect, WakePod)]
    return found


def test_a_long_pass_runs_in_slices_and_ends() -> None:
    ledger, uids = crowd()
    first = slice_of(ledger)
    assert first == uids[: len(first)]
    assert 0 < len(first) < MANY / 2
    assert ledger.view.cycle.running
    assert [*first, *woken(ledger, now=START)] == uids
    assert not ledger.view.cycle_wanted


def test_a_long_cycle_gives_capacity_once() -> None:
    ledger, uids = crowd(parent_cores=MANY - 10)
    assert woken(ledger, now=START) == uids[: MANY - 10]


def test_capacity_freed_during_a_cycle_is_seen_by_the_next() -> None:
    ledger, uids = crowd(parent_cores=MANY - 10)
    late = make_pod("late", node="n1", queue="root.p.q0000", app="app-p0000")
    ledger.apply(on.PodObserved(late), now=START)
    first = slice_of(ledger)
    ledger.apply(on.PodDeleted(late.uid), now=START)
    assert first[0] == uids[1]
    assert len([*first, *woken(ledger, now=START)]) == MANY - 10


def test_what_came_back_between_two_slices_is_counted_once() -> None:
    ledger, uids = crowd(parent_cores=MANY - 10)
    first = slice_of(ledger)
    for uid in first:
        filtered(ledger, uid, now=START)
    assert [*first, *woken(ledger, now=START)] == uids[: MANY - 10]


def test_an_ask_that_left_between_two_slices_is_passed_over() -> None:
    ledger, uids = crowd()
    first = slice_of(ledger)
    for uid in uids[len(first) : -3]:
        ledger.apply(on.PodDeleted(PodUid(uid)), now=START)
    assert woken(ledger, now=START) == uids[-3:]


def test_an_ask_that_grew_between_two_slices_is_judged_by_its_new_size() -> None:
    ledger, uids = crowd()
    last = MANY - 1
    first = slice_of(ledger)
    grown = make_pod(
        f"p{last:04}",
        queue=f"root.p.q{last:04}",
        app=f"app-p{last:04}",
        created=float(last),
        cpu=10**9,
        version=2,
    )
    ledger.apply(on.PodObserved(grown), now=START)
    assert woken(ledger, now=START) == uids[len(first) : last]


def test_a_document_during_a_pass_begins_another() -> None:
    ledger, uids = crowd()
    first = slice_of(ledger)
    partition = make_partition(*crowded_queues(len(first) + 5))
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    assert woken(ledger, now=START) == uids[len(first) : len(first) + 5]


@pytest.mark.rule("SORT-8")
def test_a_state_aware_leaf_admits_no_pod_while_one_has_a_turn() -> None:
    aware = replace(make_queue("root.a"), properties={"application.sort.policy": "stateaware"})
    ledger = make_ledger(aware)
    gates = ("paddock.dev/queue",)
    opened = []
    for name in ("one", "two"):
        ledger.apply(on.PodObserved(make_pod(name, app=name, gates=gates)), now=START)
        opened.append([getattr(effect, "uid", "") for effect in ledger.apply(on.CycleDue(), now=START)])
    assert opened == [["uid-one"], []]
    filtered(ledger, "uid-one", now=START)
    assert [getattr(effect, "uid", "") for effect in ledger.apply(on.CycleDue(), now=START)] == []
