"""Complete lists, even after a restore of etcd, beside Paddock's own writes (F-8)."""

from collections.abc import Iterable

import pytest

from core.decisions.decision import Faulted
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.ledger.pods.belief import DOUBTED, PROVISIONAL
from core.ledger.settings import LedgerSettings
from core.workload.gangs.gang import Gang, Misdefined
from core.workload.pod import PodFacts
from tests.builders import (
    START,
    bind_called,
    drifts,
    filtered,
    make_gang,
    make_ledger,
    make_pod,
    make_queue,
    triggered,
    usage,
)

UID = make_pod().uid
N1 = NodeName("n1")
FAR = 10**12
NOTHING, PENDING, RESERVED, ALLOCATED = (0, 0, 0), (0, 0, 1000), (0, 1000, 0), (1000, 0, 0)


@pytest.fixture
def ledger() -> Ledger:
    return make_ledger(make_queue("root.a", max={"vcore": 4000}))


def see(ledger: Ledger, at: float = 0.0, **facts: object) -> None:
    ledger.apply(on.PodObserved(make_pod(**facts)), now=START + at)  # type: ignore[arg-type]


def offer(ledger: Ledger, at: float = 0.0, **facts: object) -> None:
    ledger.apply(on.PodOffered(make_pod(**facts)), now=START + at)  # type: ignore[arg-type]


def request(ledger: Ledger, at: float = 0.0) -> None:
    ledger.apply(on.PodsListBegun(), now=START + at)


def end_list(
    ledger: Ledger, pods: Iterable[PodFacts] = (), at: float = 0.0, *, caught_up: bool = True
) -> None:
    shown = list(pods)
    for pod in shown:
        ledger.apply(on.PodObserved(pod), now=START + at)
    ledger.apply(on.PodsListed(frozenset(pod.uid for pod in shown)), now=START + at)
    if caught_up:
        ledger.apply(on.PodsCaughtUp(), now=START + at)
    assert drifts(ledger) == []


def relist(ledger: Ledger, *pods: PodFacts, at: float = 0.0) -> None:
    request(ledger, at)
    end_list(ledger, pods, at)


def held(ledger: Ledger, at: float = 0.0) -> tuple[int, int, int]:
    ledger.apply(on.TimePassed(), now=START + at)
    assert drifts(ledger) == []
    return usage(ledger, "root.a")


def bound(ledger: Ledger, at: float = 0.0) -> None:
    bind_called(ledger, UID, now=START + at)
    ledger.apply(on.PodBound(UID, N1), now=START + at)


# -- versions that went back -----------------------------------------------------------------------------


def test_a_list_is_believed_though_its_versions_are_lower(ledger: Ledger) -> None:
    """After a restore of etcd the pod runs, although an older version had no node."""
    see(ledger, version=500, cpu=3000)
    relist(ledger, make_pod(version=7, node="n1"))
    assert held(ledger) == ALLOCATED


def test_the_watch_that_goes_on_from_it_is_believed(ledger: Ledger) -> None:
    see(ledger, version=500)
    relist(ledger, make_pod(version=7))
    see(ledger, version=8, node="n1")
    assert held(ledger) == ALLOCATED


def test_a_node_that_the_list_takes_back_is_taken_back(ledger: Ledger) -> None:
    see(ledger, version=500, node="n1")
    relist(ledger, make_pod(version=7))
    assert held(ledger) == PENDING


def test_a_pod_that_was_deleted_is_there_again(ledger: Ledger) -> None:
    see(ledger, version=500, node="n1")
    ledger.apply(on.PodDeleted(UID), now=START)
    relist(ledger, make_pod(version=7, node="n1"))
    assert held(ledger) == ALLOCATED
    assert not ledger.view.was_deleted(UID)


def test_a_tombstone_stands_against_a_watch_and_a_body(ledger: Ledger) -> None:
    see(ledger, version=5)
    ledger.apply(on.PodDeleted(UID), now=START)
    see(ledger, version=9)
    offer(ledger, version=9)
    assert ledger.view.pod(UID) is None


def test_a_repeat_of_the_watch_changes_nothing(ledger: Ledger) -> None:
    see(ledger, version=5, node="n1")
    see(ledger, version=4)
    assert held(ledger) == ALLOCATED


# -- bodies ------------------------------------------------------------------------------------------


def test_a_forged_version_is_believed_for_a_while_only(ledger: Ledger) -> None:
    see(ledger, version=5)
    offer(ledger, version=FAR, cpu=3000)
    see(ledger, 1, version=6)
    assert held(ledger, PROVISIONAL - 0.1) == (0, 0, 3000)
    assert held(ledger, PROVISIONAL) == PENDING


