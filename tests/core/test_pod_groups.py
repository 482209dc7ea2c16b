"""Groups of pods that start together, in the ledger: who counts, who goes first, what people are told."""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

import pytest

from core.decisions.admission import refusal_of
from core.decisions.decision import Admitted, BindWaits, Refused
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.audit import audit
from core.ledger.effects import Effect, EndWait, OpenGate, PostEvent, WakePod
from core.ledger.ledger import Ledger
from core.ledger.state import State
from core.reasons import Code
from core.resource import Resource
from core.workload.gang import GroupSource, PodGroup
from core.workload.pod import OWN_GATE
from core.workload.pod_group import Group, GroupKey, Phase, Seniority, Terms, rest_of, standing_of_group
from tests.builders import (
    START,
    bind_called,
    filtered,
    make_ledger,
    make_node,
    make_pod,
    make_queue,
    usage,
    woken,
)

A, B = make_queue("root.a"), make_queue("root.b")
KEY = GroupKey("default", "g")


def seen(ledger: Ledger, name: str, *, at: float = START, least: int = 3, **facts: Any) -> tuple[Effect, ...]:
    facts.setdefault("pod_group", PodGroup("g", least))
    return ledger.apply(on.PodObserved(make_pod(name, **facts)), now=at)


def named(*names: str) -> list[str]:
    return [f"uid-{name}" for name in names]


def group_of(ledger: Ledger, name: str = "g") -> Group:
    return ledger._state.pod_groups[GroupKey("default", name)]


def code(ledger: Ledger, name: str) -> Code | None:
    record = ledger.snapshot.pod(PodUid(f"uid-{name}"))
    assert record is not None
    refusal = refusal_of(ledger.snapshot, record)
    return refusal.code if refusal is not None else None


def told(effects: Iterable[Effect]) -> list[tuple[str, str, str]]:
    return [(each.name, each.reason, each.message) for each in effects if isinstance(each, PostEvent)]


def ring(ledger: Ledger, *names: str, **facts: Any) -> None:
    """All of them are there and have their turn."""
    for name in names:
        seen(ledger, name, **facts)
    woken(ledger, now=START)


def waits(ledger: Ledger, name: str, node: str = "n1", *, at: float = START) -> None:
    """A member comes through filter and to its bind call."""
    assert isinstance(filtered(ledger, f"uid-{name}", now=at), Admitted)
    assert isinstance(bind_called(ledger, f"uid-{name}", node, now=at), BindWaits)


def passed(ledger: Ledger, at: float) -> tuple[Effect, ...]:
    return ledger.apply(on.TimePassed(), now=at)


def leader(ledger: Ledger) -> tuple[Seniority | None, int]:
    """Who is first, and how many it says."""
    group = group_of(ledger)
    return group.first, group.min_available


# -- who counts ----------------------------------------------------------------------------------------------


@pytest.mark.rule("COS-2")
def test_the_first_member_says_how_many_and_its_uid_is_the_groups() -> None:
    ledger = make_ledger(A)
    seen(ledger, "young", created=5.0, least=2)
    assert leader(ledger) == (
        Seniority(5.0, 1, PodUid("uid-young")),
        2,
    )
    effects = seen(ledger, "old", created=4.0, least=3)
    assert leader(ledger) == (
        Seniority(4.0, 2, PodUid("uid-old")),
        3,
    )
    ((_, reason, message),) = told(effects)
    assert reason == "GangScheduling"
    assert "differ in min-available" in message
    ledger.apply(on.PodDeleted(PodUid("uid-old")), now=START)
    assert group_of(ledger).min_available == 2
    ledger.apply(on.PodDeleted(PodUid("uid-young")), now=START)
    assert ledger._state.pod_groups == {}


