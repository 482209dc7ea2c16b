"""The rules behind filter, preempt and bind, and the explanation of a verdict."""

import pytest

from core.decisions.admission import decide_admission, decide_preemption
from core.decisions.binding import decide_binding
from core.decisions.decision import (
    Admitted,
    BindNow,
    BoundAlready,
    Faulted,
    Ignored,
    Offered,
    Refused,
    Vetoed,
    Withheld,
)
from core.decisions.explain import explain
from core.decisions.preemption.receipts import Kind, NodeNotes, Plan, Receipt
from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.pods.record import PodRecord
from core.reasons import Code
from core.resource import Limit, Resource
from core.workload.pod import PodFacts
from tests.builders import START, bind_called, filtered, make_ledger, make_pod, make_queue, usage

N1, N2 = NodeName("n1"), NodeName("n2")


@pytest.fixture
def ledger() -> Ledger:
    """Queue ``root.p`` of 3 cores with ``root.p.x`` of 2."""
    return make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 3000}),
        make_queue("root.p.x", max={"vcore": 2000}),
        make_queue("root.p.y"),
    )


def observed(ledger: Ledger, name: str = "pod", **facts: object) -> PodFacts:
    pod = make_pod(name, **{"queue": "root.p.x", "app": f"app-{name}", **facts})  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START)
    return pod


def record_of(ledger: Ledger, pod: PodFacts) -> PodRecord:
    record = ledger.view.pod(pod.uid)
    assert record is not None
    return record


# -- filter ------------------------------


@pytest.mark.rule("QUO-7")
def test_three_pods_in_a_queue_for_two(ledger: Ledger) -> None:
    verdicts = [filtered(ledger, observed(ledger, name).uid, now=START) for name in ("a", "b", "c")]
    assert [type(verdict) for verdict in verdicts] == [Admitted, Admitted, Refused]
    assert usage(ledger, "root.p.x") == (0, 2000, 1000)
    refused = verdicts[2]
    assert isinstance(refused, Refused)
    assert refused.sent.text == "QuotaExceeded: root.p.x max vcore=2"


@pytest.mark.rule("QUO-8")
def test_the_parents_max_binds_two_children(ledger: Ledger) -> None:
    for name, queue in (("a", "root.p.x"), ("b", "root.p.x"), ("c", "root.p.y")):
        assert isinstance(filtered(ledger, observed(ledger, name, queue=queue).uid, now=START), Admitted)
    refused = filtered(ledger, observed(ledger, "d", queue="root.p.y").uid, now=START)
    assert isinstance(refused, Refused)
    assert refused.refusal.text == "QuotaExceeded: root.p max vcore=3"
    assert usage(ledger, "root.p") == (0, 3000, 1000)


@pytest.mark.rule("QUO-7")
def test_a_refused_ask_does_not_stop_a_later_smaller_one_of_its_application(ledger: Ledger) -> None:
    big, small = observed(ledger, "big", cpu=2500, app="app"), observed(ledger, "small", cpu=500, app="app")
    assert isinstance(filtered(ledger, big.uid, now=START), Refused)
    assert isinstance(filtered(ledger, small.uid, now=START), Admitted)


@pytest.mark.rule("QUO-8")
def test_a_queue_over_its_memory_takes_an_ask_without_memory() -> None:
    ledger = make_ledger(make_queue("root.a", max={"memory": 10}))
    ledger.apply(on.PodObserved(make_pod("bound", memory=50, node="n1")), now=START)
    ledger.apply(on.PodObserved(make_pod("plain")), now=START)
    ledger.apply(on.PodObserved(make_pod("greedy", memory=1)), now=START)
    assert isinstance(filtered(ledger, "uid-plain", now=START), Admitted)
    assert isinstance(filtered(ledger, "uid-greedy", now=START), Refused)


