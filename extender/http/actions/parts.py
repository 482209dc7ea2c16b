"""Parts of the process that actions need, and the refusal of a request."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from core.ids import AppId, QueuePath
from core.queues.queue import Queue
from core.workload.ending import Ending
from extender.actions.audit import AuditLine
from extender.actions.ending import EndedApplication
from extender.actions.moving import MoveProspect
from extender.actions.requested import Result
from extender.actions.stored import Actions

Store = Callable[[Callable[[Actions], Actions], bool], Awaitable[tuple[Actions, Actions]]]
"""Function that stores a change, or computes it if the second argument is True; see `ActionStore.changed`."""


QUEUE_OF_APPLICATION = "the queue of the application"
"""Name of that queue in a refusal, which must not tell the caller where the application is."""

PODS_SHOWN = 5_000
"""Pods that an answer lists, at most."""


MOVED_MEANWHILE = "the application was moved to another queue meanwhile: repeat the request"


def is_within(path: QueuePath, other: QueuePath) -> bool:
    """True if a queue is the other one or is below it, so that the right to that one counts."""
    return path == other or path.startswith(f"{other}.")


class Refused(Exception):
    """Refusal of a request. ``status``: of the answer. The message repeats only paths of queues."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Acting:
    """Parts of the process that actions need."""

    #: True if actions are switched on.
    enabled: Callable[[], bool]
    #: True if admin ACLs give the right, too.
    by_acl: Callable[[], bool]
    #: Why no action can be carried out now, or empty.
    unready: Callable[[], str]
    #: Queue of a path, or None.
    queue: Callable[[str], Queue | None]
    #: Live application of an id, or None.
    application: Callable[[AppId], EndedApplication | None]
    #: Order about an application that is in force, or None.
    ending: Callable[[AppId], Ending | None]
    #: Prospect of a move of an application to the queue of a path, or None for an unknown application.
    prospect: Callable[[AppId, str], MoveProspect | None]
    #: Stores a change.
    store: Store
    #: Seconds since the epoch.
    wall: Callable[[], float]
    #: Receives each line of the audit log.
    audit: Callable[[AuditLine], None]
    #: Each receives the message of an Event.
    tell_closed: Callable[[str], None]
    tell_opened: Callable[[str], None]
    tell_ended: Callable[[str], None]
    tell_lifted: Callable[[str], None]
    tell_moved: Callable[[str], None]
    tell_refused: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """A request, as it is carried out."""

    #: Queues whose rights the request needs, each as a refusal names it. Only what the caller wrote is named.
    rights: Mapping[QueuePath, str]
    #: Actions after the request. May raise `Refused`.
    change: Callable[[Actions], Actions]
    #: Answer, from the actions before and after.
    result: Callable[[Actions, Actions], Result]
