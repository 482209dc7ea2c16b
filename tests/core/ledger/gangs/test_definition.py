"""New gangs: accepted ones, refused ones with the end of the refusal, and reports of invalid definitions."""

from dataclasses import replace

import pytest

from core.decisions.decision import Admitted, Refused
from core.decisions.explain import explain
from core.ids import AppId, PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, MarkFailed, PostEvent
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.properties import SORT_POLICY
from core.queues.spec import QueueSpec
from core.reasons import Code, Refusal
from core.workload.application import Application
from core.workload.gangs.gang import Gang, Misdefined, PodGroup
from core.workload.gangs.refusals import refusal_of_gang
from core.workload.pod import NamespaceFacts
from core.workload.states import AppState
from tests.builders import (
    START,
    filtered,
    make_gang,
    make_ledger,
    make_partition,
    make_pod,
    make_queue,
    make_tree,
    usage,
)


def with_policy(queue: QueueSpec, policy: str) -> QueueSpec:
    return replace(queue, properties={SORT_POLICY: policy})


def refusal(gang: Gang, *queues: QueueSpec, leaf: str = "root.a") -> Refusal | None:
    found = make_tree(*queues, capacity={"vcore": 1, "pods": 1}).get(leaf)
    assert found is not None
    return refusal_of_gang(found, gang)


def application(ledger: Ledger, app: str = "app-1") -> Application:
    found = ledger.view.application(AppId(app, "default"))
    assert found is not None
    return found


def observed(ledger: Ledger, name: str, *, now: float = START, **facts: object) -> tuple[Effect, ...]:
    return ledger.apply(on.PodObserved(make_pod(name, **facts)), now=now)  # type: ignore[arg-type]


def events(effects: tuple[Effect, ...]) -> list[tuple[str, str, str]]:
    return [(each.reason, each.action, each.message) for each in effects if isinstance(each, PostEvent)]


def configure(ledger: Ledger, *queues: QueueSpec, now: float, **settings: bool) -> None:
    ledger.apply(on.Configured(make_partition(*queues), LedgerSettings(**settings)), now=now)  # type: ignore[arg-type]


# -- the check itself ----------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-6")
@pytest.mark.parametrize(
    ("caps", "text"),
    [
        ({"vcore": 1000}, "GangTooLarge: root.a max vcore=1, below the gang's 10"),
        ({"vcore": 9999}, "GangTooLarge: root.a max vcore=9999m, below the gang's 10"),
        ({"vcore": 10_000}, ""),
        ({"vcore": 100_000}, ""),
        ({"second": 100}, ""),
        ({"pods": 9}, "GangTooLarge: root.a max pods=9, below the gang's 10"),
        ({"vcore": 0}, "GangTooLarge: root.a max vcore=0, below the gang's 10"),
        (None, ""),
    ],
)
def test_a_gang_must_fit_the_max_of_its_leaf(caps: dict[str, int] | None, text: str) -> None:
    found = refusal(make_gang(), make_queue("root.a", max=caps))
    assert (found.text if found else "") == text


@pytest.mark.rule("GANG-6")
def test_and_that_of_every_parent_but_not_the_cluster() -> None:
    parent = make_queue("root.p", leaf=False, max={"vcore": 5000})
    found = refusal(make_gang(), parent, make_queue("root.p.a", max={"vcore": 20_000}), leaf="root.p.a")
    assert found == Refusal(Code.GANG_TOO_LARGE, "root.p", "max vcore=5, below the gang's 10")
    assert refusal(make_gang(5), parent, make_queue("root.p.a"), leaf="root.p.a") is None


@pytest.mark.rule("GANG-6")
def test_what_the_gang_asks_nothing_of_is_not_compared() -> None:
    assert refusal(make_gang(cpu=0), make_queue("root.a", max={"vcore": 0})) is None