@pytest.mark.rule("COS-4")
def test_whoever_is_behind_anothers_gate_or_leaves_does_not_count() -> None:
    ledger = make_ledger(A)
    for at, facts in enumerate(({}, {"gates": ("example.com/wait",)}, {"deleting": True}, {})):
        seen(ledger, f"p{at}", **facts)
    assert (group_of(ledger).there, code(ledger, "p0")) == (2, Code.GANG_INCOMPLETE)
    seen(ledger, "p1", version=2)
    assert (group_of(ledger).there, code(ledger, "p0")) == (3, Code.WAITING_FOR_TURN)


@pytest.mark.rule("COS-1")
def test_unmanaged_pods_are_in_no_group() -> None:
    ledger = make_ledger(A)
    seen(ledger, "p", scheduler_name="other", app="", queue="")
    assert ledger._state.pod_groups == {}


@pytest.mark.rule("COS-1")
def test_groups_of_two_namespaces_have_nothing_to_do_with_each_other() -> None:
    ledger = make_ledger(A)
    seen(ledger, "p", namespace="default", least=1)
    seen(ledger, "q", namespace="kube-public", least=1)
    assert {key.namespace for key in ledger._state.pod_groups} == {"default", "kube-public"}


@pytest.mark.rule("COS-1")
def test_different_priorities_are_told_once_and_the_highest_counts() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.NodeObserved(make_node("n1", cpu=2000)), now=START)
    seen(ledger, "low", priority=1, least=2)
    effects = seen(ledger, "high", priority=9, least=2)
    ((name, reason, message),) = told(effects)
    assert (name, reason) == ("high", "GangScheduling")
    assert message == "pod group default/g: its members differ in priority: the highest counts"
    assert told(seen(ledger, "higher", priority=10, least=2)) == []
    seen(ledger, "other", priority=7, pod_group=None)
    woken(ledger, now=START)
    turns = [uid for uid in named("low", "high", "higher", "other") if ledger.snapshot.has_turn(PodUid(uid))]
    assert turns == named("high", "higher")


