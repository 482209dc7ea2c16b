"""Order in which a cycle checks the pending asks: queues, applications, and lines of asks of one kind.

A branch stands for each queue with asks to check, an application queue for each application. The order is
updated where the ledger has counted something since (F-11). Parts that no cycle reaches are never built.
"""

from collections.abc import Iterator, Mapping

from core.ids import QueuePath
from core.ledger.admission.order.branch import Branch
from core.ledger.admission.order.found_headroom import FoundHeadroom
from core.ledger.admission.requests import note_requeue
from core.ledger.admission.turns import take_moved
from core.ledger.state.admission import RequeueReason
from core.ledger.state.state import State
from core.queues.queue import Queue
from core.workload.pending_index import PendingIndex

MOVED_PER_UNIT = 4
"""Applications that are filed anew in one unit of work."""


class Ordering:
    """Branches of a cycle, built step by step. ``root``: None before that, and if no ask waits."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._branches: dict[QueuePath, Branch] = {}
        self._found = FoundHeadroom()
        self.root: Branch | None = None

    def build(self, indexes: Mapping[QueuePath, PendingIndex]) -> Iterator[None]:
        """Build the branches. A step for each leaf, and some for each branch."""
        children: dict[QueuePath, list[Branch]] = {}
        for path, index in list(indexes.items()):
            leaf = self._state.config.tree.get(path)
            if leaf is not None and index:
                self._add(leaf, index, children)
            yield
        for path in list(self._state.turns.promised):
            self._close_in(path, children)
            yield
        for path, branch in self._branches.items():
            branch.set_children(children.get(path, []))
            yield
        for branch in reversed(self._branches.values()):
            if branch.has_rivals:
                _ = branch.key
                yield
        self.root = self._branches.get(self._state.config.tree.root.path)

    def _add(self, leaf: Queue, index: PendingIndex, children: dict[QueuePath, list[Branch]]) -> None:
        probe = Branch(self._state, leaf, None, self._found)
        probe.set_index(index)
        if probe.is_dead():
            note_requeue(self._state, leaf.path, RequeueReason.NO_HEADROOM)
            return
        branch = self._reach(leaf, children)
        branch.set_index(index)

    def _close_in(self, path: QueuePath, children: dict[QueuePath, list[Branch]]) -> Branch | None:
        """Branch of a leaf that counts in the order above it. A new one has nothing to check."""
        leaf = self._state.config.tree.get(path)
        if leaf is None or path in self._branches:
            return self._branches.get(path)
        new = [each.path for each in leaf.chain[:-1] if each.path not in self._branches]
        branch = self._reach(leaf, children)
        for each in new:
            self._branches[each].open = False
        return branch

    def catch_up(self) -> Iterator[int]:
        """Update the order with the counters changed since. Units of work, a step for each leaf."""
        while self._state.turns.moved:
            path, applications = take_moved(self._state)
            joined: dict[QueuePath, list[Branch]] = {}
            branch = self._close_in(path, joined) if self.root is not None else None
            for parent, new in joined.items():
                yield self._branches[parent].adopt(new)
            if branch is None:
                continue
            branch.note_change()
            for number, app_id in enumerate(applications if branch.built else ()):
                branch.note_application(app_id)
                if number % MOVED_PER_UNIT == MOVED_PER_UNIT - 1:
                    yield 1

    def _reach(self, leaf: Queue, children: dict[QueuePath, list[Branch]]) -> Branch:
        """Branch of a leaf, creating the branches down to it."""
        above: Branch | None = None
        for queue in reversed(leaf.chain):
            branch = self._branches.get(queue.path)
            if branch is None:
                branch = self._branches[queue.path] = Branch(self._state, queue, above, self._found)
                if above is not None:
                    children.setdefault(above.queue.path, []).append(branch)
            above = branch
        return self._branches[leaf.path]

    def next_leaf(self) -> Branch | None:
        """First open leaf in the order, or None."""
        return self.root.next_leaf() if self.root is not None else None

    def dismantle(self) -> None:
        """Drop all references between branches at the end of a cycle.

        Otherwise the garbage collector would have to find thousands of cyclic references, and stops
        everything meanwhile.
        """
        for branch in self._branches.values():
            branch.part()
        self._branches.clear()
