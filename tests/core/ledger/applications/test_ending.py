"""ACT-20 to ACT-23: the pods of an application that an administrator ends, whatever becomes of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from core.ids import AppId, NodeName
from core.ledger import events as on
from core.ledger.effects import EvictPod, MarkFailed
from core.ledger.ledger import Ledger
from core.workload.daemon_set import Controller
from core.workload.ending import Ending
from core.workload.pod import PodFacts
from core.workload.states import AppState
from tests.builders import AGENTS, OF_AGENTS, START, bind_called, filtered, make_ledger, make_pod, make_queue

APP = AppId("app-1", "default")
ENDING = Ending("ann", START, START + 600, START, "root")


@pytest.mark.rule("ACT-20")
def test_the_definer_of_an_application_without_a_queue_is_placed_by_force_while_it_ends() -> None:
    """The definer counts in the recovery queue then, and the pods that it leaves form one that ends, too."""
    ledger = make_ledger(make_queue("root.a"))
    pods = {name: make_pod(name, queue="root.none") for name in ("first", "second")}
    for pod in pods.values():
        ledger.apply(on.PodObserved(pod), now=START)
    effects = ledger.apply(on.ActionsRead({}, {APP: ENDING}), now=START)
    assert [type(each) for each in effects if isinstance(each, MarkFailed)] == [MarkFailed] * 2
    forced = replace(pods["first"], node="n1", version=pods["first"].version + 1)
    effects = ledger.apply(on.PodObserved(forced), now=START + 1)
    assert [each.uid for each in effects if isinstance(each, EvictPod)] == [forced.uid]
    assert_clean(ledger)
    assert all(each.ends for each in ledger.view.applications())


def ended_by(ledger: Ledger, event: on.Event, *, at: float) -> list[str]:
    effects = ledger.apply(event, now=START + at)
    return sorted(each.name for each in effects if isinstance(each, EvictPod))


def daemon(name: str, controller: Controller, label: str = "agents") -> on.PodObserved:
    labels = {"app": label}
    return on.PodObserved(make_pod(name, queue="root.a", node="n1", daemon_set=controller, labels=labels))


@pytest.mark.rule("ACT-21", "F-10")
@pytest.mark.parametrize("listed_first", [True, False])
def test_an_invented_daemon_set_keeps_no_pod(listed_first: bool) -> None:
    """Until DaemonSets are listed a claim counts, since it may be true."""
    ledger = make_ledger(make_queue("root.a"))
    real = Controller("agents", AGENTS.uid)
    for each in (
        daemon("real", real),
        daemon("ghost", Controller("ghost", "uid-x")),
        daemon("other-uid", Controller("agents", "uid-x")),
        daemon("not-selected", real, label="web"),
    ):
        ledger.apply(each, now=START)
    listed = on.ObjectsListed(on.DAEMON_SETS, frozenset({AGENTS.key}))
    ledger.apply(on.ObjectObserved(on.DAEMON_SETS, AGENTS), now=START)
    order = on.ActionsRead({}, {APP: ENDING})
    first, last = (listed, order) if listed_first else (order, listed)
    before = ended_by(ledger, first, at=0)
    # A DaemonSet that is known already needs no list to deny a claim.
    assert before == ([] if listed_first else ["not-selected", "other-uid"])
    after = ended_by(ledger, last, at=1)
    assert sorted([*before, *after]) == ["ghost", "not-selected", "other-uid"]
    assert_clean(ledger)
    # Nothing is asked for twice.
    assert ended_by(ledger, listed, at=2) == []


@pytest.mark.rule("ACT-22")
def test_a_pod_that_is_let_in_after_the_bar_stays_although_the_api_servers_clock_is_behind() -> None:
    ledger = make_ledger(make_queue("root.a"))
    pod = make_pod("p", controller="ReplicaSet.apps/web", created=START)
    ledger.apply(on.PodObserved(pod), now=START)
    ledger.apply(on.ActionsRead({}, {APP: replace(ENDING, until=START + 60)}), now=START + 1)
    ledger.apply(on.TimePassed(), now=START + 60)
    filtered(ledger, pod.uid, now=START + 60.1)
    bind_called(ledger, pod.uid, now=START + 60.2)
    bound = on.PodBound(pod.uid, NodeName("n1"))
    assert ended_by(ledger, bound, at=60.3) == []
    shown = replace(pod, node=NodeName("n1"), scheduled_at=START + 58, version=2)
    assert ended_by(ledger, on.PodObserved(shown), at=60.4) == []
    assert_clean(ledger)


@pytest.mark.rule("ACT-20", "ACT-22")
def test_a_binding_that_is_answered_after_the_bar_holds_no_application_in_failing() -> None:
    ledger = make_ledger(make_queue("root.a"))
    pod = make_pod("p", controller="ReplicaSet.apps/web", created=START)
    ledger.apply(on.PodObserved(pod), now=START)
    filtered(ledger, pod.uid, now=START)
    bind_called(ledger, pod.uid, now=START)
    ledger.apply(on.ActionsRead({}, {APP: replace(ENDING, until=START + 60)}), now=START + 1)
    (failing,) = ledger.view.applications()
    assert failing.ends
    ledger.apply(on.PodBound(pod.uid, NodeName("n1")), now=START + 61)
    shown = replace(pod, node=NodeName("n1"), scheduled_at=START + 61, version=2)
    assert ended_by(ledger, on.PodObserved(shown), at=61.1) == []
    (found,) = ledger.view.applications()
    assert found is not failing
    assert (found.ends, found.state) == (False, AppState.RUNNING)
    assert_clean(ledger)


@pytest.mark.rule("ACT-4", "ACT-20")
def test_an_order_is_followed_until_all_pods_are_known() -> None:
    """Before that, its application may still run."""
    assert Ledger().view.is_ended(APP)
    assert not make_ledger().view.is_ended(APP)


@pytest.mark.rule("ACT-22")
def test_a_bar_that_is_over_is_no_drift_before_its_timer_is_handled() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.ActionsRead({}, {APP: replace(ENDING, until=START + 60)}), now=START)
    ledger.apply(on.PodObserved(make_pod("p", app="app-2")), now=START + 61)
    assert_clean(ledger)


def being_bound(**kind: Any) -> tuple[Ledger, PodFacts]:
    """A ledger with a pod whose bind call is open. Its application was ended a second ago."""
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.ObjectObserved(on.DAEMON_SETS, AGENTS), now=START)
    ledger.apply(on.ObjectsListed(on.DAEMON_SETS, frozenset({AGENTS.key})), now=START)
    pod = make_pod("p", queue="root.a", created=START, **kind)
    ledger.apply(on.PodObserved(pod), now=START)
    filtered(ledger, pod.uid, now=START)
    bind_called(ledger, pod.uid, now=START)
    ledger.apply(on.ActionsRead({}, {APP: ENDING}), now=START + 1)
    return ledger, pod


REPLICA_SET: Mapping[str, object] = {"controller": "ReplicaSet.apps/web"}


@pytest.mark.rule("ACT-20", "F-1")
def test_a_pod_that_an_order_spares_is_charged_while_it_is_being_bound() -> None:
    ledger, pod = being_bound(**OF_AGENTS)
    held = ledger.view.charge_of(pod.uid)
    assert held is not None
    assert held.queue == "root.a"
    ledger.apply(on.PodBound(pod.uid, NodeName("n1")), now=START + 2)
    assert ledger.view.charge_of(pod.uid) is not None
    (found,) = ledger.view.applications()
    assert (found.ends, found.state) == (False, AppState.RUNNING)
    assert_clean(ledger)


@pytest.mark.rule("ACT-20", "F-1")
@pytest.mark.parametrize("kind", [REPLICA_SET, OF_AGENTS], ids=["may be replaced", "spared"])
def test_a_pod_is_charged_until_it_is_known_that_an_unanswered_binding_did_not_bind_it(
    kind: Mapping[str, Any],
) -> None:
    ledger, pod = being_bound(**kind)
    ledger.apply(on.BindFailed(pod.uid, certain=False), now=START + 2)
    ledger.apply(on.TimePassed(), now=START + 10)
    assert ledger.view.charge_of(pod.uid) is not None
    assert_clean(ledger)
    ledger.apply(on.TimePassed(), now=START + 100)
    ledger.apply(on.TimePassed(), now=START + 103)
    assert ledger.view.charge_of(pod.uid) is None
    assert [each.ends for each in ledger.view.applications()] == [False]
    assert_clean(ledger)


@pytest.mark.rule("ACT-20", "ACT-22")
@pytest.mark.parametrize("kind", [REPLICA_SET, OF_AGENTS], ids=["may be replaced", "spared"])
def test_a_binding_that_fails_holds_no_application_in_failing(kind: Mapping[str, Any]) -> None:
    ledger, pod = being_bound(**kind)
    ledger.apply(on.BindFailed(pod.uid, certain=True), now=START + 2)
    due = ledger.view.next_due()
    assert due is not None
    ledger.apply(on.TimePassed(), now=due)
    assert [each.ends for each in ledger.view.applications()] == [False]
    ledger.apply(on.TimePassed(), now=START + 600)
    assert [each.queue for each in ledger.view.applications()] == ["root.a"]
    assert_clean(ledger)


def assert_clean(ledger: Ledger) -> None:
    assert [drift for step in ledger.audit_steps() for drift in step] == []
