"""Applications: their users, the queue their namespace gives them, and the rejection of one.

ID-3 to ID-6, NS-5 to NS-8, PL-2, PL-13, UGM-2, UGM-3, APP-8.
"""

from dataclasses import replace

import pytest

from core.ids import RECOVERY_QUEUE, PodUid
from core.ledger import events as on
from core.ledger.applications.index import NAMESPACE_AWAITED
from core.ledger.effects import Effect, MarkFailed, PostEvent, ResolveGroups
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import LimitSpec, QueueSpec, RuleSpec
from core.queues.users.identity import Identity
from core.queues.users.limits import Tracked
from core.resource import Limit, Resource
from core.workload.application import Application
from core.workload.pod import NamespaceFacts
from tests.builders import START, drifts, make_ledger, make_partition, make_pod, make_queue, usage

ROOT_LEAF = make_queue("root.a")


def ledger_of(
    *queues: QueueSpec,
    rules: tuple[RuleSpec, ...] = (),
    resolver: str = "",
    settings: LedgerSettings | None = None,
) -> Ledger:
    ledger = make_ledger()
    partition = replace(make_partition(*queues), rules=rules, resolver=resolver)
    ledger.apply(on.Configured(partition, settings or LedgerSettings()), now=START)
    return ledger


def observe(ledger: Ledger, name: str = "pod", *, now: float = START, **facts: object) -> tuple[Effect, ...]:
    pod = make_pod(name, **{"app": f"app-{name}", **facts})  # type: ignore[arg-type]
    return ledger.apply(on.PodObserved(pod), now=now)


def application(ledger: Ledger, app_id: str = "app-pod") -> Application:
    (found,) = ledger.view.identities.named(app_id)
    return found


# -- identity ----------------------------------------------------------------------------------------------


@pytest.mark.rule("ID-3")
def test_the_first_pod_decides_the_user() -> None:
    ledger = ledger_of(ROOT_LEAF)
    observe(ledger, "one", app="job", identity=Identity("alice", ("dev",)))
    observe(ledger, "two", app="job", identity=Identity("bob", ("ops",)))
    job = application(ledger, "job")
    assert (job.identity.user, job.groups) == ("alice", ("dev",))


@pytest.mark.rule("ID-4")
@pytest.mark.parametrize(
    ("identity", "groups", "refused"),
    [
        (Identity(), ("nobody",), ""),
        (Identity("alice"), ("alice",), ""),
        (Identity("alice", ("dev", "ops")), ("dev", "ops"), ""),
        (Identity("no name", ()), ("no name",), ""),
        (Identity("no name", ("dev",)), None, "PlacementFailed: invalid user name no name"),
    ],
)
def test_which_groups_count(identity: Identity, groups: tuple[str, ...] | None, refused: str) -> None:
    ledger = ledger_of(ROOT_LEAF)
    observe(ledger, identity=identity)
    found = application(ledger)
    assert (found.groups, found.refusal.text if found.refusal else "") == (groups, refused)


@pytest.mark.rule("ID-4")
def test_the_resolver_is_asked_once_and_the_application_placed_when_it_has_answered() -> None:
    closed = replace(make_queue("root", leaf=False), submit_acl="")
    staff = replace(make_queue("root.a"), submit_acl=" staff")
    ledger = make_ledger()
    partition = replace(make_partition(), resolver="os", queues=(closed, staff))
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    assert observe(ledger, "one", identity=Identity("alice")) == (ResolveGroups("alice"),)
    assert observe(ledger, "two", identity=Identity("alice")) == ()
    refusal = application(ledger, "app-one").refusal
    assert refusal is not None
    assert refusal.text == "NotReady: the groups of user alice are being looked up"
    ledger.apply(on.GroupsResolved("alice", ("staff",)), now=START)
    assert [application(ledger, f"app-{name}").queue for name in ("one", "two")] == ["root.a", "root.a"]
    assert usage(ledger, "root.a") == (0, 0, 2000)


@pytest.mark.rule("ID-5")
def test_an_answer_is_used_for_five_minutes_and_a_failure_for_half_of_one() -> None:
    ledger = ledger_of(ROOT_LEAF, resolver="os")
    observe(ledger, "one", identity=Identity("alice"))
    ledger.apply(on.GroupsResolved("alice", ("staff",)), now=START)
    assert observe(ledger, "two", now=START + 299, identity=Identity("alice")) == ()
    ledger.apply(on.TimePassed(), now=START + 300)
    late = observe(ledger, "three", now=START + 300, identity=Identity("alice"))
    assert late == (ResolveGroups("alice"),)
    observe(ledger, "lost", identity=Identity("bob"))
    ledger.apply(on.GroupsResolved("bob", None), now=START)
    refusal = application(ledger, "app-lost").refusal
    assert refusal is not None
    assert refusal.text == "PlacementFailed: the groups of user bob are not known"
    assert ResolveGroups("bob") in ledger.apply(on.TimePassed(), now=START + 30)


