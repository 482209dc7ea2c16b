"""Parts of the configuration in force (REST-27). A partition and a queue come without their queues."""

from typing import Any

from extender.queueconfig import schema
from extender.rest.facts import InForce
from extender.rest.members import members
from extender.rest.model.answer import Answer
from extender.rest.model.config import (
    Config,
    ConfigFilter,
    ConfigLimit,
    ConfigNodeSort,
    ConfigPartition,
    ConfigPreemption,
    ConfigQueue,
    ConfigResolver,
    ConfigResources,
    ConfigRule,
    ConfigTemplate,
)
from extender.rest.projection.units import nanoseconds

_VERBATIM = frozenset({"Properties", "Guaranteed", "Max", "MaxResources", "ResourceWeights", "Extra"})
"""Members whose values are mappings with keys of the user's choice. These keys stay as they are."""


def config_head(config: InForce) -> Config:
    """Build the answer without its partitions."""
    return Config(
        checksum=config.checksum,
        applied_time=nanoseconds(config.applied),
        extra=dict(sorted(config.keys.items())),
        deadlock_detection_enabled=False,
        deadlock_timeout_seconds=0,
    )


def members_in_yaml(part: Answer) -> dict[str, Any]:
    """Return the members of a part for YAML, with names in lower case and without empty structures."""
    found: dict[str, Any] = _lower(members(part))
    return found


def _lower(value: Any, *, verbatim: bool = False) -> Any:
    if isinstance(value, dict):
        found = {
            key if verbatim else key.lower(): _lower(each, verbatim=key in _VERBATIM)
            for key, each in value.items()
        }
        return {key: each for key, each in found.items() if each not in ({}, None) and each != {"type": ""}}
    return [_lower(each) for each in value] if isinstance(value, list) else value


def partition_section(section: schema.PartitionSection) -> ConfigPartition:
    """Build a partition. Quantities and texts are copied as written."""
    return ConfigPartition(
        name=section.name,
        queues=(),
        placement_rules=tuple(_rule(each) for each in section.placementrules),
        limits=tuple(_limit(each) for each in section.limits),
        preemption=ConfigPreemption(
            enabled=section.preemption.enabled,
            quota_preemption_enabled=section.preemption.quotapreemptionenabled,
        ),
        node_sort_policy=ConfigNodeSort(
            type=section.nodesortpolicy.type, resource_weights=dict(section.nodesortpolicy.resourceweights)
        ),
        user_group_resolver=ConfigResolver(type=section.usergroupresolver.type),
    )


def queue_section(section: schema.QueueSection) -> ConfigQueue:
    """Build a queue. Quantities and texts are copied as written."""
    return ConfigQueue(
        name=section.name,
        parent=section.parent,
        resources=_resources(section.resources),
        max_applications=section.maxapplications,
        properties=dict(section.properties),
        admin_acl=section.adminacl,
        submit_acl=section.submitacl,
        child_template=_template(section.childtemplate or schema.ChildTemplate()),
        limits=tuple(_limit(each) for each in section.limits),
    )


def _template(section: schema.ChildTemplate) -> ConfigTemplate:
    return ConfigTemplate(
        max_applications=section.maxapplications,
        properties=dict(section.properties),
        resources=_resources(section.resources),
    )


def _resources(section: schema.Resources) -> ConfigResources:
    return ConfigResources(guaranteed=dict(section.guaranteed or {}), max=dict(section.max or {}))


def _limit(section: schema.LimitEntry) -> ConfigLimit:
    return ConfigLimit(
        limit=section.limit,
        users=tuple(section.users),
        groups=tuple(section.groups),
        max_resources=dict(section.maxresources),
        max_applications=section.maxapplications,
    )


def _rule(section: schema.PlacementRule) -> ConfigRule:
    filtered = section.filter or schema.RuleFilter()
    return ConfigRule(
        name=section.name,
        create=section.create,
        filter=ConfigFilter(type=filtered.type, users=tuple(filtered.users), groups=tuple(filtered.groups)),
        parent=_rule(section.parent) if section.parent is not None else None,
        value=section.value,
    )
