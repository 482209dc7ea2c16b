"""Answers about the placement rules in force (REST-30)."""

from core.ids import RECOVERY_QUEUE
from core.queues.placement.rules import IMPLICIT
from core.queues.spec import FilterSpec, RuleSpec
from extender.rest.facts import Facts
from extender.rest.model.placement import Rule, RuleFilter

RECOVERY = Rule(name="recovery", parameters={"queue": str(RECOVERY_QUEUE)})


def rules_in_force(facts: Facts) -> tuple[Rule, ...]:
    """Return the rules as they are tried. The last is the recovery queue, which takes forced pods (PL-10)."""
    partition = facts.config.partition
    rules = (partition.rules if partition is not None else ()) or IMPLICIT
    return (*(rule_from(each) for each in rules), RECOVERY)


def rule_from(rule: RuleSpec) -> Rule:
    """Build the answer for a rule and for the rule of its parent."""
    return Rule(
        name=rule.kind,
        parameters=_parameters(rule),
        filter=_filter(rule.filter),
        parent_rule=rule_from(rule.parent) if rule.parent is not None else None,
    )


def _parameters(rule: RuleSpec) -> dict[str, str]:
    shown = {"create": _switch(rule.create)}
    if rule.kind == "tag":
        shown["tagName"] = rule.value
    elif rule.kind == "fixed":
        shown |= {"queue": rule.value, "qualified": _switch(rule.value.lower().startswith("root."))}
    return shown


def _switch(value: bool) -> str:
    return "true" if value else "false"


def _filter(spec: FilterSpec) -> RuleFilter | None:
    """Build the answer for a filter; None for one that accepts everybody."""
    if not (spec.users or spec.groups):
        return None
    by_user, by_group = spec.user_pattern is not None, spec.group_pattern is not None
    return RuleFilter(
        type="allow" if spec.allow else "deny",
        user_list=() if by_user else tuple(sorted(spec.users)),
        group_list=() if by_group else tuple(sorted(spec.groups)),
        user_exp="".join(spec.users) if by_user else "",
        group_exp="".join(spec.groups) if by_group else "",
    )
