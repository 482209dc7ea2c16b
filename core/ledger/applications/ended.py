"""Applications that have ended and are still shown, bounded by age, number and length (APP-5, F-22)."""

from core.instants import has_come
from core.ledger.state.applications import TERMINATED_AT_MOST, TERMINATED_TEXT
from core.ledger.state.state import State
from core.workload.application import Application

SHOWN_FOR = 72 * 3600.0
"""Seconds that an application which has ended is shown (APP-5)."""


def note_ended(state: State, application: Application) -> None:
    """Keep it to be shown. The latest one stays, however much it says."""
    ended = state.applications.terminated
    ended.append(application)
    state.applications.terminated_text += _length(application)
    while len(ended) > 1 and (
        len(ended) > TERMINATED_AT_MOST or state.applications.terminated_text > TERMINATED_TEXT
    ):
        _forget_first(state)


def expire_ended(state: State) -> None:
    """Forget those that ended long ago. The oldest are the first."""
    ended = state.applications.terminated
    while ended and has_come(ended[0].since + SHOWN_FOR, now=state.now):
        _forget_first(state)


def last_ended(state: State, name: str) -> Application | None:
    """The latest of that id, in any namespace, among those that have ended."""
    return next((each for each in reversed(state.applications.terminated) if each.id.name == name), None)


def _forget_first(state: State) -> None:
    state.applications.terminated_text -= _length(state.applications.terminated.popleft())


def _length(application: Application) -> int:
    """Characters of what users wrote. The queue is a path of the tree."""
    refusal = application.refusal
    said = (application.id.name, application.requested, application.identity.user, application.passed_over)
    groups = (application.identity.groups, application.groups or ())
    return (
        sum(map(len, said))
        + sum(len(name) for each in groups for name in each)
        + (len(refusal.subject) + len(refusal.limit) if refusal is not None else 0)
    )
