"""Rules for placement rules and the node sort policy (CFG-28 to CFG-38, APPLY-4).

APPLY-4 refuses a document at the start as well as at a reload: an empty list of rules would refuse all users.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.ids import ROOT
from core.queues.placement.filters import GROUP_NAME, SPECIAL, USER_NAME
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.patterns import PatternError, name_pattern
from extender.queueconfig.problems import DocumentFinding, Location, shown
from extender.queueconfig.schema import NODE_POLICIES, PlacementRule, RuleFilter

KINDS = ("provided", "user", "tag", "fixed")
LARGE_PATTERN = 10_000
"""Cost of a regular expression with a counted repetition."""

CATEGORY = 64
"""Cost of a category of characters."""

MAX_PATTERNS = 64 * LARGE_PATTERN
"""Cost of all regular expressions of a partition: thousands of ordinary ones, or 64 large ones."""

MAX_PATH = 6_500
"""Characters of a fixed value. That is enough for a hundred levels of the longest names."""

_RULE_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9_]*", re.ASCII)
_PATH_PART = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}", re.ASCII)
_POLICIES = ("", *NODE_POLICIES)
_PREFIX = ROOT + "."

Chain = Sequence[tuple[Location, PlacementRule]]
"""A rule followed by its nested parent rules, each with its location."""


def placement(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check each placement rule, then the paths that fixed rules name (CFG-28 to CFG-36)."""
    chains = rule_chains(partition)
    patterns = _Patterns()
    for chain in chains:
        yield from _names_of_rules(chain)
        for at, rule in reversed(chain):
            if rule.filter is not None:
                yield from _filter(rule.filter, (*at, "filter"), patterns)
    for chain in chains:
        yield from _second_roots(chain)
    queues: dict[str, QueueNode] = {queue.path: queue for queue in partition.root.with_descendants()}
    for chain in chains:
        yield from _static_path(chain, queues)


def rule_chains(partition: PartitionNode) -> list[Chain]:
    """Every rule of a partition with its parents, in order."""
    at = (*partition.at, "placementrules")
    return [_chain(rule, (*at, place)) for place, rule in enumerate(partition.section.placementrules)]


def _chain(rule: PlacementRule, at: Location) -> Chain:
    found = [(at, rule)]
    while rule.parent is not None:
        at, rule = (*at, "parent"), rule.parent
        found.append((at, rule))
    return found


def _names_of_rules(chain: Chain) -> Iterator[DocumentFinding]:
    for at, rule in chain:
        if not _RULE_NAME.fullmatch(rule.name):
            message = f"{shown(rule.name)} cannot be the name of a rule; there are {', '.join(KINDS)}"
            yield DocumentFinding((*at, "name"), "CFG-28", message)


@dataclass(slots=True)
class _Patterns:
    """The regular expressions of a partition, with their costs."""

    #: Cost that further expressions may have. Negative once a partition has too many.
    left: int = MAX_PATTERNS
    #: Expressions that were counted.
    seen: set[str] = field(default_factory=set)

    def why_not(self, text: str) -> str:
        """Why an entry is no valid regular expression, or empty if it is one."""
        if not SPECIAL & set(text):
            return "it has none of ^ $ * + ? ( ) [ { } |"
        if text not in self.seen:
            self.left -= _cost(text)
            self.seen.add(text)
        if self.left < 0:
            return "of which this document has too many large ones"
        try:
            name_pattern(text)
        except PatternError as error:
            return str(error)
        return ""


def _cost(text: str) -> int:
    """Cost of compiling an expression. A category such as ``\\pL`` has hundreds of ranges."""
    return (LARGE_PATTERN if "{" in text else 2 * len(text)) + CATEGORY * text.lower().count("\\p")


def _filter(spec: RuleFilter, at: Location, patterns: _Patterns) -> Iterator[DocumentFinding]:
    if spec.type.lower() not in ("", "allow", "deny"):
        yield DocumentFinding(
            (*at, "type"), "CFG-29", f"{shown(spec.type)} is no type of filter; say allow or deny"
        )
    for key, names, pattern in (("users", spec.users, USER_NAME), ("groups", spec.groups, GROUP_NAME)):
        if len(names) == 1 and not pattern.fullmatch(names[0]):
            reason = patterns.why_not(names[0])
            if reason:
                message = f"{shown(names[0])} is neither a {key[:-1]} nor a regular expression, {reason}"
                yield DocumentFinding(
                    (*at, key, 0), "CFG-30", f"{message}; write names, or a pattern like ^dev-.*$"
                )


# -- paths of fixed rules ----------------------------------------------------------------------------------


def _fixed(chain: Chain) -> Chain:
    """The fixed rules at the inner end of a chain, innermost first (CFG-31)."""
    found = []
    for at, rule in reversed(chain):
        if rule.name != "fixed":
            break
        found.append((at, rule))
    return found


def _is_qualified(value: str) -> bool:
    """True for a path from the root. Unlike in YuniKorn, ``rootx`` is none (PL-4)."""
    return value == ROOT or value.startswith(_PREFIX)


