"""Reasons for which filter refused pods. Each is stored once, with a count (REST-34)."""

from collections import OrderedDict

from core.ids import PodUid
from core.reasons import Code, Refusal
from extender.rest.model.applications import LogEntry
from extender.rest.projection.units import nanoseconds

PODS = 20_000
"""Number of pods that are remembered. The least recently refused are dropped first."""

REASONS = 20
"""Number of reasons that are stored for one pod."""

USER_QUOTA, QUEUE_QUOTA = "Not enough user quota", "Not enough queue quota"
_QUOTAS = {
    Code.USER_QUOTA_EXCEEDED: USER_QUOTA,
    Code.GROUP_QUOTA_EXCEEDED: USER_QUOTA,
    Code.QUOTA_EXCEEDED: QUEUE_QUOTA,
}


def message_of(refusal: Refusal) -> str:
    """Return YuniKorn's text for a quota; otherwise Paddock's own text without its amounts."""
    return _QUOTAS.get(refusal.code) or f"{refusal.code}: {refusal.subject}"


class Reasons:
    """Reasons by pod and text."""

    def __init__(self, *, pods: int = PODS) -> None:
        self._pods = pods
        self._known: OrderedDict[PodUid, OrderedDict[str, tuple[float, int]]] = OrderedDict()

    def note(self, uid: PodUid, refusal: Refusal, *, now: float) -> None:
        """Count a refusal. Beyond the limits, the oldest pod or the pod's oldest reason is dropped."""
        known = self._known.setdefault(uid, OrderedDict())
        self._known.move_to_end(uid)
        message = message_of(refusal)
        _, times = known.pop(message, (0.0, 0))
        known[message] = now, times + 1
        if len(known) > REASONS:
            known.popitem(last=False)
        if len(self._known) > self._pods:
            self._known.popitem(last=False)

    def forget(self, uid: PodUid) -> None:
        """Drop the reasons of a pod."""
        self._known.pop(uid, None)

    def of(self, uid: PodUid) -> tuple[LogEntry, ...]:
        """Return the reasons of a pod, oldest first."""
        return tuple(
            LogEntry(message=message, last_occurrence=nanoseconds(at), count=times)
            for message, (at, times) in self._known.get(uid, {}).items()
        )