@pytest.mark.rule("ID-5")
def test_groups_that_a_pod_names_are_not_shared_with_the_user_s_other_applications() -> None:
    """YuniKorn's cache shares the groups. Paddock does not."""
    ledger = ledger_of(ROOT_LEAF)
    observe(ledger, "one", identity=Identity("alice", ("admins",)))
    observe(ledger, "two", identity=Identity("alice"))
    assert application(ledger, "app-two").groups == ("alice",)


@pytest.mark.rule("ID-6")
def test_one_that_runs_already_counts_with_no_group_when_its_user_is_not_known() -> None:
    ledger = ledger_of(ROOT_LEAF, resolver="os")
    observe(ledger, node="n1", identity=Identity("gone"))
    ledger.apply(on.GroupsResolved("gone", None), now=START)
    found = application(ledger)
    assert (found.identity.user, found.groups, found.queue) == ("gone", ("nogroup",), "root.a")


# -- usage of users ----------------------------------------------------------------------------------------


@pytest.mark.rule("UGM-2")
def test_a_dynamic_queue_is_bound_by_the_limits_above_it_and_has_none_of_its_own() -> None:
    entry = LimitSpec(("alice",), (), Limit({"vcore": 10}))
    parent = replace(make_queue("root.p", leaf=False), limits=(entry,))
    ledger = ledger_of(parent, rules=(RuleSpec("provided", create=True),))
    observe(ledger, queue="root.p.made", identity=Identity("alice"))
    limits = ledger.view.limits
    paths = [queue.path for queue in ledger.view.tree]
    assert [path for path in paths if limits.of_user(path, "alice")] == ["root.p"]


@pytest.mark.rule("UGM-3")
def test_usage_is_the_sum_of_the_user_s_applications_below_a_queue() -> None:
    ledger = ledger_of(make_queue("root.p", leaf=False), make_queue("root.p.x"), make_queue("root.p.y"))
    for name, queue, user in (
        ("1", "root.p.x", "alice"),
        ("2", "root.p.y", "alice"),
        ("3", "root.p.y", "bob"),
    ):
        observe(ledger, name, queue=queue, node="n1", identity=Identity(user))
    held = {}
    for path in ("root", "root.p", "root.p.x", "root.p.y"):
        queue = ledger.view.tree.get(path)
        assert queue is not None
        found = ledger.view.book.get(Tracked("user", "alice", queue.path))
        held[path] = found.held.get("vcore") if found else 0
    assert held == {"root": 2000, "root.p": 2000, "root.p.x": 1000, "root.p.y": 1000}


# -- namespaces --------------------------------------------------------------------------------------------

BY_NAMESPACE = (RuleSpec("tag", create=True, value="namespace"),)


def show(ledger: Ledger, **facts: object) -> None:
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default", **facts)), now=START)  # type: ignore[arg-type]


@pytest.mark.rule("NS-5")
def test_only_what_the_namespace_says_is_set_on_its_dynamic_queue() -> None:
    """YuniKorn clears the other of the two. Paddock sets only the given one."""
    ledger = ledger_of(make_queue("root.kept"), rules=BY_NAMESPACE)
    show(ledger, max=Limit({"vcore": 5000}), max_applications=2)
    observe(ledger, queue="")
    queue = ledger.view.tree.get("root.default")
    assert queue is not None
    assert (queue.max, queue.guaranteed, queue.max_applications) == (Limit({"vcore": 5000}), None, 2)
    show(ledger, guaranteed=Resource({"vcore": 1000}))
    assert queue.guaranteed is None
    observe(ledger, "next", queue="")
    assert (queue.max, queue.guaranteed) == (Limit({"vcore": 5000}), Resource({"vcore": 1000}))


@pytest.mark.rule("NS-5")
def test_managed_queues_and_recovery_ignore_the_namespace() -> None:
    ledger = ledger_of(make_queue("root.kept"))
    show(ledger, max=Limit({"vcore": 5000}))
    observe(ledger, "one", queue="root.kept")
    observe(ledger, "two", queue="root.lost", node="n1")
    tree = ledger.view.tree
    assert [queue.max for path in ("root.kept", RECOVERY_QUEUE) if (queue := tree.get(path))] == [None, None]