@pytest.mark.rule("COS-1")
def test_a_member_of_another_queue_is_refused_and_told() -> None:
    ledger = make_ledger(A, B)
    for name in ("p", "q"):
        seen(ledger, name)
    effects = seen(ledger, "stray", queue="root.b", app="app-b")
    ((name, _, message),) = told(effects)
    assert (name, message) == (
        "stray",
        "pod group default/g: all members belong into one queue, which is root.a",
    )
    verdict = filtered(ledger, "uid-stray", now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.text == "GangIncomplete: pod group default/g is in queue root.a"
    assert code(ledger, "p") is Code.GANG_INCOMPLETE


@pytest.mark.rule("COS-4")
def test_the_refusal_names_what_is_asked_for_and_never_how_many_there_are() -> None:
    ledger = make_ledger(A)
    seen(ledger, "p")
    first = filtered(ledger, "uid-p", now=START)
    seen(ledger, "q")
    second = filtered(ledger, "uid-p", now=START)
    assert isinstance(first, Refused)
    assert isinstance(second, Refused)
    assert first.said.text == second.said.text == "GangIncomplete: pod group default/g min-available=3"


# -- turns ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("COS-4")
@pytest.mark.parametrize("gated", [False, True])
def test_the_last_member_wakes_all(gated: bool) -> None:
    ledger = make_ledger(A)
    gates = (OWN_GATE,) if gated else ()
    for name in ("p", "q", "r"):
        seen(ledger, name, gates=gates)
        if not gated:
            filtered(ledger, f"uid-{name}", now=START)
    effects = ledger.apply(on.PassDue(), now=START + 0.02)
    kind = OpenGate if gated else WakePod
    assert [each.uid for each in effects if isinstance(each, kind)] == named("p", "q", "r")


@pytest.mark.rule("COS-3")
def test_all_get_their_turn_or_none_does() -> None:
    ledger = make_ledger(A, nodes=0)
    for name, cpu in (("n1", 2000), ("n2", 500)):
        ledger.apply(on.NodeObserved(make_node(name, cpu=cpu)), now=START)
    ring(ledger, "p", "q", "r")
    assert (ledger.snapshot.turns(), usage(ledger, "root.a")) == (0, (0, 0, 3000))
    assert ledger.snapshot.free_on(NodeName("n1")).get("vcore") == 2000
    ledger.apply(on.NodeObserved(make_node("n2", cpu=1000)), now=START)
    woken(ledger, now=START)
    assert ledger.snapshot.turns() == 3


@pytest.mark.rule("COS-3")
def test_one_that_has_its_turn_while_the_others_are_sought_must_wait() -> None:
    """A pass may be interrupted by a verb after some members."""
    ledger = make_ledger(make_queue("root.a"), nodes=1)
    for at in range(40):
        seen(ledger, f"p{at}", least=40)
    ledger.apply(on.PassDue(), now=START)
    early = [uid for uid in group_of(ledger).phases if ledger.snapshot.has_turn(uid)]
    assert 0 < len(early) < 40
    verdict = filtered(ledger, early[0], now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.WAITING_FOR_TURN
    assert early[0] in woken(ledger, now=START)
    assert ledger.snapshot.turns() == 40


@pytest.mark.rule("COS-3")
def test_turns_of_a_group_that_is_broken_off_are_taken_back() -> None:
    ledger = make_ledger(A)
    for at in range(40):
        seen(ledger, f"p{at}", least=40)
    ledger.apply(on.PassDue(), now=START)
    assert ledger.snapshot.turns()
    ledger._pass, ledger._state.passing = None, False
    passed(ledger, START)
    assert ledger.snapshot.turns() == 0


def test_when_nobody_comes_the_room_goes_to_others_and_the_group_rests() -> None:
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    assert ledger.snapshot.next_due() == START + 2
    passed(ledger, START + 2)
    assert (ledger.snapshot.turns(), group_of(ledger).rests_until) == (0, START + 4)
    passed(ledger, START + 4)
    woken(ledger, now=START + 4)
    assert ledger.snapshot.turns() == 3
    passed(ledger, START + 6)
    assert group_of(ledger).rests_until == START + 10


# -- waiting in bind -----------------------------------------------------------------------------------------


@pytest.mark.rule("COS-5")
def test_the_last_one_lets_all_go_in_the_order_in_which_they_came() -> None:
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    waits(ledger, "q")
    waits(ledger, "p")
    filtered(ledger, "uid-r", now=START)
    effects = ledger.apply(on.BindCalled(PodUid("uid-r"), NodeName("n1"), waits=True), now=START)
    assert effects == tuple(EndWait(PodUid(uid)) for uid in named("q", "p", "r"))
    assert group_of(ledger).open
    assert ledger.snapshot.group_numbers.completed == 1


@pytest.mark.rule("COS-6")
def test_the_time_runs_from_the_first_that_waits() -> None:
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    waits(ledger, "p")
    waits(ledger, "q", at=START + 9)
    assert [each for each in passed(ledger, START + 12.9) if isinstance(each, EndWait)] == []
    effects = passed(ledger, START + 13)
    assert [each.uid for each in effects if isinstance(each, EndWait)] == named("p", "q")
    assert [(name, reason) for name, reason, _ in told(effects)] == [("p", "PodGroupTimeout")]
    group = group_of(ledger)
    rest = rest_of(PodUid("uid-p"), 1)
    assert (group.timeouts, group.rests_until, ledger.snapshot.turns()) == (1, START + 13 + rest, 0)
    assert usage(ledger, "root.a") == (0, 0, 3000)
    assert code(ledger, "p") is Code.WAITING_FOR_TURN


@pytest.mark.rule("COS-6")
def test_a_group_that_waited_in_vain_goes_behind_others() -> None:
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    waits(ledger, "p")
    passed(ledger, START + 13)
    ledger.apply(on.NodeObserved(make_node("n1", cpu=3000)), now=START + 30)
    seen(ledger, "late", at=START + 30, pod_group=None, created=9.0)
    passed(ledger, START + 30)
    woken(ledger, now=START + 30)
    assert ledger.snapshot.has_turn(PodUid("uid-late"))
    assert ledger.snapshot.turns() == 1


@pytest.mark.rule("COS-10")
def test_an_object_may_say_how_long_members_wait() -> None:
    ledger = object_ledger(Terms(2, (), 3.0))
    ring(ledger, "p", "q", pod_group=PodGroup("g", 0, GroupSource.PLUGIN))
    waits(ledger, "p")
    assert [each.uid for each in passed(ledger, START + 3) if isinstance(each, EndWait)] == named("p")


# -- parts of groups -----------------------------------------------------------------------------------------


def restarted(*bound: str, pending: Iterable[str] = ("q", "r"), least: int = 3) -> Ledger:
    """A ledger of a process that finds some on their nodes."""
    ledger = make_ledger(A)
    state = ledger._state
    state.pods_listed = False
    for name in bound:
        seen(ledger, name, node="n1", least=least)
    for name in pending:
        seen(ledger, name, least=least)
    uids = frozenset(map(PodUid, named(*bound, *pending)))
    ledger.apply(on.PodsListed(uids, 0), now=START)
    return ledger


@pytest.mark.rule("COS-5")
def test_a_group_that_stays_in_part_is_told_after_the_time_of_a_wait() -> None:
    ledger = restarted("p")
    ledger.apply(on.NodeObserved(make_node("n1", cpu=1000)), now=START)
    assert standing_of_group(group_of(ledger)) == "degraded"
    assert told(passed(ledger, START + 12.9)) == []
    ((name, reason, message),) = told(passed(ledger, START + 13))
    assert (name, reason) == ("p", "GangDegraded")
    assert message == "pod group default/g: 1 of 3 members are on nodes, which stay there"
    assert told(passed(ledger, START + 1000)) == []
    assert ledger.snapshot.group_numbers.degraded == 1


@pytest.mark.rule("COS-5")
def test_the_others_go_first_and_alone() -> None:
    ledger = restarted("p")
    for name in ("x", "y"):
        seen(ledger, name, pod_group=PodGroup("h", 2), priority=1000)
    woken(ledger, now=START)
    turns = [uid for uid in named("q", "r", "x", "y") if ledger.snapshot.has_turn(PodUid(uid))]
    assert turns == named("q", "r")
    for name in ("q", "r"):
        filtered(ledger, f"uid-{name}", now=START)
        bind_called(ledger, f"uid-{name}", now=START)
    woken(ledger, now=START)
    assert [ledger.snapshot.has_turn(PodUid(uid)) for uid in named("x", "y")] == [True, True]
    assert group_of(ledger).degraded_since is None


def test_groups_whose_nodes_only_kube_scheduler_can_tell_go_one_at_a_time() -> None:
    ledger = make_ledger(A)
    for group in ("g", "h"):
        for at in range(2):
            seen(ledger, f"{group}{at}", pod_group=PodGroup(group, 2), complex=True)
    woken(ledger, now=START)
    assert [ledger.snapshot.has_turn(PodUid(uid)) for uid in named("g0", "g1", "h0", "h1")] == [
        *(True, True, False, False)
    ]


@pytest.mark.rule("COS-5")
def test_a_group_that_runs_down_is_not_degraded() -> None:
    ledger = restarted("p", "q", pending=())
    assert group_of(ledger).degraded_since is None
    running = restarted("p", "q", "r", pending=())
    running.apply(on.PodDeleted(PodUid("uid-p")), now=START)
    assert (group_of(running).started, group_of(running).degraded_since) == (True, None)


@pytest.mark.rule("COS-5")
def test_a_binding_that_fails_when_all_were_let_go_leaves_the_group_degraded() -> None:
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    for name in ("p", "q", "r"):
        filtered(ledger, f"uid-{name}", now=START)
        bind_called(ledger, f"uid-{name}", now=START)
    for name in ("p", "q"):
        ledger.apply(on.PodBound(PodUid(f"uid-{name}"), NodeName("n1")), now=START)
    ledger.apply(on.BindFailed(PodUid("uid-r"), certain=True), now=START)
    assert group_of(ledger).urgent
    ledger.apply(on.PodDeleted(PodUid("uid-r")), now=START)
    assert [reason for _, reason, _ in told(passed(ledger, START + 30))] == ["GangDegraded"]


# -- sizes ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("COS-24")
@pytest.mark.parametrize(
    ("sizes", "least", "expected"),
    [
        ((2000, 2000), 2, 4000),
        ((1000, 2000, 3000), 2, 3000),
        ((1000, 3000), 4, 10_000),
        ((1000,), 1, 1000),
    ],
    ids=["all alike", "the smallest of more", "the largest for those to come", "one"],
)
def test_what_a_group_needs_at_the_least(sizes: tuple[int, ...], least: int, expected: int) -> None:
    group = Group(KEY, min_available=least)
    for at, size in enumerate(sizes):
        group.measure(PodUid(f"p{at}"), Resource({"vcore": size}))
    assert group.least.get("vcore") == expected


@pytest.mark.rule("COS-24")
def test_a_group_that_no_empty_queue_could_take_is_refused_as_too_large() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2500}))
    seen(ledger, "p")
    assert code(ledger, "p") is Code.GANG_TOO_LARGE
    seen(ledger, "p", cpu=500, version=2)
    assert code(ledger, "p") is Code.GANG_INCOMPLETE


