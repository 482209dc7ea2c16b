"""Changed labels of a pod are noticed and reported, but have no effect, even after a restart (F-23)."""

from dataclasses import replace

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.applications.relabelled import RELABELLED, REPORTS_APART
from core.ledger.effects import Effect, PostEvent, WriteRecord
from core.ledger.ledger import Ledger
from core.queues.users.identity import Identity
from core.workload.pod import APPLICATION, NamespaceFacts, PodFacts
from extender.telemetry.metrics import Metrics
from extender.views.journal import Journal
from extender.views.story import story_of
from tests.builders import START, drifts, make_ledger, make_pod, make_queue, usage

RUNS = make_pod("p", app="job", queue="root.a", node="n1")


def two_queues(*, listed: bool = True) -> Ledger:
    ledger = make_ledger(make_queue("root.a"), make_queue("root.b", max={"vcore": 1000}), listed=listed)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("other")), now=START)
    return ledger


def shown(ledger: Ledger, pod: PodFacts, *, version: int, now: float = START) -> tuple[Effect, ...]:
    return ledger.apply(on.PodObserved(replace(pod, version=version)), now=now)


def events(effects: tuple[Effect, ...]) -> list[str]:
    return [each.message for each in effects if isinstance(each, PostEvent) and each.reason == RELABELLED]


def written(effects: tuple[Effect, ...]) -> str:
    """Records that the next process will find."""
    (record,) = [each for each in effects if isinstance(each, WriteRecord)]
    return dict(record.entries)[APPLICATION] or ""


@pytest.mark.parametrize(
    "change",
    [{"queue": "root.b"}, {"app_id": "another"}, {"queue": ""}, {"identity": Identity("bob")}],
    ids=["queue", "application", "none", "user"],
)
def test_it_is_reported_and_the_pod_stays_where_it_is(change: dict[str, object]) -> None:
    ledger = two_queues()
    shown(ledger, RUNS, version=1)
    effects = shown(ledger, replace(RUNS, **change), version=2)  # type: ignore[arg-type]
    (message,) = events(effects)
    assert message.endswith("by now, and stays in application job, queue root.a")
    assert (usage(ledger, "root.a"), usage(ledger, "root.b")) == ((1000, 0, 0), (0, 0, 0))
    story = story_of(ledger.view, Journal(), "default", "p")
    assert story is not None
    assert story["relabelled"] == message
    metrics = Metrics(lambda: ledger.view).exposition().decode().splitlines()
    assert "paddock_relabelled_pods_total 1.0" in metrics
    assert drifts(ledger) == []


def test_a_change_that_is_shown_again_is_not_reported_again() -> None:
    ledger = two_queues()
    shown(ledger, RUNS, version=1)
    changed = replace(RUNS, queue="root.b")
    assert len(events(shown(ledger, changed, version=2))) == 1
    assert shown(ledger, changed, version=3) == ()


def test_many_changes_are_counted_and_reported_now_and_then() -> None:
    ledger = two_queues()
    shown(ledger, RUNS, version=1)
    reported = [
        len(events(shown(ledger, replace(RUNS, queue=f"root.b{at}"), version=at + 2, now=START + at)))
        for at in range(round(REPORTS_APART) + 1)
    ]
    assert sum(reported) == 2
    assert ledger.view.identities.tally.relabelled == REPORTS_APART + 1


def test_a_pod_that_is_no_ask_yet_may_say_what_it_likes() -> None:
    ledger = two_queues()
    gated = make_pod("p", app="job", gates=("theirs",))
    assert shown(ledger, gated, version=1) == ()
    assert shown(ledger, replace(gated, queue="root.b"), version=2) == ()


@pytest.mark.rule("APP-19")
def test_a_restart_finds_what_it_said_before() -> None:
    ledger = two_queues()
    shown(ledger, RUNS, version=1)
    changed = replace(RUNS, queue="root.b", app_id="another")
    note = written(shown(ledger, changed, version=2))
    after = two_queues(listed=False)
    found = replace(changed, taken_as=note)
    effects = shown(after, found, version=3)
    effects += after.apply(on.PodsListed(frozenset({RUNS.uid})), now=START)
    assert (usage(after, "root.a"), usage(after, "root.b")) == ((1000, 0, 0), (0, 0, 0))
    assert [each.id.name for each in after.view.applications()] == ["job"]
    assert effects == ()
    assert len(events(shown(after, replace(found, queue="root.c"), version=4))) == 1
    assert drifts(after) == []


@pytest.mark.parametrize(
    "note", ['{"app": "job", "queue": "root.b"}', "nonsense", "[" * 100_000, "{}", '{"app": 1}']
)
def test_a_note_on_a_pod_that_comes_later_is_forged(note: str) -> None:
    ledger = two_queues()
    effects = shown(ledger, replace(RUNS, taken_as=note), version=1)
    assert [each.entries for each in effects if isinstance(each, WriteRecord)] == [((APPLICATION, None),)]
    assert usage(ledger, "root.a") == (1000, 0, 0)


@pytest.mark.parametrize("note", ["nonsense", "[" * 100_000, "{}", '{"app": 1, "queue": "root.b"}'])
def test_a_note_that_cannot_be_read_counts_for_nothing(note: str) -> None:
    ledger = two_queues(listed=False)
    shown(ledger, replace(RUNS, taken_as=note), version=1)
    ledger.apply(on.PodsListed(frozenset({RUNS.uid})), now=START)
    assert usage(ledger, "root.a") == (1000, 0, 0)


def test_a_forged_note_leads_into_no_other_namespace() -> None:
    ledger = two_queues(listed=False)
    pods = [
        RUNS,
        make_pod(
            "rival",
            namespace="other",
            queue="root.b",
            app="own",
            node="n1",
            taken_as='{"app": "job", "queue": ""}',
        ),
    ]
    for at, pod in enumerate(pods):
        shown(ledger, pod, version=at + 1)
    ledger.apply(on.PodsListed(frozenset(pod.uid for pod in pods)), now=START)
    assert usage(ledger, "root.a") == (1000, 0, 0)
    assert {str(each.id) for each in ledger.view.applications()} == {
        "default/job",
        "other/job (recovered)",
    }
    assert PodUid("uid-rival") not in ledger.view.identities.named("job")[0].pods
