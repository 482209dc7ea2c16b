"""Documents under running pods: reloads, draining, recovery, lowered maxima (Q-9, PL-12, QUO-9, QUO-12)."""

import pytest

from core.decisions.decision import Admitted, Refused
from core.ids import RECOVERY_QUEUE, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import QueueSpec
from core.reasons import Code
from core.resource import Limit
from core.workload.pod import NamespaceFacts
from tests.builders import (
    START,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
    usage,
    woken,
)

A = make_queue("root.a", max={"vcore": 2000})


def configure(ledger: Ledger, *queues: QueueSpec, at: float = 0.0) -> None:
    ledger.apply(on.Configured(make_partition(*queues), LedgerSettings()), now=START + at)


def observe(ledger: Ledger, name: str = "pod", **facts: object) -> str:
    pod = make_pod(name, **{"app": f"app-{name}", **facts})  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START)
    return pod.uid


def tick(ledger: Ledger, at: float = 0.0) -> None:
    ledger.apply(on.TimePassed(), now=START + at)
    ledger.apply(on.CleanerDue(), now=START + at)


def test_a_reload_carries_usage_over() -> None:
    ledger = make_ledger(A)
    observe(ledger, "bound", node="n1")
    filtered(ledger, observe(ledger, "held", cpu=300), now=START)
    observe(ledger, "asks", cpu=20)
    configure(ledger, make_queue("root.a", max={"vcore": 9000}), make_queue("root.b"))
    assert usage(ledger, "root.a") == (1000, 300, 20)
    assert ledger.view.generation == 2


def test_pods_seen_before_the_first_document_are_counted_with_it() -> None:
    ledger = Ledger()
    ledger.apply(on.ObjectObserved(on.NODES, make_node()), now=START)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")), now=START)
    observe(ledger, "bound", node="n1")
    observe(ledger, "asks")
    assert usage(ledger, "root") == (0, 0, 0)
    configure(ledger, A)
    assert usage(ledger, "root.a") == (1000, 0, 1000)


@pytest.mark.rule("PL-12")
def test_bound_pods_of_an_unknown_queue_seen_before_the_first_document_are_recovered() -> None:
    ledger = Ledger()
    observe(ledger, "asks", app="app", queue="root.nowhere")
    observe(ledger, "bound", app="app", queue="root.nowhere", node="n1")
    configure(ledger, A)
    assert usage(ledger, RECOVERY_QUEUE) == (1000, 0, 0)


@pytest.mark.rule("QUO-12")
def test_a_lowered_max_evicts_nothing_and_admits_nothing_until_it_converges() -> None:
    ledger = make_ledger(A)
    bound = [observe(ledger, f"bound{at}", node="n1") for at in range(2)]
    asks = observe(ledger, "asks", cpu=500)
    configure(ledger, make_queue("root.a", max={"vcore": 1500}))
    assert usage(ledger, "root.a") == (2000, 0, 500)
    assert isinstance(filtered(ledger, asks, now=START), Refused)
    ledger.apply(on.PodDeleted(make_pod("bound0").uid), now=START)
    assert bound[0] == make_pod("bound0").uid
    assert isinstance(filtered(ledger, asks, now=START), Admitted)


def test_a_raised_max_wakes_as_many_as_fit() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 0, "memory": 1}))
    uids = [observe(ledger, f"p{at}") for at in range(4)]
    assert all(isinstance(filtered(ledger, uid, now=START), Refused) for uid in uids)
    woken(ledger, now=START)
    configure(ledger, make_queue("root.a", max={"vcore": 2000}))
    assert woken(ledger, now=START + 1) == uids[:2]


@pytest.mark.rule("QUO-9")
def test_bound_pods_are_counted_without_a_check() -> None:
    ledger = make_ledger(A)
    for at in range(5):
        observe(ledger, f"p{at}", node="n1")
    assert usage(ledger, "root.a") == (5000, 0, 0)


# -- draining ------------------------------


@pytest.mark.rule("Q-9")
def test_a_draining_queue_goes_on_with_its_applications_and_takes_no_new_one() -> None:
    ledger = make_ledger(A)
    first = observe(ledger, "first", app="running")
    configure(ledger)
    assert isinstance(filtered(ledger, first, now=START), Admitted)
    assert isinstance(filtered(ledger, observe(ledger, "second", app="running"), now=START), Admitted)
    refused = filtered(ledger, observe(ledger, "third", app="new"), now=START)
    assert isinstance(refused, Refused)
    assert refused.refusal.code is Code.QUEUE_DRAINING


@pytest.mark.rule("Q-10")
def test_a_drained_queue_is_removed_when_its_last_application_has_completed() -> None:
    ledger = make_ledger(make_queue("root.p", leaf=False), make_queue("root.p.x"))
    observe(ledger, queue="root.p.x", node="n1")
    configure(ledger)
    tick(ledger)
    assert ledger.view.tree.get("root.p.x") is not None
    ledger.apply(on.PodDeleted(make_pod().uid), now=START)
    tick(ledger, 30)
    assert [queue.path for queue in ledger.view.tree] == ["root"]


@pytest.mark.rule("Q-9")
def test_a_queue_named_again_goes_on_with_its_usage_and_takes_refused_pods() -> None:
    ledger = make_ledger(A)
    observe(ledger, "old", node="n1")
    configure(ledger)
    new = observe(ledger, "new", cpu=500)
    assert isinstance(filtered(ledger, new, now=START), Refused)
    woken(ledger, now=START)
    assert usage(ledger, "root.a") == (1000, 0, 0)
    configure(ledger, A)
    assert usage(ledger, "root.a") == (1000, 0, 500)
    assert woken(ledger, now=START) == [new]


