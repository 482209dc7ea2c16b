"""Application ids, and the pods that create one."""

import pytest

from core.ids import AppId
from core.ledger import events as on
from core.ledger.applications.lifecycle import COMPLETING_FOR
from core.ledger.settings import LedgerSettings
from core.workload.application import application_id
from core.workload.pod import OWN_GATE
from tests.builders import START, filtered, make_ledger, make_pod, make_queue, usage


@pytest.mark.rule("POD-3", "NS-9")
@pytest.mark.parametrize(
    ("app", "uid", "expected"),
    [
        ("spark-1", "pod-uid", "spark-1"),
        ("ns-uniqueautogen", "pod-uid", "ns-pod-uid"),
        ("ns-uniqueautogen-2", "pod-uid", "ns-uniqueautogen-2"),
        ("-uniqueautogen", "pod-uid", "-pod-uid"),
        ("uniqueautogen", "pod-uid", "uniqueautogen"),
    ],
    ids=["as named", "suffix replaced", "only at the end", "nothing else", "not without its dash"],
)
@pytest.mark.parametrize("unique", [False, True])
def test_the_id_a_pod_names(app: str, uid: str, expected: str, unique: bool) -> None:
    assert application_id(make_pod(app=app, uid=uid), unique=unique) == AppId(expected, "default")


@pytest.mark.rule("POD-4", "NS-9")
@pytest.mark.parametrize(
    ("namespace", "unique", "expected"),
    [
        ("default", False, "yunikorn-default-autogen"),
        ("this-is-a-namespace", True, "this-is-a-namespace-pod-uid"),
        ("long" * 100, False, ("yunikorn-" + "long" * 100)[:63]),
        ("long" * 100, True, ("long" * 100)[:26] + "-pod-uid"),
    ],
    ids=["one per namespace", "one per pod", "cut at the end", "the namespace cut to 26"],
)
def test_the_id_of_a_pod_that_names_none(namespace: str, unique: bool, expected: str) -> None:
    pod = make_pod(app="", uid="pod-uid", namespace=namespace)
    assert application_id(pod, unique=unique) == AppId(expected, namespace)


@pytest.mark.rule("POD-4")
def test_a_generated_id_has_at_most_63_characters() -> None:
    pod = make_pod(app="", uid="u" * 60, namespace="n" * 60)
    assert application_id(pod, unique=True).name == "n" * 26 + "-" + "u" * 36


@pytest.mark.rule("POD-4")
@pytest.mark.parametrize(("unique", "applications"), [(False, 1), (True, 2)])
def test_pods_without_an_id_share_an_application_by_default(unique: bool, applications: int) -> None:
    ledger = make_ledger(make_queue("root.a"), settings=LedgerSettings(unique_app_ids=unique))
    for name in ("one", "two"):
        ledger.apply(on.PodObserved(make_pod(name, app="")), now=START)
    assert len(list(ledger.view.applications())) == applications


@pytest.mark.rule("POD-5")
def test_the_pod_seen_first_decides_the_queue() -> None:
    ledger = make_ledger(make_queue("root.a"), make_queue("root.b"))
    ledger.apply(on.PodObserved(make_pod("first", queue="root.a")), now=START)
    ledger.apply(on.PodObserved(make_pod("second", queue="root.b")), now=START)
    ledger.apply(on.PodObserved(make_pod("third", queue="")), now=START)
    assert usage(ledger, "root.a") == (0, 0, 3000)
    assert usage(ledger, "root.b") == (0, 0, 0)


@pytest.mark.rule("POD-5", "APP-14")
def test_an_application_that_has_completed_may_come_back_elsewhere() -> None:
    ledger = make_ledger(make_queue("root.a"), make_queue("root.b"))
    first = make_pod("first", queue="root.a")
    ledger.apply(on.PodObserved(first), now=START)
    ledger.apply(on.PodDeleted(first.uid), now=START)
    ledger.apply(on.TimePassed(), now=START + COMPLETING_FOR)
    assert ledger.view.application(AppId("app-1", "default")) is None
    ledger.apply(on.PodObserved(make_pod("second", queue="root.b")), now=START + 31)
    assert usage(ledger, "root.b") == (0, 0, 1000)


@pytest.mark.rule("POD-20")
@pytest.mark.parametrize("gates", [("example.com/wait",), (OWN_GATE, "example.com/wait")])
def test_a_gated_pod_is_no_ask_and_makes_no_application(gates: tuple[str, ...]) -> None:
    ledger = make_ledger(make_queue("root.a"), make_queue("root.b"))
    ledger.apply(on.PodObserved(make_pod("gated", gates=gates)), now=START)
    assert list(ledger.view.applications()) == []
    assert usage(ledger, "root.a") == (0, 0, 0)
    ledger.apply(on.PodObserved(make_pod("other", queue="root.b")), now=START)
    ledger.apply(on.PodObserved(make_pod("gated", version=2)), now=START)
    assert usage(ledger, "root.b") == (0, 0, 2000), "the other pod made the application"


@pytest.mark.rule("POD-20")
def test_our_own_gate_is_none() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod(gates=(OWN_GATE,))), now=START)
    assert usage(ledger, "root.a") == (0, 0, 1000)


@pytest.mark.rule("POD-5")
def test_every_pod_of_a_refused_application_is_refused_until_a_document_places_it() -> None:
    ledger = make_ledger(make_queue("root.b"))
    for name, queue in (("one", "root.a"), ("two", "root.b")):
        ledger.apply(on.PodObserved(make_pod(name, queue=queue)), now=START)
        filtered(ledger, f"uid-{name}", now=START)
    application = ledger.view.application(AppId("app-1", "default"))
    assert application is not None
    assert application.refusal is not None
    assert usage(ledger, "root") == (0, 0, 0)
