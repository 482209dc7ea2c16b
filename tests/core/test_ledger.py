"""What the ledger remembers and promises (design section 3), one situation at a time."""

from dataclasses import replace

import pytest

from core.decisions.admission import decide_admission
from core.decisions.binding import decide_binding
from core.decisions.decision import Admitted, BindNow, BoundAlready, Faulted, Refused
from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.effects import Effect, WakePod
from core.ledger.ledger import Ledger
from core.queues.queue import Queue
from core.reasons import Code
from tests.builders import START, make_ledger, make_node, make_partition, make_pod, make_queue

TWO = make_queue("root.a", max={"vcore": 2000})
N1, N2 = NodeName("n1"), NodeName("n2")


def uid(name: str) -> PodUid:
    return PodUid(f"uid-{name}")


def queue(ledger: Ledger, path: str = "root.a") -> Queue:
    found = ledger.snapshot.tree.get(path)
    assert found is not None
    return found


def held(ledger: Ledger, path: str = "root.a") -> tuple[int, int, int]:
    """vcore pending, reserved, allocated."""
    found = queue(ledger, path)
    return found.pending.get("vcore"), found.reserved.get("vcore"), found.allocated.get("vcore")


def tell(ledger: Ledger, *events: on.Event, now: float = START) -> tuple[Effect, ...]:
    return tuple(effect for event in events for effect in ledger.apply(event, now=now))


def ask(ledger: Ledger, name: str, *, now: float = START) -> bool:
    """As a filter call: whether the pod was admitted."""
    tell(ledger, on.FilterCalled(uid(name)), now=now)
    verdict = decide_admission(ledger.snapshot, uid(name), now=now)
    assert isinstance(verdict, Admitted | Refused), verdict
    tell(ledger, *verdict.events, now=now)
    return isinstance(verdict, Admitted)


def wakes(ledger: Ledger, *, now: float = START) -> list[str]:
    found: list[str] = []
    while ledger.snapshot.pass_wanted:
        found += [
            effect.name for effect in tell(ledger, on.PassDue(), now=now) if isinstance(effect, WakePod)
        ]
    return found


@pytest.mark.rule("QUO-2")
def test_a_pod_is_pending_then_reserved_then_allocated() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p")))
    assert held(ledger) == held(ledger, "root") == (1000, 0, 0)
    assert ask(ledger, "p")
    assert held(ledger) == (0, 1000, 0)
    tell(ledger, on.BindCalled(uid("p"), N1))
    use = ledger.snapshot.use_of(N1)
    assert use is not None
    assert use.allocated.get("vcore") == 1000
    tell(ledger, on.PodBound(uid("p"), N1))
    assert held(ledger) == held(ledger, "root") == (0, 0, 1000)
    tell(ledger, on.PodDeleted(uid("p")))
    assert held(ledger) == held(ledger, "root") == (0, 0, 0)


def test_old_news_of_a_bound_pod_does_not_unbind_it() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p")))
    ask(ledger, "p")
    tell(ledger, on.PodBound(uid("p"), N1), on.PodObserved(make_pod("p", version=2)))
    assert held(ledger) == (0, 0, 1000)


def test_a_reservation_ends_after_thirty_seconds() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p")))
    ask(ledger, "p")
    tell(ledger, on.TimePassed(), now=START + 29.9)
    assert held(ledger) == (0, 1000, 0)
    tell(ledger, on.TimePassed(), now=START + 30)
    assert held(ledger) == (1000, 0, 0)


def test_its_time_stands_still_during_a_bind_call() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p")))
    ask(ledger, "p")
    tell(ledger, on.BindCalled(uid("p"), N1), now=START + 20)
    tell(ledger, on.TimePassed(), now=START + 500)
    assert held(ledger) == (0, 1000, 0)
    tell(ledger, on.BindFailed(uid("p"), certain=False), now=START + 500)
    tell(ledger, on.TimePassed(), now=START + 509)
    assert held(ledger) == (0, 1000, 0)
    tell(ledger, on.TimePassed(), now=START + 510)
    assert held(ledger) == (1000, 0, 0)


