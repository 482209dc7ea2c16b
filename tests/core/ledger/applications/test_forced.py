"""A pod that has a node when it is first seen is counted, and no waiting pod is admitted by it (F-1)."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations

import pytest

from core.decisions.decision import Admitted, Refused
from core.ids import RECOVERY_QUEUE, PodUid
from core.ledger import events as on
from core.ledger.applications.forced import FORCED
from core.ledger.effects import DeletePod, Effect, PostEvent, ResolveGroups
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import QueueSpec
from core.queues.users.identity import Identity
from core.reasons import Code
from core.workload.pod import NamespaceFacts, PodFacts
from extender.rest.facts import Facts
from extender.rest.projection.applications import app_from
from tests.builders import (
    START,
    drifts,
    filtered,
    make_gang,
    make_ledger,
    make_partition,
    make_pod,
    make_queue,
    usage,
    woken,
)
from tests.effort import effort


def shown(ledger: Ledger, *pods: PodFacts, now: float = START) -> list[Effect]:
    return [effect for pod in pods for effect in ledger.apply(on.PodObserved(pod), now=now)]


def events(effects: Iterable[Effect]) -> list[tuple[str, str]]:
    return [(each.uid, each.reason) for each in effects if isinstance(each, PostEvent)]


def restarted(*pods: PodFacts, queues: tuple[QueueSpec, ...]) -> Ledger:
    ledger = make_ledger(*queues, listed=False)
    shown(ledger, *pods)
    ledger.apply(on.PodsListed(frozenset(pod.uid for pod in pods)), now=START)
    return ledger


def code_of(ledger: Ledger, name: str) -> str:
    woken(ledger, now=START)
    verdict = filtered(ledger, f"uid-{name}", now=START)
    return verdict.refusal.code if isinstance(verdict, Refused) else type(verdict).__name__


@pytest.mark.rule("PL-10", "PL-12")
def test_nothing_that_waits_joins_a_pod_that_no_queue_takes() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 4000}))
    effects = shown(ledger, make_pod("forced", queue="root.nope", node="no-such-node"))
    assert events(effects) == [("uid-forced", FORCED)]
    shown(ledger, *(make_pod(f"p{at}", queue="root.nope") for at in range(3)))
    assert {code_of(ledger, f"p{at}") for at in range(3)} == {Code.PLACEMENT_FAILED}
    assert usage(ledger, RECOVERY_QUEUE) == (1000, 0, 0)
    shown(ledger, make_pod("all", app="other", cpu=4000))
    assert code_of(ledger, "all") == "Admitted"
    shown(ledger, make_pod("more", app="other"))
    assert code_of(ledger, "more") == Code.QUOTA_EXCEEDED
    assert drifts(ledger) == []


@pytest.mark.rule("PL-12")
def test_one_of_the_same_id_is_placed_beside_it_even_after_the_forced_one_is_deleted() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    shown(ledger, make_pod("forced", queue="root.nope", node="n1"), make_pod("waits"), make_pod("more"))
    assert {str(each.id): str(each.queue) for each in ledger.view.applications()} == {
        "default/app-1": "root.a",
        "default/app-1 (recovered)": RECOVERY_QUEUE,
    }
    views = [app_from(Facts(ledger.view), each) for each in ledger.view.identities.named("app-1")]
    assert [(each.application_id, each.queue_name) for each in views] == [
        ("app-1", "root.a"),
        ("app-1", RECOVERY_QUEUE),
    ]
    ledger.apply(on.PodDeleted(PodUid("uid-forced")), now=START)
    assert [code_of(ledger, "waits"), code_of(ledger, "more")] == ["Admitted", Code.QUOTA_EXCEEDED]
    assert drifts(ledger) == []


def test_a_refused_one_stays_refused_when_a_pod_of_it_is_forced() -> None:
    ledger = make_ledger(make_queue("root.a"))
    shown(ledger, make_pod("waits", queue="root.nope"), make_pod("forced", queue="root.nope", node="n1"))
    # A pod known before that gets a node without Paddock.
    shown(ledger, make_pod("late", queue="root.nope"))
    shown(ledger, make_pod("late", queue="root.nope", node="n1", version=2))
    assert usage(ledger, RECOVERY_QUEUE) == (2000, 0, 0)
    assert code_of(ledger, "waits") == Code.PLACEMENT_FAILED
    assert drifts(ledger) == []


def test_a_forced_pod_of_an_application_that_has_its_queue_counts_there() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    shown(ledger, make_pod("first"))
    effects = shown(ledger, make_pod("forced", node="n1", cpu=2000, queue="root.nope"))
    assert ("uid-forced", FORCED) in events(effects)
    assert usage(ledger, "root.a") == (2000, 0, 1000)
    assert code_of(ledger, "first") == Code.QUOTA_EXCEEDED
    assert ledger.view.identities.tally.forced == 1


# -- what is checked for the first that waits -----------------------------------------------------------


@pytest.mark.rule("QUO-13")
def test_a_forced_application_counts_and_lets_nothing_in_beyond_the_number_that_may_run() -> None:
    ledger = make_ledger(replace(make_queue("root.a"), max_applications=1))
    shown(ledger, make_pod("fair", app="fair"))
    assert code_of(ledger, "fair") == "Admitted"
    shown(ledger, make_pod("forced", app="sly", node="n1"), make_pod("waits", app="sly"))
    assert code_of(ledger, "waits") == Code.MAX_APPLICATIONS_REACHED
    shown(ledger, make_pod("fair-2", app="fair"))
    assert code_of(ledger, "fair-2") == "Admitted"
    ledger.apply(on.PodDeleted(PodUid("uid-fair")), now=START)
    ledger.apply(on.PodDeleted(PodUid("uid-fair-2")), now=START)
    assert code_of(ledger, "waits") == "Admitted"
    assert drifts(ledger) == []


@pytest.mark.rule("QUO-13")
def test_after_a_restart_the_oldest_are_taken_for_those_that_were_let_in() -> None:
    spec = replace(make_queue("root.a"), max_applications=2)
    pods = [make_pod(f"r{at}", app=f"app-{at}", node="n1", created=START - 9 + at) for at in range(3)]
    waits = [make_pod(f"w{at}", app=f"app-{at}", created=START - 1) for at in range(3)]
    for order in permutations(pods):
        ledger = restarted(*order, *waits, queues=(spec,))
        assert [code_of(ledger, f"w{at}") for at in range(3)] == [
            "Admitted",
            "Admitted",
            Code.MAX_APPLICATIONS_REACHED,
        ]
        assert drifts(ledger) == []


@pytest.mark.rule("ID-6")
def test_groups_that_are_not_known_are_assumed_for_what_runs_only() -> None:
    ledger = make_ledger(make_queue("root.a"))
    partition = replace(make_partition(make_queue("root.a")), resolver="os")
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    alice = Identity("alice")
    effects = shown(ledger, make_pod("forced", node="n1", identity=alice))
    assert [each for each in effects if isinstance(each, ResolveGroups)]
    ledger.apply(on.GroupsResolved("alice", None), now=START)
    assert usage(ledger, "root.a") == (1000, 0, 0)
    shown(ledger, make_pod("waits", identity=alice))
    assert code_of(ledger, "waits") == Code.PLACEMENT_FAILED
    assert usage(ledger, "root.a") == (1000, 0, 0)
    ledger.apply(on.GroupsResolved("alice", ("dev",)), now=START + 1)
    assert isinstance(filtered(ledger, "uid-waits", now=START + 1), Admitted)
    assert drifts(ledger) == []


def test_a_name_that_is_none_is_refused_to_what_waits() -> None:
    ledger = make_ledger(make_queue("root.a"))
    odd = Identity("no body!", ("dev",))
    shown(ledger, make_pod("forced", node="n1", identity=odd), make_pod("waits", identity=odd))
    assert usage(ledger, "root.a") == (1000, 0, 0)
    assert code_of(ledger, "waits") == Code.PLACEMENT_FAILED


# -- after a restart with a removed queue ---------------------------------------------------------------


@pytest.mark.rule("PL-12", "APP-19")
def test_after_a_restart_what_runs_of_a_removed_queue_counts_in_recovery_and_what_waits_is_placed_anew() -> (
    None
):
    pods = [
        make_pod("runs", queue="root.gone", node="n1", created=1.0),
        make_pod("waits", queue="root.gone", created=2.0),
        make_pod("elsewhere", queue="root.a", created=3.0, app="app-2"),
        make_pod("of-root-a", queue="root.a", created=4.0, node="n1", app="app-2"),
    ]
    for order in permutations(pods):
        ledger = restarted(*order, queues=(make_queue("root.a"),))
        assert usage(ledger, RECOVERY_QUEUE) == (1000, 0, 0)
        assert usage(ledger, "root.a") == (1000, 0, 1000)
        assert code_of(ledger, "waits") == Code.PLACEMENT_FAILED
        assert drifts(ledger) == []


@pytest.mark.rule("GANG-20")
def test_a_gang_that_is_split_so_gives_its_placeholders_back() -> None:
    gang = make_gang(2)
    pods = [
        make_pod("m1", queue="root.gone", created=1.0, gang=gang, task_group="g"),
        make_pod(
            "t1", queue="root.gone", created=2.0, gang=gang, task_group="g", placeholder=True, node="n1"
        ),
        make_pod("t2", queue="root.gone", created=2.0, gang=gang, task_group="g", placeholder=True),
        make_pod("m2", queue="root.gone", created=3.0, gang=gang, task_group="g", node="n1"),
    ]
    for order in permutations(pods):
        ledger = make_ledger(make_queue("root.a"), listed=False)
        effects = shown(ledger, *order)
        effects += ledger.apply(on.PodsListed(frozenset(pod.uid for pod in pods)), now=START)
        assert sorted(each.uid for each in effects if isinstance(each, DeletePod)) == ["uid-t1", "uid-t2"]
        assert usage(ledger, RECOVERY_QUEUE) == (2000, 0, 0)
        assert code_of(ledger, "m1") == Code.PLACEMENT_FAILED
        assert drifts(ledger) == []


def test_another_that_takes_over_gives_them_back_too() -> None:
    gang = make_gang(1)
    ledger = make_ledger(make_queue("root.a"), listed=False)
    ledger.apply(on.ActingEnded(), now=START)
    pods = [
        make_pod("m1", queue="root.gone", gang=gang, task_group="g"),
        make_pod("t1", queue="root.gone", gang=gang, task_group="g", placeholder=True, node="n1"),
    ]
    effects = shown(ledger, *pods)
    effects += ledger.apply(on.PodsListed(frozenset(pod.uid for pod in pods)), now=START)
    assert not [each for each in effects if isinstance(each, DeletePod)]
    effects += ledger.apply(on.ActingBegan(), now=START)
    assert [each.uid for each in effects if isinstance(each, DeletePod)] == ["uid-t1"]
    assert drifts(ledger) == []


def test_many_that_run_of_a_removed_queue_cost_no_more_each() -> None:
    def restart(count: int) -> None:
        pods = [make_pod(f"p{at}", queue="root.gone", node="n1") for at in range(count)]
        ledger = restarted(*pods, queues=(make_queue("root.a"),))
        assert usage(ledger, RECOVERY_QUEUE)[0] == count * 1000

    few, many = effort(lambda: restart(50)), effort(lambda: restart(400))
    assert many < 12 * few


def test_the_namespace_of_another_makes_no_difference() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 4000}))
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("rival")), now=START)
    shown(ledger, make_pod("fair", queue="root.a"))
    shown(ledger, make_pod("forced", queue="root.nope", node="n1", namespace="rival"))
    shown(ledger, make_pod("waits", queue="root.nope", namespace="rival"))
    assert {str(each.id): str(each.queue) for each in ledger.view.applications()} == {
        "default/app-1": "root.a",
        "rival/app-1": "None",
        "rival/app-1 (recovered)": RECOVERY_QUEUE,
    }
    assert drifts(ledger) == []
