"""Members of a pod group: all of them have their turns or none, and they wait for each other in bind.

Also the remainder of a pod group of which only a part is left.
"""

from collections.abc import Iterable

import pytest

from core.decisions.decision import Refused
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import EndWait, OpenGate, WakePod
from core.ledger.ledger import Ledger
from core.reasons import Code
from core.workload.gangs.gang import PodGroup
from core.workload.nodes.affinity import Constraints
from core.workload.pod import OWN_GATE
from core.workload.pod_group import back_off_of, standing_of_group
from core.workload.pod_group_phase import GroupPhase
from tests.builders import (
    START,
    bind_called,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_queue,
    usage,
    woken,
)
from tests.core.ledger.podgroups.play import A, code, events_in, group_of, named, passed, ring, seen, waits

CYCLES_AT_MOST = 5
"""Cycles after which a state without events must be at rest."""


@pytest.mark.rule("COS-3", "CYC-1")
@pytest.mark.parametrize("cap", [1000, 100_000])
def test_a_group_of_which_only_a_part_fits_requests_no_further_cycle(cap: int) -> None:
    """Beside an ask that no node admits, though some have the capacity: cycles once followed without end."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": cap}), make_queue("root.b"), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=1500)), now=START)
    elsewhere = Constraints((("zone", "x"),))
    seen(ledger, "far", queue="root.b", app="far", cpu=500, constraints=elsewhere, pod_group=None)
    for name in ("m1", "m2"):
        seen(ledger, name, least=2, app="members")
    cycles = 0
    while ledger.view.cycle_wanted and cycles < CYCLES_AT_MOST:
        ledger.apply(on.CycleDue(), now=START)
        cycles += 1
    assert not ledger.view.cycle_wanted
    assert not ledger.view.turns


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
    effects = ledger.apply(on.CycleDue(), now=START + 0.02)
    kind = OpenGate if gated else WakePod
    assert [each.uid for each in effects if isinstance(each, kind)] == named("p", "q", "r")


@pytest.mark.rule("COS-3")
def test_all_get_their_turn_or_none_does() -> None:
    ledger = make_ledger(A, nodes=0)
    for name, cpu in (("n1", 2000), ("n2", 500)):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=cpu)), now=START)
    ring(ledger, "p", "q", "r")
    assert (len(ledger.view.turns), usage(ledger, "root.a")) == (0, (0, 0, 3000))
    assert ledger.view.free_on(NodeName("n1")).get("vcore") == 2000
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2", cpu=1000)), now=START)
    woken(ledger, now=START)
    assert len(ledger.view.turns) == 3


@pytest.mark.rule("COS-3")
def test_one_that_has_its_turn_during_the_search_for_the_others_must_wait() -> None:
    """A verb may interrupt a cycle after some members."""
    ledger = make_ledger(make_queue("root.a"), nodes=1)
    for at in range(40):
        seen(ledger, f"p{at}", least=40)
    ledger.apply(on.CycleDue(), now=START)
    early = [uid for uid in group_of(ledger).phases if ledger.view.has_turn(uid)]
    assert 0 < len(early) < 40
    verdict = filtered(ledger, early[0], now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.WAITING_FOR_TURN
    assert early[0] in woken(ledger, now=START)
    assert len(ledger.view.turns) == 40


@pytest.mark.rule("COS-3")
def test_turns_of_a_group_that_is_broken_off_are_taken_back() -> None:
    ledger = make_ledger(A)
    for at in range(40):
        seen(ledger, f"p{at}", least=40)
    ledger.apply(on.CycleDue(), now=START)
    assert ledger.view.turns
    ledger.apply(on.Configured(make_partition(A), ledger.view.settings), now=START)
    passed(ledger, START)
    assert len(ledger.view.turns) == 0


def test_when_no_member_comes_the_capacity_goes_to_others_and_the_group_backs_off() -> None:
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    assert ledger.view.next_due() == START + 2
    passed(ledger, START + 2)
    assert (len(ledger.view.turns), group_of(ledger).backs_off_until) == (0, START + 4)
    passed(ledger, START + 4)
    woken(ledger, now=START + 4)
    assert len(ledger.view.turns) == 3
    passed(ledger, START + 6)
    assert group_of(ledger).backs_off_until == START + 10


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
    assert ledger.view.group_numbers.completed == 1


@pytest.mark.rule("COS-6")
def test_the_time_runs_from_the_first_that_waits() -> None:
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    waits(ledger, "p")
    waits(ledger, "q", at=START + 9)
    assert [each for each in passed(ledger, START + 12.9) if isinstance(each, EndWait)] == []
    effects = passed(ledger, START + 13)
    assert [each.uid for each in effects if isinstance(each, EndWait)] == named("p", "q")
    assert [(name, reason) for name, reason, _ in events_in(effects)] == [("p", "PodGroupTimeout")]
    group = group_of(ledger)
    rest = back_off_of(PodUid("uid-p"), 1)
    assert (group.timeouts, group.backs_off_until, len(ledger.view.turns)) == (1, START + 13 + rest, 0)
    assert usage(ledger, "root.a") == (0, 0, 3000)
    assert code(ledger, "p") is Code.WAITING_FOR_TURN


@pytest.mark.rule("COS-6")
def test_a_group_that_waited_in_vain_goes_behind_others() -> None:
    ledger = make_ledger(A)
    ring(ledger, "p", "q", "r")
    waits(ledger, "p")
    passed(ledger, START + 13)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=3000)), now=START + 30)
    seen(ledger, "late", at=START + 30, pod_group=None, created=9.0)
    passed(ledger, START + 30)
    woken(ledger, now=START + 30)
    assert ledger.view.has_turn(PodUid("uid-late"))
    assert len(ledger.view.turns) == 1


# -- parts of groups -----------------------------------------------------------------------------------------


def restarted(*bound: str, pending: Iterable[str] = ("q", "r"), least: int = 3) -> Ledger:
    """A ledger of a new process, which finds some members on nodes."""
    ledger = make_ledger(A, listed=False)
    for name in bound:
        seen(ledger, name, node="n1", least=least)
    for name in pending:
        seen(ledger, name, least=least)
    uids = frozenset(map(PodUid, named(*bound, *pending)))
    ledger.apply(on.PodsListed(uids), now=START)
    return ledger


@pytest.mark.rule("COS-5")
def test_a_group_that_stays_in_part_is_reported_after_the_time_of_a_wait() -> None:
    ledger = restarted("p")
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)), now=START)
    assert standing_of_group(group_of(ledger)) == "degraded"
    assert events_in(passed(ledger, START + 12.9)) == []
    ((name, reason, message),) = events_in(passed(ledger, START + 13))
    assert (name, reason) == ("p", "GangDegraded")
    assert message == "pod group default/g: 1 of 3 members are on nodes, which stay there"
    assert events_in(passed(ledger, START + 1000)) == []
    assert ledger.view.group_numbers.degraded == 1


@pytest.mark.rule("COS-5")
def test_the_others_go_first_and_alone() -> None:
    ledger = restarted("p")
    for name in ("x", "y"):
        seen(ledger, name, pod_group=PodGroup("h", 2), priority=1000)
    woken(ledger, now=START)
    turns = [uid for uid in named("q", "r", "x", "y") if ledger.view.has_turn(PodUid(uid))]
    assert turns == named("q", "r")
    for name in ("q", "r"):
        filtered(ledger, f"uid-{name}", now=START)
        bind_called(ledger, f"uid-{name}", now=START)
    woken(ledger, now=START)
    assert [ledger.view.has_turn(PodUid(uid)) for uid in named("x", "y")] == [True, True]
    assert group_of(ledger).degraded_since is None


def test_groups_whose_nodes_only_kube_scheduler_can_tell_go_one_at_a_time() -> None:
    ledger = make_ledger(A)
    for group in ("g", "h"):
        for at in range(2):
            seen(ledger, f"{group}{at}", pod_group=PodGroup(group, 2), complex=True)
    woken(ledger, now=START)
    assert [ledger.view.has_turn(PodUid(uid)) for uid in named("g0", "g1", "h0", "h1")] == [
        *(True, True, False, False)
    ]


@pytest.mark.rule("COS-5")
def test_a_group_that_runs_down_is_not_degraded() -> None:
    ledger = restarted("p", "q", pending=())
    assert group_of(ledger).degraded_since is None
    running = restarted("p", "q", "r", pending=())
    running.apply(on.PodDeleted(PodUid("uid-p")), now=START)
    assert (group_of(running).phase, group_of(running).degraded_since) == (GroupPhase.STARTED, None)


@pytest.mark.rule("COS-5")
def test_a_binding_that_fails_after_the_release_of_all_leaves_the_group_degraded() -> None:
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
    assert [reason for _, reason, _ in events_in(passed(ledger, START + 30))] == ["GangDegraded"]
