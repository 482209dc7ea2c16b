"""A document that has passed every check, as the values core works with."""

from collections.abc import Mapping
from types import MappingProxyType

from core.quantity import queue_amount
from core.queues.spec import (
    FilterSpec,
    LimitSpec,
    NodeSortSpec,
    PartitionSpec,
    QueueSpec,
    RuleSpec,
    TemplateSpec,
)
from core.resource import Limit, Resource, strictly_positive
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.schema import (
    ChildTemplate,
    LimitEntry,
    NodeSortPolicy,
    PartitionSection,
    PlacementRule,
)

DENY = "deny"


def partition_spec_from(partition: PartitionNode) -> PartitionSpec:
    """Partition ``default`` of a document, or one of the others, which nobody uses (CFG-4)."""
    section = partition.section
    root, *below = partition.root.walk()
    return PartitionSpec(
        partition.name,
        (_queue_spec(root, section.limits), *(_queue_spec(queue, ()) for queue in below)),
        rules=tuple(_rule(rule) for rule in section.placementrules),
        preemption=section.preemption.enabled is not False,
        quota_preemption=section.preemption.quotapreemptionenabled is True,
        node_sort=_node_sort(section.nodesortpolicy),
        resolver=_resolver(section),
    )


def _queue_spec(queue: QueueNode, more_limits: list[LimitEntry] | tuple[()]) -> QueueSpec:
    """``more_limits``: the partition's, which are the root's when it has none of its own (CFG-8)."""
    section = queue.section
    maximum = None if queue.is_root else _defined(section.resources.max)
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
        template=_template(section.childtemplate),
    )


def _limit(entry: LimitEntry) -> LimitSpec:
    maximum = _defined(entry.maxresources)
    return LimitSpec(
        tuple(entry.users),
        tuple(entry.groups),
        None if maximum is None else Limit.of(maximum),
        entry.maxapplications,
    )


def _template(template: ChildTemplate | None) -> TemplateSpec | None:
    """None when nothing is left of it (TPL-1)."""
    if template is None:
        return None
    maximum, guaranteed = _defined(template.resources.max), _defined(template.resources.guaranteed)
    properties = {key: value for key, value in template.properties.items() if key and value}
    if not (maximum or guaranteed or properties or template.maxapplications):
        return None
    return TemplateSpec(
        None if maximum is None else Limit.of(maximum),
        guaranteed,
        template.maxapplications,
        MappingProxyType(properties),
    )


def _rule(rule: PlacementRule) -> RuleSpec:
    found, who = rule.filter, FilterSpec()
    if found is not None:
        who = FilterSpec(found.type.lower() != DENY, tuple(found.users), tuple(found.groups))
    parent = _rule(rule.parent) if rule.parent is not None else None
    return RuleSpec(rule.name.lower(), rule.create, rule.value, who, parent)


def _node_sort(policy: NodeSortPolicy) -> NodeSortSpec:
    return NodeSortSpec(policy.type or "fair", dict(policy.resourceweights), bool(policy.type))


def _resolver(section: PartitionSection) -> str:
    return section.usergroupresolver.type


def _defined(texts: Mapping[str, str] | None) -> Resource | None:
    """A map counts when one of its values is above zero; then its zeros count too (Q-2)."""
    amounts = Resource({name: queue_amount(name, text) for name, text in (texts or {}).items()})
    return amounts if strictly_positive(amounts) else None
