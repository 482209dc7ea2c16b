"""Records of victims, and the counters of a marked pod."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from tests.builders import (
    AGENTS,
    OF_AGENTS,
    START,
    make_ledger,
    make_partition,
    make_pod,
    make_queue,
    marked,
    triggered,
    unmarked,
    untriggered,
)

BOUND, ASK = PodUid("uid-bound"), PodUid("uid-ask")


def ledger_with(*pods: object) -> Ledger:
    ledger = make_ledger(make_queue("root.p", leaf=False), make_queue("root.p.a"))
    for pod in pods:
        ledger.apply(on.PodObserved(pod), now=START)  # type: ignore[arg-type]
    return ledger


def counted(ledger: Ledger, counter: str) -> list[int]:
    """Preempting amounts of the leaf, its parent and the root."""
    leaf = ledger.view.tree.get("root.p.a")
    assert leaf is not None
    return [getattr(queue, counter).get("vcore") for queue in leaf.chain]


def bound(**facts: object):  # type: ignore[no-untyped-def]
    return make_pod("bound", queue="root.p.a", node="n1", **facts)  # type: ignore[arg-type]


@pytest.mark.rule("PRE-20", "PRE-21")
def test_a_victim_counts_as_preempting_with_all_ancestors_until_it_is_none_or_deleted() -> None:
    ledger = ledger_with(bound())
    assert counted(ledger, "preempting") == [0, 0, 0]
    marked(ledger, BOUND, "root.p.a")
    assert counted(ledger, "preempting") == counted(ledger, "allocated") == [1000, 1000, 1000]
    unmarked(ledger, BOUND)
    assert counted(ledger, "preempting") == [0, 0, 0]
    marked(ledger, BOUND, "root.p.a")
    ledger.apply(on.PodDeleted(BOUND), now=START)
    assert counted(ledger, "preempting") == counted(ledger, "allocated") == [0, 0, 0]


@pytest.mark.rule("PRE-21")
@pytest.mark.parametrize(
    ("deleting", "disrupted", "preempting"), [(True, True, 1000), (True, False, 0), (False, True, 0)]
)
def test_what_kube_scheduler_has_preempted_counts_while_it_terminates(
    deleting: bool, disrupted: bool, preempting: int
) -> None:
    ledger = ledger_with(bound(deleting=deleting, disrupted=disrupted))
    assert counted(ledger, "preempting") == [preempting] * 3


@pytest.mark.rule("PRE-21")
def test_a_marked_pod_that_is_bound_to_no_node_counts_as_nothing_more() -> None:
    """The first list shows the victim with its record."""
    ledger = make_ledger(make_queue("root.p", leaf=False), make_queue("root.p.a"), listed=False)
    ledger.apply(on.PodObserved(make_pod("ask", queue="root.p.a", preempted_for=BOUND)), now=START)
    assert counted(ledger, "pending") == [1000, 1000, 1000]
    assert counted(ledger, "preempting") == [0, 0, 0]


@pytest.mark.rule("DIV-14")
def test_an_ask_that_triggered_counts_until_it_is_placed() -> None:
    ledger = ledger_with(make_pod("ask", queue="root.p.a"))
    triggered(ledger, ASK)
    assert counted(ledger, "triggered") == counted(ledger, "pending") == [1000, 1000, 1000]
    untriggered(ledger, ASK)
    assert counted(ledger, "triggered") == [0, 0, 0]
    triggered(ledger, ASK)
    ledger.apply(on.PodObserved(make_pod("ask", queue="root.p.a", node="n1", version=2)), now=START)
    assert counted(ledger, "triggered") == [0, 0, 0]
    assert counted(ledger, "allocated") == [1000, 1000, 1000]


@pytest.mark.rule("PRE-5")
def test_when_an_ask_was_tried_last() -> None:
    ledger = ledger_with(make_pod("ask", queue="root.p.a"))
    ledger.apply(on.PreemptionTried(ASK), now=START + 30)
    record = ledger.view.pod(ASK)
    assert record is not None
    assert record.preemption.tried_at == START + 30


@pytest.mark.parametrize(
    "event",
    [
        on.PreemptionTried(PodUid("ghost")),
        on.PlanOffered(PodUid("ghost"), "1-a", NodeName("n1"), ()),
        on.PlanCommitted(PodUid("ghost"), "1-a", NodeName("n1"), (on.ChosenVictim(BOUND, "why"),)),
        on.QuotaReclaimed(PodUid(""), QueuePath("root.p.a"), (on.ChosenVictim(PodUid("ghost"), "why"),)),
    ],
)
def test_a_mark_on_a_deleted_pod_is_nothing(event: on.PreemptionMark) -> None:
    ledger = ledger_with(bound())
    assert ledger.apply(event, now=START) == ()  # type: ignore[arg-type]


@pytest.mark.rule("PRE-6")
@pytest.mark.parametrize(
    ("change", "there"),
    [
        (lambda pod: pod, True),
        (lambda pod: replace(pod, deleting=True), False),
        (lambda pod: replace(pod, required_node="n1", **OF_AGENTS), False),
        (lambda pod: replace(pod, scheduler_name="x", app_id="", queue=""), False),
    ],
)
def test_possible_victims_are_filed_by_node(change: Callable[[object], object], there: bool) -> None:
    ledger = ledger_with(change(bound(priority=7)))
    ledger.apply(on.ObjectObserved(on.DAEMON_SETS, AGENTS), now=START)
    use = ledger.view.use_of(make_pod(node="n1").node)
    assert use is not None
    found = {(*rung, uid) for rung, group in use.evictable.groups.items() for uid in group.pods}
    assert found == ({("root.p.a", 7, BOUND)} if there else set())


@pytest.mark.rule("PRE-4")
def test_the_originator_is_the_first_pod_an_application_ever_had() -> None:
    pods = [make_pod(name, queue="root.p.a", created=created) for name, created in (("b", 5.0), ("a", 3.0))]
    ledger = ledger_with(*pods)
    (application,) = ledger.view.applications()
    assert application.originator == (3.0, 2, "uid-a")
    ledger.apply(on.PodDeleted(PodUid("uid-a")), now=START)
    assert application.originator == (3.0, 2, "uid-a")


@pytest.mark.rule("PRE-1", "QCP-1")
def test_the_switches_of_the_partition() -> None:
    ledger = ledger_with()
    assert (ledger.view.preempts, ledger.view.quota_preempts) == (True, False)
    partition = replace(
        make_partition(make_queue("root.p", leaf=False)), preemption=False, quota_preemption=True
    )
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    assert (ledger.view.preempts, ledger.view.quota_preempts) == (False, True)