def test_its_time_stands_still_while_prebind_is_under_way() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p")))
    ask(ledger, "p")
    tell(ledger, on.PodObserved(make_pod("p", version=2, nominated=N1)), now=START + 5)
    tell(ledger, on.TimePassed(), now=START + 500)
    assert held(ledger) == (0, 1000, 0)
    tell(ledger, on.PodObserved(make_pod("p", version=3)), now=START + 500)
    tell(ledger, on.TimePassed(), now=START + 525)
    assert held(ledger) == (1000, 0, 0)


def test_a_certain_failure_ends_it_at_once() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p")))
    ask(ledger, "p")
    tell(ledger, on.BindCalled(uid("p"), N1), on.BindFailed(uid("p"), certain=True))
    assert held(ledger) == (1000, 0, 0)
    assert ledger.snapshot.use_of(N1) is None


@pytest.mark.parametrize(
    ("message", "version", "left"),
    [
        pytest.param("0/1 nodes are available: 1 Insufficient cpu", 9, 2.0, id="a failure that is not ours"),
        pytest.param(
            "0/1 nodes are available: 1 Insufficient cpu", 5, 30.0, id="late news of an earlier one"
        ),
        pytest.param("0/1 nodes: 1 QuotaExceeded: root.a max vcore=2", 9, 30.0, id="our own refusal"),
    ],
)
def test_a_failure_seen_after_the_answer_cuts_it(message: str, version: int, left: float) -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("big", cpu=2000)), on.PodObserved(make_pod("p", version=5)))
    assert ask(ledger, "big")
    assert not ask(ledger, "p")
    tell(ledger, on.PodDeleted(uid("big")))
    assert ask(ledger, "p")
    tell(ledger, on.PodObserved(make_pod("p", version=version, unscheduled=message)))
    tell(ledger, on.TimePassed(), now=START + left - 0.1)
    assert held(ledger) == (0, 1000, 0)
    tell(ledger, on.TimePassed(), now=START + left)
    assert held(ledger) == (1000, 0, 0)


def test_after_a_restart_a_nominated_pod_has_a_reservation() -> None:
    ledger = Ledger()
    tell(ledger, *_synced(make_partition(TWO)), on.PodObserved(make_pod("p", nominated=N1)))
    assert held(ledger) == (0, 1000, 0)
    tell(ledger, on.PodsListed(frozenset({uid("p")}), 9), on.PodObserved(make_pod("q", nominated=N1)))
    assert held(ledger) == (1000, 1000, 0)


def _synced(partition: object) -> tuple[on.Event, ...]:
    ledger = make_ledger(TWO)
    settings = ledger.snapshot.settings
    return (
        on.Configured(partition, settings),  # type: ignore[arg-type]
        on.NodeObserved(make_node("n1")),
        on.NamespacesListed(frozenset()),
        on.NodesListed(frozenset({N1})),
    )


def test_a_pod_learned_from_a_body_is_provisional() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodOffered(make_pod("p")))
    assert ask(ledger, "p")
    tell(ledger, on.TimePassed(), now=START + 29)
    assert held(ledger) == (0, 1000, 0)
    tell(ledger, on.TimePassed(), now=START + 30)
    assert held(ledger) == (0, 0, 0)
    assert ledger.snapshot.pod(uid("p")) is None


def test_a_provisional_pod_that_was_bound_stays() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodOffered(make_pod("p")))
    ask(ledger, "p")
    tell(ledger, on.BindCalled(uid("p"), N1), on.PodBound(uid("p"), N1))
    tell(ledger, on.TimePassed(), now=START + 3000)
    assert held(ledger) == (0, 0, 1000)


def test_a_list_removes_what_it_lacks_unless_that_is_newer() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("old", version=5)), on.PodOffered(make_pod("new", version=50)))
    tell(ledger, on.PodsListed(frozenset(), 40))
    assert ledger.snapshot.pod(uid("old")) is None
    assert ledger.snapshot.pod(uid("new")) is not None


