"""State that the configuration document and the settings determine."""

from dataclasses import dataclass, field

from core.ledger.settings import LedgerSettings
from core.queues.spec import NodeSortSpec, RuleSpec
from core.queues.tree import QueueTree
from core.queues.users.limits import Limits


@dataclass(slots=True)
class Configuration:
    """Document and settings in force."""

    #: Settings that change what the ledger does.
    settings: LedgerSettings = field(default_factory=LedgerSettings)
    #: Number of documents applied since the start.
    generation: int = 0
    #: Queues of the document and the dynamic ones below them, with their counters.
    tree: QueueTree = field(default_factory=QueueTree)
    #: Placement rules, in their order.
    rules: tuple[RuleSpec, ...] = ()
    #: Limits of users and groups, by queue.
    limits: Limits = field(default_factory=Limits)
    #: Source of groups that no pod names; empty for none (ID-4).
    resolver: str = ""
    #: Policy by which nodes are scored (NODE-1).
    node_sort: NodeSortSpec = field(default_factory=NodeSortSpec)
    #: True if asks may preempt to reach a guarantee (PRE-1).
    preempts: bool = True
    #: True if a queue gives up pods when its quota shrinks (QCP-1).
    quota_preempts: bool = False
