"""Groups of a user that count for an application (ID-4 to ID-6)."""

from core.ids import AppId
from core.ledger.effects import ResolveGroups
from core.ledger.state.applications import Resolved
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.state.timer_heap import set_timer, take_due
from core.ledger.state.timers import TimerKind
from core.queues.placement.refusals import refusal_of_groups
from core.queues.users.identity import NO_GROUP
from core.reasons import Refusal
from core.workload.application import Application

OS = "os"
"""Resolver that asks the host. Every other resolver answers with the user's name (ID-4)."""


def find_groups(state: State, application: Application, *, forced: bool) -> Refusal | None:
    """Decide the application's groups once, or say why that is not possible yet.

    Groups that a pod names count for its own application only (ID-5). ``forced``: the application runs
    already and must count somewhere, if need be with the group of an unknown user (ID-6).
    """
    if application.groups is not None and (forced or not application.groups_assumed):
        return None
    identity = application.identity
    if identity.groups:
        application.groups = identity.groups
    elif state.config.resolver != OS:
        application.groups = (identity.user,)
    else:
        return _resolved(state, application, forced=forced)
    return None


def _resolved(state: State, application: Application, *, forced: bool) -> Refusal | None:
    user = application.identity.user
    known = state.applications.resolved.get(user)
    if known is None:
        if user not in state.applications.resolving:
            state.applications.resolving.add(user)
            emit(state, ResolveGroups(user))
        return refusal_of_groups(user, None, answered=False)
    refusal = None if forced else refusal_of_groups(user, known.groups, answered=True)
    if refusal is not None:
        return refusal
    application.groups_assumed = known.groups is None
    application.groups = known.groups if known.groups is not None else (NO_GROUP,)
    return None


def learn_groups(state: State, user: str, groups: tuple[str, ...] | None) -> list[AppId]:
    """Note a resolver's answer, and return the applications that waited for it."""
    state.applications.resolving.discard(user)
    known = state.applications.resolved[user] = Resolved(groups, state.now)
    set_timer(state, TimerKind.USER_GROUPS, user, known.until)
    return _waiting_for(state, user)


def forget_groups(state: State) -> list[AppId]:
    """Drop expired answers, and return the applications that a failure kept out."""
    again = []
    for user in take_due(state, TimerKind.USER_GROUPS):
        del state.applications.resolved[user]
        again += _waiting_for(state, user)
    return again


def _waiting_for(state: State, user: str) -> list[AppId]:
    applications = (state.applications.known[app_id] for app_id in sorted(state.applications.unplaced))
    return [
        each.id
        for each in applications
        if (each.groups is None or each.groups_assumed) and each.identity.user == user
    ]
