"""Evidence of a trial that placed its ask: whether the amounts that were taken suffice, and no less does.

Limits and a new node may be lifted beyond all demand in a trial. Often nothing in it depends on the height.
Then a trial with the amounts that were taken goes the same way, up to the turn of the ask. With one unit
less, it goes the same way, too, and then leaves the ask out.
"""

from collections.abc import Collection, Generator, Iterable, Iterator

from core.ids import ROOT, NodeName, QueuePath
from core.ledger.admission.order.branch import Branch
from core.ledger.admission.turns import old_turns
from core.ledger.state.state import State
from core.ledger.trial.change import Change
from core.queues.headroom import fair_max
from core.queues.limit_state import LimitKind
from core.queues.queue import Queue
from core.resource import Limit, Resource
from core.resource.shares import fair_share

Bound = tuple[QueuePath, str]
"""Cap of a queue on a resource."""

_BRANCHES_PER_UNIT = 3


class Evidence:
    """Events of a trial that may depend on the height of limits, or on the size of a new node."""

    def __init__(self, base: State, change: Change) -> None:
        self._base = base
        self._node = change.node.name if change.node is not None else None
        self._bounds = dict(_bounds(change))
        #: True unless a limit was raised whose height counts otherwise: of users, of groups, on applications.
        self._plain = all(each.key.kind is LimitKind.QUEUE and each.key.resource for each in change.raises)
        #: True if an ask was left out in a way that has effects on others, or turns are given anew first.
        self.left_out = bool(old_turns(base))
        #: True if an ask took another node than the new one.
        self.elsewhere = False

    def note_turn(self, node: NodeName) -> None:
        """Note the node of a turn. With a new node, an ask that took another one might take the new one."""
        self.elsewhere = self.elsewhere or (self._node is not None and node != self._node)

    def note_reservation(self, leaf: Queue, size: Resource) -> None:
        """Note an ask that keeps its reserved node. With a lower max it might release the node (CYC-2)."""
        for path in leaf.paths:
            # What comes together is not judged by the sum of the nodes.
            names = self._bounds.get(path, ()) if path != ROOT else ()
            self.left_out = self.left_out or any(size.get(name) > 0 for name in names)

    @property
    def is_plain(self) -> bool:
        """True if nothing but the order depended on the height of limits."""
        return self._plain and not self.left_out and not self.elsewhere

    def is_fixed(self, branches: Iterable[Branch]) -> Generator[int, None, bool]:
        """True if the order did not depend on it either, in steps. Cost: O(compared queues).

        ``branches``: queues that were compared with others, as they are when the ask has its turn.
        """
        for number, each in enumerate(list(branches), 1):
            if not self._is_fixed(each):
                return False
            if number % _BRANCHES_PER_UNIT == 0:
                yield 1
        return True

    def inert(self, branches: Iterable[Branch]) -> Generator[int, None, frozenset[Bound]]:
        """Changed bounds on resources that decide no place in the order, nor with one unit less. In steps.

        Until the turn of the ask, a trial with one unit less of such a bound goes the same way. Whatever was
        let in before left at least the ask's own amount. None if asks were left out with effects on others.
        """
        found = {(path, name) for path, names in self._bounds.items() for name in names if name}
        if self.left_out:
            return frozenset()
        for number, each in enumerate(list(branches), 1):
            found.difference_update(self._decisive(each, found))
            if number % _BRANCHES_PER_UNIT == 0:
                yield 1
        return frozenset(found)

    def _decisive(self, branch: Branch, bounds: Collection[Bound]) -> list[Bound]:
        """Bounds that may be the measure of the share that decides a place (SORT-3, QUO-6)."""
        queue, held = branch.queue, branch.held
        measuring = [(each, name) for name in held.names() if (each := _measure_of(queue, name)) is not None]
        measuring = [(each, name) for each, name in measuring if (each.path, name) in bounds]
        if not measuring:
            return []
        first, whole, found = self._held_at_first(queue), fair_max(queue.chain), list[Bound]()
        for each, name in measuring:
            cap = each.max.get(name) if each.max is not None else None
            others = fair_share(_only(first, first.names() - {name}), queue.guaranteed, whole)
            if cap is None or cap <= 1 or held.get(name) / (cap - 1) >= others:
                found.append((each.path, name))
        return found

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
        nearest = _measure_of(queue, name)
        return nearest is not None and name in self._bounds.get(nearest.path, ())

    def _least(self, queue: Queue, names: set[str]) -> float:
        """Share that a queue had at first, by the other resources."""
        known = self._base.config.tree.get(queue.path)
        if known is None:
            return 0.0
        held = self._held_at_first(queue)
        others = _only(held, held.names() - names)
        return fair_share(others, queue.guaranteed, fair_max(known.chain))

    def _held_at_first(self, queue: Queue) -> Resource:
        known = self._base.config.tree.get(queue.path)
        if known is None:
            return Resource({})
        return Resource.sum_of(known.allocated, known.reserved, self._base.turns.given.of(known))

    def _base_max(self, queue: Queue) -> Limit | None:
        known = self._base.config.tree.get(queue.path)
        return fair_max(known.chain) if known is not None else None


def _measure_of(queue: Queue, name: str) -> Queue | None:
    """Queue whose max is the measure of a resource in a share. None for a guarantee, or without any."""
    if queue.guaranteed is not None and name in queue.guaranteed:
        return None
    return next((each for each in queue.chain if each.max is not None and name in each.max), None)


def _only(amounts: Resource, names: Iterable[str]) -> Resource:
    return Resource({name: amounts.get(name) for name in names})


def _bounds(change: Change) -> Iterator[tuple[QueuePath, frozenset[str]]]:
    """Resources of which a max is changed, by queue."""
    paths = {each.key.path for each in change.raises if each.key.kind is LimitKind.QUEUE}
    for path in sorted(paths):
        yield path, frozenset(each.key.resource for each in change.raises if each.key.path == path)
    if change.node is not None:
        yield ROOT, frozenset(change.node.allocatable.names())
