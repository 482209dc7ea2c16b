"""Turns of a trial. Counters of the ledger are shared until a turn of the trial is counted there."""

from collections.abc import Iterable, Iterator

from core.ids import PodUid, QueuePath
from core.ledger.admission.turns import old_turns, take_back_turn, unshare
from core.ledger.state.admission import Turns
from core.ledger.state.state import State
from core.queues.queue import Queue
from core.queues.quota_check import Extra
from core.queues.users.limits import Claimant, Tracked
from core.workload.promises import Promises


def shared_turns(turns: Turns) -> Turns:
    """Turns whose tables are copies and whose counters are shared. Cost: O(turns), small."""
    return Turns(
        of=dict(turns.of),
        given=turns.given.shared(),
        promised=dict(turns.promised),
    )


class SharedCounters:
    """Counters of turns that a trial shares with the ledger."""

    def __init__(self, turns: Turns) -> None:
        self._given = turns.given
        self._promised: dict[QueuePath, Promises] = turns.promised
        #: Places, and leaves, whose counters are copies.
        self._own: set[QueuePath | Tracked] = set()
        self._leaves: set[QueuePath] = set()

    def copy(self, leaf: Queue, claimant: Claimant) -> None:
        """Copy the counters of a leaf, of those above it, and of a claimant, unless they are copies."""
        for place in _places(leaf, claimant):
            if place not in self._own:
                self._own.add(place)
                unshare(self._given, place)
        promises = self._promised.get(leaf.path)
        if leaf.path not in self._leaves and promises is not None:
            self._promised[leaf.path] = promises.copy()
        self._leaves.add(leaf.path)


def end_old_turns(base: State, overlay: State) -> None:
    """End the turns that a cycle gives anew first, as `wake_postponed` does."""
    counters = SharedCounters(overlay.turns)
    for uid in old_turns(base):
        turn = overlay.turns.of[uid]
        counters.copy(turn.chain[0], turn.claimant)
        take_back_turn(overlay, uid)


def given_without(turns: Turns, old: Iterable[PodUid]) -> Extra:
    """Amounts that turns hold without the old ones. Cost: O(1) without any, else O(places of turns)."""
    ending = [turns.of[uid] for uid in old]
    if not ending:
        return turns.given
    found = turns.given.shared()
    for turn in ending:
        for place in _places(turn.chain[0], turn.claimant):
            found.copy_at(place)
        found.take_back(turn.chain, turn.claimant, turn.seat.key.size)
    return found


def _places(leaf: Queue, claimant: Claimant) -> Iterator[QueuePath | Tracked]:
    for path in leaf.paths:
        yield path
        yield from claimant.tracked(path)
