"""F-6: an Event on a pod reports that it does not run in the queue that it names."""

from dataclasses import replace

import pytest

from core.ledger import events as on
from core.ledger.effects import PostEvent
from core.ledger.ledger import Ledger
from core.queues.spec import RuleSpec
from core.workload.pod import PodFacts
from tests.builders import START, make_ledger, make_partition, make_pod, make_queue

DEFAULT, A, PARENT = make_queue("root.default"), make_queue("root.a"), make_queue("root.p", leaf=False)
PROVIDED = RuleSpec("provided")
BY_NAMESPACE = RuleSpec("tag", create=True, value="namespace")
NOPE = "fell back to root.default: root.nope does not exist"


def ledger_of(*rules: RuleSpec, default: bool = True, listed: bool = True) -> Ledger:
    queues = (A, PARENT, make_queue("root.p.leaf"), *((DEFAULT,) if default else ()))
    ledger = make_ledger(*queues, listed=listed)
    partition = replace(make_partition(*queues), rules=rules)
    ledger.apply(on.Configured(partition, ledger.view.settings), now=START)
    return ledger


def events_of(ledger: Ledger, *pods: PodFacts) -> list[tuple[str, str]]:
    """Name and message of the Events that these pods bring about."""
    effects = [effect for pod in pods for effect in ledger.apply(on.PodObserved(pod), now=START)]
    events = [each for each in effects if isinstance(each, PostEvent) and each.reason == "FellBack"]
    assert all(each.warning for each in events)
    return [(each.name, each.message) for each in events]


@pytest.mark.parametrize(
    ("rules", "queue", "message"),
    [
        ((), "root.nope", NOPE),
        ((), "nope", NOPE),
        ((), "root.NOPE", NOPE),
        ((), "root.p", "fell back to root.default: QueueNotLeaf: root.p"),
        ((PROVIDED, BY_NAMESPACE), "root.nope", NOPE),
        (
            (RuleSpec("provided", parent=RuleSpec("fixed", value="p")),),
            "nope",
            "fell back to root.default: root.p.nope does not exist",
        ),
    ],
)
def test_a_pod_that_falls_back_gets_one_message(
    rules: tuple[RuleSpec, ...], queue: str, message: str
) -> None:
    ledger = ledger_of(*rules)
    pod = make_pod("p", queue=queue)
    assert events_of(ledger, pod, pod) == [("p", message)]


@pytest.mark.parametrize(
    ("rules", "queue"),
    [
        ((), "root.a"),
        ((), ""),
        ((RuleSpec("provided", create=True),), "root.new"),
        ((RuleSpec("fixed", value="a"),), "root.nope"),
        ((RuleSpec("provided", parent=RuleSpec("fixed", value="p")),), "leaf"),
    ],
    ids=["it exists", "none is named", "it is made", "no rule looks at the name", "below a parent"],
)
def test_a_pod_that_does_not_fall_back_gets_no_message(rules: tuple[RuleSpec, ...], queue: str) -> None:
    assert events_of(ledger_of(*rules), make_pod("p", queue=queue)) == []


def test_a_pod_that_joins_others_learns_that_its_own_queue_name_does_not_count() -> None:
    """Pods without an application id share one application, whose first pod has chosen the queue."""
    ledger = ledger_of()
    first, second = make_pod("first", queue="", app=""), make_pod("second", queue="root.nope", app="")
    assert events_of(ledger, first, second, make_pod("third", queue="root.a", app="")) == [("second", NOPE)]


def test_a_pod_that_runs_already_gets_no_message_but_a_line_in_its_story() -> None:
    """A restart has the same result."""
    ledger = ledger_of(listed=False)
    pod = make_pod("p", queue="root.nope", node="n1")
    assert events_of(ledger, pod) == []
    record = ledger.view.pod(pod.uid)
    assert record is not None
    assert record.membership.fell_back == NOPE


def test_without_a_fallback_it_is_refused_as_before() -> None:
    ledger = ledger_of(default=False)
    assert events_of(ledger, make_pod("p", queue="root.nope")) == []
    record = ledger.view.pod(make_pod("p").uid)
    assert record is not None
    assert record.membership.fell_back is None


def test_a_long_name_is_cut() -> None:
    ((_, message),) = events_of(ledger_of(), make_pod("p", queue=".".join(["root", *["x" * 60] * 1000])))
    assert len(message) < 120
