"""Pods that wait for nodes, over all applications. YuniKorn has no such answer."""

from msgspec import field

from extender.rest.model.answer import Answer, Nanoseconds
from extender.rest.model.applications import Request


class PendingReason(Answer, frozen=True, kw_only=True):
    """Reason for which pods wait, and how many."""

    #: Last reason for which Paddock refused them, without amounts; empty for pods that it did not refuse.
    reason: str
    #: Number of pods whose last refusal had this reason.
    pods: int
    #: Creation of the oldest of them.
    oldest: Nanoseconds


class PendingPod(Answer, frozen=True, kw_only=True):
    """Pod that waits for a node, with its application."""

    #: Id of its application within the namespace.
    application_id: str = field(name="applicationID")
    #: Namespace of the application.
    namespace: str
    #: Queue of the application; without one, the queue that it requested.
    queue_name: str
    #: User of the application.
    user: str
    #: The pod as its application lists it.
    request: Request


class Pending(Answer, frozen=True, kw_only=True):
    """Pods that wait for nodes, oldest first, with the number for each reason."""

    #: Number of pods that wait.
    total: int
    #: Reasons, the most frequent first; at most 100.
    reasons: tuple[PendingReason, ...] = ()
    #: The oldest of the pods.
    pods: tuple[PendingPod, ...] = ()
