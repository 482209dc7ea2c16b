"""Evidence of a trial that placed its ask: whether the amounts that were taken suffice, and no less does.

Limits and a new node may be lifted beyond all demand in a trial. Often nothing in it depends on the height.
Then a trial with the amounts that were taken goes the same way, up to the turn of the ask. With one unit
less, it goes the same way, too, and then leaves the ask out.
"""

from collections.abc import Iterable, Iterator

from core.ids import ROOT, NodeName, QueuePath
from core.ledger.admission.order.branch import Branch
from core.ledger.state.state import State
from core.ledger.trial.change import Change
from core.queues.headroom import fair_max
from core.queues.limit_state import LimitKind
from core.queues.queue import Queue
from core.resource import Limit, Resource
from core.resource.shares import fair_share


class Evidence:
    """Events of a trial that may depend on the height of limits, or on the size of a new node."""

    def __init__(self, base: State, change: Change) -> None:
        self._base = base
        self._node = change.node.name if change.node is not None else None
        self._bounds = dict(_bounds(change))
        #: True unless a limit was raised whose height counts otherwise: of users, of groups, on applications.
        self._plain = all(each.key.kind is LimitKind.QUEUE and each.key.resource for each in change.raises)
        #: True if an ask was left out in a way that has effects on others, or a pod group was tried.
        self.disturbed = False
        #: Node of the last turn.
        self.last: NodeName | None = None

    def note_turn(self, node: NodeName) -> None:
        """Note the node of a turn. With a new node, an ask that took another one might take the new one."""
        self.last = node
        self.disturbed = self.disturbed or (self._node is not None and node != self._node)

    @property
    def is_plain(self) -> bool:
        """True if nothing but the order depended on the height of limits."""
        return self._plain and not self.disturbed

    def is_fixed(self, branches: Iterable[Branch]) -> bool:
        """True if the order did not depend on it either. Cost: O(compared queues).

        ``branches``: queues that were compared with others, as they are when the ask has its turn.
        """
        return all(self._is_fixed(each) for each in branches)

    def _is_fixed(self, branch: Branch) -> bool:
        """True if no changed max decides the place of a queue among the others."""
        queue = branch.queue
        names = {name for name in branch.held.names() if self._decides(queue, name)}
        if not names:
            return True
        # Usage has only grown, and a raise only makes shares smaller.
        at_most = fair_share(_only(branch.held, names), None, self._base_max(queue))
        return at_most < self._least(queue, names)

    def _decides(self, queue: Queue, name: str) -> bool:
        """True if a changed max is the measure of a resource in the share of a queue (SORT-3, QUO-6)."""
        if queue.guaranteed is not None and name in queue.guaranteed:
            return False
        nearest = next((each for each in queue.chain if each.max is not None and name in each.max), None)
        return nearest is not None and name in self._bounds.get(nearest.path, ())

    def _least(self, queue: Queue, names: set[str]) -> float:
        """Share that a queue had at first, by the other resources."""
        known = self._base.config.tree.get(queue.path)
        if known is None:
            return 0.0
        held = Resource.sum_of(known.allocated, known.reserved, self._base.turns.given.of(known))
        others = _only(held, held.names() - names)
        return fair_share(others, queue.guaranteed, fair_max(known.chain))

    def _base_max(self, queue: Queue) -> Limit | None:
        known = self._base.config.tree.get(queue.path)
        return fair_max(known.chain) if known is not None else None


def _only(amounts: Resource, names: Iterable[str]) -> Resource:
    return Resource({name: amounts.get(name) for name in names})


def _bounds(change: Change) -> Iterator[tuple[QueuePath, frozenset[str]]]:
    """Resources of which a max is changed, by queue."""
    paths = {each.key.path for each in change.raises if each.key.kind is LimitKind.QUEUE}
    for path in sorted(paths):
        yield path, frozenset(each.key.resource for each in change.raises if each.key.path == path)
    if change.node is not None:
        yield ROOT, frozenset(change.node.allocatable.names())
