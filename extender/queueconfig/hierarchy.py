"""The queues of a partition as a tree with lower-case names. A missing root is inserted."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.ids import ROOT, QueuePath
from extender.queueconfig.problems import Location
from extender.queueconfig.schema import PartitionSection, QueueSection

DEFAULT_PARTITION = "default"


@dataclass(frozen=True, slots=True)
class QueueNode:
    """A queue. ``at``: its place in the document, which for an inserted root is that of the partition."""

    at: Location
    path: QueuePath
    section: QueueSection
    parent: QueuePath | None
    children: tuple["QueueNode", ...]

    @property
    def is_root(self) -> bool:
        """True for the root."""
        return self.parent is None

    @property
    def is_leaf(self) -> bool:
        """True for a leaf. The root and queues with children are none, for any ``parent`` (Q-1, CFG-6)."""
        return not (self.is_root or self.section.parent or self.children)

    @property
    def says_parent(self) -> bool:
        """True if the document itself calls it a parent. Some checks of YuniKorn ask only for that (C1)."""
        return self.is_root or self.section.parent

    def with_descendants(self) -> Iterator["QueueNode"]:
        """Yield this queue and all below it, parents first, in document order."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(frozen=True, slots=True)
class PartitionNode:
    """A partition with its tree of queues."""

    at: Location
    name: str
    section: PartitionSection
    root: QueueNode


def partition_from(section: PartitionSection, at: Location) -> PartitionNode:
    """Build the tree: fold names to lower case (CFG-4, CFG-11) and find or insert the root (CFG-6)."""
    queues = section.queues or []
    if len(queues) == 1 and queues[0].name.lower() == ROOT:
        root = _node(queues[0], (*at, "queues", 0), ROOT, None)
    else:
        root = _node(QueueSection(name=ROOT, queues=queues), at, ROOT, None)
    return PartitionNode(at, section.name.lower() or DEFAULT_PARTITION, section, root)


def _node(section: QueueSection, at: Location, path: QueuePath, parent: QueuePath | None) -> QueueNode:
    # A valid name has at most 64 characters (CFG-9). A longer one must not be repeated in all paths below it.
    children = tuple(
        _node(child, (*at, "queues", place), QueuePath(f"{path}.{child.name[:64].lower()}"), path)
        for place, child in enumerate(section.queues)
    )
    return QueueNode(at, path, section, parent, children)
