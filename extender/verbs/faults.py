"""Faults of a call. The verbs raise them, and only the HTTP middleware turns them into answers."""

from core.errors import PaddockError
from core.reasons import Code


class CallFault(PaddockError):
    """A call that cannot be answered. kube-scheduler shows the text in the pod's Events."""


class NotReady(CallFault):
    """The caches are not synced, and the pod may be managed by Paddock.

    ``why``: the reason, empty if the first lists are not complete.
    """

    def __init__(self, why: str = "") -> None:
        super().__init__(f"{Code.NOT_READY}: {why or 'Paddock has not read the cluster yet'}")


class Unconfirmed(CallFault):
    """The pod is known only from the call's body, and such bodies are not accepted now (F-18)."""

    def __init__(self) -> None:
        super().__init__(f"{Code.NOT_READY}: the API server has not shown this pod to Paddock yet")


class DeadlinePassed(CallFault):
    """Paddock's own deadline has passed, which is shorter than the caller's."""