@pytest.mark.rule("NS-6")
@pytest.mark.parametrize(
    ("parent_queue", "create", "placed"),
    [
        ("production", True, "root.production.default"),
        ("root.production", True, "root.production.default"),
        ("production", False, None),
        ("leaf", True, None),
        ("", True, None),
    ],
)
def test_a_namespace_names_the_parent_of_its_queue(
    parent_queue: str, create: bool, placed: str | None
) -> None:
    parent = RuleSpec("tag", create=create, value="namespace.parentqueue")
    rule = RuleSpec("tag", create=True, value="namespace", parent=parent)
    ledger = ledger_of(make_queue("root.leaf"), rules=(rule,))
    show(ledger, parent_queue=parent_queue)
    observe(ledger, queue="")
    assert application(ledger).queue == placed


@pytest.mark.rule("NS-7")
@pytest.mark.parametrize(
    ("setting", "annotation", "unique"),
    [(False, "true", True), (True, "false", False), (True, "", True), (False, "yes", False)],
)
def test_a_namespace_decides_whether_each_pod_is_an_application(
    setting: bool, annotation: str, unique: bool
) -> None:
    ledger = ledger_of(ROOT_LEAF, settings=LedgerSettings(unique_app_ids=setting))
    show(ledger, generate_app_id=annotation)
    for name in ("one", "two"):
        observe(ledger, name, app="")
    ids = {each.id.name for each in ledger.view.applications()}
    assert ids == ({"default-uid-one", "default-uid-two"} if unique else {"yunikorn-default-autogen"})


@pytest.mark.rule("NS-8")
def test_an_unknown_namespace_gives_no_tags_and_stops_the_application_for_a_moment_only() -> None:
    ledger = ledger_of(ROOT_LEAF, settings=LedgerSettings())
    observe(ledger, namespace="unseen")
    refusal = application(ledger).refusal
    assert refusal is not None
    assert refusal.text == "NotReady: namespace unseen has not been read yet"
    assert ledger.view.next_due() == START + NAMESPACE_AWAITED
    ledger.apply(on.TimePassed(), now=START + NAMESPACE_AWAITED)
    assert application(ledger).queue == "root.a"
    ledger.apply(on.TimePassed(), now=START + NAMESPACE_AWAITED)
    assert ledger.view.next_due() is None


@pytest.mark.rule("NS-8")
def test_one_that_cannot_be_placed_then_is_tried_again_from_time_to_time() -> None:
    ledger = Ledger()
    observe(ledger, namespace="unseen")
    for waits in (1, 2, 3):
        assert ledger.view.next_due() == START + waits * NAMESPACE_AWAITED
        ledger.apply(on.TimePassed(), now=START + waits * NAMESPACE_AWAITED)
    configured = on.Configured(make_partition(ROOT_LEAF), LedgerSettings())
    ledger.apply(configured, now=START + 3 * NAMESPACE_AWAITED)
    assert application(ledger).queue == "root.a"
    ledger.apply(on.TimePassed(), now=START + 3 * NAMESPACE_AWAITED)
    assert ledger.view.next_due() is None


@pytest.mark.rule("NS-5", "NS-6")
def test_a_namespace_that_is_shown_after_its_pod_is_waited_for() -> None:
    """There are two watches, although the API server had the namespace first."""
    parent = RuleSpec("tag", create=True, value="namespace.parentqueue")
    ledger = ledger_of(rules=(RuleSpec("tag", create=True, value="namespace", parent=parent),))
    observe(ledger, queue="", namespace="late")
    facts = NamespaceFacts("late", parent_queue="tenants", max=Limit({"vcore": 500}))
    ledger.apply(on.ObjectObserved(on.NAMESPACES, facts), now=START + 0.5)
    queue = ledger.view.tree.get("root.tenants.late")
    assert queue is not None
    assert (application(ledger).queue, queue.max) == ("root.tenants.late", Limit({"vcore": 500}))
    ledger.apply(on.TimePassed(), now=START + 0.5)
    assert ledger.view.next_due() is None


@pytest.mark.rule("PL-2")
@pytest.mark.parametrize(
    ("tag", "namespace", "placed"),
    [("NAMESPACE", "dev", "root.dev"), ("namespace.parentqueue", "dev", "root.up"), ("other", "dev", None)],
)
def test_the_tags_that_rules_can_ask_for(tag: str, namespace: str, placed: str | None) -> None:
    ledger = ledger_of(rules=(RuleSpec("tag", create=True, value=tag),))
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts(namespace, parent_queue="up")), now=START)
    observe(ledger, queue="", namespace=namespace)
    assert application(ledger).queue == placed


# -- rejection ---------------------------------------------------------------------------------------------


def rejected(name: str) -> PostEvent:
    text = "PlacementFailed: no queue root.nowhere"
    return PostEvent("Pod", "default", name, f"uid-{name}", "ApplicationFailed", text)