@pytest.mark.rule("GANG-7")
@pytest.mark.parametrize(
    ("policy", "text"),
    [
        ("fair", "GangNotFifo: root.a application.sort.policy=fair"),
        ("fifo", ""),
        ("stateaware", ""),
        ("", ""),
        ("unknown", ""),
    ],
)
def test_a_leaf_must_be_ordered_by_age(policy: str, text: str) -> None:
    found = refusal(make_gang(), with_policy(make_queue("root.a"), policy))
    assert (found.text if found else "") == text


@pytest.mark.rule("GANG-6", "GANG-7")
def test_too_large_is_said_before_not_by_age() -> None:
    found = refusal(make_gang(), with_policy(make_queue("root.a", max={"vcore": 1}), "fair"))
    assert found is not None
    assert found.code is Code.GANG_TOO_LARGE


# -- what comes of it ----------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-6", "APP-8")
def test_the_application_is_rejected_and_its_pods_get_the_reason() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    text = "GangTooLarge: root.a max vcore=2, below the gang's 10"
    assert events(observed(ledger, "p1", gang=make_gang())) == [("ApplicationFailed", "", text)]
    assert events(observed(ledger, "p2")) == [("ApplicationFailed", "", text)]
    assert application(ledger).state is AppState.REJECTED
    verdict = filtered(ledger, "uid-p1", now=START)
    assert isinstance(verdict, Refused)
    assert verdict.sent.text == text
    record = ledger.view.pod(PodUid("uid-p2"))
    assert record is not None
    assert explain(ledger.view, record).refusal == verdict.refusal
    assert usage(ledger, "root.a") == (0, 0, 0)


@pytest.mark.rule("GANG-6")
def test_usage_does_not_count() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 10_000}))
    observed(ledger, "old", app="old", cpu=10_000, node="n1")
    observed(ledger, "p1", gang=make_gang())
    assert application(ledger).state is AppState.ACCEPTED
    verdict = filtered(ledger, "uid-p1", now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.GANG_INCOMPLETE


@pytest.mark.rule("GANG-6")
def test_a_new_document_is_another_chance() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    observed(ledger, "p1", gang=make_gang())
    configure(ledger, make_queue("root.a", max={"vcore": 5000}), now=START + 1)
    assert application(ledger).refusal == Refusal(
        Code.GANG_TOO_LARGE, "root.a", "max vcore=5, below the gang's 10"
    )
    configure(ledger, make_queue("root.a", max={"vcore": 10_000}), now=START + 2)
    assert application(ledger).state is AppState.ACCEPTED
    assert usage(ledger, "root.a") == (0, 0, 0)


@pytest.mark.rule("GANG-7")
def test_a_gang_in_its_queue_is_not_asked_again() -> None:
    ledger = make_ledger(make_queue("root.a"))
    observed(ledger, "p1", gang=make_gang())
    configure(ledger, with_policy(make_queue("root.a", max={"vcore": 2000}), "fair"), now=START + 1)
    observed(ledger, "p2", now=START + 2)
    assert application(ledger).state is AppState.ACCEPTED
    assert isinstance(filtered(ledger, "uid-p2", now=START + 2), Refused)


@pytest.mark.rule("GANG-6")
def test_one_with_a_pod_on_a_node_is_taken_in_again_after_a_restart() -> None:
    ledger = Ledger()
    configure(ledger, make_queue("root.a", max={"vcore": 2000}), now=START, mark_failed=True)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")), now=START)
    effects = observed(ledger, "p1", gang=make_gang())
    assert application(ledger).refusal == Refusal(
        Code.NOT_READY, "the pods of its gang have not been read yet"
    )
    effects += observed(ledger, "p2", gang=make_gang(), node="n1")
    effects += ledger.apply(on.PodsListed(frozenset({PodUid("uid-p1"), PodUid("uid-p2")})), now=START)
    assert application(ledger).queue == "root.a"
    assert application(ledger).refusal == Refusal(
        Code.GANG_TOO_LARGE, "root.a", "max vcore=2, below the gang's 10"
    )
    assert [effect.uid for effect in effects if isinstance(effect, PostEvent)] == ["uid-p1"]
    assert not [effect for effect in effects if isinstance(effect, MarkFailed)]


@pytest.mark.rule("GANG-6")
def test_one_without_is_checked_once_all_pods_are_read() -> None:
    ledger = Ledger()
    configure(ledger, make_queue("root.a", max={"vcore": 2000}), now=START)
    ledger.apply(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})), now=START)
    observed(ledger, "p1", gang=make_gang())
    ledger.apply(on.PodsListed(frozenset({PodUid("uid-p1")})), now=START)
    ledger.apply(on.TimePassed(), now=START + 10)
    assert application(ledger).state is AppState.REJECTED


