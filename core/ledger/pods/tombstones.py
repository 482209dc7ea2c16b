"""Pods deleted lately, so that a late call for one is answered as such."""

from core.ids import PodUid
from core.instants import has_come
from core.ledger.state.state import State

REMEMBERED_GONE = 600.0
"""Seconds that a deleted uid is remembered."""


def note_gone(state: State, uid: PodUid, *, now: float) -> None:
    state.pods.gone.pop(uid, None)
    state.pods.gone[uid] = now


def forget_gone(state: State) -> None:
    """The oldest are the first."""
    gone = state.pods.gone
    while gone:
        uid, at = next(iter(gone.items()))
        if not has_come(at + REMEMBERED_GONE, now=state.now):
            return
        del gone[uid]


def forget_name(state: State, name: tuple[str, str], uid: PodUid) -> None:
    """Free the name of a pod; another pod may have taken it before this one is known to be gone."""
    others = tuple(each for each in state.pods.by_name[name] if each != uid)
    if others:
        state.pods.by_name[name] = others
    else:
        del state.pods.by_name[name]
