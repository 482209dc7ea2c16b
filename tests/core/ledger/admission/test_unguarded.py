"""Pods for which filter is not called: charged once the gate is opened (F-2), whoever did it (F-7)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from core.decisions.admission import decide_preemption
from core.decisions.binding import decide_binding
from core.decisions.decision import Admitted, BindNow, Refused, Withheld
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.admission.unguarded import BYPASSED, UNPLACED, UNPLACED_AFTER
from core.ledger.effects import Effect, OpenGate, PostEvent
from core.ledger.ledger import Ledger
from core.ledger.pods.belief import DOUBTED
from core.queues.spec import LimitSpec
from core.queues.users.identity import Identity
from core.queues.users.limits import Limits
from core.reasons import Code
from core.resource import Limit
from core.workload.nodes.affinity import Constraints
from core.workload.pod import GATE_OPENED, OWN_GATE, PodFacts
from extender.telemetry.metrics import Metrics
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

A = make_queue("root.a", max={"vcore": 1000})
MONTH = 30 * 86_400.0


def gated(name: str, **facts: Any) -> PodFacts:
    """A pod that waits only for its gate."""
    return make_pod(name, app=name, gates=(OWN_GATE,), asks_filter=False, **facts)


def opened(pod: PodFacts, **facts: Any) -> PodFacts:
    """The pod as the watch shows it once Paddock has removed its gate."""
    return replace(pod, **{"gates": (), "gate_opened": True, "version": pod.version + 1, **facts})


def ungated(pod: PodFacts) -> PodFacts:
    """The pod as the watch shows it once another party has removed the gate."""
    return replace(pod, gates=(), version=pod.version + 1)


def show(ledger: Ledger, pod: PodFacts, *, now: float = START) -> list[Effect]:
    return [*ledger.apply(on.PodObserved(pod), now=now), *passed(ledger, now=now)]


def passed(ledger: Ledger, *, now: float = START) -> list[Effect]:
    effects: list[Effect] = []
    while ledger.view.cycle_wanted:
        effects += ledger.apply(on.CycleDue(), now=now)
    return effects


def waited(ledger: Ledger, until: float) -> list[Effect]:
    """Time passes in tenths of a second for ten seconds, then the rest at once."""
    effects: list[Effect] = []
    for at in [*(START + tick / 10 for tick in range(100) if START + tick / 10 < until), until]:
        effects += [*ledger.apply(on.TimePassed(), now=at), *passed(ledger, now=at)]
    return effects


def opens(effects: list[Effect]) -> list[str]:
    return [effect.name for effect in effects if isinstance(effect, OpenGate)]


def series(ledger: Ledger) -> set[str]:
    return set(Metrics(lambda: ledger.view).exposition().decode().splitlines())


def events_of(effects: list[Effect], reason: str) -> list[str]:
    return [each.name for each in effects if isinstance(each, PostEvent) and each.reason == reason]


# -- F-2: an opened gate stays charged -----------------------------------------------------------------------


@pytest.mark.rule("F-2")
def test_an_opened_gate_opens_no_other_however_long_kube_scheduler_is_away() -> None:
    ledger = make_ledger(A)
    first, second = gated("first"), gated("second")
    assert opens(show(ledger, first)) == ["first"]
    assert show(ledger, second) == []
    ledger.apply(on.PodWoken(first.uid, reached=True), now=START)
    show(ledger, opened(first))
    assert opens(waited(ledger, START + MONTH)) == []
    assert usage(ledger, "root.a") == (0, 1000, 1000)


@pytest.mark.rule("F-2")
def test_so_does_one_whose_opening_the_watch_has_not_shown() -> None:
    ledger = make_ledger(A)
    show(ledger, gated("first"))
    show(ledger, gated("second"))
    ledger.apply(on.PodWoken(PodUid("uid-first"), reached=True), now=START)
    assert opens(waited(ledger, START + MONTH)) == []


@pytest.mark.rule("F-2")
@pytest.mark.parametrize(
    "change",
    [
        lambda ledger, pod: ledger.apply(on.PodDeleted(pod.uid), now=START),
        lambda ledger, pod: ledger.apply(on.PodObserved(opened(pod, deleting=True)), now=START),
        lambda ledger, pod: ledger.apply(on.PodObserved(opened(pod, terminal=True)), now=START),
        lambda ledger, pod: ledger.apply(on.PodWoken(pod.uid, reached=False), now=START),
    ],
    ids=["gone", "deleted, held by a finalizer", "ended", "the gate could not be opened"],
)
def test_its_quota_is_free_again_when(change: Callable[[Ledger, PodFacts], object]) -> None:
    ledger = make_ledger(A)
    first = gated("first")
    show(ledger, first)
    show(ledger, gated("second", priority=1))
    change(ledger, first)
    assert opens(waited(ledger, START + 3))[:1] == ["second"]


@pytest.mark.rule("F-2")
def test_where_filter_is_called_the_turn_is_given_back_as_before() -> None:
    ledger = make_ledger(A)
    first = replace(gated("first"), asks_filter=True)
    assert opens(show(ledger, first)) == ["first"]
    show(ledger, gated("second"))
    show(ledger, opened(first))
    assert opens(waited(ledger, START + 5)) == ["second"]


@pytest.mark.rule("F-2")
def test_an_opening_without_an_answer_stays_charged_and_is_asked_for_again() -> None:
    """The gate may be open. The watch shows this later, or another request finds it open."""
    ledger = make_ledger(A)
    show(ledger, gated("first"))
    show(ledger, gated("second"))
    ledger.apply(on.PodWoken(PodUid("uid-first"), reached=False, certain=False), now=START)
    assert usage(ledger, "root.a") == (0, 1000, 1000)
    assert opens(waited(ledger, START + 1.5)) == ["first"]
    ledger.apply(on.PodWoken(PodUid("uid-first"), reached=True), now=START + 2)
    assert opens(waited(ledger, START + 60)) == []


@pytest.mark.rule("F-2", "F-8")
def test_an_opening_that_a_restored_etcd_has_lost_is_made_again() -> None:
    ledger = make_ledger(A)
    first = gated("first")
    show(ledger, first)
    ledger.apply(on.PodWoken(first.uid, reached=True), now=START)
    show(ledger, gated("second"))
    for event in (on.PodsListBegun(), on.PodObserved(first), on.PodObserved(gated("second"))):
        ledger.apply(event, now=START + 1)
    ledger.apply(on.PodsListed(frozenset({first.uid, PodUid("uid-second")})), now=START + 1)
    ledger.apply(on.PodsCaughtUp(), now=START + 1)
    assert opens(waited(ledger, START + 1 + DOUBTED - 1)) == []
    assert opens(waited(ledger, START + 1 + DOUBTED)) == ["first"]


@pytest.mark.rule("F-2")
def test_edits_while_the_gate_is_being_opened_change_nothing() -> None:
    """A tenant may narrow the node selector of a gated pod at that very moment."""
    ledger = make_ledger(A)
    first = gated("first")
    show(ledger, first)
    show(ledger, gated("second"))
    for version, facts in enumerate(({"priority": 7}, {"size": make_pod(cpu=900).size}), 2):
        assert opens(show(ledger, replace(first, version=version, **facts))) == []  # type: ignore[arg-type]
    assert usage(ledger, "root.a") == (0, 900, 1000)
    document = make_partition(A, make_queue("root.b"))
    ledger.apply(on.Configured(document, ledger.view.settings), now=START)
    ledger.apply(on.ActingBegan(), now=START)
    assert opens(passed(ledger)) == []


@pytest.mark.rule("F-2", "F-7")
@pytest.mark.parametrize("listed", [False, True], ids=["after a restart", "created later"])
@pytest.mark.parametrize("seen", [opened, ungated], ids=["opened by Paddock", "by another"])
def test_every_pending_pod_without_a_gate_is_charged(
    seen: Callable[[PodFacts], PodFacts], listed: bool
) -> None:
    ledger = make_ledger(A, listed=listed)
    first, second = gated("first"), gated("second")
    for pod in (seen(first), second):
        ledger.apply(on.PodObserved(pod), now=START)
    ledger.apply(on.PodsListed(frozenset({first.uid, second.uid})), now=START)
    assert opens([*passed(ledger), *waited(ledger, START + MONTH)]) == []
    assert usage(ledger, "root.a") == (0, 1000, 1000)


@pytest.mark.rule("F-2")
def test_an_instance_that_takes_over_charges_what_it_finds_open() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.ActingEnded(), now=START)
    first = gated("first")
    show(ledger, first)
    ledger.apply(on.PodWoken(first.uid, reached=False), now=START)
    show(ledger, gated("second"))
    show(ledger, opened(first), now=START + 1)
    ledger.apply(on.ActingBegan(), now=START + 1)
    assert opens(waited(ledger, START + MONTH)) == []


@pytest.mark.rule("F-2")
def test_it_is_bound_in_the_end_and_charged_once() -> None:
    ledger = make_ledger(A)
    first = gated("first")
    show(ledger, first)
    show(ledger, opened(first))
    assert usage(ledger, "root.a") == (0, 1000, 0)
    show(ledger, opened(first, node=NodeName("n1"), version=9))
    assert usage(ledger, "root.a") == (1000, 0, 0)


@pytest.mark.rule("F-2")
def test_a_failure_of_kube_scheduler_frees_the_node_and_keeps_the_quota() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}), nodes=0)
    for name in ("n1", "n2"):
        node = replace(make_node(name, cpu=1000), labels={"zone": name})
        ledger.apply(on.ObjectObserved(on.NODES, node), now=START)
    first, only_n1 = gated("first"), Constraints((("zone", "n1"),))
    show(ledger, first)
    show(ledger, opened(first))
    assert opens(show(ledger, gated("second", constraints=only_n1))) == []
    failed = opened(first, unscheduled="0/2 nodes are available: 2 no ports.", version=9)
    ledger.apply(on.PodObserved(failed), now=START)
    # Any change of a node makes a cycle check all waiting pods.
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n3", cpu=1)), now=START)
    assert opens(passed(ledger)) == ["second"]
    assert usage(ledger, "root.a") == (0, 2000, 0)


@pytest.mark.rule("F-2")
def test_one_that_is_not_placed_for_five_minutes_is_reported_once() -> None:
    ledger = make_ledger(A)
    first = gated("first")
    show(ledger, first)
    show(ledger, opened(first))
    assert ledger.view.next_due() == START + UNPLACED_AFTER
    assert events_of(waited(ledger, START + UNPLACED_AFTER - 1), UNPLACED) == []
    assert events_of(waited(ledger, START + UNPLACED_AFTER), UNPLACED) == ["first"]
    assert 'paddock_ungated_pods{standing="unplaced"} 1.0' in series(ledger)
    assert events_of(waited(ledger, START + MONTH), UNPLACED) == []
    show(ledger, opened(first, node=NodeName("n1"), version=9))
    assert not ledger.view.unguarded.unplaced


# -- F-7: what came through without admission ----------------------------------------------------------------


@pytest.mark.rule("F-7")
@pytest.mark.parametrize("had_a_gate", [True, False], ids=["removed", "never there"])
def test_a_pod_that_was_not_admitted_is_charged_and_reported_at_once(had_a_gate: bool) -> None:
    ledger = make_ledger(A)
    pod = gated("cheat")
    if had_a_gate:
        ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
        assert opens(show(ledger, pod)) == []
    show(ledger, ungated(pod))
    assert usage(ledger, "root.a") == (1000 if had_a_gate else 0, 1000, 0)
    assert events_of(list(ledger.apply(on.TimePassed(), now=START + 0.1)), BYPASSED) == ["cheat"]
    assert "paddock_admission_bypasses_total 1.0" in series(ledger)
    assert 'paddock_ungated_pods{standing="placing"} 1.0' in series(ledger)
    assert events_of(waited(ledger, START + 60), BYPASSED) == []


@pytest.mark.rule("F-7")
def test_nothing_is_admitted_until_the_queue_is_below_its_max() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    for name in ("one", "two", "three"):
        show(ledger, ungated(gated(name)))
    show(ledger, gated("honest"))
    ledger.apply(on.PodObserved(make_pod("asks", app="asks")), now=START)
    assert usage(ledger, "root.a") == (0, 3000, 2000)
    for deleted in ("one", "two"):
        refused = filtered(ledger, "uid-asks", now=START)
        assert isinstance(refused, Refused)
        assert refused.refusal.code is Code.QUOTA_EXCEEDED
        assert opens(waited(ledger, START + 60)) == []
        ledger.apply(on.PodDeleted(PodUid(f"uid-{deleted}")), now=START + 60)
    assert opens(waited(ledger, START + 61)) == ["honest"]


@pytest.mark.rule("F-7")
def test_bind_holds_the_quota_against_those_that_were_never_admitted() -> None:
    """If Paddock handles bind, as many pods are admitted as fit, whatever other unguarded pods hold."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    names = ("one", "two", "three")
    for name in names:
        show(ledger, ungated(gated(name)))
    answers = [bind_called(ledger, f"uid-{name}", now=START) for name in names]
    assert [type(answer) for answer in answers] == [BindNow, BindNow, Refused]
    ledger.apply(on.PodBound(PodUid("uid-one"), NodeName("n1")), now=START)
    ledger.apply(on.PodDeleted(PodUid("uid-one")), now=START)
    assert isinstance(bind_called(ledger, "uid-three", now=START), BindNow)