@pytest.mark.rule("QUO-1")
def test_without_nodes_every_ask_is_refused() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    ledger.apply(on.PodObserved(make_pod()), now=START)
    verdict = filtered(ledger, "uid-pod", now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.QUOTA_EXCEEDED


def test_a_second_filter_call_counts_once(ledger: Ledger) -> None:
    pod = observed(ledger, cpu=2000)
    for at in range(3):
        assert isinstance(filtered(ledger, pod.uid, now=START + at), Admitted)
    assert usage(ledger, "root.p.x") == (0, 2000, 0)


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        ({"scheduler_name": "default-scheduler"}, Ignored()),
        ({"node": "n2"}, Faulted("pod is already bound to n2")),
        ({"deleting": True}, Faulted("pod is gone")),
    ],
    ids=["not ours", "bound", "leaving"],
)
def test_pods_that_are_no_asks(ledger: Ledger, facts: dict[str, object], verdict: object) -> None:
    assert filtered(ledger, observed(ledger, **facts).uid, now=START) == verdict


def test_an_unknown_pod_does_not_exist(ledger: Ledger) -> None:
    assert filtered(ledger, "nobody", now=START) == Faulted("pod is gone")


@pytest.mark.rule("POD-20")
def test_a_gated_pod_is_not_ready(ledger: Ledger) -> None:
    verdict = filtered(ledger, observed(ledger, gates=("example.com/wait",)).uid, now=START)
    assert isinstance(verdict, Refused)
    assert verdict.refusal.code is Code.NOT_READY


def test_a_decision_changes_nothing_by_itself(ledger: Ledger) -> None:
    pod = observed(ledger)
    before = usage(ledger, "root.p.x")
    decide_admission(ledger.view, pod.uid, now=START)
    decide_binding(ledger.view, pod.uid, N1, now=START)
    assert usage(ledger, "root.p.x") == before == (0, 0, 1000)


# -- preempt ------------------------------


PLAN = Plan(
    Kind.GUARANTEE,
    PodUid("uid-pod"),
    QueuePath("root.p.x"),
    N1,
    (),
    Receipt(Kind.GUARANTEE, (), (), NodeNotes()),
)


def test_no_eviction_helps_an_ask_whose_queue_has_no_capacity(ledger: Ledger) -> None:
    pod = observed(ledger, cpu=5000)
    assert isinstance(decide_preemption(ledger.view, pod.uid, lambda: None), Vetoed)


@pytest.mark.parametrize("cpu", [2000, 5000])
def test_a_plan_is_offered_when_one_is_due(ledger: Ledger, cpu: int) -> None:
    """The queue has no headroom either, since victims may come from below the same max."""
    pod, offer = observed(ledger, cpu=cpu), Offered(PLAN, 0)
    assert decide_preemption(ledger.view, pod.uid, lambda: offer) == offer


@pytest.mark.parametrize("reserve", [False, True], ids=["room", "room reserved"])
def test_without_a_plan_no_pod_is_evicted(ledger: Ledger, reserve: bool) -> None:
    pod = observed(ledger, cpu=2000)
    if reserve:
        filtered(ledger, pod.uid, now=START)
    offer = Offered(PLAN, 0) if reserve else None
    assert decide_preemption(ledger.view, pod.uid, lambda: offer) == Withheld()


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        ({"scheduler_name": "default-scheduler"}, Ignored()),
        ({"node": "n1"}, Faulted("pod is already bound")),
        ({"deleting": True}, Faulted("pod is gone")),
    ],
)
def test_preemption_for_pods_that_are_no_asks(
    ledger: Ledger, facts: dict[str, object], verdict: object
) -> None:
    assert decide_preemption(ledger.view, observed(ledger, **facts).uid, _never) == verdict
    assert decide_preemption(ledger.view, PodUid("nobody"), _never) == Faulted("pod is gone")


def _never() -> None:
    raise AssertionError("no plan is to be made")


# -- bind ------------------------------


def test_a_bind_call_charges_the_node_before_the_post(ledger: Ledger) -> None:
    pod = observed(ledger)
    filtered(ledger, pod.uid, now=START)
    assert ledger.view.use_of(N1) is None
    assert isinstance(bind_called(ledger, pod.uid, now=START), BindNow)
    use = ledger.view.use_of(N1)
    assert use is not None
    assert use.allocated.get("vcore") == 1000
    assert usage(ledger, "root.p.x") == (0, 1000, 0), "quota is allocated when the pod is bound"


