"""Mutations for rules of gangs, for scenarios whose names begin with ``gang-``."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from core.ids import AppId
from core.instants import has_come
from core.ledger.applications.lifecycle import fire
from core.ledger.gangs.definition import gang_of
from core.ledger.gangs.index import gang_progress_of, progress_of
from core.ledger.gangs.lifecycle import begin
from core.ledger.outcomes import CreationOutcome
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.state.state import State
from core.reasons import Code
from core.resource import Resource
from core.workload.application import Application
from core.workload.gangs.gang import Gang, GangStyle, Misdefined
from core.workload.gangs.progress import GangProgress
from core.workload.states import Move
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced

ASKS_AT_ONCE = both(answering("ask_awaits_gang", False), answering("refusal_of_gang_pod", None))
"""Members are ordinary asks from the beginning."""

NOTHING_TAKEN_OVER = answering("placeholder_taken_over", False)
NOT_COUNTED = answering("placeholder_left_over", None)
NOT_STARTED = answering("application_runs", None)
NO_GARBAGE_COLLECTED = answering("garbage_collection", None)
NO_USER_IS_LIMITED = answering("limit_of_user", None)


def _any_pod_defines(rule: Rule, state: State, record: PodRecord, *args: Any) -> None:
    rule(state, record, *args)
    application = state.applications.known[record.membership.application or AppId("", "default")]
    if application.gang is None:
        application.gang = gang_of(state, record)
        begin(state, application)


def _bare(*keys: str) -> Mutate:
    """Placeholders without these fields of their spec."""

    def by(rule: Rule, *args: Any) -> Any:
        body = rule(*args)
        body["spec"] = {key: value for key, value in body["spec"].items() if key not in keys}
        return body

    return replaced("placeholder_pod", by)


def _whatever_its_age(rule: Rule, gang: Gang, *, lifetime: float, now: float) -> GangProgress:
    made: GangProgress = rule(gang, lifetime=gang.policy.placeholder_timeout, now=now)
    return made


def _from_the_beginning(rule: Rule, gang: Gang, *, lifetime: float, now: float) -> GangProgress:
    """The time runs from the moment in which the gang begins."""
    begun: GangProgress = rule(gang, lifetime=lifetime, now=now)
    return replace(begun, due=now + lifetime)


def _never(rule: Rule, state: State, application: Application, gang_progress: GangProgress) -> None:
    """The time-out has no effect."""
    gang_progress.due = None
    rule(state, application, gang_progress)


def _fails_late(rule: Rule, state: State, application: Application, gang_progress: GangProgress) -> None:
    """A hard gang fails after its start, too."""
    if gang_progress.due is not None and has_come(gang_progress.due, now=state.now):
        fire(state, application, Move.FAIL)
    rule(state, application, gang_progress)


def _softly(rule: Rule, annotations: Any) -> Any:
    """Treat every gang as soft."""
    gang = rule(annotations)
    return (
        replace(gang, policy=replace(gang.policy, style=GangStyle.SOFT)) if isinstance(gang, Gang) else gang
    )


def _without_time(rule: Rule, annotations: Any) -> Any:
    """Ignore the time that a gang gives itself."""
    gang = rule(annotations)
    return replace(gang, policy=replace(gang.policy, timeout=0)) if isinstance(gang, Gang) else gang


def _as_before(rule: Rule, state: State, record: PodRecord) -> Charge | None:
    """A member holds the size of its placeholder."""
    charge, progress = rule(state, record), progress_of(state, record)
    if charge is None or progress is None or not record.facts.replaces:
        return charge
    return replace(charge, size=progress.group.size)


def _made_again(rule: Rule, state: State, record: PodRecord) -> Iterator[None]:
    yield from rule(state, record)
    of_gang, progress = gang_progress_of(state, record), progress_of(state, record)
    if of_gang is not None and progress is not None:
        of_gang.missing[record.facts.name] = progress.group


def _unheard_refusal(rule: Rule, state: State, event: Any) -> None:
    if event.outcome is not CreationOutcome.REFUSED:
        rule(state, event)


def _named_anew() -> Mutate:
    """Names that no restart finds again."""
    lives: list[AppId] = []

    def by(rule: Rule, app: AppId, *args: Any) -> Iterator[str]:
        lives.append(app)
        yield from [f"{name}-{len(lives)}" for name in rule(app, *args)]

    return replaced("placeholder_names", by)


def _also_fair(rule: Rule, *args: Any) -> Any:
    refusal = rule(*args)
    return None if refusal is not None and refusal.code is Code.GANG_NOT_FIFO else refusal


def _large_if_broken(rule: Rule, state: State, record: PodRecord) -> Any:
    """An unreadable definition makes a gang nevertheless."""
    broken = isinstance(record.facts.gang, Misdefined)
    return Gang((), Resource({})) if broken else rule(state, record)


def has_started(rule: Rule, headroom: Any, chain: Any, claimant: Any, *args: Any, **more: Any) -> Any:
    """No limit on applications holds any of them."""
    return rule(headroom, chain, replace(claimant, started=True), *args, **more)


def _without_labels(rule: Rule, *args: Any, **more: Any) -> Any:
    body = rule(*args, **more)
    return {**body, "metadata": {**body["metadata"], "labels": {}}}


GANG: dict[str, Mutate] = {
    "gang-defined-by-its-first-pod": replaced("joins_application", _any_pod_defines),
    "gang-fewer-members-than-placeholders": replaced("gang_advances", _never),
    "gang-from-its-first-placeholder-to-its-end": ASKS_AT_ONCE,
    "gang-in-a-fair-queue": replaced("refusal_of_gang", _also_fair),
    "gang-in-a-state-aware-queue": NOT_STARTED,
    "gang-keys-are-read": replaced("pod_of_entry", _without_labels),
    "gang-larger-than-its-namespace": answering("namespace_quota", None),
    "gang-larger-than-its-queue": answering("size_of_gang", None),
    "gang-larger-than-the-limit-of-its-user": NO_USER_IS_LIMITED,
    "gang-larger-than-the-limit-of-its-user-fails": NO_USER_IS_LIMITED,
    "gang-member-larger-than-its-placeholder": answering("placeholder_covers_member", True),
    "gang-member-smaller-than-its-placeholder": replaced("charge_of_pod", _as_before),
    "gang-member-that-goes-to-another-node": answering("best_node_with_room", None),
    "gang-member-that-goes-where-its-placeholder-is": ASKS_AT_ONCE,
    "gang-member-that-no-node-takes": ASKS_AT_ONCE,
    "gang-members-are-no-requests-before-the-start": ASKS_AT_ONCE,
    "gang-none-of-which-goes-before-all-can": ASKS_AT_ONCE,
    "gang-none-of-whose-placeholders-has-room": replaced("gang_begins", _from_the_beginning),
    "gang-of-three-priorities": _bare("priorityClassName"),
    "gang-of-which-some-are-there-already": _named_anew(),
    "gang-placeholder-that-is-preempted": NOT_COUNTED,
    "gang-restarted-while-it-waits": replaced("gang_begins", _whatever_its_age),
    "gang-restarted-with-its-originator": answering("originator_of_gang", None),
    "gang-restarted-with-one-of-two-groups": NOTHING_TAKEN_OVER,
    "gang-scheduling-switched-off": replaced("gang_of_pod", lambda rule, state, record: record.facts.gang),
    "gang-second-where-one-application-may-run": replaced("room_for_ask", has_started),
    "gang-six-members-for-three-placeholders": answering("task_group_closes", None),
    "gang-that-completes-with-placeholders-left": answering("placeholders_released", None),
    "gang-that-has-started-makes-no-more": answering("gang_goes_on", None),
    "gang-that-its-driver-owns": NO_GARBAGE_COLLECTED,
    "gang-that-loses-a-node": NOT_COUNTED,
    "gang-that-runs-before-its-members": NOT_STARTED,
    "gang-that-runs-outlives-a-restart": answering("awaits_pods_of_gang", False),
    "gang-timed-out-hard": replaced("gang_annotations", _softly),
    "gang-timed-out-soft": NOT_COUNTED,
    "gang-timed-out-while-it-runs": replaced("gang_advances", _fails_late),
    "gang-whose-job-is-deleted-before-its-start": both(
        NO_GARBAGE_COLLECTED, answering("placeholders_released", None)
    ),
    "gang-whose-members-fail": answering("rejected_pods_fail", None),
    "gang-whose-placeholder-somebody-deletes": NOT_COUNTED,
    "gang-whose-placeholders-are-refused": replaced("placeholder_created", _unheard_refusal),
    "gang-whose-placeholders-go-where-the-group-says": _bare("nodeSelector", "tolerations"),
    "gang-whose-placeholders-somebody-deletes-before-its-start": replaced("placeholder_is_gone", _made_again),
    "gang-whose-time-is-less-by-its-age": replaced("gang_begins", _whatever_its_age),
    "gang-whose-time-was-over-before": replaced("gang_annotations", _without_time),
    "gang-with-broken-task-groups": replaced("gang_of_pod", _large_if_broken),
    "gang-with-exactly-its-room": NOTHING_TAKEN_OVER,
}
