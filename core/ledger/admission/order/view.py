"""Read access of the rules to the order of pending asks: a part of `LedgerView`."""

from collections.abc import Iterator

from core.ids import AppId, QueuePath
from core.ledger.admission.order.keys import applicant_of, application_order, contender_of
from core.ledger.cluster.view import ClusterView
from core.queues.ordering import Contender
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.ordering import Applicant, OrderKey


class OrderView(ClusterView):
    """Read access to the order of queues and applications."""

    __slots__ = ()

    def contender(self, queue: Queue) -> Contender:
        """Queue as its siblings are compared with it."""
        return contender_of(self._state, queue)

    def applicant(self, application: Application, leaf: Queue) -> Applicant:
        """Application as the others of its leaf are compared with it."""
        return applicant_of(self._state, application, leaf)

    def application_order(self, application: Application, leaf: Queue) -> OrderKey:
        """Sort key of an application in its leaf (SORT-5)."""
        return application_order(self._state, application, leaf)

    def pending_counts(self) -> Iterator[tuple[QueuePath, int]]:
        """Number of pending asks of each leaf that has any."""
        waiting = self._state.pending.waiting
        return ((path, sum(index.sizes.values())) for path, index in list(waiting.items()))

    def pending_in(self, leaf: QueuePath) -> Iterator[tuple[AppId, int]]:
        """Number of pending asks of each application of a leaf."""
        index = self._state.pending.waiting.get(leaf)
        found = list(index.by_application.items()) if index is not None else []
        return ((app_id, sum(map(len, lines.values()))) for app_id, lines in found)