def test_the_watch_is_believed_at_once_when_it_shows_a_node(ledger: Ledger) -> None:
    """A pod never loses its node, so a body without a node is older, whatever its version."""
    see(ledger, version=5)
    offer(ledger, version=FAR, cpu=1)
    see(ledger, 1, version=6, node="n1")
    assert held(ledger, 1) == ALLOCATED


def test_nothing_is_learned_from_a_body_for_a_pod_that_has_a_node(ledger: Ledger) -> None:
    see(ledger, version=5, node="n1")
    offer(ledger, version=FAR, cpu=1)
    assert held(ledger) == ALLOCATED
    see(ledger, version=6, node="n1", cpu=2000)
    assert held(ledger) == (2000, 0, 0)


def test_nor_for_one_that_our_own_binding_gave_a_node(ledger: Ledger) -> None:
    see(ledger, version=5)
    bound(ledger)
    offer(ledger, version=FAR, cpu=1)
    assert held(ledger) == ALLOCATED


def test_nor_from_a_body_that_names_a_node(ledger: Ledger) -> None:
    offer(ledger, version=5, node="n1")
    assert ledger.view.pod(UID) is None
    see(ledger, version=3)
    offer(ledger, version=5, node="n1")
    assert held(ledger) == PENDING


@pytest.mark.parametrize(
    "forged", [{"scheduler_name": "other", "app": "", "queue": ""}, {"queue": "root.b"}, {"app": "other"}]
)
def test_whose_a_pod_is_is_not_decided_by_a_body(ledger: Ledger, forged: dict[str, object]) -> None:
    """Otherwise a body would decide finally about the pod's class and application, before any watch."""
    offer(ledger, version=FAR, **forged)
    see(ledger, 1, version=2, node="n1")
    assert held(ledger, 1) == ALLOCATED
    record = ledger.view.pod(UID)
    assert record is not None
    assert record.membership.managed
    assert record.membership.application is not None
    assert record.membership.application.name == "app-1"


@pytest.mark.parametrize("queue", ["root.b", "root.nowhere"])
def test_an_invented_pod_does_not_place_the_application_of_another(queue: str) -> None:
    """No list or watch has shown a pod of the application before the first real one."""
    ledger = make_ledger(make_queue("root.a"), make_queue("root.b"))
    offer(ledger, name="invented", queue=queue)
    see(ledger, 1)
    assert held(ledger, 1) == PENDING
    assert ledger.view.pod(PodUid("uid-invented")) is None


def test_a_pod_that_a_body_tells_of_first_stays_beside_its_fellows() -> None:
    ledger = make_ledger(make_queue("root.a"))
    offer(ledger, name="ahead")
    filtered(ledger, "uid-ahead", now=START)
    see(ledger, 1)
    assert held(ledger, 1) == (0, 1000, 1000)


# -- lists that are read while other things happen --------------------------------------------------------


def test_a_pod_that_came_after_the_list_was_requested_stays(ledger: Ledger) -> None:
    request(ledger)
    offer(ledger)
    end_list(ledger)
    assert held(ledger, 1) == PENDING
    assert held(ledger, max(PROVISIONAL, DOUBTED)) == NOTHING


def test_a_pod_that_came_before_is_deleted(ledger: Ledger) -> None:
    offer(ledger, version=FAR)
    relist(ledger)
    assert held(ledger) == NOTHING
    assert ledger.view.was_deleted(UID)


def test_each_request_of_a_list_counts_anew(ledger: Ledger) -> None:
    """A continue token has expired, so the reported pages were requested later."""
    request(ledger)
    offer(ledger)
    relist(ledger)
    assert held(ledger) == NOTHING


@pytest.mark.parametrize("gang", [make_gang(), Misdefined("no such thing")], ids=["off", "broken"])
def test_a_reservation_outlasts_the_watch_where_a_gang_does_not_count(gang: Gang | Misdefined) -> None:
    """The pod's fields agree with its body, although its application has no gang (POD-12)."""
    settings = LedgerSettings(gangs=False)
    ledger = make_ledger(make_queue("root.a", max={"vcore": 4000}), settings=settings)
    offer(ledger, gang=gang)
    filtered(ledger, UID, now=START)
    see(ledger, gang=gang)
    assert usage(ledger, "root.a") == RESERVED


def test_what_a_body_said_after_the_request_stands_beside_the_list(ledger: Ledger) -> None:
    see(ledger, version=5)
    request(ledger)
    offer(ledger, version=7, cpu=1500)
    end_list(ledger, [make_pod(version=6)])
    assert held(ledger, 1) == (0, 0, 1500)


def test_what_a_body_said_before_does_not(ledger: Ledger) -> None:
    see(ledger, version=5)
    offer(ledger, version=FAR, cpu=1500)
    relist(ledger, make_pod(version=6))
    assert held(ledger) == PENDING


