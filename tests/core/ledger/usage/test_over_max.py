"""Usage above a max: forced pods are charged and reported once, and asks that would add to it wait (F-24)."""

import pytest

from core.decisions.decision import Admitted, BindNow, Refused
from core.ids import PodUid, QueuePath
from core.ledger import events as on
from core.ledger.applications.forced import FORCED
from core.ledger.effects import PostEvent
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import LimitSpec, QueueSpec
from core.queues.users.identity import Identity
from core.reasons import Code
from core.resource import Limit
from core.workload.pod import PodFacts
from extender.telemetry.metrics import Metrics
from tests.builders import (
    START,
    bind_called,
    filtered,
    make_ledger,
    make_partition,
    make_pod,
    make_queue,
    usage,
)

BOB = Identity("bob", ())


def two_cpus(*more: QueueSpec) -> Ledger:
    return make_ledger(make_queue("root.a", max={"vcore": 2000}), *more)


def events_after(ledger: Ledger, *pods: PodFacts) -> list[PostEvent]:
    """Events, without those about each forced pod."""
    effects = [effect for pod in pods for effect in ledger.apply(on.PodObserved(pod), now=START)]
    return [each for each in effects if isinstance(each, PostEvent) and each.reason != FORCED]


def series(ledger: Ledger) -> set[str]:
    return set(Metrics(lambda: ledger.view).exposition().decode().splitlines())


def test_a_forced_pod_is_reported_on_the_pod_that_brought_its_queue_over() -> None:
    ledger = two_cpus()
    (event,) = events_after(ledger, make_pod("p", node="n1"), make_pod("q", node="n1", cpu=4000))
    assert (event.uid, event.reason, event.warning) == ("uid-q", "OverMax", True)
    assert event.message.startswith("queue root.a is above its max: vcore by 3. Nothing")


def test_more_of_it_is_not_reported_again_before_usage_was_within_the_max() -> None:
    ledger = two_cpus()
    assert len(events_after(ledger, make_pod("p", node="n1", cpu=3000))) == 1
    assert events_after(ledger, make_pod("q", node="n1"), make_pod("p", node="n1", cpu=4000, version=2)) == []
    for uid in ("uid-p", "uid-q"):
        assert QueuePath("root.a") in ledger.view.over_max or uid == "uid-q"
        ledger.apply(on.PodDeleted(PodUid(uid)), now=START)
    assert ledger.view.over_max == {}
    assert len(events_after(ledger, make_pod("r", node="n1", cpu=3000))) == 1
    assert ledger.view.over_max_begun == {"queue": 2}


def test_a_resize_upward_is_charged_at_once_and_reported() -> None:
    ledger = two_cpus()
    assert events_after(ledger, make_pod("p", node="n1")) == []
    (event,) = events_after(ledger, make_pod("p", node="n1", cpu=3000, version=2))
    assert usage(ledger, "root.a")[0] == 3000
    assert (event.uid, event.reason) == ("uid-p", "OverMax")
    assert events_after(ledger, make_pod("p", node="n1", cpu=2000, version=3)) == []
    assert ledger.view.over_max == {}


def test_one_event_names_all_levels() -> None:
    ledger = make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 1000}), make_queue("root.p.a", max={"pods": 1})
    )
    (event,) = events_after(
        ledger,
        make_pod("p", queue="root.p.a", node="n1"),
        make_pod("q", queue="root.p.a", node="n1"),
    )
    assert (
        "queue root.p.a is above its max: pods by 1; queue root.p is above its max: vcore by 1"
        in event.message
    )


def test_a_user_over_his_limit_is_reported() -> None:
    limit = LimitSpec(users=("bob",), groups=(), max=Limit({"vcore": 1000}), max_applications=0)
    queue = make_queue("root.a")
    ledger = make_ledger(
        QueueSpec(
            **{**{name: getattr(queue, name) for name in queue.__dataclass_fields__}, "limits": (limit,)}
        )
    )
    (event,) = events_after(ledger, make_pod("p", node="n1", cpu=2000, identity=BOB))
    assert event.message.startswith("user bob is above the max in root.a: vcore by 1")
    assert 'paddock_over_max{kind="user"} 1.0' in series(ledger)
    ledger.apply(on.PodDeleted(PodUid("uid-p")), now=START)
    assert ledger.view.over_max == {}


