"""Pods deleted lately, so that a late call for one is answered as such."""

from core.ids import PodUid
from core.instants import has_come
from core.ledger.state import State

REMEMBERED_GONE = 600.0
"""Seconds that a deleted uid is remembered."""


def note_gone(state: State, uid: PodUid, *, now: float) -> None:
    state.gone.pop(uid, None)
    state.gone[uid] = now


def forget_gone(state: State) -> None:
    """The oldest are the first."""
    gone = state.gone
    while gone:
        uid, at = next(iter(gone.items()))
        if not has_come(at + REMEMBERED_GONE, now=state.now):
            return
        del gone[uid]
