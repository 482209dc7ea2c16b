"""Pods that are managed (DESIGN-7), and how an unmanaged one counts."""

import pytest

from core.ids import NodeName
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.workload.managed import is_managed
from core.workload.pod import NamespaceFacts, PodFacts
from tests.builders import START, make_ledger, make_pod, make_queue, usage

NAMES = frozenset({"yunikorn", "paddock"})

UNKNOWN = None
PLAIN = ""
ENABLED = "true"


@pytest.mark.rule("POD-1")
@pytest.mark.parametrize(
    ("scheduler", "marked", "namespace", "annotation", "managed"),
    [
        ("yunikorn", False, "default", PLAIN, True),
        ("paddock", False, "default", PLAIN, True),
        ("Yunikorn", False, "default", PLAIN, False),
        ("", False, "default", PLAIN, False),
        ("default-scheduler", False, "default", PLAIN, False),
        ("default-scheduler", True, "default", PLAIN, True),
        ("default-scheduler", False, "default", ENABLED, True),
        ("default-scheduler", False, "default", "false", False),
        ("default-scheduler", False, "default", "True", False),
        ("yunikorn", False, "default", "false", True),
        ("yunikorn", True, "kube-system", PLAIN, False),
        ("default-scheduler", False, "kube-system", ENABLED, True),
        ("yunikorn", False, "default", UNKNOWN, True),
        ("default-scheduler", True, "default", UNKNOWN, True),
        ("default-scheduler", False, "default", UNKNOWN, None),
        ("yunikorn", True, "kube-system", UNKNOWN, False),
    ],
    ids=[
        "our scheduler name",
        "our other scheduler name",
        "case counts",
        "no scheduler name",
        "another scheduler",
        "another scheduler, prefixed key",
        "another scheduler, annotated namespace",
        "annotated otherwise",
        "annotation in another case",
        "the annotation takes nothing away",
        "kube-system never",
        "kube-system annotated",
        "our scheduler name, namespace unknown",
        "prefixed key, namespace unknown",
        "only the namespace could tell",
        "kube-system, namespace unknown",
    ],
)
def test_whose_a_pod_is(
    scheduler: str, marked: bool, namespace: str, annotation: str | None, managed: bool | None
) -> None:
    pod = make_pod(scheduler_name=scheduler, marked=marked, namespace=namespace)
    facts = None if annotation is None else NamespaceFacts(namespace, annotation)
    assert is_managed(pod, facts, scheduler_names=NAMES) is managed


def managed_in(ledger: Ledger, pod: PodFacts) -> bool:
    record = ledger.view.pod(pod.uid)
    assert record is not None
    return record.membership.managed


@pytest.fixture
def ledger() -> Ledger:
    return make_ledger(make_queue("root.a"), make_queue("root.default"))


def test_the_class_is_decided_at_first_sight(ledger: Ledger) -> None:
    ours = make_pod("ours")
    other = make_pod("other", scheduler_name="default-scheduler")
    for pod in (ours, other):
        ledger.apply(on.PodObserved(pod), now=START)
    ledger.apply(on.PodObserved(make_pod("ours", scheduler_name="x", version=2)), now=START)
    ledger.apply(
        on.PodObserved(make_pod("other", scheduler_name="default-scheduler", marked=True, version=2)),
        now=START,
    )
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default", ENABLED)), now=START)
    assert (managed_in(ledger, ours), managed_in(ledger, other)) == (True, False)


@pytest.mark.parametrize(("annotation", "managed", "pending"), [(ENABLED, True, 1000), (PLAIN, False, 0)])
def test_a_pod_seen_before_its_namespace_is_decided_with_it(
    ledger: Ledger, annotation: str, managed: bool, pending: int
) -> None:
    pod = make_pod(scheduler_name="default-scheduler", namespace="late")
    ledger.apply(on.PodObserved(pod), now=START)
    assert not managed_in(ledger, pod)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("late", annotation)), now=START)
    assert managed_in(ledger, pod) is managed
    assert usage(ledger, "root.a") == (0, 0, pending)
    ledger.apply(
        on.ObjectObserved(on.NAMESPACES, NamespaceFacts("late", "" if annotation else ENABLED)), now=START
    )
    assert managed_in(ledger, pod) is managed, "decided once"


def test_a_pod_that_left_before_its_namespace_came_is_no_longer_awaited(ledger: Ledger) -> None:
    pod = make_pod(scheduler_name="default-scheduler", namespace="late")
    ledger.apply(on.PodObserved(pod), now=START)
    ledger.apply(on.PodDeleted(pod.uid), now=START)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("late", ENABLED)), now=START)
    assert usage(ledger, "root") == (0, 0, 0)


def test_namespaces_that_a_list_lacks_are_unknown_again(ledger: Ledger) -> None:
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("old", ENABLED)), now=START)
    ledger.apply(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})), now=START)
    assert ledger.view.namespace("old") is None
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("old", ENABLED)), now=START)
    ledger.apply(on.ObjectDeleted(on.NAMESPACES, "old"), now=START)
    assert ledger.view.namespace("old") is None


@pytest.mark.rule("POD-1")
def test_an_unmanaged_pod_counts_on_its_node_and_in_no_queue(ledger: Ledger) -> None:
    pod = make_pod(scheduler_name="default-scheduler", node="n1")
    ledger.apply(on.PodObserved(pod), now=START)
    use = ledger.view.use_of(NodeName("n1"))
    assert use is not None
    assert (use.occupied.get("vcore"), use.allocated.get("vcore")) == (1000, 0)
    assert usage(ledger, "root") == (0, 0, 0)
    ledger.apply(on.PodDeleted(pod.uid), now=START)
    assert ledger.view.use_of(NodeName("n1")) is None


@pytest.mark.rule("POD-2")
def test_a_pod_may_be_seen_before_its_node(ledger: Ledger) -> None:
    ledger.apply(on.PodObserved(make_pod(node="later")), now=START)
    use = ledger.view.use_of(NodeName("later"))
    assert use is not None
    assert use.allocated.get("vcore") == 1000
    assert usage(ledger, "root.a") == (1000, 0, 0)