def test_the_root_is_no_quota() -> None:
    """Pods of a deleted node stay charged."""
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    assert events_after(ledger, make_pod("p", node="gone")) == []
    assert ledger.view.over_max == {}


def test_what_needs_more_of_it_waits_and_what_does_not_is_admitted() -> None:
    """QUO-8: a queue above its vcore takes an ask without any."""
    ledger = two_cpus()
    events_after(ledger, make_pod("forced", node="n1", cpu=3000))
    events_after(ledger, make_pod("more", cpu=1), make_pod("other", cpu=0))
    refused = filtered(ledger, "uid-more", now=START)
    assert isinstance(refused, Refused)
    assert refused.refusal.code is Code.QUOTA_EXCEEDED
    assert isinstance(filtered(ledger, "uid-other", now=START), Admitted)


def test_a_reservation_whose_capacity_was_taken_by_force_is_not_bound() -> None:
    ledger = two_cpus()
    events_after(ledger, make_pod("p", cpu=2000))
    assert isinstance(filtered(ledger, "uid-p", now=START), Admitted)
    events_after(ledger, make_pod("forced", node="n1", cpu=1000))
    refused = bind_called(ledger, "uid-p", now=START)
    assert isinstance(refused, Refused)
    assert refused.refusal.text == "QuotaExceeded: root.a max vcore=2"
    assert usage(ledger, "root.a") == (1000, 0, 2000)


def test_only_as_many_reservations_end_as_were_taken() -> None:
    ledger = two_cpus()
    events_after(ledger, make_pod("p"), make_pod("q"))
    filtered(ledger, "uid-p", now=START)
    filtered(ledger, "uid-q", now=START)
    events_after(ledger, make_pod("forced", node="n1"))
    assert isinstance(bind_called(ledger, "uid-p", now=START), Refused)
    assert isinstance(bind_called(ledger, "uid-q", now=START), BindNow)
    assert usage(ledger, "root.a") == (1000, 1000, 1000)


def test_a_lowered_max_is_measured_and_reported_on_the_first_pod_that_adds_to_it() -> None:
    ledger = two_cpus()
    events_after(ledger, make_pod("p", node="n1", cpu=2000))
    lowered = make_partition(make_queue("root.a", max={"vcore": 1000}))
    effects = ledger.apply(on.Configured(lowered, LedgerSettings()), now=START)
    assert not [each for each in effects if isinstance(each, PostEvent)]
    assert 'paddock_queue_over_max{queue="root.a",resource="vcore"} 1000.0' in series(ledger)
    (event,) = events_after(ledger, make_pod("forced", node="n1"))
    assert event.uid == "uid-forced"
    raised = make_partition(make_queue("root.a", max={"vcore": 9000}))
    ledger.apply(on.Configured(raised, LedgerSettings()), now=START)
    assert ledger.view.over_max == {}


def test_what_stands_by_reports_it_when_it_acts() -> None:
    """Nothing that a standby posts earlier is written."""
    ledger = two_cpus()
    ledger.apply(on.ActingEnded(), now=START)
    assert events_after(ledger, make_pod("p", node="n1", cpu=3000)) == []
    effects = ledger.apply(on.ActingBegan(), now=START)
    assert [each.uid for each in effects if isinstance(each, PostEvent)] == ["uid-p"]
    assert [each for each in ledger.apply(on.ActingBegan(), now=START) if isinstance(each, PostEvent)] == []


def test_metrics_of_it() -> None:
    ledger = two_cpus()
    lines = series(ledger)
    assert 'paddock_over_max{kind="queue"} 0.0' in lines
    assert not [line for line in lines if line.startswith("paddock_queue_over_max{")]
    events_after(ledger, make_pod("p", node="n1", cpu=3500))
    lines = series(ledger)
    assert 'paddock_queue_over_max{queue="root.a",resource="vcore"} 1500.0' in lines
    assert 'paddock_over_max{kind="queue"} 1.0' in lines
    assert 'paddock_over_max_episodes_total{kind="queue"} 1.0' in lines


@pytest.mark.parametrize("size", [3000, 2000])
def test_what_the_first_list_shows_is_reported_too(size: int) -> None:
    """Pods may have been forced while no process ran. The report names the newest ones."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}), listed=False)
    events = events_after(ledger, make_pod("p", node="n1", cpu=size))
    assert len(events) == (size > 2000)
