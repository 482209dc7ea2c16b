"""States of applications: their causes, their duration, and which count as running (APP)."""

from dataclasses import replace

import pytest

from core.decisions.decision import Admitted
from core.ids import AppId, PodUid
from core.ledger import events as on
from core.ledger.applications.ended import SHOWN_FOR
from core.ledger.applications.lifecycle import COMPLETING_FOR, STARTING_FOR
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import LimitSpec, QueueSpec
from core.workload.application import Application
from core.workload.states import ENDED, AppState, Move, next_state
from tests.builders import START, filtered, make_ledger, make_partition, make_pod, make_queue, woken

A = make_queue("root.a")
AWARE = replace(A, properties={"application.sort.policy": "stateaware"})
JOB = AppId("job", "default")


def submit(ledger: Ledger, name: str, *, at: float = 0.0, app: str = "job", **facts: object) -> bool:
    """Show a pod and call filter for it; True if it was admitted."""
    pod = make_pod(name, app=app, created=START + at, **facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START + at)
    return isinstance(filtered(ledger, pod.uid, now=START + at), Admitted)


def job(ledger: Ledger, app_id: str = "job") -> Application:
    found = ledger.view.application(AppId(app_id, "default"))
    assert found is not None
    return found


def delete(ledger: Ledger, name: str, *, at: float = 0.0) -> None:
    ledger.apply(on.PodDeleted(PodUid(f"uid-{name}")), now=START + at)


def tick(ledger: Ledger, at: float) -> None:
    ledger.apply(on.TimePassed(), now=START + at)


@pytest.mark.rule("APP-2")
@pytest.mark.parametrize(
    ("move", "before", "after"),
    [
        (Move.RUN, AppState.NEW, AppState.ACCEPTED),
        (Move.RUN, AppState.RESUMING, AppState.ACCEPTED),
        (Move.RUN, AppState.ACCEPTED, AppState.RUNNING),
        (Move.RUN, AppState.RUNNING, AppState.RUNNING),
        (Move.RUN, AppState.COMPLETING, AppState.RUNNING),
        (Move.REJECT, AppState.NEW, AppState.REJECTED),
        (Move.REJECT, AppState.ACCEPTED, AppState.ACCEPTED),
        (Move.COMPLETE, AppState.ACCEPTED, AppState.COMPLETING),
        (Move.COMPLETE, AppState.RUNNING, AppState.COMPLETING),
        (Move.COMPLETE, AppState.COMPLETING, AppState.COMPLETED),
        (Move.COMPLETE, AppState.RESUMING, AppState.RESUMING),
        (Move.FAIL, AppState.NEW, AppState.FAILING),
        (Move.FAIL, AppState.ACCEPTED, AppState.FAILING),
        (Move.FAIL, AppState.RUNNING, AppState.FAILING),
        (Move.FAIL, AppState.FAILING, AppState.FAILED),
        (Move.FAIL, AppState.COMPLETING, AppState.COMPLETING),
        (Move.FAIL, AppState.RESUMING, AppState.RESUMING),
        *((Move.END, each, AppState.FAILING) for each in AppState if each not in (*ENDED, AppState.FAILING)),
        *((Move.END, each, each) for each in (*sorted(ENDED), AppState.FAILING)),
        (Move.RESUME, AppState.NEW, AppState.RESUMING),
        (Move.RESUME, AppState.ACCEPTED, AppState.RESUMING),
        (Move.RESUME, AppState.RUNNING, AppState.RUNNING),
    ],
)
def test_where_a_move_leads(move: Move, before: AppState, after: AppState) -> None:
    assert next_state(before, move) is after


@pytest.mark.rule("APP-1", "APP-3")
def test_from_the_first_pod_to_the_last() -> None:
    ledger = make_ledger(replace(A, max_applications=0))
    ledger.apply(on.PodObserved(make_pod("one", app="job")), now=START)
    assert job(ledger).state is AppState.ACCEPTED
    filtered(ledger, "uid-one", now=START + 1)
    assert job(ledger).state is AppState.RUNNING
    delete(ledger, "one", at=2)
    assert (job(ledger).state, ledger.view.next_due()) == (
        AppState.COMPLETING,
        START + 2 + COMPLETING_FOR,
    )
    tick(ledger, 2 + COMPLETING_FOR)
    ended = ledger.view.identities.ended("job")
    assert ended is not None
    assert [(since - START, state) for since, state in ended.states[1:]] == [
        (0, AppState.ACCEPTED),
        (1, AppState.RUNNING),
        (2, AppState.COMPLETING),
        (32, AppState.COMPLETED),
    ]
    assert ledger.view.application(JOB) is None


@pytest.mark.rule("APP-3", "APP-5")
def test_a_new_pod_takes_up_what_completes_and_it_runs_at_once() -> None:
    ledger = make_ledger(replace(A, max_applications=1))
    submit(ledger, "one")
    delete(ledger, "one", at=1)
    submit(ledger, "other", app="other", at=2)
    assert job(ledger, "other").state is AppState.RUNNING
    assert submit(ledger, "two", at=3)
    assert (job(ledger).state, ledger.view.next_due()) == (AppState.RUNNING, START + 32)
    tick(ledger, 40)
    assert job(ledger).state is AppState.RUNNING