# -- whose definition counts ---------------------------------------------------------------------------------


@pytest.mark.rule("GANG-1")
def test_the_first_pod_defines_the_gang_and_no_other_does() -> None:
    ledger = make_ledger(make_queue("root.a"))
    observed(ledger, "p1", gang=make_gang(2))
    observed(ledger, "p2", gang=make_gang(7))
    assert application(ledger).gang == make_gang(2)
    observed(ledger, "q1", app="app-2")
    observed(ledger, "q2", app="app-2", gang=make_gang())
    assert application(ledger, "app-2").gang is None


@pytest.mark.rule("GANG-1")
def test_a_pod_behind_a_gate_of_others_defines_nothing_until_it_is_an_ask() -> None:
    ledger = make_ledger(make_queue("root.a"))
    observed(ledger, "p1", gang=make_gang(2), gates=("example.com/gate",))
    observed(ledger, "p2", gang=make_gang(7))
    assert application(ledger).gang == make_gang(7)


@pytest.mark.rule("GANG-2")
def test_a_placeholder_is_never_the_one_that_others_depend_on() -> None:
    ledger = make_ledger(make_queue("root.a"))
    observed(ledger, "tg-1", gang=make_gang(2), placeholder=True, created=1.0)
    assert application(ledger).gang == make_gang(2)
    assert application(ledger).originator is None
    observed(ledger, "p1", created=5.0)
    observed(ledger, "p2", created=3.0)
    first = application(ledger).originator
    assert first is not None
    assert first[-1] == "uid-p2"


@pytest.mark.rule("POD-12")
def test_a_broken_definition_is_reported_once_and_its_pods_go_like_any_others() -> None:
    ledger = make_ledger(with_policy(make_queue("root.a", max={"vcore": 9000}), "fair"))
    broken = Misdefined("task groups: minMember must be at least 1")
    message = "task groups: minMember must be at least 1; its pods are placed like any others"
    assert events(observed(ledger, "p1", gang=broken)) == [("GangScheduling", "TaskGroupsError", message)]
    assert events(observed(ledger, "p1", gang=broken, version=2)) == []
    assert events(observed(ledger, "p2", gang=broken)) == []
    assert application(ledger).gang is None
    assert isinstance(filtered(ledger, "uid-p1", now=START), Admitted)


@pytest.mark.rule("POD-8")
def test_task_groups_do_not_count_where_gangs_are_switched_off() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}), settings=LedgerSettings(gangs=False))
    assert events(observed(ledger, "p1", gang=make_gang(), task_group="g")) == []
    assert events(observed(ledger, "p2", app="app-2", gang=Misdefined("no JSON"))) == []
    assert application(ledger).gang is None
    record = ledger.view.pod(PodUid("uid-p1"))
    assert record is not None
    assert record.facts.task_group == "g"


@pytest.mark.rule("COS-1")
def test_invalid_labels_of_a_group_are_reported_once() -> None:
    ledger = make_ledger(make_queue("root.a"))
    wrong = Misdefined("min-available must be a whole number")
    message = "min-available must be a whole number; the pod is in no group"
    assert events(observed(ledger, "p1", pod_group=wrong)) == [("GangScheduling", "PodGroupError", message)]
    assert events(observed(ledger, "p1", pod_group=wrong, version=2)) == []
    assert events(observed(ledger, "p2", pod_group=PodGroup("g", 2))) == []
    assert isinstance(filtered(ledger, "uid-p1", now=START), Admitted)
