"""Asks with a node reservation, in the order in which a cycle serves them (CYC-2)."""

from collections.abc import Iterable
from itertools import pairwise

from core.ids import NodeName, QueuePath
from core.ledger.admission.order.keys import contender_in_turn
from core.ledger.state.state import State
from core.queues.ordering import Contender, first_of
from core.queues.queue import Queue
from core.workload.ask import Rank


class ReservedAsks:
    """Asks with a node reservation: queues in their order (SORT-1), and the asks of a leaf by rank.

    Turns change the order of the queues. What is no pending ask of a queue goes first.

    ``held``: rank and reserved node of each.
    """

    __slots__ = ("_below", "_by_leaf", "_contenders", "_others", "_state")

    def __init__(self, state: State, held: Iterable[tuple[Rank, NodeName]]) -> None:
        self._state = state
        self._others: list[tuple[Rank, NodeName]] = []
        self._by_leaf: dict[QueuePath, list[tuple[Rank, NodeName]]] = {}
        self._below: dict[QueuePath, dict[QueuePath, Queue]] = {}
        self._contenders: dict[QueuePath, Contender] = {}
        # The first one is taken from the end.
        for each in sorted(held, reverse=True):
            seat = state.pending.waits_at.get(each[0][-1])
            leaf = state.config.tree.get(seat.key.queue) if seat is not None else None
            if leaf is None:
                self._others.append(each)
                continue
            if leaf.path not in self._by_leaf:
                self._add(leaf)
            self._by_leaf[leaf.path].append(each)
        # Of equal queues the order of names decides.
        self._below = {path: dict(sorted(each.items())) for path, each in self._below.items()}

    def _add(self, leaf: Queue) -> None:
        self._by_leaf[leaf.path] = []
        for queue, parent in pairwise(leaf.chain):
            self._below.setdefault(parent.path, {})[queue.path] = queue

    def take(self) -> tuple[Rank, NodeName] | None:
        """Take the first ask, with its node. None if none is left. Cost: O(queues with such asks)."""
        if self._others:
            return self._others.pop()
        if not self._by_leaf:
            return None
        leaf = self._first_leaf()
        asks = self._by_leaf[leaf.path]
        first = asks.pop()
        if not asks:
            self._remove(leaf)
        return first

    def note_turn(self, path: QueuePath) -> None:
        """Note that a turn was given in a leaf, which changes its place and that of all queues above it."""
        leaf = self._state.config.tree.get(path)
        for queue in leaf.chain if leaf is not None else ():
            self._contenders.pop(queue.path, None)

    def _first_leaf(self) -> Queue:
        queue = self._state.config.tree.root
        while children := self._below.get(queue.path):
            if len(children) == 1:
                (queue,) = children.values()
                continue
            first = first_of([self._contender_of(each) for each in children.values()])
            assert first is not None  # noqa: S101 - there are children
            queue = children[first.path]
        return queue

    def _contender_of(self, queue: Queue) -> Contender:
        found = self._contenders.get(queue.path)
        if found is None:
            found = self._contenders[queue.path] = contender_in_turn(self._state, queue)
        return found

    def _remove(self, leaf: Queue) -> None:
        del self._by_leaf[leaf.path]
        for queue, parent in pairwise(leaf.chain):
            children = self._below[parent.path]
            del children[queue.path]
            if children:
                return
            del self._below[parent.path]
