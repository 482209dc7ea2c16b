"""Order of a trial. A branch is made when the order reaches it, since most trials reach few of them."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from core.ids import AppId, QueuePath
from core.ledger.admission.backoff import is_left_out
from core.ledger.admission.order.branch import Branch
from core.ledger.admission.order.found_headroom import FoundHeadroom
from core.ledger.admission.order.ordering import MOVED_PER_UNIT
from core.ledger.admission.order.state_aware import lets_in
from core.ledger.admission.turns import take_moved
from core.ledger.state.admission import WaitingKey
from core.ledger.state.state import State
from core.queues.queue import Queue
from core.queues.tree import QueueTree
from core.resource import Resource
from core.workload.pending_index import PendingIndex

_LEAVES_PER_UNIT = 10
_UNITS_PER_STEP = 8


class TrialOrdering:
    """Branches of a trial. They are those of a cycle, but for queues whose asks it never reaches."""

    def __init__(
        self, state: State, indexes: Mapping[QueuePath, PendingIndex], measures: QueueTree | None = None
    ) -> None:
        self._state = state
        #: Queues by whose max shares are measured; None for those of the state.
        self._measures = measures
        self._indexes = indexes
        #: Queues with asks to check in them or below.
        self._asking: set[QueuePath] = set()
        self._found = FoundHeadroom()
        self._branches: dict[QueuePath, Branch] = {}
        self._root: Branch | None = None

    def build(self) -> Iterator[int]:
        """Find the queues with asks. Units of work."""
        tree = self._state.config.tree
        for number, path in enumerate(self._indexes, 1):
            if self._indexes[path]:
                self._asking.update(tree.paths_of(path))
            if number % _LEAVES_PER_UNIT == 0:
                yield 1
        if self._asking:
            self._root = self._branch(tree.root, None)

    def _branch(self, queue: Queue, above: Branch | None) -> Branch:
        branch = self._branches[queue.path] = Branch(self._state, queue, above, self._found)
        measure = self._measures.get(queue.path) if self._measures is not None else None
        if measure is not None:
            branch.measure_by(measure)
        branch.expanded = not any(path in self._asking for path in queue.children)
        index = self._indexes.get(queue.path)
        if index is not None:
            branch.set_index(index)
        return branch

    def expand(self, branch: Branch) -> Iterator[int]:
        """Make the branches of the children that may have headroom. Units of work."""
        branch.expanded, children, units = True, list[Branch](), 0
        for path in [each for each in branch.queue.children if each in self._asking]:
            chain = self._state.config.tree.chain_of(path)
            if not chain:
                continue
            if not self._is_dead(chain):
                child = self._child(path, branch)
                if child is not None:
                    children.append(child)
            units += 1
            if units == _UNITS_PER_STEP:
                yield units
                units = 0
        branch.set_children(children)
        for child in children if len(children) > 1 else ():
            _ = child.key
            units += 1
            if units >= _UNITS_PER_STEP:
                yield units
                units = 0
        if units:
            yield units
        if not children and not self._indexes.get(branch.queue.path):
            branch.close()

    def _child(self, path: QueuePath, above: Branch) -> Branch | None:
        queue = self._state.config.tree.get(path)
        return self._branch(queue, above) if queue is not None else None

    def _is_dead(self, chain: Sequence[Queue]) -> bool:
        """True for a leaf in which no size in demand has headroom. It is neither copied nor gets a branch."""
        leaf = chain[0]
        if any(path in self._asking for path in leaf.children):
            return False
        index, given = self._indexes.get(leaf.path), self._state.turns.given.queues
        return index is None or all(self._found.lacks(chain, size, given) for size in index.sizes)

    def next_leaf(self) -> Branch | None:
        """First open leaf in the order, or a queue to expand; None for none."""
        return self._root.next_leaf() if self._root is not None else None

    def catch_up(self) -> Iterator[int]:
        """Update the order with the counters changed since. Units of work."""
        while self._state.turns.moved:
            path, applications = take_moved(self._state)
            leaf = self._state.config.tree.get(path)
            above = leaf.paths if leaf is not None else ()
            branch = next((self._branches[each] for each in above if each in self._branches), None)
            if branch is None:
                continue
            if branch.queue.path != path:
                branch.forget_others()
            branch.note_change()
            for number, app_id in enumerate(applications if branch.built else ()):
                branch.note_application(app_id)
                if number % MOVED_PER_UNIT == MOVED_PER_UNIT - 1:
                    yield 1

    def lacks(self, path: QueuePath, size: Resource) -> bool:
        """True if a leaf, or a queue above it, has no headroom for a size until the cycle ends."""
        chain = self._state.config.tree.chain_of(path)
        return not chain or self._found.lacks(chain, size, self._state.turns.given.queues)

    def compared(self) -> Iterator[Branch]:
        """Branches that were compared with others."""
        return (each for each in self._branches.values() if each.has_rivals)

    def dismantle(self) -> None:
        """Drop all references between branches, so that the garbage collector has no cycles to find."""
        for branch in self._branches.values():
            branch.part()
        self._branches.clear()


def indexes_below(
    waiting: Mapping[QueuePath, PendingIndex], paths: Iterable[QueuePath]
) -> dict[QueuePath, PendingIndex]:
    """Indexes of these queues and of all below them."""
    prefixes = tuple(f"{path}." for path in paths)
    return {path: index for path, index in waiting.items() if f"{path}.".startswith(prefixes)}


def lets_in_later(state: State, key: WaitingKey, backing_off: Container[AppId]) -> bool:
    """True if an ask whose last turn came to nothing may have one, as a cycle decides.

    ``backing_off``: applications that began a back-off in this trial.
    """
    application, leaf = state.applications.known.get(key.app), state.config.tree.get(key.queue)
    if application is None or leaf is None or application.id in backing_off:
        return False
    return not is_left_out(state, application) and lets_in(state, application, leaf)
