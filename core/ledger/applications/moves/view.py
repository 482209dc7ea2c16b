"""Read access to moves of applications: orders, and what a move would meet and change."""

from dataclasses import dataclass

from core.ids import AppId
from core.ledger.applications.moves.checking import (
    NO_APPLICATION,
    MoveObstacle,
    MoveRefusal,
    move_refusal,
    usage_of,
)
from core.ledger.applications.moves.orders import is_over, order_of
from core.ledger.state.state import State
from core.queues.placement.moving import changes_of_move
from core.workload.moving import MoveOrder


@dataclass(frozen=True, slots=True)
class MoveView:
    """Moves, as the ledger knows them now. Changes nothing."""

    _state: State

    def order(self, app_id: AppId) -> MoveOrder | None:
        """Order to move a live application, or None (ACT-30)."""
        application = self._state.applications.known.get(app_id)
        return order_of(self._state, application) if application is not None else None

    def is_over(self, app_id: AppId) -> bool:
        """True if the order to move an application is over, because the application has ended (ACT-34)."""
        return is_over(self._state, app_id)

    def is_due(self, app_id: AppId) -> bool:
        """True if an application is to be moved as soon as that is possible."""
        return app_id in self._state.applications.moves_due

    def refusal(self, app_id: AppId, path: str) -> MoveRefusal | None:
        """Reason why an application may not be moved to a queue now, or None. Cost: O(its pods)."""
        application, target = self._state.applications.known.get(app_id), self._state.config.tree.get(path)
        if application is None:
            return NO_APPLICATION
        if target is None:
            return MoveRefusal(MoveObstacle.NO_QUEUE, "there is no such queue")
        return move_refusal(self._state, application, target)

    def changes(self, app_id: AppId, path: str) -> tuple[str, ...]:
        """Changes of guarantees, fences and priority by a move, one sentence each. Cost: O(its pods)."""
        application, tree = self._state.applications.known.get(app_id), self._state.config.tree
        source = tree.get(application.queue or "") if application is not None else None
        target = tree.get(path)
        if application is None or source is None or target is None:
            return ()
        return changes_of_move(source, target, usage_of(self._state, application, target).size)
