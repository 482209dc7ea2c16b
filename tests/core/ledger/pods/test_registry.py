"""A pod in the ledger: seen early, late, twice, resized, deleted, and with another pod's name."""

from itertools import permutations

import pytest

from core.decisions.decision import Faulted
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.workload.pod import PodFacts, PriorityClassFacts
from tests.builders import (
    START,
    bind_called,
    filtered,
    make_ledger,
    make_node,
    make_pod,
    make_queue,
    usage,
    woken,
)

N1 = NodeName("n1")
UID = make_pod().uid
NOTHING, ALLOCATED, RESERVED, PENDING = (0, 0, 0), (1000, 0, 0), (0, 1000, 0), (0, 0, 1000)


@pytest.fixture
def ledger() -> Ledger:
    return make_ledger(make_queue("root.a", max={"vcore": 2000}))


def observe(ledger: Ledger, at: float = 0.0, **facts: object) -> PodFacts:
    pod = make_pod(**facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START + at)
    return pod


def offer(ledger: Ledger, at: float = 0.0, **facts: object) -> PodFacts:
    pod = make_pod(**facts)  # type: ignore[arg-type]
    ledger.apply(on.PodOffered(pod), now=START + at)
    return pod


# -- any order, any number of times ------------------------------


@pytest.mark.rule("QUO-2")
@pytest.mark.parametrize("order", list(permutations(range(5))))
def test_filter_bind_and_watch_in_any_order_count_a_pod_once(ledger: Ledger, order: tuple[int, ...]) -> None:
    steps = [
        lambda: filtered(ledger, UID, now=START),
        lambda: bind_called(ledger, UID, now=START),
        lambda: ledger.apply(on.PodBound(UID, N1), now=START),
        lambda: ledger.apply(on.PodObserved(make_pod(version=1)), now=START),
        lambda: ledger.apply(on.PodObserved(make_pod(version=2, node="n1")), now=START),
    ]
    for _ in range(2):
        for at in order:
            steps[at]()
            assert sum(usage(ledger, "root.a")) in (0, 1000)
    assert usage(ledger, "root.a") == ALLOCATED
    use = ledger.view.use_of(N1)
    assert use is not None
    assert use.allocated.get("vcore") == 1000


def test_late_updates_from_the_watch_are_not_believed(ledger: Ledger) -> None:
    observe(ledger, node="n1", version=5)
    observe(ledger, version=4)
    assert usage(ledger, "root.a") == ALLOCATED


def test_a_version_that_is_no_number_is_believed(ledger: Ledger) -> None:
    observe(ledger, version=0)
    offer(ledger, version=7)
    observe(ledger, version=0, node="n1")
    assert usage(ledger, "root.a") == ALLOCATED


@pytest.mark.rule("QUO-10")
def test_a_release_takes_out_what_was_put_in_and_only_once(ledger: Ledger) -> None:
    observe(ledger, node="n1")
    observe(ledger, name="other", uid="other", node="n1", cpu=300)
    for _ in range(3):
        ledger.apply(on.PodDeleted(UID), now=START)
        observe(ledger, terminal=True, version=9)
    assert usage(ledger, "root.a") == (300, 0, 0)


def test_terminating_pods_hold_their_quota_until_they_disappear(ledger: Ledger) -> None:
    observe(ledger, node="n1")
    observe(ledger, node="n1", deleting=True, version=2)
    assert usage(ledger, "root.a") == ALLOCATED
    observe(ledger, node="n1", deleting=True, terminal=True, version=3)
    assert usage(ledger, "root.a") == NOTHING


# -- resize ------------------------------


@pytest.mark.rule("RES-8")
def test_a_resize_counts_at_once_evicts_nothing_and_admits_nothing_more(ledger: Ledger) -> None:
    observe(ledger, node="n1")
    waiting = observe(ledger, name="next", cpu=500)
    observe(ledger, node="n1", cpu=5000, version=2)
    assert usage(ledger, "root.a") == (5000, 0, 500)
    assert usage(ledger, "root") == (5000, 0, 500)
    use = ledger.view.use_of(N1)
    assert use is not None
    assert use.allocated.get("vcore") == 5000
    filtered(ledger, waiting.uid, now=START)
    assert usage(ledger, "root.a") == (5000, 0, 500)


