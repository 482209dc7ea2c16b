"""Placement rules and the node sort policy: CFG-28 to CFG-38, and what shows only when they are applied.

APPLY-4 is a refusal at the start as well as at a reload: an empty list of rules would refuse everybody.
"""

import re
from collections.abc import Iterator

from core.ids import RECOVERY_QUEUE, ROOT
from core.queues.filters import GROUP_NAME, SPECIAL, USER_NAME
from core.queues.pattern import PatternError, compiled
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import Finding, Location, shown
from extender.queueconfig.schema import PlacementRule, RuleFilter

KINDS = ("provided", "user", "tag", "fixed")
_RULE_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9_]*", re.ASCII)
_QUEUE_NAME = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}", re.ASCII)
_POLICIES = ("", "fair", "binpacking")
_PREFIX = ROOT + "."


def placement(partition: PartitionNode) -> Iterator[Finding]:
    """Every rule by itself, and where a rule of fixed parts leads (CFG-28 to CFG-36)."""
    queues: dict[str, QueueNode] = {queue.path: queue for queue in partition.root.walk()}
    for place, rule in enumerate(partition.section.placementrules):
        at = (*partition.at, "placementrules", place)
        for where, each in _with_parents(rule, at):
            if not _RULE_NAME.fullmatch(each.name):
                message = f"{shown(each.name)} cannot be the name of a rule; there are {', '.join(KINDS)}"
                yield Finding((*where, "name"), "CFG-28", message)
            if each.filter is not None:
                yield from _filter(each.filter, (*where, "filter"))
        yield from _static_path(rule, at, queues)


def _with_parents(rule: PlacementRule, at: Location) -> Iterator[tuple[Location, PlacementRule]]:
    each: PlacementRule | None = rule
    while each is not None:
        yield at, each
        at, each = (*at, "parent"), each.parent


def _filter(spec: RuleFilter, at: Location) -> Iterator[Finding]:
    if spec.type.lower() not in ("", "allow", "deny"):
        yield Finding((*at, "type"), "CFG-29", f"{shown(spec.type)} must be allow or deny")
    for key, names, pattern in (("users", spec.users, USER_NAME), ("groups", spec.groups, GROUP_NAME)):
        if len(names) == 1 and not pattern.fullmatch(names[0]):
            reason = _not_a_pattern(names[0])
            if reason:
                message = f"{shown(names[0])} is neither a name nor a regular expression: {reason}"
                yield Finding((*at, key, 0), "CFG-30", message)


def _not_a_pattern(text: str) -> str:
    """Why a single entry is no regular expression, empty when it is one."""
    if not SPECIAL & set(text):
        return "it has none of ^ $ * + ? ( ) [ { } |"
    try:
        compiled(text)
    except PatternError as error:
        return str(error)
    return ""


def _static_path(rule: PlacementRule, at: Location, queues: dict[str, QueueNode]) -> Iterator[Finding]:
    """The path of the fixed rules from the innermost parent on; a rule of another kind ends it."""
    chain = [each for _, each in _with_parents(rule, at)][::-1]
    if chain[0].name != "fixed":
        return
    path, dynamic = "", False
    for each in chain:
        if each.name != "fixed":
            dynamic = True
            break
        value = each.value.lower()
        qualified = value == ROOT or value.startswith(_PREFIX)
        if path and qualified:
            message = f"{shown(each.value)} begins at the root below another fixed rule; leave root out"
            yield Finding((*at, "value"), "CFG-31", message)
            return
        path = value if qualified else f"{path or ROOT}.{value}"
    yield from _leads_to(path, rule, at, queues, dynamic=dynamic)


def _leads_to(
    path: str, rule: PlacementRule, at: Location, queues: dict[str, QueueNode], *, dynamic: bool
) -> Iterator[Finding]:
    queue = queues.get(path)
    if queue is not None:
        if not queue.is_leaf and not dynamic:
            yield Finding(at, "CFG-32", f"{shown(path)} is a parent queue; name one of its leaves")
        elif queue.is_leaf and dynamic:
            yield Finding(at, "CFG-33", f"{shown(path)} is a leaf; nothing can be made below it")
        return
    above = path
    while above not in queues and "." in above:
        above = above.rpartition(".")[0]
    if above in queues and queues[above].is_leaf:
        yield Finding(at, "CFG-35", f"{shown(path)} goes on below the leaf {shown(above)}")
    elif not rule.create:
        yield Finding(at, "CFG-34", f"there is no queue {shown(path)}; define it or set create: true")


def node_sort(partition: PartitionNode) -> Iterator[Finding]:
    """The policy is known (CFG-37), its weights are not negative (CFG-38)."""
    policy, at = partition.section.nodesortpolicy, (*partition.at, "nodesortpolicy")
    if policy.type not in _POLICIES:
        yield Finding(
            (*at, "type"), "CFG-37", f"undefined policy: {shown(policy.type)[1:-1]}; use fair or binpacking"
        )
    for name, weight in policy.resourceweights.items():
        if weight < 0:
            yield Finding((*at, "resourceweights", name), "CFG-38", f"{weight:g} is negative; use 0 or more")


def applying(partition: PartitionNode) -> Iterator[Finding]:
    """What YuniKorn finds only when it applies a document (APPLY-2 to APPLY-4)."""
    for queue in partition.root.walk():
        for key, text in (("adminacl", queue.section.adminacl), ("submitacl", queue.section.submitacl)):
            if len(text.split(" ")) > 2:
                message = f"{shown(text)} has more than one blank; write users, one blank, groups"
                yield Finding((*queue.at, key), "APPLY-2", message)
    for place, rule in enumerate(partition.section.placementrules):
        for where, each in _with_parents(rule, (*partition.at, "placementrules", place)):
            yield from _constructed(each, where)


def _constructed(rule: PlacementRule, at: Location) -> Iterator[Finding]:
    kind = rule.name.lower()
    if kind not in KINDS:
        yield Finding((*at, "name"), "APPLY-4", f"no rule {shown(rule.name)}; there are {', '.join(KINDS)}")
    elif kind in ("fixed", "tag") and not rule.value:
        yield Finding((*at, "value"), "APPLY-4", f"a {kind} rule needs a value")
    elif kind == "fixed":
        value = rule.value.lower()
        qualified = value == ROOT or value.startswith(_PREFIX)
        if not all(_QUEUE_NAME.fullmatch(part) for part in value.split(".")) or value == RECOVERY_QUEUE:
            yield Finding((*at, "value"), "APPLY-4", f"{shown(rule.value)} is not the name of a queue")
        elif qualified and rule.parent is not None:
            yield Finding(
                (*at, "parent"), "APPLY-4", f"{shown(rule.value)} is a whole path: leave parent out"
            )