def test_a_deleted_uid_stays_deleted() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p")), on.PodDeleted(uid("p")), on.PodObserved(make_pod("p")))
    tell(ledger, on.PodOffered(make_pod("p")))
    assert held(ledger) == (0, 0, 0)
    assert decide_admission(ledger.snapshot, uid("p"), now=START) == Faulted("pod is gone")


def test_room_is_kept_while_a_pod_terminates() -> None:
    """Design section 3: released when it is gone, never at its deletionTimestamp."""
    ledger = make_ledger(TWO)
    tell(
        ledger,
        on.PodObserved(make_pod("p", node="n1")),
        on.PodObserved(make_pod("p", node="n1", deleting=True)),
    )
    assert held(ledger) == (0, 0, 1000)
    tell(ledger, on.PodObserved(make_pod("p", node="n1", terminal=True)))
    assert held(ledger) == (0, 0, 0)


@pytest.mark.rule("RES-8")
def test_a_resize_counts_at_once_and_nothing_more_is_admitted() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p", node="n1")), on.PodObserved(make_pod("q")))
    tell(ledger, on.PodObserved(make_pod("p", node="n1", cpu=5000, version=2)))
    assert held(ledger) == (1000, 0, 5000)
    assert not ask(ledger, "q")
    tell(ledger, on.PodObserved(make_pod("q", cpu=200, version=2)))
    assert held(ledger) == (200, 0, 5000)


@pytest.mark.rule("QUO-9")
def test_bound_pods_count_above_the_max() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, *(on.PodObserved(make_pod(f"p{at}", node="n1")) for at in range(5)))
    assert held(ledger) == (0, 0, 5000)


@pytest.mark.rule("POD-20")
def test_a_pod_behind_somebody_elses_gate_is_no_ask() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p", gates=("other",))))
    assert held(ledger) == (0, 0, 0)
    tell(ledger, on.PodObserved(make_pod("p", version=2, gates=("paddock.dev/queue",))))
    assert held(ledger) == (1000, 0, 0)


@pytest.mark.rule("POD-5")
def test_the_first_pod_of_an_application_decides_its_queue() -> None:
    ledger = make_ledger(TWO, make_queue("root.b"))
    tell(ledger, on.PodObserved(make_pod("p")), on.PodObserved(make_pod("q", queue="root.b")))
    assert held(ledger) == (2000, 0, 0)
    assert held(ledger, "root.b") == (0, 0, 0)


