"""Names of things. Only identifiers may live here, so that no id is ever a bare string."""

from typing import NamedTuple, NewType

PodUid = NewType("PodUid", str)
"""``metadata.uid`` of a pod: the key of everything Paddock remembers about it."""

NO_POD = PodUid("")

QueuePath = NewType("QueuePath", str)
"""Dotted path from the root, lower case: ``root.tenants.blue``."""


class AppId(NamedTuple):
    """The key of an application: its id as POD-3 finds it, within a namespace (F-15).

    A tuple and no text, so that no choice of names makes two keys one. Sorted by id first: where ids differ,
    namespaces do not matter for an order. ``recovered``: of pods that got nodes without us and that no queue
    takes (F-1); another application of the same id may be placed beside it.
    """

    name: str
    namespace: str
    recovered: bool = False

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" + (" (recovered)" if self.recovered else "")


NodeName = NewType("NodeName", str)

ROOT = QueuePath("root")
DEFAULT_QUEUE = QueuePath("root.default")
RECOVERY_QUEUE = QueuePath("root.@recovery@")

NO_NODE = NodeName("")


def parent_path(path: QueuePath) -> QueuePath | None:
    """The path one level up, or None for the root."""
    head, dot, _ = path.rpartition(".")
    return QueuePath(head) if dot else None
