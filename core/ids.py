"""Names of things. Only identifiers may live here, so that no id is ever a bare string."""

from typing import Final, NamedTuple, NewType

PodUid = NewType("PodUid", str)
"""``metadata.uid`` of a pod: the key of everything Paddock remembers about it."""

NO_POD: Final = PodUid("")

QueuePath = NewType("QueuePath", str)
"""Dotted path from the root, lower case: ``root.tenants.blue``."""


class AppId(NamedTuple):
    """Key of an application: its id (POD-3) and its namespace (F-15).

    Sorted by id first, so namespaces decide an order only between equal ids. ``recovered``: True for pods
    that got nodes without Paddock and that no queue takes (F-1). An ordinary application of the same id may
    exist beside it.
    """

    name: str
    namespace: str
    recovered: bool = False

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" + (" (recovered)" if self.recovered else "")


NodeName = NewType("NodeName", str)

ROOT: Final = QueuePath("root")
DEFAULT_QUEUE: Final = QueuePath("root.default")
RECOVERY_QUEUE: Final = QueuePath("root.@recovery@")

NO_NODE: Final = NodeName("")


def parent_path(path: QueuePath) -> QueuePath | None:
    """Path one level up, or None for the root."""
    head, dot, _ = path.rpartition(".")
    return QueuePath(head) if dot else None
