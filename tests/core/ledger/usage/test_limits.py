"""Limits of users, groups and applications, on a whole ledger (UGM, QUO-13)."""

from dataclasses import replace

import pytest

from core.decisions.admission import refusal_of
from core.decisions.decision import Admitted, Refused
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import LimitSpec, QueueSpec
from core.queues.users.identity import Identity
from core.queues.users.limits import Limits, headroom_for
from core.resource import Limit
from tests.builders import START, filtered, make_ledger, make_partition, make_pod, make_queue, woken

LEAF = "root.parent.leaf"


def limit(users: str = "", groups: str = "", apps: int = 0, **amounts: int) -> LimitSpec:
    return LimitSpec(tuple(users.split()), tuple(groups.split()), Limit(amounts) if amounts else None, apps)


def tree(**limits: tuple[LimitSpec, ...]) -> tuple[QueueSpec, ...]:
    """Queues root.parent with child1, child2 and leaf; ``limits`` by the last part of the path."""
    paths = {"parent": False, "child1": True, "child2": True, "leaf": True}
    return tuple(
        replace(
            make_queue("root.parent" if name == "parent" else f"root.parent.{name}", leaf=leaf),
            limits=limits.get(name, ()),
        )
        for name, leaf in paths.items()
    )


def ask(
    ledger: Ledger, name: str, user: str = "u", *groups: str, queue: str = LEAF, app: str = "", cpu: int = 10
) -> str:
    """Show a pod and call filter for it: empty if it is admitted, else the text."""
    identity = Identity(user, groups)
    pod = make_pod(name, cpu=cpu, queue=queue, app=app or name, identity=identity)
    ledger.apply(on.PodObserved(pod), now=START)
    verdict = filtered(ledger, pod.uid, now=START)
    if isinstance(verdict, Admitted):
        return ""
    assert isinstance(verdict, Refused)
    return verdict.refusal.text


@pytest.mark.rule("UGM-1")
def test_a_wildcard_is_for_each_single_user_and_a_name_goes_before_it() -> None:
    ledger = make_ledger(*tree(parent=(limit("bob", vcore=20), limit("*", vcore=10))))
    assert ask(ledger, "a1", "alice") == ""
    assert ask(ledger, "c1", "carol") == ""
    assert ask(ledger, "a2", "alice") == "UserQuotaExceeded: user alice in root.parent max vcore=10m"
    assert (ask(ledger, "b1", "bob"), ask(ledger, "b2", "bob")) == ("", "")
    assert ask(ledger, "b3", "bob") == "UserQuotaExceeded: user bob in root.parent max vcore=20m"


@pytest.mark.rule("UGM-4")
def test_every_level_counts_and_types_without_a_limit_are_free() -> None:
    ledger = make_ledger(*tree(parent=(limit("u", vcore=30),), leaf=(limit("u", vcore=20, gpu=0),)))
    assert ask(ledger, "one") == ""
    assert ask(ledger, "two", queue="root.parent.child1", cpu=20) == ""
    assert ask(ledger, "three") == "UserQuotaExceeded: user u in root.parent max vcore=30m"


@pytest.mark.rule("UGM-5")
@pytest.mark.parametrize(
    ("groups", "found"),
    [
        (("group1", "group2"), "group2"),
        (("group1",), "group1"),
        (("other",), "*"),
        (("group3", "other"), "*"),
    ],
)
def test_the_group_an_application_counts_for(groups: tuple[str, ...], found: str) -> None:
    queues = tree(
        parent=(limit(groups="group1", vcore=10), limit(groups="*", vcore=5)),
        child1=(limit(groups="group2 group1", vcore=10),),
    )
    paths = ["root.parent.child1", "root.parent", "root"]
    if groups == ("group1",):
        paths = paths[1:]
    assert Limits(queues).group_for(paths, groups) == found  # type: ignore[arg-type]


