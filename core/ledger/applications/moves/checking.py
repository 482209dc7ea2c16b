"""Checks of an application that is to be moved to another leaf (ACT-31, ACT-32)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from core.ids import RECOVERY_QUEUE
from core.ledger.gangs.definition import refusal_of_application
from core.ledger.podgroups.membership import group_of, members
from core.ledger.pods.binding import may_be_bound
from core.ledger.pods.record import Held, PodRecord
from core.ledger.state.state import State
from core.queues.closing import closed_in
from core.queues.placement.moved import may_use
from core.queues.placement.moving import MovingUsage, shortages
from core.queues.queue import Queue
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.states import AppState

_SHOWN = 64


class MoveObstacle(Enum):
    """Kind of reason why an application is not moved."""

    APPLICATION = "application"
    """The application may not be moved at all."""
    TARGET = "target"
    """The queue takes no application, or not this one."""
    NO_QUEUE = "no queue"
    """There is no such queue."""
    BUSY = "busy"
    """Something of it is under way. It may be moved soon."""
    SHORTAGE = "shortage"
    """A limit would break."""


@dataclass(frozen=True, slots=True)
class MoveRefusal:
    """Reason why an application is not moved. ``shortages``: limits that would break, one sentence each."""

    obstacle: MoveObstacle
    text: str
    shortages: tuple[str, ...] = ()


NO_APPLICATION = MoveRefusal(MoveObstacle.APPLICATION, "there is no such application")


def move_refusal(state: State, application: Application, target: Queue) -> MoveRefusal | None:
    """First reason why an application may not be moved to a queue now, or None. Cost: O(its pods)."""
    source = state.config.tree.get(application.queue) if application.queue is not None else None
    why = _why_not_it(state, application)
    if why or source is None:
        return MoveRefusal(MoveObstacle.APPLICATION, why or "it has no queue")
    if source is target:
        return None
    why = _why_not_there(application, target) or _why_no_gang(state, application, target)
    if why:
        return MoveRefusal(MoveObstacle.TARGET, why)
    why = next(iter(under_way(state, application)), "")
    if why:
        return MoveRefusal(MoveObstacle.BUSY, why)
    lacks = shortages(source, target, usage_of(state, application, target), state.quota_check)
    return MoveRefusal(MoveObstacle.SHORTAGE, "a limit would break", lacks) if lacks else None


def _why_not_it(state: State, application: Application) -> str:
    if application.ends or application.state in (AppState.FAILING, AppState.FAILED):
        return "it is being ended, or fails"
    if application.id.recovered:
        return "it runs, and no queue takes it"
    if application.queue is None:
        return "it has no queue: it was rejected, or waits to be placed"
    if application.forced:
        return "it was placed by force, and has not passed the checks of its queue"
    shared = (group_of(state, state.pods.records[uid]) for uid in sorted(application.pods))
    for group in shared:
        if group is not None and any(
            each.membership.application != application.id for each in members(state, group)
        ):
            return f"its pod group {group.key.name[:_SHOWN]} has pods of other applications"
    return ""


def _why_not_there(application: Application, target: Queue) -> str:
    if target.path == RECOVERY_QUEUE or not target.is_leaf:
        return f"{target.path} is no leaf that takes applications"
    if target.dynamic:
        return f"{target.path} is no queue of the document: a restart could not find it again"
    if target.draining:
        return f"{target.path} is draining"
    closed = closed_in(target.chain)
    if closed is not None:
        return f"{closed.path} is closed"
    user = application.identity.user
    if not may_use(target, user, application.groups or ()):
        return f"user {user[:_SHOWN]} may not submit to {target.path}"
    return ""


def _why_no_gang(state: State, application: Application, target: Queue) -> str:
    refusal = refusal_of_application(state, application, target.path)
    return refusal.text if refusal is not None else ""


# -- under way -----------------------------------------------------------------------------------------------


def under_way(state: State, application: Application) -> Iterator[str]:
    """Steps of an application that must come to their end before it is moved."""
    for uid in sorted(application.pods):
        record = state.pods.records[uid]
        name = f"pod {record.facts.namespace}/{record.facts.name[:_SHOWN]}"
        if may_be_bound(record):
            yield f"{name} is being bound"
        if record.gang.yields_to or (record.gang.slot is not None and not record.node):
            yield f"{name} takes part in the replacement of a placeholder"
        if record.preemption.triggered and uid not in state.preemption.offers:
            yield f"others are preempted for {name}"
        if is_committed_victim(state, record):
            yield f"{name} is being preempted"


def is_committed_victim(state: State, record: PodRecord) -> bool:
    """True for a victim of a plan that is more than an offer."""
    preemptor = record.preemption.preempted_for
    return preemptor is not None and preemptor not in state.preemption.offers


# -- usage ---------------------------------------------------------------------------------------------------


def usage_of(state: State, application: Application, target: Queue) -> MovingUsage:
    """Usage that moves with an application.

    Reservations are in it, although they are given up: kube-scheduler may be about to bind those pods.
    """
    size = Tally()
    for uid in application.pods:
        charge = state.usage.charges.get(uid)
        if charge is not None and charge.queue is not None and charge.held is not Held.PENDING:
            size.add(charge.size)
    group = state.config.limits.group_for(target.paths, application.groups or ())
    before = application.claimant
    return MovingUsage(before, replace(before, group=group), Resource.sum_of(size), application.started)