# -- PodGroup objects ----------------------------------------------------------------------------------------


def object_ledger(terms: Terms | None, source: GroupSource = GroupSource.PLUGIN) -> Ledger:
    ledger = make_ledger(A)
    keys = frozenset({KEY}) if terms is not None else frozenset()
    if terms is not None:
        ledger.apply(on.PodGroupObserved(source, KEY, terms), now=START)
    ledger.apply(on.PodGroupsListed(source, keys), now=START)
    return ledger


SOURCES = pytest.mark.parametrize("source", [GroupSource.PLUGIN, GroupSource.NATIVE])


@SOURCES
@pytest.mark.rule("COS-10", "COS-24")
def test_an_object_says_how_many_start_together(source: GroupSource) -> None:
    ledger = object_ledger(Terms(2), source)
    seen(ledger, "p", pod_group=PodGroup("g", 0, source))
    assert code(ledger, "p") is Code.GANG_INCOMPLETE
    seen(ledger, "q", pod_group=PodGroup("g", 0, source))
    woken(ledger, now=START)
    assert ledger.snapshot.turns() == 2


@SOURCES
@pytest.mark.rule("COS-10", "COS-24")
def test_without_the_object_its_pods_wait_and_without_the_api_they_are_in_no_group(
    source: GroupSource,
) -> None:
    ledger = object_ledger(None, source)
    seen(ledger, "p", pod_group=PodGroup("g", 0, source))
    verdict = filtered(ledger, "uid-p", now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.text == "GangIncomplete: pod group default/g its PodGroup is missing"
    ledger.apply(on.PodGroupsUnserved(source), now=START)
    assert ledger._state.pod_groups == {}
    assert uid_admitted(ledger, "p")
    ledger.apply(on.PodGroupsListed(source, frozenset()), now=START)
    assert code(ledger, "p") is None or KEY in ledger._state.pod_groups


def uid_admitted(ledger: Ledger, name: str) -> bool:
    woken(ledger, now=START)
    return isinstance(filtered(ledger, f"uid-{name}", now=START), Admitted)


@pytest.mark.rule("COS-10")
def test_an_object_that_changes_or_goes_counts_at_once() -> None:
    ledger = object_ledger(Terms(2))
    seen(ledger, "p", pod_group=PodGroup("g", 0, GroupSource.PLUGIN))
    ledger.apply(on.PodGroupObserved(GroupSource.PLUGIN, KEY, Terms(1)), now=START)
    assert uid_admitted(ledger, "p")
    ledger.apply(on.PodGroupDeleted(GroupSource.PLUGIN, KEY), now=START)
    assert group_of(ledger).min_available > 1000


@pytest.mark.rule("COS-24")
def test_the_basic_policy_asks_for_nothing() -> None:
    ledger = object_ledger(Terms(0), GroupSource.NATIVE)
    seen(ledger, "p", pod_group=PodGroup("g", 0, GroupSource.NATIVE))
    assert uid_admitted(ledger, "p")


@pytest.mark.rule("COS-10")
def test_nodes_must_have_free_what_an_object_asks_for() -> None:
    ledger = object_ledger(Terms(1, (("vcore", 5000),)))
    ledger.apply(on.NodeObserved(make_node("n1", cpu=4000)), now=START)
    seen(ledger, "p", pod_group=PodGroup("g", 0, GroupSource.PLUGIN))
    assert not uid_admitted(ledger, "p")
    ledger.apply(on.NodeObserved(make_node("n2", cpu=1000)), now=START)
    assert uid_admitted(ledger, "p")


# -- the audit -----------------------------------------------------------------------------------------------


def group_in(state: State) -> Group:
    return state.pod_groups[KEY]


CORRUPTIONS: list[tuple[str, Callable[[State], object]]] = [
    ("pod group of uid-p", lambda state: setattr(state.pods[PodUid("uid-p")], "pod_group", None)),
    ("phase of uid-p", lambda state: group_in(state).phases.update({PodUid("uid-p"): Phase.BOUND})),
    ("pod group of uid-p: any", lambda state: state.pod_groups.clear()),
    ("waits in bind: uid-p", lambda state: setattr(state.pods[PodUid("uid-p")], "waits_bind", True)),
    (
        "pod group default/g: strangers",
        lambda state: group_in(state).phases.update({PodUid("x"): Phase.AWAY}),
    ),
    ("pod group default/g: counts", lambda state: group_in(state).counts.update({Phase.BOUND: 1})),
    ("pod group default/g: sizes", lambda state: group_in(state).sizes.clear()),
    ("pod group default/g: alike", lambda state: group_in(state).alike.clear()),
    ("pod group default/g: ages", lambda state: group_in(state).ages.clear()),
    ("pod group default/g: first", lambda state: setattr(group_in(state), "first", None)),
    ("pod group default/g: min-available", lambda state: setattr(group_in(state), "min_available", 9)),
    ("pod group default/g: complete", lambda state: setattr(group_in(state), "complete", True)),
    ("pod group default/g: watched", lambda state: setattr(group_in(state), "attempt", START)),
    ("pod group default/g: attempt while open", lambda state: setattr(group_in(state), "min_available", 0)),
    ("pod group default/g: stirred", lambda state: state.stirred.update({KEY: None})),
    ("pod group default/g: any", lambda state: group_in(state).phases.clear()),
]


@pytest.mark.corrupts_ledger
@pytest.mark.parametrize(("what", "corrupt"), CORRUPTIONS, ids=[each[0] for each in CORRUPTIONS])
def test_a_corrupted_group_is_named(what: str, corrupt: Callable[[State], object]) -> None:
    ledger = make_ledger(A)
    for name in ("p", "q"):
        seen(ledger, name)
    if "while open" in what:
        group_in(ledger._state).attempt = START
    else:
        assert audit(ledger._state) == ()
    corrupt(ledger._state)
    assert any(drift.what.startswith(what) for drift in audit(ledger._state)), audit(ledger._state)


def test_no_field_of_a_group_is_forgotten() -> None:
    audited = {"phases", "counts", "ages", "sizes", "alike", "first", "min_available", "complete"}
    history = {
        *("key", "queue", "attempt", "came", "leased", "wait_until", "timeouts", "ignored", "rests_until"),
        *("started", "broken", "degraded_since", "reported", "complete_since", "lost", "warned"),
    }
    assert {each.name for each in fields(Group)} == audited | history


@pytest.mark.rule("COS-1")
def test_a_pod_that_names_another_group_changes_over() -> None:
    ledger = make_ledger(A)
    seen(ledger, "p", least=1)
    pod = replace(make_pod("p", version=2), pod_group=PodGroup("other", 1))
    ledger.apply(on.PodObserved(pod), now=START)
    assert [key.name for key in ledger._state.pod_groups] == ["other"]
