"""Configuration of queues: plain values, already checked. No usage and no rules may live here.

A reader of documents builds them, and the tree takes them over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.ids import QueuePath
from core.resource import Limit, Resource


@dataclass(frozen=True, slots=True)
class LimitSpec:
    """Entry of ``limits``: what each named user, or each group together, may use (CFG-13 to CFG-21).

    A name ``*`` is the wildcard. ``max``: None if the entry limits no resource. ``max_applications``: 0 for
    unlimited.
    """

    users: tuple[str, ...]
    groups: tuple[str, ...]
    max: Limit | None
    max_applications: int = 0


@dataclass(frozen=True, slots=True)
class TemplateSpec:
    """Limits and properties of a new dynamic leaf (TPL-1, TPL-2). Values as in `QueueSpec`."""

    max: Limit | None = None
    guaranteed: Resource | None = None
    max_applications: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)


NameMatcher = Callable[[str], bool]
"""Compiled regular expression: true for a name that it matches. Two of the same text are equal."""


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """Filter of a placement rule (PL-5)."""

    #: True for a filter that passes the named users and groups, False for one that excludes them.
    allow: bool = True
    #: Entries for users as written.
    users: tuple[str, ...] = ()
    #: Entries for groups as written.
    groups: tuple[str, ...] = ()
    #: Pattern of the only entry for users. None unless it is a regular expression.
    user_pattern: NameMatcher | None = None
    #: Pattern of the only entry for groups. None unless it is a regular expression.
    group_pattern: NameMatcher | None = None


@dataclass(frozen=True, slots=True)
class RuleSpec:
    """Placement rule (PL-4). ``kind``: provided, user, tag, fixed. ``value``: of a tag or fixed rule."""

    kind: str
    create: bool = False
    value: str = ""
    filter: FilterSpec = FilterSpec()
    parent: "RuleSpec | None" = None


@dataclass(frozen=True, slots=True)
class NodeSortSpec:
    """Scoring of nodes (NODE-1).

    ``policy``: fair or binpacking. ``weights``: per resource; empty for the built-in ones. ``named``: True if
    the document names a policy, so that Paddock scores (DESIGN-12).
    """

    policy: str = "fair"
    weights: Mapping[str, float] = field(default_factory=dict)
    named: bool = False


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """A configured queue.

    ``path``: in lower case (CFG-11). ``parent``: None for the root only. ``max`` and ``guaranteed``: None if
    undefined, or without a value above zero (Q-2). Otherwise zeros count, so ``{memory: 0, vcore: 10}``
    blocks memory. ``max_applications``: 0 for unlimited. ``properties``: own entries as written, nothing
    inherited (Q-4). ACLs: text of the document. ``limits``: in the document's order. ``template``: own
    template; None without one (TPL-1).
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
    limits: tuple[LimitSpec, ...] = ()
    template: TemplateSpec | None = None


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """Queues of one partition: the root first, parents before children, else in document order.

    ``queues``: empty if the document has no such partition, which is valid. ``rules``: in the document's
    order; empty for the implicit one (PL-1). ``resolver``: source of a user's groups if the pod names none
    (ID-4): empty, os, ldap or test.
    """

    name: str
    queues: tuple[QueueSpec, ...]
    rules: tuple[RuleSpec, ...] = ()
    preemption: bool = True
    quota_preemption: bool = False
    node_sort: NodeSortSpec = NodeSortSpec()
    resolver: str = ""
