"""Surprises in access lists and filters: ineffective names, and users admitted or excluded by mistake."""

import re
from collections.abc import Iterator, Sequence

from core.ids import QueuePath
from core.queues.placement.filters import GROUP_NAME, SPECIAL, USER_NAME
from core.queues.users.access import ANYBODY, acl_from
from core.white_space import trimmed
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, Location, shown
from extender.queueconfig.schema import PlacementRule, QueueSection, RuleFilter

_SHOWN_NAMES = 3
_GLOB = re.compile(r"[a-zA-Z0-9:#/_.@-]*[a-zA-Z0-9:#/_@-][*?][a-zA-Z0-9:#/_.@*?-]*", re.ASCII)
"""A text with ``*`` or ``?`` after a letter, which looks like a file pattern."""


# -- access lists --------------------------------------------------------------------------------------------


def acl_names(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find names that an access list ignores since they are invalid (ACL-2, ACL-3)."""
    for queue in partition.root.with_descendants():
        for key, text in (("submitacl", queue.section.submitacl), ("adminacl", queue.section.adminacl)):
            if text and _is_usable(text):
                yield from _dropped_names(text, (*queue.at, key))


def _is_usable(text: str) -> bool:
    """True for a valid access list. Others are errors (CFG-12, APPLY-2)."""
    return len(text.split(" ")) <= 2


def _dropped_names(text: str, at: Location) -> Iterator[DocumentFinding]:
    acl = acl_from(text)
    users, _, groups = text.partition(" ")
    if acl.everybody:
        return
    for kind, listed, counted in (("users", users, acl.users), ("groups", groups, acl.groups)):
        dropped = [name for name in listed.split(",") if name and name not in counted]
        if dropped:
            message = (
                f"{_some(dropped)} cannot be {kind} of an access list and let nobody in; {_instead(kind)}"
            )
            yield DocumentFinding(at, "ACL-3", message)


def _instead(kind: str) -> str:
    if kind == "users":
        return "use letters, digits and _ . @ - after a letter or _, a group, or * alone for everybody"
    return "use letters, digits, _ and - after a letter or _, or * alone for everybody"


def names_without_actions(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find wildcards and names in admin ACLs that give no action (ACT-2). For ``paddock.admin.acl: true``."""
    for queue in partition.root.with_descendants():
        text = queue.section.adminacl
        if text and _is_usable(text):
            yield from _without_actions(text, (*queue.at, "adminacl"))


def _without_actions(text: str, at: Location) -> Iterator[DocumentFinding]:
    acl = acl_from(text)
    if acl.everybody:
        message = "* gives nobody an action; name users or groups, or give the verb administer by RBAC"
        yield DocumentFinding(at, "ACT-2", message)
    users, _, groups = text.partition(" ")
    for listed, counted in ((users, acl.users), (groups, acl.groups)):
        dropped = [name for name in listed.split(",") if trimmed(name) not in counted | {"", ANYBODY}]
        if dropped:
            message = f"{_some(dropped)} cannot act by an access list; give the verb administer by RBAC"
            yield DocumentFinding(at, "ACT-2", message)


def _some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    named = ", ".join(shown(name) for name in names[:_SHOWN_NAMES])
    return f"{named} and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else named


def closed_queues(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find queues that no user may submit to, on the queue, above or below (ACL-5, CFG-6)."""
    admitting: set[QueuePath] = set()
    for queue in reversed(list(partition.root.with_descendants())):
        if _admits(queue.section) or any(child.path in admitting for child in queue.children):
            admitting.add(queue.path)
    yield from _closed(partition, partition.root, admitting)


def _admits(section: QueueSection) -> bool:
    """True if an access list of the queue itself admits a user."""
    lists = [acl_from(text) for text in (section.submitacl, section.adminacl) if text and _is_usable(text)]
    return any(acl.everybody or acl.users or acl.groups for acl in lists)


def _closed(
    partition: PartitionNode, queue: QueueNode, admitting: set[QueuePath]
) -> Iterator[DocumentFinding]:
    if queue.path not in admitting:
        yield _closed_finding(partition, queue)
    elif not _admits(queue.section):
        for child in queue.children:
            yield from _closed(partition, child, admitting)


def _closed_finding(partition: PartitionNode, queue: QueueNode) -> DocumentFinding:
    if queue.at == partition.at:
        message = (
            "the root that is put above these queues has no submitacl, and none of them has one: nobody may "
            'submit anywhere; name a queue root with submitacl: "*", or give the queues lists'
        )
        return DocumentFinding((*queue.at, "queues"), "CFG-6", message)
    message = f"no access list up to the root or below lets anybody into {shown(queue.path)}; give submitacl"
    return DocumentFinding((*queue.at, "submitacl"), "ACL-5", message)


# -- filters of placement rules ------------------------------------------------------------------------------


def filters(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find filters that match more or fewer names than expected (PL-5)."""
    for place, rule in enumerate(partition.section.placementrules):
        at: Location = (*partition.at, "placementrules", place)
        each: PlacementRule | None = rule
        while each is not None:
            if each.filter is not None:
                yield from _filter(each.filter, (*at, "filter"))
            at, each = (*at, "parent"), each.parent


def _filter(spec: RuleFilter, at: Location) -> Iterator[DocumentFinding]:
    if spec.type.lower() == "deny":
        if spec.type != "deny":
            message = (
                f"{shown(spec.type)} denies here and allows in YuniKorn, which compares exactly; say deny"
            )
            yield DocumentFinding((*at, "type"), "PL-5", message)
        if not (spec.users or spec.groups):
            yield DocumentFinding(
                at, "PL-5", "denies everybody, so the rule places nothing; name users or groups"
            )
    for key, names, valid in (("users", spec.users, USER_NAME), ("groups", spec.groups, GROUP_NAME)):
        if len(names) == 1:
            yield from _single(names[0], valid, (*at, key, 0))
        else:
            yield from _several(names, valid, (*at, key))


def _several(names: Sequence[str], valid: re.Pattern[str], at: Location) -> Iterator[DocumentFinding]:
    for place, name in enumerate(names):
        if not valid.fullmatch(name):
            why = "regular expressions stand alone" if SPECIAL & set(name) else "it is no name"
            message = f"{shown(name)} is dropped from a list of several: {why}"
            yield DocumentFinding((*at, place), "PL-5", message)


def _single(name: str, valid: re.Pattern[str], at: Location) -> Iterator[DocumentFinding]:
    if not SPECIAL & set(name):
        return
    if valid.fullmatch(name):
        message = (
            f"{shown(name)} is a regular expression when it stands alone: it matches every name that ends "
            f"in {shown(name[:-1])}, and not this one; write {shown(f'^{name[:-1]}[$]$')}"
        )
        yield DocumentFinding(at, "PL-5", message)
    elif _GLOB.fullmatch(name):
        message = (
            f"{shown(name)} is a regular expression and matches anywhere in a name, unlike a file pattern; "
            f"perhaps {shown(f'^{_as_expression(name)}$')} is meant"
        )
        yield DocumentFinding(at, "PL-5", message)


def _as_expression(pattern: str) -> str:
    return pattern.replace(".", "[.]").replace("*", ".*").replace("?", ".")
