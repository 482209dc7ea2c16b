"""Orders to move applications: what a request would meet, and what it changes in the store (ACT-30). Pure."""

from dataclasses import dataclass

from core.ids import AppId, QueuePath
from core.ledger.applications.moves.checking import MoveRefusal
from core.ledger.view import LedgerView
from core.workload.application import generated_name
from core.workload.moving import MoveOrder
from extender.actions.stored import LONGEST_NAME, whole_second


@dataclass(frozen=True, slots=True)
class MoveProspect:
    """An application and a queue, as an order to move the one to the other finds them."""

    #: Queue of the application; None while it has none.
    source: QueuePath | None
    #: User of the application.
    user: str
    #: True if its id was made for its namespace (POD-4).
    is_generated: bool
    #: True if an earlier order is to be carried out as soon as that is possible.
    is_due: bool
    #: Reason why it may not be moved now, or None.
    refusal: MoveRefusal | None
    #: Changes of guarantees, fences and priority, one sentence each.
    changes: tuple[str, ...]
    #: Pods of the application, as ``namespace/name``, sorted.
    pods: tuple[str, ...]

    @classmethod
    def of(cls, view: LedgerView, app_id: AppId, path: str) -> "MoveProspect | None":
        """Describe a move. None for an application that does not live. Cost: O(its pods)."""
        key = app_id if view.application(app_id) is not None else app_id._replace(recovered=True)
        application = view.application(key)
        if application is None:
            return None
        facts = [record.facts for uid in application.pods if (record := view.pod(uid)) is not None]
        return cls(
            application.queue if not application.id.recovered else None,
            application.identity.user,
            app_id.name == generated_name(app_id.namespace),
            view.moves.is_due(app_id),
            view.moves.refusal(key, path),
            view.moves.changes(key, path),
            tuple(sorted(f"{each.namespace}/{each.name}" for each in facts)),
        )


def order_for(
    found: MoveProspect, known: MoveOrder | None, path: QueuePath, *, by: str, reason: str, now: float
) -> MoveOrder:
    """Order for a request that is carried out. ``path``: of the queue, as the tree has it.

    ``known``: the order about this id in the store, or None. Its application may have ended, so no other
    order has its time.
    """
    since = whole_second(now)
    return MoveOrder(
        by[:LONGEST_NAME],
        since if known is None else max(since, known.since + 1),
        path,
        found.source or path,
        found.user[:LONGEST_NAME],
        reason,
    )
