"""View for a filter call about a pod whose quota is reserved already: its reservation counts as free."""

from collections.abc import Mapping

from core.ids import NodeName
from core.ledger.gangs.index import awaits_gang, slot_node
from core.ledger.pods.record import Charge, Held, PodRecord
from core.ledger.state.state import State
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.queues.quota_check import Extra
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.nodes.affinity import admits, passes

_NOTHING = Tally()


def retry_view(view: LedgerView, record: PodRecord) -> LedgerView:
    """Return the view under which a pod that calls filter again is judged.

    Without its reservation, the pod would be pending. A pod that would hold quota or capacity anyway is
    judged like any other.
    """
    state = view._state
    charge = state.usage.charges.get(record.uid)
    stays = record.is_unguarded or bool(slot_node(record)) or awaits_gang(state, record)
    if charge is None or charge.held is not Held.RESERVED or stays:
        return view
    return RetryView(state, record, charge)


class RetryView(LedgerView):
    """Ledger as it would be if the pod had given up its reservation and were pending.

    Capacity would have been freed, so any pending ask could get it. Sums of reserved and pending amounts
    include the pod either way. Cost: as for `LedgerView`, and O(depth).
    """

    __slots__ = ("_charge", "_record")

    def __init__(self, state: State, record: PodRecord, charge: Charge) -> None:
        super().__init__(state)
        self._record = record
        self._charge = charge

    def without_own(self, queue: Queue, application: Application) -> Extra:
        """Amounts of the pod itself to leave out of the count, from its leaf to the root."""
        return self._less_own(Extra(), queue, application)

    @property
    def given(self) -> Extra:
        """Amounts that turns hold, less what the pod reserves."""
        queue, application = self.queue_of(self._record), self._state.application_of(self._record)
        given = self._state.turns.given
        if queue is None or application is None:
            return given
        return self._less_own(given, queue, application)

    def _less_own(self, counted: Extra, queue: Queue, application: Application) -> Extra:
        """Return the counted amounts from a leaf to the root, less what the pod reserves."""
        extra, less = Extra(started=counted.started), self._charge.size.times(-1)
        for each in queue.chain:
            extra.queues[each.path] = counted.of(each).plus(less)
            for tracked in application.claimant.tracked(each.path):
                extra.people[tracked] = counted.people.get(tracked, _NOTHING).plus(less)
        return extra

    @property
    def all_wait(self) -> bool:
        """True, because the reservation's capacity would be free for every pending ask."""
        return True

    def crowds(self, size: Resource, more: Resource) -> bool:
        """True if demand exceeds free capacity, as in `LedgerView`."""
        # A reservation on no node counts as demand either way.
        return super().crowds(size, self._charge.size if self._charge.node else more)

    def open_capacity(self) -> list[Mapping[str, int]] | None:
        """Free amounts as in `LedgerView`, with what the pod reserves."""
        tainted, node = self._state.usage.free_capacity.tainted, self._charge.node
        tolerated = {*self._state.usage.tolerated, self._record.facts.constraints.tolerations}
        found, bars = tainted.open_to(tolerated), tainted.bars_of(node)
        if found is None or bars is None or (bars and not any(passes(bars, each) for each in tolerated)):
            return found
        free = self._state.usage.free_capacity.free_on(node)
        back = {
            name: max(free.get(name, 0) + amount, 0) - max(free.get(name, 0), 0)
            for name, amount in self._charge.size.items()
        }
        return [*found, back]

    def turns_leave_no_node(self, record: PodRecord) -> bool:
        """True if nodes have no capacity for an ask, as in `LedgerView`."""
        node = self._state.cluster.nodes.get(self._charge.node)
        if (
            node is not None
            and node.name not in self._state.reservations.of
            and self._has_on_own(record.facts.size)
            and admits(node, record.facts.constraints)
        ):
            return False
        return super().turns_leave_no_node(record)

    def fits_beside(self, record: PodRecord, node: NodeName) -> bool:
        """True if an ask fits on a node, as in `LedgerView`."""
        if node == self._charge.node:
            return self._has_on_own(record.facts.size)
        return super().fits_beside(record, node)

    def _has_on_own(self, size: Resource) -> bool:
        """True if the node of the reservation has capacity for such an ask without the reservation."""
        free, own = self._state.usage.free_capacity.free_on(self._charge.node), self._charge.size
        return all(free.get(name, 0) + own.get(name) >= amount for name, amount in size.items() if amount)
