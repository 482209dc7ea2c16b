"""What configuration says of queues: plain values, already checked. No usage and no rules may live here.

A reader of documents builds these; the tree takes them over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.ids import QueuePath
from core.resource import Limit, Resource


@dataclass(frozen=True, slots=True)
class LimitSpec:
    """One entry of ``limits``: what each named user, or each group together, may use (CFG-13 to CFG-21).

    A name ``*`` is the wildcard. ``max`` is None when the entry limits no resource; ``max_applications`` 0
    is unlimited.
    """

    users: tuple[str, ...]
    groups: tuple[str, ...]
    max: Limit | None
    max_applications: int = 0


@dataclass(frozen=True, slots=True)
class TemplateSpec:
    """What a dynamic leaf gets when it is created (TPL-1, TPL-2); values as in `QueueSpec`."""

    max: Limit | None = None
    guaranteed: Resource | None = None
    max_applications: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)


NameMatcher = Callable[[str], bool]
"""A compiled regular expression: true for a name that it matches. Two of the same text are equal."""


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """Whom a placement rule is for (PL-5)."""

    #: True for a filter that lets pass whom it names, False for one that keeps them out.
    allow: bool = True
    #: The entries for users as written.
    users: tuple[str, ...] = ()
    #: The entries for groups as written.
    groups: tuple[str, ...] = ()
    #: What the only entry for users matches. None unless it is a regular expression.
    user_pattern: NameMatcher | None = None
    #: What the only entry for groups matches. None unless it is a regular expression.
    group_pattern: NameMatcher | None = None


@dataclass(frozen=True, slots=True)
class RuleSpec:
    """One placement rule (PL-4). ``kind``: provided, user, tag, fixed; ``value``: of a tag or fixed rule."""

    kind: str
    create: bool = False
    value: str = ""
    filter: FilterSpec = FilterSpec()
    parent: "RuleSpec | None" = None


@dataclass(frozen=True, slots=True)
class NodeSortSpec:
    """How nodes are scored (NODE-1): ``policy`` fair or binpacking; ``weights``: per resource, empty for the
    built-in ones. ``named``: the document names a policy, so Paddock scores (DESIGN-12)."""

    policy: str = "fair"
    weights: Mapping[str, float] = field(default_factory=dict)
    named: bool = False


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """One configured queue.

    ``path`` is lower case (CFG-11); ``parent`` is None for the root only. ``max`` and ``guaranteed`` are None
    when undefined, which a map without a value above zero is too (Q-2); a map that has one keeps its zeros,
    so ``{memory: 0, vcore: 10}`` blocks memory. ``max_applications`` 0 is unlimited. ``properties`` are the
    queue's own entries as written, nothing inherited (Q-4). ACLs are the text of the document. ``limits``
    keep the document's order; ``template`` is the queue's own, None without one (TPL-1).
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
    """The queues of one partition: the root first, parents before children, else in document order.

    ``queues`` is empty when the document has no such partition, which is valid and leaves no queue at all.
    ``rules``: in the document's order, empty for the implicit one (PL-1); ``resolver``: where the groups of a
    user come from when the pod names none (ID-4): empty, os, ldap or test.
    """

    name: str
    queues: tuple[QueueSpec, ...]
    rules: tuple[RuleSpec, ...] = ()
    preemption: bool = True
    quota_preemption: bool = False
    node_sort: NodeSortSpec = NodeSortSpec()
    resolver: str = ""