@pytest.mark.rule("PL-9")
def test_without_a_queue_a_pod_goes_to_root_default_or_is_refused() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p", queue="root.none")))
    verdict = decide_admission(ledger.snapshot, uid("p"), now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.PLACEMENT_FAILED
    tell(ledger, on.Configured(make_partition(TWO, make_queue("root.default")), ledger.snapshot.settings))
    assert held(ledger, "root.default") == (1000, 0, 0)
    assert ask(ledger, "p")


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        pytest.param(
            (make_queue("root.p", leaf=False), make_queue("root.p.x")), Code.QUEUE_NOT_LEAF, id="parent"
        ),
        pytest.param((), Code.PLACEMENT_FAILED, id="unknown"),
    ],
)
def test_a_queue_that_takes_no_pods(spec: tuple[object, ...], code: Code) -> None:
    ledger = make_ledger(*spec)  # type: ignore[arg-type]
    tell(ledger, on.PodObserved(make_pod("p", queue="root.p")))
    verdict = decide_admission(ledger.snapshot, uid("p"), now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is code


@pytest.mark.rule("PL-12")
def test_bound_pods_of_an_unknown_queue_go_to_recovery() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p", queue="root.none", node="n1")))
    assert held(ledger, "root.@recovery@") == held(ledger, "root") == (0, 0, 1000)
    tell(ledger, on.PodDeleted(uid("p")), on.TimePassed())
    assert ledger.snapshot.tree.get("root.@recovery@") is None


@pytest.mark.rule("Q-9")
def test_a_removed_queue_drains_and_comes_back() -> None:
    ledger = make_ledger(TWO, make_queue("root.b"))
    tell(ledger, on.PodObserved(make_pod("p", node="n1")), on.PodObserved(make_pod("q")))
    settings = ledger.snapshot.settings
    tell(ledger, on.Configured(make_partition(make_queue("root.b")), settings))
    assert queue(ledger).draining
    assert ask(ledger, "q")
    tell(ledger, on.PodObserved(make_pod("new", app="app-2")))
    verdict = decide_admission(ledger.snapshot, uid("new"), now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.QUEUE_DRAINING
    tell(ledger, on.Configured(make_partition(make_queue("root.a", max={"vcore": 9000})), settings))
    assert not queue(ledger).draining
    assert held(ledger) == (1000, 1000, 1000)
    tell(ledger, on.Configured(make_partition(make_queue("root.b")), settings))
    tell(ledger, *(on.PodDeleted(uid(name)) for name in ("p", "q", "new")), on.TimePassed())
    assert ledger.snapshot.tree.get("root.a") is None


def test_a_leaf_with_applications_cannot_become_a_parent() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p")))
    nested = make_partition(make_queue("root.a", leaf=False), make_queue("root.a.b"))
    assert "root.a" in ledger.snapshot.conflicts(nested)[0]
    tell(ledger, on.PodDeleted(uid("p")))
    assert ledger.snapshot.conflicts(nested) == ()


# -- binding ---------------------------------------------------------------------------------------------


def test_binding_with_a_reservation_and_without() -> None:
    ledger = make_ledger(TWO)
    for name in ("p", "q", "r"):
        tell(ledger, on.PodObserved(make_pod(name)))
    ask(ledger, "p")
    assert isinstance(decide_binding(ledger.snapshot, uid("p"), N1, now=START), BindNow)
    ask(ledger, "q")
    assert isinstance(decide_binding(ledger.snapshot, uid("r"), N1, now=START), Refused)


def test_binding_a_bound_pod() -> None:
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("p", node="n1")))
    assert decide_binding(ledger.snapshot, uid("p"), N1, now=START) == BoundAlready()
    assert decide_binding(ledger.snapshot, uid("p"), N2, now=START) == Faulted("pod is already bound to n1")


def test_a_new_filter_call_does_not_give_away_the_room_of_an_open_binding() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    tell(ledger, on.PodObserved(make_pod("p")), on.PodObserved(make_pod("q")))
    ask(ledger, "p")
    tell(ledger, on.BindCalled(uid("p"), N1))
    assert ask(ledger, "p")
    assert not ask(ledger, "q")
    tell(ledger, on.PodBound(uid("p"), N1))
    assert held(ledger) == (1000, 0, 1000)


# -- waking ----------------------------------------------------------------------------------------------


def crowd(count: int, **pod: object) -> Ledger:
    """A full queue and so many refused asks, oldest first."""
    ledger = make_ledger(TWO)
    tell(ledger, on.PodObserved(make_pod("full", cpu=2000, node="n1")))
    for at in range(count):
        tell(ledger, on.PodObserved(make_pod(f"w{at}", created=float(at), **pod)))  # type: ignore[arg-type]
        assert not ask(ledger, f"w{at}")
    wakes(ledger)
    return ledger


def test_as_many_are_woken_as_fit_best_rank_first() -> None:
    ledger = crowd(5)
    tell(ledger, on.PodObserved(make_pod("urgent", priority=9, created=99.0)))
    assert not ask(ledger, "urgent")
    tell(ledger, on.PodDeleted(uid("full")))
    assert wakes(ledger) == ["urgent", "w0"]


def test_one_that_was_woken_keeps_its_room_for_two_seconds() -> None:
    ledger = crowd(4)
    tell(ledger, on.PodDeleted(uid("full")))
    assert wakes(ledger) == ["w0", "w1"]
    tell(ledger, on.NodeObserved(make_node("n9")), now=START + 1)
    assert wakes(ledger, now=START + 1) == []
    tell(ledger, on.TimePassed(), now=START + 2)
    assert wakes(ledger, now=START + 2) == ["w0", "w1", "w2", "w3"]


