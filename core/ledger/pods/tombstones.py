"""Recently deleted pods, so that a late call for one gets the right answer."""

from core.ids import PodUid
from core.instants import has_come
from core.ledger.state.state import State

REMEMBERED_FOR = 600.0
"""Seconds that a deleted uid is remembered."""


def add_tombstone(state: State, uid: PodUid, *, now: float) -> None:
    """Remember that a pod was deleted."""
    state.pods.tombstones.pop(uid, None)
    state.pods.tombstones[uid] = now


def drop_tombstone(state: State, uid: PodUid) -> None:
    """Forget that a pod was deleted, because a complete list shows it."""
    del state.pods.tombstones[uid]


def expire_tombstones(state: State) -> None:
    """Forget pods that were deleted long ago. The oldest come first."""
    tombstones = state.pods.tombstones
    while tombstones:
        uid, at = next(iter(tombstones.items()))
        if not has_come(at + REMEMBERED_FOR, now=state.now):
            return
        del tombstones[uid]