@pytest.mark.rule("APP-3")
def test_a_pod_that_is_bound_already_makes_it_run() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("one", app="job", node="n1")), now=START)
    assert [state for _, state in job(ledger).states] == [AppState.NEW, AppState.ACCEPTED, AppState.RUNNING]


@pytest.mark.rule("APP-7")
def test_the_submission_is_the_creation_of_its_oldest_pod() -> None:
    ledger = make_ledger(A)
    submit(ledger, "one", at=10)
    assert job(ledger).submitted == START + 10
    old = make_pod("old", app="job", created=START + 3)
    ledger.apply(on.PodObserved(old), now=START + 11)
    assert job(ledger).submitted == START + 3
    delete(ledger, "old", at=12)
    assert job(ledger).submitted == START + 3


@pytest.mark.rule("APP-13")
def test_one_that_never_had_a_queue_ends_with_its_pods() -> None:
    ledger = make_ledger(A)
    submit(ledger, "one", queue="root.nowhere")
    assert job(ledger).state is AppState.REJECTED
    delete(ledger, "one")
    assert ledger.view.application(JOB) is None
    ended = ledger.view.identities.ended("job")
    assert ended is not None
    assert ended.refusal is not None
    assert ended.refusal.text == "PlacementFailed: no queue root.nowhere"


@pytest.mark.rule("APP-14")
def test_the_latest_of_an_id_is_shown_for_three_days() -> None:
    ledger = make_ledger(A, make_queue("root.b"))
    for at, queue in ((0.0, "root.a"), (100.0, "root.b")):
        submit(ledger, "one", at=at, queue=queue, uid=f"uid-{at}")
        ledger.apply(on.PodDeleted(PodUid(f"uid-{at}")), now=START + at)
        tick(ledger, at + COMPLETING_FOR)
    last = ledger.view.identities.ended("job")
    assert last is not None
    assert last.queue == "root.b"
    tick(ledger, 100 + COMPLETING_FOR + SHOWN_FOR)
    assert ledger.view.identities.ended("job") is None


@pytest.mark.rule("APP-15", "QUO-13")
def test_only_what_is_accepted_is_held_by_a_number_of_applications() -> None:
    ledger = make_ledger(replace(A, max_applications=1))
    assert [submit(ledger, "one"), submit(ledger, "two")] == [True, True]
    assert not submit(ledger, "other", app="other")
    assert job(ledger, "other").state is AppState.ACCEPTED
    delete(ledger, "one")
    assert woken(ledger, now=START) == []
    delete(ledger, "two")
    assert woken(ledger, now=START) == ["uid-other"]


@pytest.mark.rule("UGM-8")
def test_one_that_completes_does_not_count_for_its_user_any_more() -> None:
    limited = replace(A, limits=(LimitSpec(("*",), (), None, 1),))
    ledger = make_ledger(limited)
    submit(ledger, "one")
    assert not submit(ledger, "other", app="other")
    delete(ledger, "one")
    assert woken(ledger, now=START) == ["uid-other"]


def test_a_leaf_that_only_completing_applications_are_in_may_become_a_parent() -> None:
    ledger = make_ledger(A)
    submit(ledger, "one")
    document = make_partition(make_queue("root.a", leaf=False), make_queue("root.a.x"))
    assert ledger.view.conflicts(document) == ("root.a runs 1 applications and cannot become a parent queue",)
    delete(ledger, "one")
    assert ledger.view.conflicts(document) == ()
    ledger.apply(on.Configured(document, LedgerSettings()), now=START)
    assert ledger.view.application(JOB) is None
    assert ledger.view.identities.ended("job") is not None


# -- Starting ----------------------------------------------------------------------------------------------


@pytest.mark.rule("SORT-8")
@pytest.mark.parametrize(
    ("queue", "starts_at_once", "states"),
    [
        (AWARE, False, [AppState.STARTING, AppState.RUNNING]),
        (AWARE, True, [AppState.RUNNING, AppState.RUNNING]),
        (A, False, [AppState.RUNNING, AppState.RUNNING]),
    ],
)
def test_in_a_state_aware_leaf_the_second_pod_makes_it_run(
    queue: QueueSpec, starts_at_once: bool, states: list[AppState]
) -> None:
    ledger, seen = make_ledger(queue), []
    for name in ("one", "two"):
        submit(ledger, name, starts_at_once=starts_at_once)
        seen.append(job(ledger).state)
    assert seen == states


@pytest.mark.rule("SORT-8")
def test_it_starts_for_five_minutes_at_most_and_counts_as_running_meanwhile() -> None:
    ledger = make_ledger(replace(AWARE, max_applications=1))
    submit(ledger, "one")
    ledger.apply(on.PodObserved(make_pod("one", app="job", node="n1", version=2)), now=START)
    assert ledger.view.next_due() == START + STARTING_FOR
    assert not submit(ledger, "other", app="other")
    assert job(ledger).state is AppState.STARTING
    tick(ledger, STARTING_FOR - 1)
    assert job(ledger).state is AppState.STARTING
    tick(ledger, STARTING_FOR)
    assert job(ledger).state is AppState.RUNNING