@pytest.mark.rule("RES-8")
def test_a_resize_down_frees_capacity(ledger: Ledger) -> None:
    observe(ledger, node="n1", cpu=2000)
    waiting = observe(ledger, name="next", cpu=500)
    filtered(ledger, waiting.uid, now=START)
    woken(ledger, now=START)
    observe(ledger, node="n1", cpu=1500, version=2)
    assert woken(ledger, now=START + 1) == [waiting.uid]


@pytest.mark.rule("RES-8")
def test_a_resize_of_an_ask_changes_pending_only(ledger: Ledger) -> None:
    observe(ledger)
    observe(ledger, cpu=1700, version=2)
    assert usage(ledger, "root.a") == (0, 0, 1700)


def test_a_resize_of_a_reserved_ask_changes_what_is_reserved(ledger: Ledger) -> None:
    observe(ledger)
    filtered(ledger, UID, now=START)
    observe(ledger, cpu=1700, version=2)
    assert usage(ledger, "root.a") == (0, 1700, 0)


# -- filter before watch ------------------------------


def test_a_pod_learned_from_a_body_is_an_ask_at_once(ledger: Ledger) -> None:
    offer(ledger)
    filtered(ledger, UID, now=START)
    assert usage(ledger, "root.a") == RESERVED


def test_it_is_forgotten_after_30_s_without_a_watch_event(ledger: Ledger) -> None:
    offer(ledger)
    ledger.apply(on.TimePassed(), now=START + 29.9)
    assert usage(ledger, "root.a") == PENDING
    ledger.apply(on.TimePassed(), now=START + 30.0)
    assert usage(ledger, "root.a") == NOTHING
    assert not ledger.view.was_deleted(UID), "it may still come"


@pytest.mark.parametrize("version", [1, 2, 3], ids=["older", "the same", "newer"])
def test_it_stays_once_the_watch_has_shown_it(ledger: Ledger, version: int) -> None:
    offer(ledger, version=2)
    observe(ledger, 10, version=version)
    ledger.apply(on.TimePassed(), now=START + 100)
    assert usage(ledger, "root.a") == PENDING


def test_a_watch_behind_the_body_changes_nothing(ledger: Ledger) -> None:
    offer(ledger, version=5, cpu=1500)
    observe(ledger, version=4, cpu=1000)
    assert usage(ledger, "root.a") == (0, 0, 1500)
    observe(ledger, version=6, cpu=1000)
    assert usage(ledger, "root.a") == PENDING


def test_a_body_ahead_of_the_watch_is_believed_and_one_behind_it_is_not(ledger: Ledger) -> None:
    observe(ledger, version=2)
    offer(ledger, version=3, cpu=1500)
    assert usage(ledger, "root.a") == (0, 0, 1500)
    offer(ledger, version=1, cpu=200)
    assert usage(ledger, "root.a") == (0, 0, 1500)


@pytest.mark.parametrize("step", ["binding", "bound by us"])
def test_a_pod_with_a_binding_is_not_forgotten(ledger: Ledger, step: str) -> None:
    offer(ledger)
    bind_called(ledger, UID, now=START)
    if step == "bound by us":
        ledger.apply(on.PodBound(UID, N1), now=START)
    ledger.apply(on.TimePassed(), now=START + 100)
    assert sum(usage(ledger, "root.a")) == 1000


# -- gone ------------------------------


def test_a_deleted_uid_is_remembered_for_10_minutes(ledger: Ledger) -> None:
    observe(ledger)
    ledger.apply(on.PodDeleted(UID), now=START)
    for at in (0.0, 599.9):
        ledger.apply(on.TimePassed(), now=START + at)
        offer(ledger, at)
        observe(ledger, at)
        assert ledger.view.was_deleted(UID)
        assert filtered(ledger, UID, now=START + at) == Faulted("pod is gone")
    ledger.apply(on.TimePassed(), now=START + 600)
    assert not ledger.view.was_deleted(UID)


@pytest.mark.parametrize("event", [on.PodDeleted(UID), on.PodObserved(make_pod(terminal=True))])
def test_the_end_of_an_unknown_pod_is_remembered(ledger: Ledger, event: on.Event) -> None:
    ledger.apply(event, now=START)
    offer(ledger)
    assert ledger.view.pod(UID) is None
    assert ledger.view.was_deleted(UID)