def test_a_reservation_outlasts_a_list(ledger: Ledger) -> None:
    see(ledger, version=500)
    filtered(ledger, UID, now=START)
    relist(ledger, make_pod(version=7))
    assert held(ledger, 1) == RESERVED
    assert held(ledger, 30) == PENDING


def test_a_binding_that_the_list_does_not_show_is_believed_until_the_watch_shows_it(ledger: Ledger) -> None:
    see(ledger, version=5)
    request(ledger)
    bound(ledger)
    end_list(ledger, [make_pod(version=5)])
    assert held(ledger, 1) == ALLOCATED
    see(ledger, 2, version=8, node="n1")
    assert held(ledger, 10 * DOUBTED) == ALLOCATED


def test_a_binding_that_etcd_has_lost_is_believed_no_longer_than_that(ledger: Ledger) -> None:
    see(ledger, version=5)
    bound(ledger)
    relist(ledger, make_pod(version=2))
    assert held(ledger, DOUBTED - 0.1) == ALLOCATED
    assert held(ledger, DOUBTED) == PENDING
    assert not isinstance(filtered(ledger, UID, now=START + DOUBTED), Faulted), "it can be placed anew"


def test_a_binding_is_believed_while_the_watch_has_not_come_to_where_the_list_ended(ledger: Ledger) -> None:
    """The Binding may still appear, however late."""
    see(ledger, version=5)
    request(ledger)
    bound(ledger)
    end_list(ledger, [make_pod(version=5)], caught_up=False)
    assert held(ledger, 100 * DOUBTED) == ALLOCATED
    ledger.apply(on.PodsCaughtUp(), now=START + 100 * DOUBTED)
    assert held(ledger, 100 * DOUBTED) == PENDING


def test_a_binding_of_after_the_list_is_not_in_doubt(ledger: Ledger) -> None:
    see(ledger, version=5)
    bound(ledger)
    relist(ledger, make_pod(version=2))
    ledger.apply(on.PodBound(UID, N1), now=START + 1)
    assert held(ledger, 100 * DOUBTED) == ALLOCATED


def test_a_binding_without_a_list_is_believed_for_as_long_as_the_watch_is_late(ledger: Ledger) -> None:
    see(ledger, version=5)
    bound(ledger)
    assert held(ledger, 100 * DOUBTED) == ALLOCATED


def test_an_open_bind_call_is_waited_for(ledger: Ledger) -> None:
    see(ledger, version=5)
    filtered(ledger, UID, now=START)
    bind_called(ledger, UID, now=START)
    relist(ledger)
    assert held(ledger, DOUBTED) == RESERVED
    ledger.apply(on.PodBound(UID, N1), now=START + DOUBTED + 1)
    assert held(ledger, 2 * DOUBTED) == ALLOCATED
    assert held(ledger, 2 * DOUBTED + 1) == NOTHING, "no watch has shown it"


def test_an_eviction_that_etcd_has_lost_is_no_reason_to_count_the_pod_as_deleted(ledger: Ledger) -> None:
    see(ledger, version=5, node="n1")
    see(ledger, name="ask", app="app-2")
    triggered(ledger, "uid-ask", UID)
    ledger.apply(on.PodEvicted(UID, EvictionOutcome.DONE, Purpose.VICTIM, PodUid("uid-ask")), now=START)
    relist(ledger, make_pod(version=2, node="n1"), make_pod("ask", app="app-2"))
    record = ledger.view.pod(UID)
    assert record is not None
    held(ledger, DOUBTED - 0.1)
    assert record.preempting
    held(ledger, DOUBTED)
    assert not record.preempting


def test_an_eviction_that_the_watch_shows_in_time_stands(ledger: Ledger) -> None:
    see(ledger, version=5, node="n1")
    see(ledger, name="ask", app="app-2")
    triggered(ledger, "uid-ask", UID)
    request(ledger)
    ledger.apply(on.PodEvicted(UID, EvictionOutcome.DONE, Purpose.VICTIM, PodUid("uid-ask")), now=START)
    end_list(ledger, [make_pod(version=5, node="n1"), make_pod("ask", app="app-2")])
    see(ledger, 1, version=6, node="n1", deleting=True)
    held(ledger, 2 * DOUBTED)
    record = ledger.view.pod(UID)
    assert record is not None
    assert record.preempting


def test_what_cannot_be_read_in_a_list_stays_as_it_was(ledger: Ledger) -> None:
    see(ledger, version=500, node="n1")
    request(ledger)
    ledger.apply(on.PodsListed(frozenset({UID})), now=START)
    assert held(ledger, 2 * DOUBTED) == ALLOCATED
