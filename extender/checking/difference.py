"""Differences between the document in force and another one, queue by queue and field by field. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.quantity import amount_text
from core.queues.spec import LimitSpec, PartitionSpec, QueueSpec, RuleSpec, TemplateSpec
from core.resource import Limit, Resource
from extender.queueconfig.problems import cut

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
"""Kinds of a queue's change."""

_EMPTY = PartitionSpec("default", ())


@dataclass(frozen=True, slots=True)
class FieldChange:
    """Field of a queue or of the partition, as texts. An empty text stands for an absent value."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class QueueChange:
    """Change of a configured queue. ``kind``: see above. ``fields``: those that differ, sorted by name."""

    path: str
    kind: str
    fields: tuple[FieldChange, ...] = ()


def queue_changes(before: PartitionSpec | None, after: PartitionSpec) -> Iterator[QueueChange]:
    """Yield the queues that a document adds, removes or changes, in the order of their paths.

    ``before``: None if no document is in force. Yields nothing for a queue that stays as it is.
    """
    old = {each.path: each for each in (before or _EMPTY).queues}
    new = {each.path: each for each in after.queues}
    for path in sorted(old.keys() | new.keys()):
        known, offered = old.get(path), new.get(path)
        fields = _changed(_queue_fields(known), _queue_fields(offered))
        if known is None:
            yield QueueChange(path, ADDED, fields)
        elif offered is None:
            yield QueueChange(path, REMOVED, fields)
        elif fields:
            yield QueueChange(path, CHANGED, fields)


def partition_changes(before: PartitionSpec | None, after: PartitionSpec) -> tuple[FieldChange, ...]:
    """Differences of the partition beside its queues, sorted by name."""
    return _changed(_partition_fields(before), _partition_fields(after))


def amounts_text(amounts: Limit | Resource | None) -> str:
    """Amounts as a document would write them, such as ``memory 1Gi, vcore 500m``; empty for none."""
    found = sorted(amounts.items()) if amounts is not None else ()
    return ", ".join(f"{name} {amount_text(name, amount)}" for name, amount in found)


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FieldChange, ...]:
    names = sorted(before.keys() | after.keys())
    pairs = ((name, before.get(name, ""), after.get(name, "")) for name in names)
    return tuple(FieldChange(name, cut(old), cut(new)) for name, old, new in pairs if old != new)


def _queue_fields(spec: QueueSpec | None) -> dict[str, str]:
    if spec is None:
        return {}
    return {
        "kind": "leaf" if spec.is_leaf else "parent",
        "max": amounts_text(spec.max),
        "guaranteed": amounts_text(spec.guaranteed),
        "maxapplications": str(spec.max_applications or ""),
        "submitacl": spec.submit_acl,
        "adminacl": spec.admin_acl,
        "limits": "; ".join(_limit_text(each) for each in spec.limits),
        "childtemplate": _template_text(spec.template),
        **{f"properties.{name}": value for name, value in spec.properties.items()},
    }


def _limit_text(limit: LimitSpec) -> str:
    named = [f"user {each}" for each in limit.users] + [f"group {each}" for each in limit.groups]
    most = [amounts_text(limit.max)] if limit.max is not None else []
    most += [f"{limit.max_applications} applications"] if limit.max_applications else []
    return f"{', '.join(named)}: {', '.join(most)}"


def _template_text(template: TemplateSpec | None) -> str:
    if template is None:
        return ""
    parts = {
        "max": amounts_text(template.max),
        "guaranteed": amounts_text(template.guaranteed),
        "maxapplications": str(template.max_applications or ""),
        **dict(sorted(template.properties.items())),
    }
    return "; ".join(f"{name}: {value}" for name, value in parts.items() if value)


def _partition_fields(spec: PartitionSpec | None) -> dict[str, str]:
    if spec is None:
        return {}
    weights = ", ".join(f"{name} {value:g}" for name, value in sorted(spec.node_sort.weights.items()))
    return {
        "placementrules": "; ".join(_rule_text(each) for each in spec.rules),
        "preemption.enabled": _switch(spec.preemption),
        "preemption.quotapreemptionenabled": _switch(spec.quota_preemption),
        "nodesortpolicy": f"{spec.node_sort.policy} {weights}".strip() if spec.node_sort.named else "",
        "usergroupresolver": spec.resolver,
    }


def _switch(value: bool) -> str:
    return "true" if value else "false"


def _rule_text(rule: RuleSpec) -> str:
    parts = [rule.kind, *([rule.value] if rule.value else []), *(["create"] if rule.create else [])]
    named = [
        *(f"user {each}" for each in rule.filter.users),
        *(f"group {each}" for each in rule.filter.groups),
    ]
    if named:
        parts.append(f"{'allow' if rule.filter.allow else 'deny'} {', '.join(named)}")
    return " ".join(parts) + (f" below ({_rule_text(rule.parent)})" if rule.parent is not None else "")
