"""Counters since the start of the process."""

from collections import Counter
from dataclasses import dataclass, field

from core.queues.queue import Queue
from core.queues.tree import QueueTree
from extender.telemetry.yunikorn.families import OTHER

DYNAMIC_APART = 2_000
"""Dynamic queues, including deleted ones, whose ended applications are counted separately (METRIC-16)."""


@dataclass(slots=True)
class Totals:
    """Counts by the value of a label."""

    #: Pods: allocated, released, rejected; and calls that failed.
    pods: Counter[str] = field(default_factory=Counter)
    #: Applications: new, accepted, rejected.
    submissions: Counter[str] = field(default_factory=Counter)
    #: Applications: completed, failed.
    ended: Counter[str] = field(default_factory=Counter)
    #: Nodes: failed, decommissioned.
    nodes: Counter[str] = field(default_factory=Counter)
    #: Ended applications by leaf, including deleted leaves.
    ended_in: dict[str, Counter[str]] = field(default_factory=dict)
    #: Pods by existing leaf.
    pods_in: dict[str, Counter[str]] = field(default_factory=dict)
    #: Number of dynamic queues among ``ended_in``.
    dynamic: int = 0

    def end(self, path: str, how: str, *, configured: bool) -> None:
        """Count an application that ended.

        ``path``: that of its leaf, or `OTHER`. ``configured``: True for a leaf of the document.
        """
        self.ended_in.setdefault(self._label_of(path, configured=configured), Counter())[how] += 1

    def _label_of(self, path: str, *, configured: bool) -> str:
        """The path, or `OTHER` if there are too many. Counts are never dropped."""
        if configured or path in self.ended_in or path == OTHER:
            return path
        if self.dynamic >= DYNAMIC_APART:
            return OTHER
        self.dynamic += 1
        return path

    def forget_pods(self, tree: QueueTree) -> None:
        """Drop the counts of pods in deleted leaves (METRIC-15)."""
        for path in [each for each in self.pods_in if tree.get(each) is None]:
            del self.pods_in[path]


def asked_queue(tree: QueueTree, named: str) -> Queue | None:
    """The leaf that an application requested, with or without ``root.``, or None if there is no such leaf."""
    queue = tree.get(named) or tree.get(f"root.{named}") if named else None
    return queue if queue is not None and queue.is_leaf else None
