"""Pods deleted lately, so that a late call for one is answered as such."""

from core.ids import PodUid
from core.instants import has_come
from core.ledger.state.state import State

REMEMBERED_GONE = 600.0
"""Seconds that a deleted uid is remembered."""


def note_gone(state: State, uid: PodUid, *, now: float) -> None:
    state.pods.gone.pop(uid, None)
    state.pods.gone[uid] = now


def forget_gone(state: State, uid: PodUid) -> None:
    """Forget that a pod was deleted: a complete list shows it."""
    del state.pods.gone[uid]


def expire_gone(state: State) -> None:
    """Forget the pods that were deleted long ago. The oldest are the first."""
    gone = state.pods.gone
    while gone:
        uid, at = next(iter(gone.items()))
        if not has_come(at + REMEMBERED_GONE, now=state.now):
            return
        del gone[uid]
