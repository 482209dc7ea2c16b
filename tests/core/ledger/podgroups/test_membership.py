"""Pod groups: their members, their requirements, and refusals until they are complete.

Groups come from labels and from PodGroup objects.
"""

from dataclasses import replace

import pytest

from core.decisions.decision import Admitted, Refused
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import EndWait
from core.ledger.ledger import Ledger
from core.reasons import Code
from core.resource import Resource
from core.workload.gangs.gang import GroupSource, PodGroup
from core.workload.pod_group import Group, PodGroupFacts, Seniority, Terms
from tests.builders import START, filtered, make_ledger, make_node, make_pod, make_queue, woken
from tests.core.ledger.podgroups.play import (
    KEY,
    A,
    B,
    code,
    events_in,
    group_of,
    known,
    named,
    passed,
    ring,
    seen,
    waits,
)


def leader(ledger: Ledger) -> tuple[Seniority | None, int]:
    """The first member of a group, and the number that it names."""
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
    ((_, reason, message),) = events_in(effects)
    assert reason == "GangScheduling"
    assert "differ in min-available" in message
    ledger.apply(on.PodDeleted(PodUid("uid-old")), now=START)
    assert group_of(ledger).min_available == 2
    ledger.apply(on.PodDeleted(PodUid("uid-young")), now=START)
    assert known(ledger) == {}


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
    assert known(ledger) == {}


@pytest.mark.rule("COS-1")
def test_groups_of_two_namespaces_have_nothing_to_do_with_each_other() -> None:
    ledger = make_ledger(A)
    seen(ledger, "p", namespace="default", least=1)
    seen(ledger, "q", namespace="kube-public", least=1)
    assert {key.namespace for key in known(ledger)} == {"default", "kube-public"}


@pytest.mark.rule("COS-1")
def test_different_priorities_are_reported_once_and_the_highest_counts() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=2000)), now=START)
    seen(ledger, "low", priority=1, least=2)
    effects = seen(ledger, "high", priority=9, least=2)
    ((name, reason, message),) = events_in(effects)
    assert (name, reason) == ("high", "GangScheduling")
    assert message == "pod group default/g: its members differ in priority: the highest counts"
    assert events_in(seen(ledger, "higher", priority=10, least=2)) == []
    seen(ledger, "other", priority=7, pod_group=None)
    woken(ledger, now=START)
    turns = [uid for uid in named("low", "high", "higher", "other") if ledger.view.has_turn(PodUid(uid))]
    assert turns == named("high", "higher")


@pytest.mark.rule("COS-1")
def test_a_member_of_another_queue_is_refused_and_reported() -> None:
    ledger = make_ledger(A, B)
    for name in ("p", "q"):
        seen(ledger, name)
    effects = seen(ledger, "stray", queue="root.b", app="app-b")
    ((name, _, message),) = events_in(effects)
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
    assert first.sent.text == second.sent.text == "GangIncomplete: pod group default/g min-available=3"


@pytest.mark.rule("COS-1")
def test_a_pod_that_names_another_group_changes_over() -> None:
    ledger = make_ledger(A)
    seen(ledger, "p", least=1)
    pod = replace(make_pod("p", version=2), pod_group=PodGroup("other", 1))
    ledger.apply(on.PodObserved(pod), now=START)
    assert [key.name for key in known(ledger)] == ["other"]


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
        ledger.apply(on.ObjectObserved(on.POD_GROUPS[source], PodGroupFacts(KEY, terms)), now=START)
    ledger.apply(on.ObjectsListed(on.POD_GROUPS[source], keys), now=START)
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
    assert len(ledger.view.turns) == 2


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
    ledger.apply(on.KindUnserved(on.POD_GROUPS[source]), now=START)
    assert known(ledger) == {}
    assert uid_admitted(ledger, "p")
    ledger.apply(on.ObjectsListed(on.POD_GROUPS[source], frozenset()), now=START)
    assert code(ledger, "p") is None or KEY in known(ledger)


def uid_admitted(ledger: Ledger, name: str) -> bool:
    woken(ledger, now=START)
    return isinstance(filtered(ledger, f"uid-{name}", now=START), Admitted)


@pytest.mark.rule("COS-10")
def test_an_object_that_changes_or_goes_counts_at_once() -> None:
    ledger = object_ledger(Terms(2))
    seen(ledger, "p", pod_group=PodGroup("g", 0, GroupSource.PLUGIN))
    ledger.apply(
        on.ObjectObserved(on.POD_GROUPS[GroupSource.PLUGIN], PodGroupFacts(KEY, Terms(1))), now=START
    )
    assert uid_admitted(ledger, "p")
    ledger.apply(on.ObjectDeleted(on.POD_GROUPS[GroupSource.PLUGIN], KEY), now=START)
    assert group_of(ledger).min_available > 1000


@pytest.mark.rule("COS-24")
def test_the_basic_policy_asks_for_nothing() -> None:
    ledger = object_ledger(Terms(0), GroupSource.NATIVE)
    seen(ledger, "p", pod_group=PodGroup("g", 0, GroupSource.NATIVE))
    assert uid_admitted(ledger, "p")


@pytest.mark.rule("COS-24")
def test_members_under_the_basic_policy_need_have_nothing_in_common() -> None:
    """Neither queues nor priorities need to agree before the pods become a pod group."""
    ledger = make_ledger(A, B)
    basic, named = Terms(0), PodGroup("g", 0, GroupSource.NATIVE)
    ledger.apply(on.ObjectObserved(on.POD_GROUPS[GroupSource.NATIVE], PodGroupFacts(KEY, basic)), now=START)
    ledger.apply(on.ObjectsListed(on.POD_GROUPS[GroupSource.NATIVE], frozenset({KEY})), now=START)
    effects = [*seen(ledger, "p", pod_group=named)]
    effects += seen(ledger, "q", pod_group=named, queue="root.b", app="app-b", priority=7)
    assert events_in(effects) == []
    assert uid_admitted(ledger, "p")
    assert uid_admitted(ledger, "q")
    ledger.apply(on.ObjectDeleted(on.POD_GROUPS[GroupSource.NATIVE], KEY), now=START)
    ledger.apply(
        on.ObjectObserved(on.POD_GROUPS[GroupSource.NATIVE], PodGroupFacts(KEY, Terms(2))), now=START
    )
    assert code(ledger, "q") is Code.GANG_INCOMPLETE
    ledger.apply(on.ObjectDeleted(on.POD_GROUPS[GroupSource.NATIVE], KEY), now=START)
    ledger.apply(on.ObjectObserved(on.POD_GROUPS[GroupSource.NATIVE], PodGroupFacts(KEY, basic)), now=START)
    assert uid_admitted(ledger, "q")


@pytest.mark.rule("COS-10")
def test_nodes_must_have_free_what_an_object_asks_for() -> None:
    ledger = object_ledger(Terms(1, (("vcore", 5000),)))
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=4000)), now=START)
    seen(ledger, "p", pod_group=PodGroup("g", 0, GroupSource.PLUGIN))
    assert not uid_admitted(ledger, "p")
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2", cpu=1000)), now=START)
    assert uid_admitted(ledger, "p")


@pytest.mark.rule("COS-10")
def test_an_object_may_say_how_long_members_wait() -> None:
    ledger = object_ledger(Terms(2, (), 3.0))
    ring(ledger, "p", "q", pod_group=PodGroup("g", 0, GroupSource.PLUGIN))
    waits(ledger, "p")
    assert [each.uid for each in passed(ledger, START + 3) if isinstance(each, EndWait)] == named("p")