def test_a_queue_removed_and_named_again_starts_empty() -> None:
    ledger = make_ledger(A)
    observe(ledger, node="n1")
    configure(ledger)
    ledger.apply(on.PodDeleted(make_pod().uid), now=START)
    tick(ledger, 30)
    assert ledger.view.tree.get("root.a") is None
    configure(ledger, A)
    assert usage(ledger, "root.a") == (0, 0, 0)


def test_an_application_stays_where_it_is_when_its_queue_moves() -> None:
    ledger = make_ledger(A)
    observe(ledger, "bound", app="app", node="n1")
    configure(ledger, make_queue("root.b", leaf=False), make_queue("root.b.a"))
    observe(ledger, "next", app="app", queue="root.b.a")
    assert usage(ledger, "root.a") == (1000, 0, 1000)
    assert usage(ledger, "root.b") == (0, 0, 0)


def test_a_document_that_makes_a_running_leaf_a_parent_is_a_conflict() -> None:
    ledger = make_ledger(A)
    observe(ledger, node="n1")
    document = make_partition(make_queue("root.a", leaf=False), make_queue("root.a.x"))
    assert list(ledger.view.conflicts(document)) == [
        "root.a runs 1 applications and cannot become a parent queue"
    ]


# -- recovery ------------------------------


@pytest.mark.rule("PL-12")
def test_a_bound_pod_of_an_unknown_queue_counts_in_the_recovery_queue() -> None:
    ledger = make_ledger(A)
    observe(ledger, queue="root.nowhere", node="n1")
    assert usage(ledger, RECOVERY_QUEUE) == usage(ledger, "root") == (1000, 0, 0)
    ledger.apply(on.PodDeleted(make_pod().uid), now=START)
    tick(ledger, 30)
    assert ledger.view.tree.get(RECOVERY_QUEUE) is None


@pytest.mark.rule("PL-12")
@pytest.mark.parametrize("order", ["bound first", "bound later", "same pod is bound later", "bound by us"])
def test_it_does_so_whenever_it_is_seen(order: str) -> None:
    ledger = make_ledger(A)
    if order == "bound first":
        observe(ledger, "bound", app="app", queue="root.nowhere", node="n1")
    elif order == "bound later":
        observe(ledger, "asks", app="app", queue="root.nowhere", cpu=1)
        observe(ledger, "bound", app="app", queue="root.nowhere", node="n1")
    else:
        observe(ledger, "bound", app="app", queue="root.nowhere")
        if order == "bound by us":
            pod = make_pod("bound")
            ledger.apply(on.PodBound(pod.uid, make_node().name), now=START)
        else:
            observe(ledger, "bound", app="app", queue="root.nowhere", node="n1", version=2)
    assert usage(ledger, RECOVERY_QUEUE)[0] == 1000
    use = ledger.view.use_of(make_node().name)
    assert use is not None
    assert use.allocated.get("vcore") == 1000


@pytest.mark.rule("PL-10")
def test_a_pod_bound_by_others_that_names_nothing_counts_in_the_recovery_queue() -> None:
    ledger = make_ledger(A, make_queue("root.default"))
    observe(ledger, queue="", node="n1")
    assert (usage(ledger, "root.default"), usage(ledger, RECOVERY_QUEUE)) == ((0, 0, 0), (1000, 0, 0))


def test_a_restart_leaves_the_pods_of_the_default_queue_in_it() -> None:
    ledger = Ledger()
    ledger.apply(on.Configured(make_partition(make_queue("root.default")), LedgerSettings()), now=START)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")), now=START)
    observe(ledger, queue="", node="n1")
    ledger.apply(on.PodsListed(frozenset({PodUid("uid-pod")})), now=START)
    assert usage(ledger, "root.default") == (1000, 0, 0)


@pytest.mark.rule("PL-12")
def test_no_other_pod_gets_into_the_recovery_queue() -> None:
    ledger = make_ledger(A)
    observe(ledger, "bound", queue="root.nowhere", node="n1")
    verdict = filtered(ledger, observe(ledger, "sly", queue=RECOVERY_QUEUE), now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.PLACEMENT_FAILED


# -- counters ------------------------------


@pytest.mark.rule("QUO-2")
def test_a_pod_is_pending_then_reserved_then_allocated_on_every_level() -> None:
    ledger = make_ledger(make_queue("root.p", leaf=False), make_queue("root.p.x"))
    uid = observe(ledger, queue="root.p.x")
    seen = [usage(ledger, "root.p.x")]
    filtered(ledger, uid, now=START)
    seen.append(usage(ledger, "root.p.x"))
    observe(ledger, queue="root.p.x", node="n1", version=2)
    seen.append(usage(ledger, "root.p.x"))
    assert seen == [(0, 0, 1000), (0, 1000, 0), (1000, 0, 0)]
    assert usage(ledger, "root") == usage(ledger, "root.p") == usage(ledger, "root.p.x")


def test_the_roots_max_survives_a_reload() -> None:
    ledger = make_ledger(A)
    configure(ledger, A)
    root = ledger.view.tree.root
    assert root.max is not None
    assert root.max == Limit({"vcore": 100_000, "memory": 2**40, "pods": 1000})


@pytest.mark.rule("POD-4")
def test_settings_change_with_the_document() -> None:
    ledger = make_ledger(A)
    settings = LedgerSettings(scheduler_names=frozenset({"other"}))
    ledger.apply(on.Configured(make_partition(A), settings), now=START)
    observe(ledger, "new", scheduler_name="yunikorn")
    assert usage(ledger, "root.a") == (0, 0, 0)
    observe(ledger, "ours", scheduler_name="other")
    assert usage(ledger, "root.a") == (0, 0, 1000)
