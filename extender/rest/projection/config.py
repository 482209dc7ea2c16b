"""The configuration in force as JSON and as YAML (REST-27)."""

from typing import Any

import yaml

from extender.queueconfig import schema
from extender.rest.facts import InForce
from extender.rest.members import members
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

_VERBATIM = frozenset({"Properties", "Guaranteed", "Max", "MaxResources", "ResourceWeights", "Extra"})
"""Members whose values are mappings with keys of the user's choice. These keys stay as they are."""


def config_from(config: InForce) -> Config:
    """Build the answer. Quantities and texts are copied as written."""
    document = config.document
    return Config(
        partitions=tuple(_partition(each) for each in document.partitions) if document is not None else (),
        checksum=config.checksum,
        extra=dict(sorted(config.keys.items())),
        deadlock_detection_enabled=False,
        deadlock_timeout_seconds=0,
    )


def config_yaml(config: InForce) -> str:
    """Encode as YAML, with names of members in lower case and without empty structures."""
    text: str = yaml.safe_dump(_lower(members(config_from(config))), sort_keys=False, allow_unicode=True)
    return text


def _lower(value: Any, *, verbatim: bool = False) -> Any:
    if isinstance(value, dict):
        found = {
            key if verbatim else key.lower(): _lower(each, verbatim=key in _VERBATIM)
            for key, each in value.items()
        }
        return {key: each for key, each in found.items() if each not in ({}, None) and each != {"type": ""}}
    return [_lower(each) for each in value] if isinstance(value, list) else value


def _partition(section: schema.PartitionSection) -> ConfigPartition:
    return ConfigPartition(
        name=section.name,
        queues=tuple(_queue(each) for each in section.queues or ()),
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


def _queue(section: schema.QueueSection) -> ConfigQueue:
    return ConfigQueue(
        name=section.name,
        parent=section.parent,
        resources=_resources(section.resources),
        max_applications=section.maxapplications,
        properties=dict(section.properties),
        admin_acl=section.adminacl,
        submit_acl=section.submitacl,
        child_template=_template(section.childtemplate or schema.ChildTemplate()),
        queues=tuple(_queue(each) for each in section.queues),
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