@pytest.mark.rule("F-7")
def test_filter_does_too_where_it_is_called_after_all() -> None:
    ledger = make_ledger(A)
    for name in ("one", "two"):
        show(ledger, ungated(gated(name)))
    assert isinstance(filtered(ledger, "uid-one", now=START), Admitted)
    assert isinstance(filtered(ledger, "uid-two", now=START), Refused)


@pytest.mark.rule("F-7")
def test_so_do_limits_of_users() -> None:
    limited = replace(A, max=None, limits=(LimitSpec(("alice",), (), Limit({"vcore": 1000})),))
    ledger = make_ledger(limited)
    assert ledger.view.limits != Limits(())
    alice = Identity("alice")
    show(ledger, ungated(gated("one", identity=alice)))
    assert isinstance(filtered(ledger, "uid-one", now=START), Admitted)
    assert opens(show(ledger, gated("two", identity=alice))) == []


@pytest.mark.rule("F-7")
def test_no_pod_is_evicted_for_one_that_was_never_admitted() -> None:
    ledger = make_ledger(replace(A, guaranteed=A.guaranteed))
    show(ledger, ungated(gated("cheat")))
    answer = decide_preemption(ledger.view, PodUid("uid-cheat"), lambda: pytest.fail("asked"))
    assert isinstance(answer, Withheld)