def test_nobody_is_woken_twice_within_a_second() -> None:
    ledger = crowd(1)
    tell(ledger, on.PodDeleted(uid("full")))
    assert wakes(ledger) == ["w0"]
    tell(ledger, on.PodObserved(make_pod("thief", node="n1", cpu=2000)))
    assert not ask(ledger, "w0", now=START + 0.1)
    tell(ledger, on.PodDeleted(uid("thief")), now=START + 0.2)
    assert wakes(ledger, now=START + 0.2) == []
    tell(ledger, on.TimePassed(), now=START + 1.2)
    assert wakes(ledger, now=START + 1.2) == ["w0"]


def test_a_wake_up_that_was_not_written_is_tried_again() -> None:
    ledger = crowd(1)
    tell(ledger, on.PodDeleted(uid("full")))
    assert wakes(ledger) == ["w0"]
    tell(ledger, on.PodWoken(uid("w0"), reached=False))
    tell(ledger, on.TimePassed(), now=START + 1)
    assert wakes(ledger, now=START + 1) == ["w0"]


def test_room_in_a_parent_wakes_its_other_child() -> None:
    ledger = make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 1000}), make_queue("root.p.x"), make_queue("root.p.y")
    )
    tell(ledger, on.PodObserved(make_pod("p", queue="root.p.x", app="x", node="n1")))
    tell(ledger, on.PodObserved(make_pod("q", queue="root.p.y", app="y")))
    assert not ask(ledger, "q")
    wakes(ledger)
    tell(ledger, on.PodDeleted(uid("p")))
    assert wakes(ledger) == ["q"]


@pytest.mark.parametrize("cause", ["a raised max", "a new node", "a new queue"])
def test_what_else_wakes(cause: str) -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 500}), nodes=0 if cause == "a new node" else 1)
    requested = "root.new" if cause == "a new queue" else "root.a"
    tell(ledger, on.PodObserved(make_pod("p", queue=requested, cpu=500 if cause == "a new node" else 1000)))
    assert not ask(ledger, "p")
    wakes(ledger)
    if cause == "a new node":
        tell(ledger, on.NodeObserved(make_node("n9")))
    else:
        bigger = make_partition(make_queue("root.a", max={"vcore": 5000}), make_queue("root.new"))
        tell(ledger, on.Configured(bigger, ledger.snapshot.settings))
    assert wakes(ledger) == ["p"]


def test_a_long_backlog_is_looked_at_in_slices() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 10**9}), nodes=0)
    for at in range(1000):
        tell(ledger, on.PodObserved(make_pod(f"w{at}", cpu=1 + at)))
        ask(ledger, f"w{at}")
    wakes(ledger)
    tell(ledger, on.NodeObserved(make_node("n1", cpu=10**7, pods=5000)))
    first = tell(ledger, on.PassDue())
    assert 0 < len(first) < 1000
    assert ledger.snapshot.pass_wanted
    assert len(first) + len(wakes(ledger)) == 1000


def test_the_namespace_decides_for_pods_that_came_before_it() -> None:
    from core.workload.pod import NamespaceFacts

    ledger = make_ledger(make_queue("root.default"))
    tell(ledger, on.PodObserved(make_pod("p", namespace="late", scheduler_name="x", queue="", app="")))
    assert held(ledger, "root.default") == (0, 0, 0)
    tell(ledger, on.NamespaceObserved(NamespaceFacts("late", "true")))
    assert held(ledger, "root.default") == (1000, 0, 0)
    tell(ledger, on.NamespaceObserved(NamespaceFacts("late", "")))
    assert held(ledger, "root.default") == (1000, 0, 0)


def test_facts_replace_each_other_by_version() -> None:
    """A body newer than the watch is not undone by the watch's older news."""
    ledger = make_ledger(TWO)
    pod = make_pod("p", cpu=500, version=3)
    tell(ledger, on.PodObserved(pod), on.PodOffered(make_pod("p", cpu=700, version=9)))
    tell(ledger, on.PodObserved(replace(pod, version=5)))
    assert held(ledger) == (700, 0, 0)
    tell(ledger, on.PodObserved(make_pod("p", cpu=800, version=10)))
    assert held(ledger) == (800, 0, 0)
    assert queue(ledger).path == QueuePath("root.a")
