"""Quota reservations between filter and bind: their duration and their end (DESIGN-3, Reservations)."""

import pytest

from core.ids import NodeName
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.workload.ask import Reservation
from core.workload.gangs.gang import GroupSource, PodGroup
from core.workload.pod import PodFacts
from tests.builders import (
    START,
    bind_called,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
    usage,
)

N1 = NodeName("n1")
UID = "uid-pod"
ALLOCATED, RESERVED, PENDING = (1000, 0, 0), (0, 1000, 0), (0, 0, 1000)


@pytest.fixture
def ledger() -> Ledger:
    """A ledger with one pod of one core, observed and admitted at `START`."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    ledger.apply(on.PodObserved(make_pod()), now=START)
    filtered(ledger, UID, now=START)
    return ledger


def after(ledger: Ledger, seconds: float) -> tuple[int, int, int]:
    """The queue's usage once time has passed to that many seconds after `START`."""
    ledger.apply(on.TimePassed(), now=START + seconds)
    return usage(ledger, "root.a")


def observe(ledger: Ledger, at: float, **facts: object) -> PodFacts:
    pod = make_pod(**facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START + at)
    return pod


def test_a_reservation_lasts_30_s(ledger: Ledger) -> None:
    assert after(ledger, 29.9) == RESERVED
    assert after(ledger, 30.0) == PENDING


def test_its_length_is_a_setting() -> None:
    ledger = make_ledger(make_queue("root.a"), settings=LedgerSettings(reservation_ttl=5.0))
    ledger.apply(on.PodObserved(make_pod()), now=START)
    filtered(ledger, UID, now=START)
    assert after(ledger, 4.9) == RESERVED
    assert after(ledger, 5.0) == PENDING


@pytest.mark.parametrize(("source", "seconds"), [(GroupSource.NATIVE, 5.0), (GroupSource.PLUGIN, 30.0)])
def test_members_of_a_native_pod_group_are_held_for_5_s(source: GroupSource, seconds: float) -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(pod_group=PodGroup("g", 0, source))), now=START)
    filtered(ledger, UID, now=START)
    assert after(ledger, seconds - 0.1) == RESERVED
    assert after(ledger, seconds) == PENDING


def test_a_pod_with_volumes_is_held_while_they_may_still_bind() -> None:
    """F-27: before Kubernetes 1.35 the pod shows no nominated node while its volumes are bound."""
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(has_volumes=True)), now=START)
    filtered(ledger, UID, now=START)
    assert after(ledger, 599.9) == RESERVED
    assert after(ledger, 600.0) == PENDING


def test_a_failure_ends_the_reservation_of_a_pod_with_volumes() -> None:
    """F-27."""
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(has_volumes=True)), now=START)
    filtered(ledger, UID, now=START)
    text = "running PreBind plugin: binding volumes: timed out"
    observe(ledger, 40, has_volumes=True, version=2, unscheduled=text)
    assert after(ledger, 41.9) == RESERVED
    assert after(ledger, 42.0) == PENDING


def test_a_new_filter_call_begins_it_anew(ledger: Ledger) -> None:
    filtered(ledger, UID, now=START + 20)
    assert after(ledger, 49.9) == RESERVED
    assert after(ledger, 50.0) == PENDING


@pytest.mark.rule("F-2")
@pytest.mark.parametrize(("again", "held"), [(False, PENDING), (True, RESERVED)])
def test_a_new_admission_outlives_the_bind_call_before_it(ledger: Ledger, again: bool, held: object) -> None:
    """kube-scheduler gave up that call and retries the pod, so the last answer counts."""
    bind_called(ledger, UID, N1, now=START + 1)
    if again:
        filtered(ledger, UID, now=START + 29)
    ledger.apply(on.BindFailed(UID, certain=True), now=START + 40)
    assert usage(ledger, "root.a") == held
    assert after(ledger, 69.9) == held
    assert after(ledger, 70.0) == PENDING


def test_a_new_filter_call_gives_up_what_was_held(ledger: Ledger) -> None:
    lowered = make_partition(make_queue("root.a", max={"vcore": 500}))
    ledger.apply(on.Configured(lowered, LedgerSettings()), now=START)
    filtered(ledger, UID, now=START + 1)
    assert usage(ledger, "root.a") == PENDING


