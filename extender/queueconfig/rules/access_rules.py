"""Rules for access lists: those that YuniKorn checks on the text, and those it finds when applying it."""

from collections.abc import Iterator

from core.white_space import has_more_fields, trimmed
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, shown

_ANY = "*"
_MOST_PARTS = 2


def access(queue: QueueNode) -> Iterator[DocumentFinding]:
    """Check that an access list has users, or users and user groups, and nothing else (CFG-12)."""
    for key, text in _lists(queue):
        if _has_too_many_fields(text):
            message = f"{shown(text)} has more than users and groups; write users, one blank, groups"
            yield DocumentFinding((*queue.at, key), "CFG-12", message)


def applied_access(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check that an access list has at most one blank (APPLY-2). Lists that CFG-12 refuses are left out."""
    for queue in partition.root.with_descendants():
        for key, text in _lists(queue):
            if text.count(" ") >= _MOST_PARTS and not _has_too_many_fields(text):
                message = f"{shown(text)} has more than one blank; write users, one blank, groups"
                yield DocumentFinding((*queue.at, key), "APPLY-2", message)


def _lists(queue: QueueNode) -> tuple[tuple[str, str], ...]:
    return ("adminacl", queue.section.adminacl), ("submitacl", queue.section.submitacl)


def _has_too_many_fields(text: str) -> bool:
    return trimmed(text) not in ("", _ANY) and has_more_fields(text, _MOST_PARTS)
