"""Orders of administrators to move applications to other queues (ACT-30). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.ids import AppId, QueuePath


@dataclass(frozen=True, slots=True)
class MoveOrder:
    """Order to move an application."""

    #: User who gave it.
    by: str
    #: Time of the order, in seconds since the epoch.
    since: float
    #: Path of the leaf in which the application belongs from then on.
    queue: QueuePath
    #: Path of the queue in which it was before.
    source: QueuePath
    #: User of the application, whose access to the leaf was checked.
    user: str
    #: Reason in the administrator's words; empty for none.
    reason: str = ""


Moves = Mapping[AppId, MoveOrder]
"""Applications that were moved, by id and namespace."""
