"""Turns of a trial. Counters of the ledger are shared until a turn of the trial is counted there."""

from collections.abc import Iterator

from core.ids import QueuePath
from core.ledger.admission.turns import unshare
from core.ledger.state.admission import Turns
from core.queues.queue import Queue
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


def _places(leaf: Queue, claimant: Claimant) -> Iterator[QueuePath | Tracked]:
    for path in leaf.paths:
        yield path
        yield from claimant.tracked(path)
