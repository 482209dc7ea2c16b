"""How each rule of gangs is switched off, for the scenarios whose names begin with ``gang-``."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from core.ids import AppId
from core.ledger import view as snapshot
from core.ledger.applications import classification as enrolment
from core.ledger.gangs import index as formations
from core.ledger.gangs import lifecycle as forming
from core.ledger.gangs import replacement as takeover
from core.ledger.gangs.definition import gang_of
from core.ledger.pods import registry
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.state import State
from core.ledger.usage import charges as accounts
from core.queues import room
from core.queues.users.limits import Limits
from core.resource import Resource
from core.workload.application import Application
from core.workload.gangs import progress as formation
from core.workload.gangs.gang import Gang, GangPolicy, GangStyle
from core.workload.gangs.progress import Formation, Progress
from core.workload.nodes.room import NodeRoom
from extender.simulator.cluster import effector, garbage_collector
from tests.scenarios.mutating import Mutate, answering, both, fixed, replaced

Rule = Callable[..., Any]

ASKS_AT_ONCE = both(
    answering(accounts, "awaits_gang", False),
    answering(formations, "awaits_gang", False),
    answering(snapshot, "refusal_of_gang_pod", None),
)
"""Members are asks like any others from the beginning."""

NOTHING_TAKEN_OVER = answering(takeover, "link_next", False)
NOT_COUNTED = answering(takeover, "left_over", None)
NOT_STARTED = answering(forming, "run", None)
NO_GARBAGE_COLLECTED = answering(garbage_collector.GarbageCollector, "collect", None)
NOBODY_IS_LIMITED = replaced(Limits, "of_user", lambda rule, self, path, user: None)


def _any_pod_defines(rule: Rule, state: State, record: PodRecord, *args: Any) -> None:
    rule(state, record, *args)
    application = state.applications[record.application or AppId("", "default")]
    if application.gang is None:
        application.gang = gang_of(state, record)
        forming.begin(state, application)


def _bare(*keys: str) -> Mutate:
    """Placeholders without these fields of their spec."""

    def by(rule: Rule, *args: Any) -> Any:
        body = rule(*args)
        body["spec"] = {key: value for key, value in body["spec"].items() if key not in keys}
        return body

    return replaced(effector, "placeholder_pod", by)


def _whatever_its_age(rule: Rule, gang: Gang, *, lifetime: float, now: float) -> Formation:
    made: Formation = rule(gang, lifetime=gang.policy.placeholder_timeout, now=now)
    return made


def _from_the_beginning(rule: Rule, gang: Gang, *, lifetime: float, now: float) -> Formation:
    """The time runs from the moment in which the gang begins."""
    begun: Formation = rule(gang, lifetime=lifetime, now=now)
    return replace(begun, due=now + lifetime)


def _never(rule: Rule, state: State, application: Application, formation: Formation) -> None:
    """The time passes, and nothing happens."""
    formation.due = None


def _as_before(rule: Rule, state: State, record: PodRecord) -> Charge | None:
    """A member holds what its placeholder held."""
    charge, progress = rule(state, record), formations.progress_of(state, record)
    if charge is None or progress is None or not record.facts.replaces:
        return charge
    return charge._replace(size=progress.group.size)


def _made_again(rule: Rule, state: State, record: PodRecord) -> None:
    rule(state, record)
    of_gang, progress = formations.formation_of(state, record), formations.progress_of(state, record)
    if of_gang is not None and progress is not None:
        of_gang.missing[record.facts.name] = progress.group


def _named_anew(patch: pytest.MonkeyPatch) -> None:
    """Names that no restart finds again."""
    lives: list[AppId] = []

    def listing(rule: Rule, state: State, application: Application, *args: Any) -> None:
        lives.append(application.id)
        rule(state, application, *args)

    replaced(forming, "_list_missing", listing)(patch)
    replaced(formation, "_suffix", lambda rule, text: rule(f"{text}/{len(lives)}"))(patch)


GANG: dict[str, Mutate] = {
    "gang-defined-by-its-first-pod": replaced(enrolment, "join", _any_pod_defines),
    "gang-fewer-members-than-placeholders": replaced(forming, "_run_out", _never),
    "gang-from-its-first-placeholder-to-its-end": ASKS_AT_ONCE,
    "gang-in-a-state-aware-queue": NOT_STARTED,
    "gang-larger-than-the-limit-of-its-user": NOBODY_IS_LIMITED,
    "gang-larger-than-the-limit-of-its-user-fails": NOBODY_IS_LIMITED,
    "gang-member-larger-than-its-placeholder": answering(Resource, "covers", True),
    "gang-member-smaller-than-its-placeholder": replaced(accounts, "charge_of", _as_before),
    "gang-member-that-goes-to-another-node": answering(NodeRoom, "tightest", None),
    "gang-member-that-goes-where-its-placeholder-is": ASKS_AT_ONCE,
    "gang-member-that-no-node-takes": ASKS_AT_ONCE,
    "gang-members-are-no-requests-before-the-start": ASKS_AT_ONCE,
    "gang-none-of-which-goes-before-all-can": ASKS_AT_ONCE,
    "gang-none-of-whose-placeholders-has-room": replaced(forming, "formation_of", _from_the_beginning),
    "gang-of-three-priorities": _bare("priorityClassName"),
    "gang-of-which-some-are-there-already": _named_anew,
    "gang-placeholder-that-is-preempted": NOT_COUNTED,
    "gang-restarted-while-it-waits": replaced(forming, "formation_of", _whatever_its_age),
    "gang-restarted-with-its-originator": fixed(Application, "originator", None),
    "gang-restarted-with-one-of-two-groups": NOTHING_TAKEN_OVER,
    "gang-second-where-one-application-may-run": answering(room.Room, "_applications", None),
    "gang-six-members-for-three-placeholders": fixed(Progress, "closed", False),
    "gang-that-completes-with-placeholders-left": answering(forming, "release_all", None),
    "gang-that-has-started-makes-no-more": answering(forming, "_take_up", None),
    "gang-that-its-driver-owns": NO_GARBAGE_COLLECTED,
    "gang-that-loses-a-node": NOT_COUNTED,
    "gang-that-runs-before-its-members": NOT_STARTED,
    "gang-timed-out-hard": fixed(GangPolicy, "style", GangStyle.SOFT),
    "gang-timed-out-soft": NOT_COUNTED,
    "gang-timed-out-while-it-runs": replaced(
        forming, "_run_out", lambda rule, *args: forming._time_out(*args)
    ),
    "gang-whose-job-is-deleted-before-its-start": both(
        NO_GARBAGE_COLLECTED, answering(forming, "_disband", None)
    ),
    "gang-whose-members-fail": answering(forming, "_fail_members", None),
    "gang-whose-placeholder-somebody-deletes": NOT_COUNTED,
    "gang-whose-placeholders-are-refused": answering(forming, "_fail_creation", None),
    "gang-whose-placeholders-go-where-the-group-says": _bare("nodeSelector", "tolerations"),
    "gang-whose-placeholders-somebody-deletes-before-its-start": replaced(
        registry, "holder_gone", _made_again
    ),
    "gang-whose-time-is-less-by-its-age": replaced(forming, "formation_of", _whatever_its_age),
    "gang-whose-time-was-over-before": answering(forming, "_is_elapsed", False),
    "gang-with-exactly-its-room": NOTHING_TAKEN_OVER,
}
