"""Corruptions of pending pods and turns. No tests."""

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger.state.admission import Seat, Turn, WaitingKey
from core.ledger.state.state import State
from core.workload.nodes.affinity import ANYWHERE
from core.workload.pending_index import PendingIndex
from core.workload.promises import Promises
from tests.builders import (
    START,
)
from tests.core.ledger.audit.corruptions.busy import GHOST, ONE, Corruption


def _lost_seat(state: State) -> None:
    state.pending.waits_at.pop(PodUid("uid-waiting"))


def _wrong_seat(state: State) -> None:
    key, rank = state.pending.waits_at[PodUid("uid-waiting")]
    state.pending.waits_at[PodUid("uid-waiting")] = Seat(key, (99, *rank[1:]))


def _ghost_turn(state: State) -> Turn:
    seat = Seat(
        WaitingKey(QueuePath("root.a"), ONE, AppId("ghost", "default"), ANYWHERE),
        (0, 0.0, 0, PodUid("ghost")),
    )
    return Turn(seat, START, (state.config.tree.root,), GHOST, NodeName("n1"))


def _ghost_promise(state: State) -> None:
    state.turns.promised.setdefault(QueuePath("root.a"), Promises()).add(AppId("ghost", "default"), 7, ONE)


def _ghost_awaits(state: State) -> None:
    seat = _ghost_turn(state).seat
    state.turns.awaiting.setdefault(seat.key.queue, {})[seat.rank[-1]] = seat


def _awaited_leaf_is_empty(state: State) -> None:
    state.turns.awaiting[QueuePath("root.b")] = {}


def _empty_group(state: State) -> None:
    state.pending.waiting[QueuePath("root.b")] = PendingIndex()


def _stray_rank(state: State) -> None:
    index = next(iter(state.pending.waiting.values()))
    index.add(AppId("app-1", "default"), (ONE, ANYWHERE), (0, 0.0, 0, PodUid("ghost")))


ADMISSION: list[Corruption] = [
    ("pending.waits_at", "waiting of uid-waiting", _wrong_seat),
    ("pending.waiting", "waiting: any of root.b", _empty_group),
    ("pending.waiting", "waiting of ghost", _stray_rank),
    (
        "pending.waiting",
        "waiting: sizes of root.a",
        lambda state: next(iter(state.pending.waiting.values())).sizes.update({ONE: 9}),
    ),
    (
        "turns.given",
        "given by turns",
        lambda state: state.turns.given.add((state.config.tree.root,), GHOST, ONE),
    ),
    ("turns.promised", "promised by turns", _ghost_promise),
    ("turns.awaiting", "awaiting a turn of ghost", _ghost_awaits),
    ("turns.awaiting", "awaiting a turn of uid-waiting", lambda state: state.turns.awaiting.clear()),
    ("turns.awaiting", "leaves without asks that await a turn", _awaited_leaf_is_empty),
    ("turns.of", "turn of ghost", lambda state: state.turns.of.update({PodUid("ghost"): _ghost_turn(state)})),
    ("turns.unwoken", "unwoken of uid-waiting", lambda state: state.turns.unwoken.add(PodUid("uid-waiting"))),
    ("unguarded.placing", "unguarded index of uid-ungated", lambda state: state.unguarded.placing.clear()),
    (
        "unguarded.unplaced",
        "unguarded index of uid-ungated",
        lambda state: state.unguarded.unplaced.update({PodUid("uid-ungated"): None}),
    ),
    (
        "unguarded.placing",
        "unguarded index of uid-bound",
        lambda state: state.unguarded.placing.update({PodUid("uid-bound"): None}),
    ),
    (
        "unguarded.bypasses",
        "noted bypass of ghost",
        lambda state: state.unguarded.bypasses.update({PodUid("ghost"): None}),
    ),
    (
        "turns.fresh",
        "fresh of ghost",
        lambda state: state.turns.fresh.update({PodUid("ghost"): _ghost_turn(state).seat}),
    ),
    ("turns.fresh_in", "noted fresh root", lambda state: state.turns.fresh_in.clear()),
    ("pending.waits_at", "waiting index of uid-waiting", _lost_seat),
    ("pending.waiting", "waiting of uid-waiting", lambda state: state.pending.waiting.clear()),
]