@pytest.mark.rule("UGM-6")
def test_a_group_is_one_pool_for_all_its_users() -> None:
    ledger = make_ledger(*tree(parent=(limit(groups="dev", vcore=20),)))
    assert ask(ledger, "a", "alice", "dev") == ""
    assert ask(ledger, "b", "bob", "dev") == ""
    assert ask(ledger, "c", "carol", "dev") == "GroupQuotaExceeded: group dev in root.parent max vcore=20m"
    assert ask(ledger, "d", "dave", "ops") == ""


@pytest.mark.rule("UGM-11")
def test_the_example_of_two_groups() -> None:
    queues = tree(parent=(limit(groups="group1", vcore=10),), child1=(limit(groups="group2", vcore=10),))
    ledger = make_ledger(*queues)
    assert ask(ledger, "app1", "u", "group1", "group2", queue="root.parent.child1") == ""
    assert ask(ledger, "app2", "u", "group1", "group2", queue="root.parent.child2") == ""
    groups = {app.id.name: app.group for app in ledger.view.applications()}
    assert groups == {"app1": "group2", "app2": "group1"}
    for application in ledger.view.applications():
        queue = ledger.view.tree.get(application.queue or "")
        assert queue is not None
        paths = [each.path for each in queue.chain]
        headroom = headroom_for(ledger.view.limits, ledger.view.book, application.claimant, paths)
        assert headroom.get("vcore") == 0


@pytest.mark.rule("UGM-12")
def test_the_example_of_three_levels() -> None:
    users = {"parent": 50, "leaf": 10}
    queues = tree(**{name: (limit("u", "g", vcore=most),) for name, most in users.items()})
    ledger = make_ledger(*queues)
    assert ask(ledger, "p", "u", "g", cpu=10) == ""
    (application,) = ledger.view.applications()
    paths = [LEAF, "root.parent", "root"]
    headroom = headroom_for(ledger.view.limits, ledger.view.book, application.claimant, paths)  # type: ignore[arg-type]
    assert headroom.get("vcore") == 0


@pytest.mark.rule("UGM-7")
@pytest.mark.rule("QUO-7")
def test_the_user_goes_before_the_group_and_that_before_the_queue() -> None:
    leaf = replace(tree(leaf=(limit("u", "g", vcore=10),))[3], max=Limit({"vcore": 10}))
    ledger = make_ledger(*tree()[:3], leaf)
    assert ask(ledger, "one", "u", "g") == ""
    assert ask(ledger, "two", "u", "g").startswith("UserQuotaExceeded")
    assert ask(ledger, "three", "v", "g").startswith("GroupQuotaExceeded")
    assert ask(ledger, "four", "v", "h").startswith("QuotaExceeded")


@pytest.mark.rule("UGM-8")
def test_applications_of_a_user_and_of_a_group() -> None:
    ledger = make_ledger(*tree(parent=(limit("u", apps=1), limit(groups="g", apps=2))))
    assert ask(ledger, "one", "u", "g", app="x") == ""
    assert ask(ledger, "more", "u", "g", app="x") == ""
    assert ask(ledger, "two", "u", "g", app="y") == (
        "UserMaxApplicationsReached: user u in root.parent max applications=1"
    )
    assert ask(ledger, "three", "v", "g", app="z") == ""
    assert ask(ledger, "four", "w", "g", app="zz") == (
        "GroupMaxApplicationsReached: group g in root.parent max applications=2"
    )
    for name in ("one", "more"):
        ledger.apply(on.PodDeleted(PodUid(f"uid-{name}")), now=START)
    assert woken(ledger, now=START) == ["uid-two"]


@pytest.mark.rule("QUO-13")
def test_applications_of_a_queue_and_of_its_parent() -> None:
    parent, child1, child2, leaf = tree()
    ledger = make_ledger(
        replace(parent, max_applications=2), replace(child1, max_applications=1), child2, leaf
    )
    assert ask(ledger, "one", app="x", queue="root.parent.child1") == ""
    assert ask(ledger, "two", app="y", queue="root.parent.child1") == (
        "MaxApplicationsReached: root.parent.child1 max applications=1"
    )
    assert ask(ledger, "three", app="z", queue="root.parent.child2") == ""
    assert ask(ledger, "four", app="q", queue="root.parent.child2") == (
        "MaxApplicationsReached: root.parent max applications=2"
    )
    assert ask(ledger, "again", app="x", queue="root.parent.child1") == ""


