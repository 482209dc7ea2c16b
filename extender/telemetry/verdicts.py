"""The last verdict of each verb about each pod, to tell changes from repetitions."""

from collections import OrderedDict

from core.ids import PodUid

PODS = 20_000
"""Pods whose verdicts are stored, at most. The pods with the oldest verdicts are dropped first."""


class LastVerdicts:
    """The last verdict for each pod and verb."""

    def __init__(self, *, pods: int = PODS) -> None:
        self._pods = pods
        self._verdicts: OrderedDict[PodUid, dict[str, tuple[str, str]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._verdicts)

    def is_new(self, uid: PodUid, verb: str, verdict: tuple[str, str]) -> bool:
        """Store a verdict. True if it differs from the verb's last one for this pod, or is the first."""
        verdicts = self._verdicts.get(uid)
        if verdicts is None:
            verdicts = self._verdicts[uid] = {}
            if len(self._verdicts) > self._pods:
                self._verdicts.popitem(last=False)
        else:
            self._verdicts.move_to_end(uid)
        known = verdicts.get(verb)
        verdicts[verb] = verdict
        return known != verdict

    def drop(self, uid: PodUid) -> None:
        """Forget a pod."""
        self._verdicts.pop(uid, None)
