"""What configuration says of queues: plain values, already checked. No usage and no rules may live here.

A reader of documents builds these; the tree takes them over. Every later part of the configuration (limits,
placement rules, templates) becomes another field with a default.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.ids import QueuePath
from core.resource import Limit, Resource


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """One configured queue.

    ``path`` is lower case (CFG-11); ``parent`` is None for the root only. ``max`` and ``guaranteed`` are None
    when undefined, which a map without a value above zero is too (Q-2); a map that has one keeps its zeros,
    so ``{memory: 0, vcore: 10}`` blocks memory. ``max_applications`` 0 is unlimited. ``properties`` are the
    queue's own entries as written, nothing inherited (Q-4). ACLs are the text of the document.
    """

    path: QueuePath
    parent: QueuePath | None
    is_leaf: bool
    max: Limit | None
    guaranteed: Resource | None
    max_applications: int
    properties: Mapping[str, str]
    submit_acl: str
    admin_acl: str


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """The queues of one partition: the root first, parents before children, else in document order.

    ``queues`` is empty when the document has no such partition, which is valid and leaves no queue at all.
    """

    name: str
    queues: tuple[QueueSpec, ...]
