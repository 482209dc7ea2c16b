"""Translation of a valid document into core values."""

from collections.abc import Mapping
from types import MappingProxyType

from core.quantity import queue_amount
from core.queues.placement.filters import is_expression
from core.queues.spec import (
    FilterSpec,
    LimitSpec,
    NameMatcher,
    NodeSortSpec,
    PartitionSpec,
    QueueSpec,
    RuleSpec,
    TemplateSpec,
)
from core.resource import Limit, Resource, strictly_positive
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.patterns import PatternError, name_pattern
from extender.queueconfig.schema import (
    ChildTemplate,
    LimitEntry,
    NodeSortPolicy,
    PartitionSection,
    PlacementRule,
    RuleFilter,
)

DENY = "deny"


def partition_spec_from(partition: PartitionNode, *, zero_blocks: bool = False) -> PartitionSpec:
    """Translate a partition. Only ``default`` is ever used (CFG-4).

    ``zero_blocks``: True if a ``max`` of only zeros blocks its resources. Otherwise it is no max (Q-2).
    """
    section = partition.section
    root, *below = partition.root.with_descendants()
    return PartitionSpec(
        partition.name,
        (
            _queue_spec(root, section.limits, zero_blocks),
            *(_queue_spec(queue, (), zero_blocks) for queue in below),
        ),
        rules=tuple(_rule(rule) for rule in section.placementrules),
        preemption=section.preemption.enabled is not False,
        quota_preemption=section.preemption.quotapreemptionenabled is True,
        node_sort=_node_sort(section.nodesortpolicy),
        resolver=_resolver(section),
    )


def _queue_spec(queue: QueueNode, more_limits: list[LimitEntry] | tuple[()], zero_blocks: bool) -> QueueSpec:
    """Translate a queue. ``more_limits``: limits that apply if the queue has none of its own (CFG-8)."""
    section = queue.section
    maximum = None if queue.is_root else _maximum(section.resources.max, zero_blocks)
    return QueueSpec(
        path=queue.path,
        parent=queue.parent,
        is_leaf=queue.is_leaf,
        max=None if maximum is None else Limit.of(maximum),
        guaranteed=None if queue.is_root else _defined(section.resources.guaranteed),
        max_applications=section.maxapplications,
        properties=MappingProxyType(dict(section.properties)),
        submit_acl=section.submitacl,
        admin_acl=section.adminacl,
        limits=tuple(_limit(entry) for entry in section.limits or more_limits),
        template=None if queue.is_leaf else _template(section.childtemplate, zero_blocks),
    )


def _limit(entry: LimitEntry) -> LimitSpec:
    maximum = _defined(entry.maxresources)
    return LimitSpec(
        tuple(entry.users),
        tuple(entry.groups),
        None if maximum is None else Limit.of(maximum),
        entry.maxapplications,
    )


def _template(template: ChildTemplate | None, zero_blocks: bool) -> TemplateSpec | None:
    """Translate a template. None for an empty one (TPL-1). A template of only zeros is not empty (C3)."""
    if template is None or template.is_empty:
        return None
    maximum = _maximum(template.resources.max, zero_blocks)
    guaranteed = _defined(template.resources.guaranteed)
    properties = {key: value for key, value in template.properties.items() if key and value}
    return TemplateSpec(
        None if maximum is None else Limit.of(maximum),
        guaranteed,
        template.maxapplications,
        MappingProxyType(properties),
    )


def _rule(rule: PlacementRule) -> RuleSpec:
    users = filter_spec(rule.filter) if rule.filter is not None else FilterSpec()
    parent = _rule(rule.parent) if rule.parent is not None else None
    return RuleSpec(rule.name.lower(), rule.create, rule.value, users, parent)


def filter_spec(section: RuleFilter) -> FilterSpec:
    """Translate a filter and compile its regular expressions. An invalid one matches no user."""
    users, groups = tuple(section.users), tuple(section.groups)
    allow = section.type.lower() != DENY
    return FilterSpec(allow, users, groups, _matcher(users), _matcher(groups))


def _matcher(entries: tuple[str, ...]) -> NameMatcher | None:
    if not is_expression(entries):
        return None
    try:
        return name_pattern(entries[0])
    except PatternError:
        return None


def _node_sort(policy: NodeSortPolicy) -> NodeSortSpec:
    return NodeSortSpec(policy.type or "fair", dict(policy.resourceweights), bool(policy.type))


def _resolver(section: PartitionSection) -> str:
    return section.usergroupresolver.type


def _maximum(texts: Mapping[str, str] | None, zero_blocks: bool) -> Resource | None:
    if zero_blocks and texts:
        return Resource({name: queue_amount(name, text) for name, text in texts.items()})
    return _defined(texts)


def _defined(texts: Mapping[str, str] | None) -> Resource | None:
    """Amounts of a map, including zeros, or None if none of them is above zero (Q-2)."""
    amounts = Resource({name: queue_amount(name, text) for name, text in (texts or {}).items()})
    return amounts if strictly_positive(amounts) else None