def test_its_time_stands_still_while_a_bind_call_is_open(ledger: Ledger) -> None:
    bind_called(ledger, UID, now=START + 10)
    assert after(ledger, 500) == RESERVED
    ledger.apply(on.BindFailed(make_pod().uid, certain=False), now=START + 500)
    assert after(ledger, 519.9) == RESERVED
    assert after(ledger, 520) == PENDING


def test_its_time_stands_still_while_the_pod_is_nominated(ledger: Ledger) -> None:
    observe(ledger, 10, nominated=N1, version=2)
    assert after(ledger, 500) == RESERVED
    observe(ledger, 500, version=3)
    assert after(ledger, 519.9) == RESERVED
    assert after(ledger, 520) == PENDING


def test_its_time_stands_still_until_both_have_ended(ledger: Ledger) -> None:
    bind_called(ledger, UID, now=START + 5)
    observe(ledger, 10, nominated=N1, version=2)
    ledger.apply(on.BindFailed(make_pod().uid, certain=False), now=START + 100)
    assert after(ledger, 300) == RESERVED
    observe(ledger, 300, version=3)
    assert after(ledger, 324.9) == RESERVED
    assert after(ledger, 325) == PENDING


def test_a_pod_nominated_before_it_was_asked_about_is_held_too() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(nominated=N1)), now=START)
    filtered(ledger, UID, now=START)
    assert after(ledger, 100) == RESERVED


@pytest.mark.parametrize(
    ("facts", "usage_after"),
    [
        ({"node": "n1"}, ALLOCATED),
        ({"terminal": True}, (0, 0, 0)),
        ({"deleting": True}, (0, 0, 0)),
    ],
    ids=["bound", "terminal", "deleted while it waits"],
)
def test_it_ends_when_the_pod_is_bound_or_leaves(
    ledger: Ledger, facts: dict[str, object], usage_after: tuple[int, int, int]
) -> None:
    observe(ledger, 1, version=2, **facts)
    assert usage(ledger, "root.a") == usage_after
    assert len(ledger.view.reserved) == 0


def test_it_ends_when_the_pod_is_deleted(ledger: Ledger) -> None:
    ledger.apply(on.PodDeleted(make_pod().uid), now=START)
    assert usage(ledger, "root.a") == (0, 0, 0)
    assert len(ledger.view.reserved) == 0


def test_a_certain_failure_to_bind_ends_it(ledger: Ledger) -> None:
    bind_called(ledger, UID, now=START)
    ledger.apply(on.BindFailed(make_pod().uid, certain=True), now=START)
    assert usage(ledger, "root.a") == PENDING
    assert ledger.view.use_of(N1) is None


def test_a_binding_that_may_still_appear_holds_its_capacity_over_a_new_filter_call(ledger: Ledger) -> None:
    bind_called(ledger, UID, now=START)
    lowered = make_partition(make_queue("root.a", max={"vcore": 500}))
    ledger.apply(on.Configured(lowered, LedgerSettings()), now=START)
    filtered(ledger, UID, now=START + 1)
    assert usage(ledger, "root.a") == RESERVED


# -- kube-scheduler's own failure text ------------------------------


def test_a_failure_elsewhere_leaves_it_2_s(ledger: Ledger) -> None:
    observe(ledger, 10, unscheduled="0/5 nodes are available: 5 Insufficient cpu.", version=2)
    assert after(ledger, 11.9) == RESERVED
    assert after(ledger, 12.0) == PENDING


def test_a_failure_never_lengthens_it(ledger: Ledger) -> None:
    observe(ledger, 29, unscheduled="no fit", version=2)
    assert after(ledger, 30) == PENDING


def test_the_same_failure_again_leaves_it_alone() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(unscheduled="no fit")), now=START)
    filtered(ledger, UID, now=START)
    observe(ledger, 1, unscheduled="no fit", version=2)
    assert after(ledger, 29) == RESERVED


def test_a_failure_that_is_lifted_leaves_it_alone() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(unscheduled="no fit")), now=START)
    filtered(ledger, UID, now=START)
    observe(ledger, 1, unscheduled="", version=2)
    assert after(ledger, 29) == RESERVED