def test_a_terminal_pod_in_a_body_is_not_learned(ledger: Ledger) -> None:
    offer(ledger, terminal=True)
    assert ledger.view.pod(UID) is None


def test_an_object_that_a_list_lacks_is_deleted(ledger: Ledger) -> None:
    stays = observe(ledger, name="kept")
    observe(ledger)
    ledger.apply(on.PodsListed(frozenset({stays.uid})), now=START)
    assert usage(ledger, "root.a") == PENDING
    assert ledger.view.was_deleted(UID)


# -- two pods of one uid or one name ------------------------------


def test_a_body_that_gives_a_known_uid_to_another_pod_is_not_believed(ledger: Ledger) -> None:
    observe(ledger)
    offer(ledger, name="impostor", uid=UID, version=99, cpu=1)
    record = ledger.view.pod(UID)
    assert record is not None
    assert (record.facts.name, usage(ledger, "root.a")) == ("pod", PENDING)
    observe(ledger, version=2, node="n1")
    assert usage(ledger, "root.a") == ALLOCATED, "the false version is not believed either"


def test_the_watch_is_believed_over_a_body_that_gave_the_uid_to_another_pod(ledger: Ledger) -> None:
    offer(ledger, name="impostor", uid=UID, version=99, cpu=1)
    observe(ledger, version=2)
    assert ledger.view.pod_named("default", "impostor") is None
    found = ledger.view.pod_named("default", "pod")
    assert found is not None
    assert (found.uid, usage(ledger, "root.a")) == (UID, PENDING)


@pytest.mark.parametrize("first_end", ["old", "new"])
def test_a_name_taken_anew_before_the_old_pod_is_known_as_deleted(ledger: Ledger, first_end: str) -> None:
    old, new = observe(ledger, uid="old"), offer(ledger, uid="new")
    found = ledger.view.pod_named("default", "pod")
    assert found is not None
    assert found.uid == "new"
    ledger.apply(on.PodDeleted(PodUid(first_end)), now=START)
    (left,) = {old.uid, new.uid} - {first_end}
    found = ledger.view.pod_named("default", "pod")
    assert found is not None
    assert found.uid == left
    ledger.apply(on.PodDeleted(left), now=START)
    assert ledger.view.pod_named("default", "pod") is None


# -- nodes and priority classes ------------------------------


@pytest.mark.rule("QUO-1")
def test_nodes_make_the_roots_max() -> None:
    ledger = make_ledger(nodes=2)

    def cap() -> int | None:
        limit = ledger.view.tree.root.max
        return None if limit is None else limit.get("vcore")

    assert cap() == 200_000
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=50_000)), now=START)
    assert cap() == 150_000
    ledger.apply(on.ObjectDeleted(on.NODES, NodeName("n2")), now=START)
    assert cap() == 50_000
    ledger.apply(on.ObjectsListed(on.NODES, frozenset()), now=START)
    assert cap() is None
    ledger.apply(on.ObjectDeleted(on.NODES, NodeName("n2")), now=START)
    assert cap() is None


def test_the_node_set_changes_with_its_members_only() -> None:
    ledger = make_ledger(nodes=1)
    before = ledger.view.node_set
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=7)), now=START)
    assert ledger.view.node_set == before
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2")), now=START)
    ledger.apply(on.ObjectDeleted(on.NODES, NodeName("n2")), now=START)
    assert ledger.view.node_set == before + 2


def test_a_pod_outlives_its_node(ledger: Ledger) -> None:
    observe(ledger, node="n1")
    ledger.apply(on.ObjectDeleted(on.NODES, N1), now=START)
    assert usage(ledger, "root.a") == ALLOCATED


def test_priority_classes_come_and_go(ledger: Ledger) -> None:
    for name in ("low", "high"):
        ledger.apply(on.ObjectObserved(on.PRIORITY_CLASSES, PriorityClassFacts(name, 1)), now=START)
    ledger.apply(on.ObjectsListed(on.PRIORITY_CLASSES, frozenset({"high"})), now=START)
    ledger.apply(on.ObjectDeleted(on.PRIORITY_CLASSES, "high"), now=START)
    ledger.apply(on.ObjectDeleted(on.PRIORITY_CLASSES, "high"), now=START)
    assert ledger.view.synced


def test_synced_once_everything_was_listed_and_configured() -> None:
    ledger = make_ledger()
    assert ledger.view.synced
    assert not Ledger().view.synced
