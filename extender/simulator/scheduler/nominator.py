"""Nominations of pods to nodes, as the played kube-scheduler holds them in memory.

Source: pkg/scheduler/backend/queue/nominator.go.
"""

from collections.abc import Sequence

from core.ids import PodUid
from extender.simulator.scheduler.node_cache import PodInfo


class Nominator:
    """Pods by the node they are nominated to."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[PodUid, PodInfo]] = {}
        self._node_of: dict[PodUid, str] = {}

    @property
    def nodes(self) -> Sequence[str]:
        """Nodes with a nominated pod, sorted."""
        return sorted(self._by_node)

    def on(self, node: str, *, priority: int, besides: PodUid) -> tuple[PodInfo, ...]:
        """Pods of at least that priority nominated to a node, without one of them."""
        there = self._by_node.get(node, {})
        return tuple(each for uid, each in there.items() if uid != besides and each.priority >= priority)

    def below(self, node: str, priority: int) -> tuple[PodInfo, ...]:
        """Pods of lower priority nominated to a node."""
        return tuple(each for each in self._by_node.get(node, {}).values() if each.priority < priority)

    def set(self, info: PodInfo, node: str) -> None:
        """Nominate a pod. An empty node withdraws the nomination."""
        self.remove(info.uid)
        if node:
            self._by_node.setdefault(node, {})[info.uid] = info
            self._node_of[info.uid] = node

    def update(self, info: PodInfo, before: str) -> None:
        """Store a changed pod. A nomination that exists only in memory stays (``UpdateNominatedPod``)."""
        after = info.facts.nominated
        known = self._node_of.get(info.uid, "")
        self.set(info, known if not before and not after else after)

    def remove(self, uid: PodUid) -> None:
        """Withdraw the nomination of a pod."""
        node = self._node_of.pop(uid, None)
        if node is not None:
            del self._by_node[node][uid]
            if not self._by_node[node]:
                del self._by_node[node]