def test_our_own_text_coming_late_leaves_it_alone() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    blocker = make_pod("blocker", node="n1")
    for pod in (blocker, make_pod()):
        ledger.apply(on.PodObserved(pod), now=START)
    filtered(ledger, UID, now=START)
    ledger.apply(on.PodDeleted(blocker.uid), now=START)
    filtered(ledger, UID, now=START + 1)
    text = "0/1 nodes are available: 1 QuotaExceeded: root.a max vcore=1."
    observe(ledger, 2, unscheduled=text, version=2)
    assert after(ledger, 20) == RESERVED


def test_updates_older_than_the_pod_in_the_filter_call_leave_it_alone() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(version=1)), now=START)
    ledger.apply(on.PodOffered(make_pod(version=5)), now=START)
    filtered(ledger, UID, now=START)
    observe(ledger, 1, unscheduled="no fit", version=4)
    assert after(ledger, 20) == RESERVED
    observe(ledger, 21, unscheduled="no fit", version=6)
    assert after(ledger, 23) == PENDING


def test_updates_older_than_the_question_leave_it_alone_without_newer_ones_too() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(version=1)), now=START)
    ledger.apply(on.PodAdmitted(make_pod().uid, 5), now=START)
    observe(ledger, 1, unscheduled="no fit", version=4)
    assert after(ledger, 20) == RESERVED


# -- after a restart ------------------------------


def unlisted_ledger() -> Ledger:
    """A ledger as of `make_ledger`, before the list of pods."""
    ledger = Ledger()
    partition = make_partition(make_queue("root.a", max={"vcore": 1000}))
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node()), now=START)
    return ledger


@pytest.mark.parametrize(
    ("facts", "expected"),
    [({"nominated": N1}, RESERVED), ({}, PENDING), ({"nominated": N1, "node": "n1"}, ALLOCATED)],
    ids=["nominated", "not nominated", "bound"],
)
def test_a_nominated_pod_of_the_first_list_is_given_a_reservation(
    facts: dict[str, object], expected: tuple[int, int, int]
) -> None:
    ledger = unlisted_ledger()
    observe(ledger, 0, **facts)
    ledger.apply(on.PodsListed(frozenset({make_pod().uid})), now=START)
    assert after(ledger, 100) == expected


def test_the_time_of_such_a_reservation_runs_when_the_nomination_ends() -> None:
    ledger = unlisted_ledger()
    observe(ledger, 0, nominated=N1)
    ledger.apply(on.PodsListed(frozenset({make_pod().uid})), now=START)
    observe(ledger, 100, version=2)
    assert after(ledger, 129.9) == RESERVED
    assert after(ledger, 130) == PENDING


def test_a_pod_nominated_later_is_given_none(ledger: Ledger) -> None:
    late = make_pod("late", nominated=N1)
    ledger.apply(on.PodObserved(late), now=START)
    assert usage(ledger, "root.a") == (0, 1000, 1000)


# -- a promise that comes too late ------------------------------


def test_a_bound_pod_is_given_no_reservation(ledger: Ledger) -> None:
    pod = observe(ledger, 1, node="n1", version=2)
    ledger.apply(on.PodAdmitted(pod.uid, 2), now=START + 1)
    assert usage(ledger, "root.a") == ALLOCATED
    assert len(ledger.view.reserved) == 0


@pytest.mark.parametrize(
    "event",
    [
        on.FilterCalled(make_pod().uid),
        on.PodAdmitted(make_pod().uid, 1),
        on.BindCalled(make_pod().uid, N1),
        on.PodBound(make_pod().uid, N1),
        on.BindFailed(make_pod().uid, certain=True),
        on.PodWoken(make_pod().uid, reached=True),
    ],
    ids=lambda event: type(event).__name__,
)
def test_a_promise_to_a_deleted_pod_is_forgotten(ledger: Ledger, event: on.Event) -> None:
    ledger.apply(on.PodDeleted(make_pod().uid), now=START)
    assert ledger.apply(event, now=START) == ()
    assert usage(ledger, "root.a") == (0, 0, 0)
    assert ledger.view.pod(make_pod().uid) is None


def test_time_never_runs_backwards_in_a_reservation() -> None:
    held = Reservation(10.0, START, 1)
    assert held.left_at(START - 5) == 10.0
    assert held.running(False, now=START + 4).running(True, now=START + 100).left_at(START + 101) == 5.0