def test_a_bind_call_without_a_reservation_is_admitted_anew(ledger: Ledger) -> None:
    pod = observed(ledger)
    verdict = bind_called(ledger, pod.uid, now=START)
    assert isinstance(verdict, BindNow)
    assert [type(event) for event in verdict.events] == [on.PodAdmitted, on.BindCalled]
    assert usage(ledger, "root.p.x") == (0, 1000, 0)


def test_a_bind_call_without_a_reservation_may_be_refused(ledger: Ledger) -> None:
    pod = observed(ledger, cpu=2500)
    verdict = bind_called(ledger, pod.uid, now=START)
    assert isinstance(verdict, Refused)
    assert verdict.sent.text == "QuotaExceeded: root.p.x max vcore=2"
    assert ledger.view.use_of(N1) is None
    assert len(ledger.view.waiting) == 1, "it waits for room as after a filter call"


def test_binding_again_to_the_same_node_is_done_already(ledger: Ledger) -> None:
    pod = observed(ledger)
    filtered(ledger, pod.uid, now=START)
    bind_called(ledger, pod.uid, "n1", now=START)
    ledger.apply(on.PodBound(pod.uid, N1), now=START)
    assert decide_binding(ledger.view, pod.uid, N1, now=START) == BoundAlready()
    assert decide_binding(ledger.view, pod.uid, N2, now=START) == Faulted("pod is already bound to n1")


def test_binding_an_unmanaged_or_deleted_pod(ledger: Ledger) -> None:
    other = observed(ledger, "other", scheduler_name="default-scheduler")
    assert decide_binding(ledger.view, other.uid, N1, now=START) == BindNow((on.BindCalled(other.uid, N1),))
    assert decide_binding(ledger.view, PodUid("nobody"), N1, now=START) == Faulted("pod is gone")


# -- explain ------------------------------


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({}, "pending"),
        ({"node": "n1"}, "bound"),
        ({"deleting": True}, "leaving"),
        ({"scheduler_name": "default-scheduler"}, "unmanaged"),
        ({"gates": ("example.com/wait",)}, "gated"),
    ],
)
def test_the_state_of_a_pod(ledger: Ledger, facts: dict[str, object], state: str) -> None:
    assert explain(ledger.view, record_of(ledger, observed(ledger, **facts))).state == state


def test_a_verdict_with_its_numbers(ledger: Ledger) -> None:
    bound = observed(ledger, "bound", node="n1", cpu=500)
    held = observed(ledger, "held", cpu=1000)
    filtered(ledger, held.uid, now=START)
    waiting = observed(ledger, "waiting", cpu=1500)
    answer = explain(ledger.view, record_of(ledger, waiting))
    assert answer.refusal is not None
    assert answer.refusal.text == "QuotaExceeded: root.p.x max vcore=2"
    assert [numbers.path for numbers in answer.queues] == ["root.p.x", "root.p", "root"]
    leaf = answer.queues[0]
    assert (leaf.allocated.get("vcore"), leaf.reserved.get("vcore"), leaf.pending.get("vcore")) == (
        500,
        1000,
        1500,
    )
    assert (leaf.max, leaf.allocated) == (Limit({"vcore": 2000}), Resource({"vcore": 500, "pods": 1}))
    assert answer.headroom is not None
    assert answer.headroom.get("vcore") == 500
    assert explain(ledger.view, record_of(ledger, held)).state == "reserved"
    assert explain(ledger.view, record_of(ledger, bound)).refusal is None


def test_a_pod_without_a_queue_is_explained(ledger: Ledger) -> None:
    answer = explain(ledger.view, record_of(ledger, observed(ledger, queue="root.nowhere")))
    assert answer.refusal is not None
    assert (answer.refusal.code, answer.queues, answer.headroom) == (Code.PLACEMENT_FAILED, (), None)
