"""Warnings about valid parts of a document with an unexpected effect, for ``paddock check`` only.

This module has the order of the groups, and the warnings about a queue by itself. `property_surprises` has
those about properties, and `access_surprises` those about access lists and filters. The partitions may have
errors, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from core.errors import QuantityError
from core.quantity import queue_amount
from extender.queueconfig.hierarchy import DEFAULT_PARTITION, PartitionNode, partition_from
from extender.queueconfig.parsing import parse
from extender.queueconfig.problems import MAX_REPORTED, ConfigError, DocumentFinding, Location, Problem, shown
from extender.queueconfig.surprises.access_surprises import (
    acl_names,
    closed_queues,
    filters,
    names_without_actions,
)
from extender.queueconfig.surprises.amount_surprises import amounts
from extender.queueconfig.surprises.property_surprises import (
    execution_timeouts,
    not_taken_over,
    offsets,
    properties,
)
from extender.queueconfig.surprises.rule_surprises import rules

RESOLVERS = ("", "os")

Group = Callable[[PartitionNode], Iterable[DocumentFinding]]
"""Function that finds the surprises of one kind."""


def warnings_of(text: str | bytes, *, acts_by_acl: bool = False) -> tuple[Problem, ...]:
    """Warnings about a document, sorted by line. None if it cannot be parsed.

    ``acts_by_acl``: True if admin ACLs give the right to actions (ACT-2).
    """
    try:
        parsed = parse(text)
    except ConfigError:
        return ()
    sections = parsed.document.partitions
    partitions = [partition_from(section, ("partitions", place)) for place, section in enumerate(sections)]
    groups = (*GROUPS, names_without_actions) if acts_by_acl else GROUPS
    found = parsed.located(tuple(islice(surprises(partitions, groups), MAX_REPORTED + 1)))
    return bounded(sorted(found, key=lambda problem: problem.line or 0))


def bounded(warnings: Iterable[Problem]) -> tuple[Problem, ...]:
    """The first `MAX_REPORTED` warnings. If there are more, a last one says so."""
    first = tuple(islice(warnings, MAX_REPORTED + 1))
    if len(first) <= MAX_REPORTED:
        return first
    message = f"more than {MAX_REPORTED} warnings, the others are not listed"
    return (*first[:MAX_REPORTED], Problem("", first[MAX_REPORTED - 1].rule, message))


def surprises(partitions: Sequence[PartitionNode], groups: Sequence[Group]) -> Iterator[DocumentFinding]:
    """Find surprises in the queues of partition ``default`` only, since no other is used (CFG-4)."""
    names = {partition.name for partition in partitions}
    if DEFAULT_PARTITION not in names:
        message = "there is no partition default, so no queue: every application will be refused; add one"
        yield DocumentFinding(("partitions",), "CFG-4", message)
    for partition in partitions:
        if partition.name != DEFAULT_PARTITION:
            message = f"partition {shown(partition.name)} is checked and not used; only default is"
            yield DocumentFinding((*partition.at, "name"), "CFG-4", message)
        else:
            for group in groups:
                yield from group(partition)


def shape(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find keys without effect due to the queue's place in the tree (Q-1, TPL-2)."""
    for queue in partition.root.with_descendants():
        section = queue.section
        if "parent" in section.model_fields_set and not section.parent and not queue.is_leaf:
            why = "the root is always a parent" if queue.is_root else "a queue with children is a parent"
            yield DocumentFinding((*queue.at, "parent"), "Q-1", f"false has no effect: {why}; remove the key")
        if section.childtemplate is not None and queue.is_leaf:
            message = "has no effect on a leaf: a template is for dynamic queues below; move it to a parent"
            yield DocumentFinding((*queue.at, "childtemplate"), "TPL-2", message)


def zero_max(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find a max of only zeros, which counts as no max (Q-2)."""
    for queue in partition.root.with_descendants():
        section = queue.section
        if not queue.is_root:
            yield from _zero(section.resources.max, (*queue.at, "resources", "max"))
        if section.childtemplate is not None:
            yield from _zero(
                section.childtemplate.resources.max, (*queue.at, "childtemplate", "resources", "max")
            )


def _zero(texts: Mapping[str, str] | None, at: Location) -> Iterator[DocumentFinding]:
    if texts and all(_is_zero(name, text) for name, text in texts.items()):
        message = (
            "all values are zero, which means no limit at all; leave max out, or, to admit nothing, "
            "give one value above zero beside the zeros"
        )
        yield DocumentFinding(at, "Q-2", message)


def _is_zero(name: str, text: str) -> bool:
    try:
        return queue_amount(name, text) == 0
    except QuantityError:
        return False


def resolver(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find unknown resolvers, which count as the default, where a user's group is the user's name (ID-4)."""
    kind = partition.section.usergroupresolver.type
    if kind not in RESOLVERS:
        message = (
            f"resolver {shown(kind)} is not here, so a user's only group is his own name; use os or none"
        )
        yield DocumentFinding((*partition.at, "usergroupresolver", "type"), "ID-4", message)


GROUPS = (
    shape,
    zero_max,
    amounts,
    properties,
    offsets,
    execution_timeouts,
    not_taken_over,
    acl_names,
    closed_queues,
    filters,
    rules,
    resolver,
)