@pytest.mark.rule("F-2")
def test_bind_takes_one_that_was_admitted_although_others_came_past_the_gate() -> None:
    ledger = make_ledger(A)
    first = gated("first")
    show(ledger, first)
    show(ledger, opened(first))
    show(ledger, ungated(gated("cheat")))
    assert isinstance(decide_binding(ledger.view, first.uid, NodeName("n1"), now=START), BindNow)


@pytest.mark.rule("F-2")
def test_but_not_when_others_were_forced_onto_nodes() -> None:
    ledger = make_ledger(A)
    first = gated("first")
    show(ledger, first)
    show(ledger, opened(first))
    ledger.apply(on.PodObserved(make_pod("forced", node="n1")), now=START)
    assert isinstance(bind_called(ledger, first.uid, now=START), Refused)
    ledger.apply(on.PodDeleted(PodUid("uid-forced")), now=START)
    assert isinstance(bind_called(ledger, first.uid, now=START), BindNow)


@pytest.mark.rule("F-7")
def test_a_pod_of_filter_that_is_bound_without_an_answer_is_reported() -> None:
    """kube-scheduler's configuration calls Paddock for marked pods only, and this one has no marker."""
    ledger = make_ledger(A)
    for name in ("asked", "refused", "never"):
        ledger.apply(on.PodObserved(make_pod(name, app=name)), now=START)
        if name != "never":
            filtered(ledger, f"uid-{name}", now=START)
    for name in ("asked", "refused", "never"):
        ledger.apply(on.PodObserved(make_pod(name, app=name, node="n1", version=2)), now=START)
    ledger.apply(on.PodObserved(make_pod("forced", app="f", node="n1")), now=START)
    assert events_of(waited(ledger, START + 1), BYPASSED) == ["refused", "never"]


