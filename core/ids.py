"""Names of things. Only identifiers may live here, so that no id is ever a bare string."""

from typing import NewType

PodUid = NewType("PodUid", str)
"""``metadata.uid`` of a pod: the key of everything Paddock remembers about it."""

NO_POD = PodUid("")

QueuePath = NewType("QueuePath", str)
"""Dotted path from the root, lower case: ``root.tenants.blue``."""

AppId = NewType("AppId", str)
"""Application id as POD-3 finds it; unique in the partition, not per namespace."""

NodeName = NewType("NodeName", str)

ROOT = QueuePath("root")
DEFAULT_QUEUE = QueuePath("root.default")
RECOVERY_QUEUE = QueuePath("root.@recovery@")

NO_NODE = NodeName("")


def parent_path(path: QueuePath) -> QueuePath | None:
    """The path one level up, or None for the root."""
    head, dot, _ = path.rpartition(".")
    return QueuePath(head) if dot else None