def _second_roots(chain: Chain) -> Iterator[DocumentFinding]:
    for at, rule in _fixed(chain)[1:]:
        if _is_qualified(rule.value.lower()):
            message = f"{shown(rule.value)} begins at the root below another fixed rule; leave root out"
            yield DocumentFinding((*at, "value"), "CFG-31", message)


def _static_path(chain: Chain, queues: Mapping[str, QueueNode]) -> Iterator[DocumentFinding]:
    """Check the path that the fixed rules name against the tree of queues (CFG-32 to CFG-36)."""
    path, dynamic = static_path(chain)
    if not path:
        return
    at, rule = chain[0]
    nearest = nearest_queue(path, queues)
    if nearest.path != path:
        yield from _beyond_the_tree(path, nearest, rule, at)
    elif nearest.says_parent and not dynamic:
        yield DocumentFinding(at, "CFG-32", f"{shown(path)} is a parent queue; name one of its leaves")
    elif nearest.is_leaf and dynamic:
        message = f"{shown(path)} is a leaf, and the next rule names a queue below it; name a parent queue"
        yield DocumentFinding(at, "CFG-33", message)


def static_path(chain: Chain) -> tuple[str, bool]:
    """The path that the fixed rules of a chain name, or empty. True if other rules continue below it."""
    fixed = _fixed(chain)
    values = [rule.value.lower() for _, rule in fixed]
    if not values or any(map(_is_qualified, values[1:])):
        return "", False
    return ".".join(values if _is_qualified(values[0]) else (ROOT, *values)), len(fixed) < len(chain)


def nearest_queue(path: str, queues: Mapping[str, QueueNode]) -> QueueNode:
    """The last queue on a path that exists in the tree."""
    # The search begins at the root, since a path may have a million parts.
    nearest = queues[ROOT]
    while nearest.path != path:
        end = path.find(".", len(nearest.path) + 1)
        below = queues.get(path[: end if end >= 0 else len(path)])
        if below is None:
            break
        nearest = below
    return nearest


def _beyond_the_tree(
    path: str, nearest: QueueNode, rule: PlacementRule, at: Location
) -> Iterator[DocumentFinding]:
    if nearest.is_leaf:
        message = (
            f"{shown(path)} goes on below the leaf {shown(nearest.path)}; name the leaf, or make it a parent"
        )
        yield DocumentFinding(at, "CFG-35", message)
    elif not rule.create:
        yield DocumentFinding(at, "CFG-34", f"there is no queue {shown(path)}; define it or set create: true")


def node_sort(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check that the node sort policy is known (CFG-37) and that its weights are not negative (CFG-38)."""
    policy, at = partition.section.nodesortpolicy, (*partition.at, "nodesortpolicy")
    if policy.type not in _POLICIES:
        message = f"undefined policy: {shown(policy.type)[1:-1]}; use fair or binpacking"
        yield DocumentFinding((*at, "type"), "CFG-37", message)
    for name, weight in policy.resourceweights.items():
        if weight < 0:
            yield DocumentFinding(
                (*at, "resourceweights", name), "CFG-38", f"{weight:g} is negative; use 0 or more"
            )


# -- checked when applied ----------------------------------------------------------------------------------


def applied_rules(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check that each rule can be created (APPLY-4)."""
    for chain in rule_chains(partition):
        for at, rule in chain:
            yield from _made(rule, at)


def _made(rule: PlacementRule, at: Location) -> Iterator[DocumentFinding]:
    kind = rule.name.lower()
    if kind not in KINDS:
        # CFG-28 reports a name with other characters.
        if _RULE_NAME.fullmatch(rule.name):
            message = f"there is no rule {shown(rule.name)}; use one of {', '.join(KINDS)}"
            yield DocumentFinding((*at, "name"), "APPLY-4", message)
    elif kind == "tag" and not rule.value:
        yield DocumentFinding(
            (*at, "value"), "APPLY-4", "a tag rule needs a value; give a tag, such as namespace"
        )
    elif kind == "fixed":
        yield from _made_fixed(rule, at)


def _made_fixed(rule: PlacementRule, at: Location) -> Iterator[DocumentFinding]:
    if not rule.value:
        yield DocumentFinding(
            (*at, "value"), "APPLY-4", "a fixed rule needs a value; give the path of a queue"
        )
    elif len(rule.value) > MAX_PATH:
        message = f"a path of {len(rule.value)} characters; use at most {MAX_PATH}"
        yield DocumentFinding((*at, "value"), "APPLY-4", message)
    elif not all(_PATH_PART.fullmatch(part) for part in rule.value.split(".")):
        message = f"{shown(rule.value)} is not the path of a queue; use names with dots between them"
        yield DocumentFinding((*at, "value"), "APPLY-4", message)
    elif _is_qualified(rule.value.lower()) and rule.parent is not None:
        message = f"{shown(rule.value)} is a whole path and takes no parent rule; leave parent out"
        yield DocumentFinding((*at, "parent"), "APPLY-4", message)