@pytest.mark.rule("F-7")
def test_an_instance_that_stands_by_reports_nothing() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.ActingEnded(), now=START)
    ledger.apply(on.PodObserved(make_pod("bound", app="b")), now=START)
    ledger.apply(on.PodObserved(make_pod("bound", app="b", node="n1", version=2)), now=START)
    show(ledger, ungated(gated("came")))
    show(ledger, replace(ungated(gated("came")), node=NodeName("n1"), version=9))
    show(ledger, ungated(gated("pending")))
    assert events_of(waited(ledger, START + MONTH), BYPASSED) == []
    ledger.apply(on.ActingBegan(), now=START + MONTH)
    assert events_of(list(ledger.apply(on.TimePassed(), now=START + MONTH)), BYPASSED) == ["pending"]


@pytest.mark.rule("F-7")
def test_a_forged_note_of_the_opening_is_taken_off() -> None:
    ledger = make_ledger(A)
    (effect,) = ledger.apply(on.PodObserved(replace(gated("cheat"), gate_opened=True)), now=START)
    assert getattr(effect, "entries", None) == ((GATE_OPENED, None),)


@pytest.mark.rule("F-7")
def test_thousands_are_reported_some_at_a_time() -> None:
    ledger = make_ledger(A)
    for at in range(50):
        ledger.apply(on.PodObserved(ungated(gated(f"p{at}"))), now=START)
    first = events_of(list(ledger.apply(on.TimePassed(), now=START)), BYPASSED)
    assert 0 < len(first) < 50
    assert len(first) + len(events_of(waited(ledger, START + 2), BYPASSED)) == 50
