"""Faults of a call: raised by the verbs, and turned into answers by the HTTP middleware alone."""

from core.errors import PaddockError
from core.reasons import Code


class CallFault(PaddockError):
    """A call that cannot be answered as asked; the text reaches the pod's events."""


class NotReady(CallFault):
    """The caches are not synced, and the pod may be ours. ``why``: what is waited for, if not the lists."""

    def __init__(self, why: str = "") -> None:
        super().__init__(f"{Code.NOT_READY}: {why or 'Paddock has not read the cluster yet'}")


class Unshown(CallFault):
    """Nothing but the call's own body has shown the pod, and too much was said of pods that do not exist."""

    def __init__(self) -> None:
        super().__init__(f"{Code.NOT_READY}: the API server has not shown this pod to Paddock yet")


class DeadlinePassed(CallFault):
    """Our own deadline, which is shorter than the caller's."""