@pytest.mark.rule("PL-13")
def test_every_pod_of_a_rejected_application_gets_one_message_and_takes_nothing() -> None:
    ledger = ledger_of(ROOT_LEAF)
    assert observe(ledger, "one", app="job", queue="root.nowhere") == (rejected("one"),)
    assert observe(ledger, "one", app="job", queue="root.nowhere", version=2) == ()
    assert observe(ledger, "two", app="job") == (rejected("two"),)
    assert usage(ledger, "root") == (0, 0, 0)
    ledger.apply(on.Configured(make_partition(ROOT_LEAF), LedgerSettings()), now=START)
    assert ledger.apply(on.TimePassed(), now=START + 60) == ()


@pytest.mark.rule("APP-8")
def test_where_it_is_wanted_the_pods_of_a_rejected_application_are_marked_failed() -> None:
    ledger = ledger_of(ROOT_LEAF, settings=LedgerSettings(mark_failed=True))
    text = "PlacementFailed: no queue root.nowhere"
    mark = MarkFailed(PodUid("uid-one"), "default", "one", "ApplicationRejected", text)
    assert observe(ledger, "one", queue="root.nowhere") == (rejected("one"), mark)
    assert ledger.apply(on.TimePassed(), now=START + 29) == ()
    assert ledger.view.next_due() == START + 30
    assert ledger.apply(on.TimePassed(), now=START + 30) == (mark,)
    assert observe(ledger, "fine") == ()


@pytest.mark.rule("APP-8")
def test_switching_it_on_fails_those_that_wait_already() -> None:
    ledger = ledger_of(ROOT_LEAF)
    observe(ledger, "one", queue="root.nowhere")
    on_now = on.Configured(make_partition(ROOT_LEAF), LedgerSettings(mark_failed=True))
    (effect,) = ledger.apply(on_now, now=START)
    assert isinstance(effect, MarkFailed)


@pytest.mark.rule("APP-8")
def test_settings_alone_switch_it_on_too() -> None:
    ledger = ledger_of(ROOT_LEAF)
    observe(ledger, "one", queue="root.nowhere")
    ledger.apply(on.SettingsRead(LedgerSettings(mark_failed=True)), now=START)
    marked = ledger.apply(on.TimePassed(), now=START)
    assert [type(each) for each in marked] == [MarkFailed]
    assert ledger.view.next_due() == START + 30


@pytest.mark.rule("APP-8")
def test_a_pod_that_leaves_is_not_marked_again() -> None:
    ledger = ledger_of(ROOT_LEAF, settings=LedgerSettings(mark_failed=True))
    observe(ledger, "one", queue="root.nowhere")
    ledger.apply(on.PodDeleted(PodUid("uid-one")), now=START)
    assert ledger.view.next_due() is None


@pytest.mark.rule("APP-8")
def test_all_pods_get_another_reason_where_they_are_to_fail() -> None:
    rule = RuleSpec("tag", value="namespace", parent=RuleSpec("tag", value="namespace.parentqueue"))
    leaves = make_queue("root.a"), make_queue("root.b")
    ledger = ledger_of(*leaves, rules=(rule,), settings=LedgerSettings(mark_failed=True))
    show(ledger, parent_queue="a")
    for name in ("one", "two"):
        observe(ledger, name, app="job", queue="")
    show(ledger, parent_queue="b")
    first = observe(ledger, "one", app="job", queue="", version=2)
    assert [type(each) for each in first] == [PostEvent]
    second = ledger.apply(on.TimePassed(), now=START)
    assert [each.name for each in second if isinstance(each, PostEvent)] == ["two"]


@pytest.mark.parametrize("key", ["scheduler_name", "app_id"])
@pytest.mark.parametrize("enabled", [None, True, False])
@pytest.mark.parametrize("node", ["", "n1"])
def test_one_that_is_relabelled_before_its_namespace_is_seen(
    key: str, enabled: bool | None, node: str
) -> None:
    """F-21: the pod was managed by its own labels, and stayed in the index of pods without a namespace."""
    ledger = make_ledger(make_queue("root.a"))
    facts: dict[str, object] = {"scheduler_name": "default-scheduler", "marked": False}
    pod = make_pod("p", namespace="new", node=node, **facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START)
    assert drifts(ledger) == []
    later = {"scheduler_name": {"scheduler_name": "yunikorn"}, "app_id": {"marked": True}}[key]
    ledger.apply(on.PodObserved(replace(pod, version=2, **later)), now=START)  # type: ignore[arg-type]
    assert drifts(ledger) == []
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("new", enabled=enabled)), now=START)
    assert drifts(ledger) == []
