"""The played garbage collector: a pod goes when the pod that owns it has disappeared.

Source: pkg/controller/garbagecollector. Collection takes no virtual time.
"""

from collections import deque

from core.ids import PodUid
from extender.simulator.cluster.api_server import PlayedApi
from extender.simulator.cluster.played_objects import Pod, PodChange


class GarbageCollector:
    """Observer of pod changes. `collect` deletes the pods that they leave without an owner."""

    def __init__(self, api: PlayedApi) -> None:
        self._api = api
        self._owned: dict[PodUid, dict[PodUid, Pod]] = {}
        self._left: deque[Pod] = deque()

    def heard(self, change: PodChange) -> None:
        """Note a change of a pod: its owner, or the pods that it leaves without one."""
        pod, owner = change.pod, change.facts.owner
        if change.deleted:
            self._left.extend(self._owned.pop(pod.uid, {}).values())
            self._owned.get(owner, {}).pop(pod.uid, None)
        elif owner and pod.uid not in (owned := self._owned.setdefault(owner, {})):
            owned[pod.uid] = pod
            if not self._exists(owner):
                self._left.append(pod)

    def _exists(self, uid: PodUid) -> bool:
        pod = self._api.pods.get(uid)
        return pod is not None and pod.exists

    def collect(self) -> None:
        """Delete pods without an owner, in order of creation."""
        while self._left:
            pod = self._left.popleft()
            if pod.exists:
                self._api.delete(pod)
