"""Rules for the structure of a partition, for its queues one by one, and for numbers of applications.

Each group of rules is a function from a partition to findings. No group hides the findings of another.
"""

import re
from collections.abc import Iterator

from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, shown
from extender.queueconfig.rules.access_rules import access
from extender.queueconfig.rules.limit_rules import limits

_NAME = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}")


def partition_name(partition: PartitionNode, seen: set[str]) -> Iterator[DocumentFinding]:
    """Check that the name of a partition is unique, without regard to case. No name is ``default`` (CFG-4).

    ``seen``: names of the partitions before this one. Its own is added.
    """
    if partition.name in seen:
        message = (
            f"partition {shown(partition.name)} occurs twice; give each its own name "
            "(case is ignored, no name means default)"
        )
        yield DocumentFinding((*partition.at, "name"), "CFG-4", message)
    seen.add(partition.name)


def structure(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check that a partition has a list of queues (CFG-5) and that its root has no resources (CFG-7)."""
    if partition.section.queues is None:
        message = "queue config is not set; give a list, which may be empty: queues: []"
        yield DocumentFinding((*partition.at, "queues"), "CFG-5", message)
    resources = partition.root.section.resources
    for key, amounts in (("guaranteed", resources.guaranteed), ("max", resources.max)):
        if amounts is not None:
            message = f"the root cannot have {key}: its size is that of its nodes; remove the key"
            yield DocumentFinding((*partition.root.at, "resources", key), "CFG-7", message)


def queues_one_by_one(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check access lists, limits and child names of each queue, in YuniKorn's order (CFG-9 to CFG-21)."""
    for queue in partition.root.with_descendants():
        yield from access(queue)
        yield from limits(partition, queue)
        yield from _child_names(queue)


def _child_names(queue: QueueNode) -> Iterator[DocumentFinding]:
    """Check that names have allowed characters (CFG-9) and differ from their siblings' names (CFG-10)."""
    first: dict[str, str] = {}
    for child in queue.children:
        name = child.section.name
        if not _NAME.fullmatch(name):
            message = f"name {shown(name)} is not allowed; use 1 to 64 of a-z A-Z 0-9 _ : # / @ - (no dot)"
            yield DocumentFinding((*child.at, "name"), "CFG-9", message)
        elif name.lower() in first:
            message = f"name {shown(name)} is taken by its sibling {shown(first[name.lower()])}"
            yield DocumentFinding((*child.at, "name"), "CFG-10", f"{message}; use another, case is ignored")
        first.setdefault(name.lower(), name)


def max_applications(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check that children of a queue with ``maxapplications`` have one that fits (CFG-39, CFG-40)."""
    for queue in partition.root.with_descendants():
        cap = queue.section.maxapplications
        for child in queue.children if cap else ():
            wanted, at = child.section.maxapplications, (*child.at, "maxapplications")
            if wanted > cap:
                yield DocumentFinding(at, "CFG-39", f"{wanted} is above the parent's {cap}; use 1 to {cap}")
            elif wanted == 0:
                message = f"0 or absent is unlimited, but the parent allows {cap}; use 1 to {cap}"
                yield DocumentFinding(at, "CFG-40", message)