@pytest.mark.rule("UGM-9")
def test_users_without_a_limit_are_tracked_until_they_hold_nothing() -> None:
    ledger = make_ledger(*tree())
    ask(ledger, "one")
    assert {(each.kind, each.name) for each, _ in ledger.view.book} == {("user", "u")}
    ledger.apply(on.PodDeleted(PodUid("uid-one")), now=START)
    assert list(ledger.view.book) == []


@pytest.mark.rule("UGM-10")
def test_a_reload_counts_anew_and_evicts_no_pod() -> None:
    ledger = make_ledger(*tree(parent=(limit("u", vcore=20),)))
    assert ask(ledger, "one", "u", "g") == ""
    lowered = tree(parent=(limit("u", vcore=5), limit(groups="g", vcore=30)))
    ledger.apply(on.Configured(make_partition(*lowered), LedgerSettings()), now=START)
    assert ask(ledger, "two", "u", "g").startswith("UserQuotaExceeded")
    (group,) = {each.name for each, _ in ledger.view.book if each.kind == "group"}
    assert group == "g"
    ledger.apply(on.Configured(make_partition(*tree()), LedgerSettings()), now=START)
    record = ledger.view.pod(PodUid("uid-two"))
    assert record is not None
    assert refusal_of(ledger.view, record) is None


def test_a_pod_refused_after_its_wake_up_leaves_the_capacity_to_others() -> None:
    """Alice's pod is woken first. Before its filter call, another pod of hers uses up her limit."""
    full = replace(make_queue(LEAF), max=Limit({"vcore": 10}))
    queues = [full if queue.path == LEAF else queue for queue in tree(parent=(limit("alice", vcore=10),))]
    ledger = make_ledger(*queues)
    assert ask(ledger, "b0", "bob") == ""
    assert ask(ledger, "a1", "alice") == f"QuotaExceeded: {LEAF} max vcore=10m"
    assert ask(ledger, "b1", "bob") == f"QuotaExceeded: {LEAF} max vcore=10m"
    ledger.apply(on.PodDeleted(PodUid("uid-b0")), now=START)
    assert woken(ledger, now=START) == ["uid-a1"]
    elsewhere = make_pod("a2", cpu=10, queue="root.parent.child1", node="n1", identity=Identity("alice"))
    ledger.apply(on.PodObserved(elsewhere), now=START)
    assert isinstance(filtered(ledger, "uid-a1", now=START), Refused)
    assert woken(ledger, now=START) == ["uid-b1"]


@pytest.mark.rule("QUO-13", "UGM-8")
def test_an_application_that_ends_while_it_waits_lets_another_run() -> None:
    """The bound pod is deleted and the other fits on no node. The application still counted as running."""
    ledger = make_ledger(*tree(leaf=(limit("u", apps=1, vcore=20),)))
    assert ask(ledger, "one", cpu=20, app="first") == ""
    assert ask(ledger, "big", cpu=30, app="first").startswith("UserQuotaExceeded")
    assert ask(ledger, "other", app="second").startswith("UserMaxApplicationsReached")
    ledger.apply(on.PodDeleted(PodUid("uid-one")), now=START)
    assert woken(ledger, now=START) == []
    ledger.apply(on.PodDeleted(PodUid("uid-big")), now=START)
    assert woken(ledger, now=START) == ["uid-other"]


def test_an_application_that_is_woken_counts_for_its_own_user_only() -> None:
    queues = [
        replace(queue, max_applications=1) if queue.path == LEAF else queue
        for queue in tree(parent=(limit("*", apps=1),))
    ]
    ledger = make_ledger(*queues)
    assert ask(ledger, "first", "alice") == ""
    assert ask(ledger, "next", "alice", queue="root.parent.child1").startswith("UserMaxApplicationsReached")
    assert ask(ledger, "other", "bob").startswith("MaxApplicationsReached")
    ledger.apply(on.PodDeleted(PodUid("uid-first")), now=START)
    assert woken(ledger, now=START) == ["uid-next", "uid-other"]
