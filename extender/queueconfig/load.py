"""Loading of a queue document: its queues as core values, or all of its errors."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from core.queues.spec import PartitionSpec
from extender.queueconfig.hierarchy import DEFAULT_PARTITION, PartitionNode, partition_from
from extender.queueconfig.parsing import Parsed, parse
from extender.queueconfig.problems import ConfigError, DocumentFinding, Problem, reported
from extender.queueconfig.rules.access_rules import applied_access
from extender.queueconfig.rules.limit_rules import limit_applications, limit_resources, limit_structure
from extender.queueconfig.rules.placement_rules import applied_rules, node_sort, placement
from extender.queueconfig.rules.resource_rules import resources, templates
from extender.queueconfig.rules.structure_rules import (
    max_applications,
    partition_name,
    queues_one_by_one,
    structure,
)
from extender.queueconfig.schema import QueuesDocument
from extender.queueconfig.translation import partition_spec_from

DEFAULT_DOCUMENT = """\
partitions:
  - name: default
    placementrules:
      - name: tag
        value: namespace
        create: true
    queues:
      - name: root
        submitacl: "*"
"""
"""YuniKorn's built-in document, for a missing or empty one (SRC-8)."""

RULE_GROUPS = (
    structure,
    limit_structure,
    queues_one_by_one,
    resources,
    placement,
    node_sort,
    max_applications,
    limit_resources,
    limit_applications,
)
"""Groups of rules in the order of CFG 2.2, so that the first error is the one that YuniKorn reports."""

APPLIED_GROUPS = (applied_rules, templates, applied_access)
"""Groups of rules in the order of APPLY-5. They come last, since YuniKorn checks them later."""


class Loaded(NamedTuple):
    """A valid document."""

    #: Queues of partition ``default``.
    partition: PartitionSpec
    #: Document as written.
    document: QueuesDocument


def load_document(text: str | bytes, *, zero_blocks: bool = False) -> PartitionSpec:
    """Load the queues of partition ``default`` (CFG-4). Other partitions are checked and dropped.

    Arguments, cost and errors: as for `load`.
    """
    return load(text, zero_blocks=zero_blocks).partition


def load(text: str | bytes, *, zero_blocks: bool = False) -> Loaded:
    """Load a document.

    An empty text is valid and has no queues (CFG-2).
    ``zero_blocks``: see `partition_spec_from`.
    Cost: about 1 s for the largest document that `extender.queueconfig.document` allows.
    Raises `ConfigError` with all errors, and nothing else for any text.
    """
    parsed = parse(text)
    partitions = _partitions(parsed)
    problems = _problems(parsed, partitions)
    if problems:
        raise ConfigError(problems)
    used = (one for one in partitions if one.name == DEFAULT_PARTITION)
    spec = next(
        (partition_spec_from(one, zero_blocks=zero_blocks) for one in used),
        PartitionSpec(DEFAULT_PARTITION, ()),
    )
    return Loaded(spec, parsed.document)


def check_document(text: str | bytes) -> tuple[Problem, ...]:
    """All errors of a document, in YuniKorn's order of checks. Never raises."""
    try:
        parsed = parse(text)
    except ConfigError as error:
        return error.problems
    return _problems(parsed, _partitions(parsed))


def _partitions(parsed: Parsed) -> tuple[PartitionNode, ...]:
    sections = parsed.document.partitions
    return tuple(partition_from(section, ("partitions", place)) for place, section in enumerate(sections))


def _problems(parsed: Parsed, partitions: Sequence[PartitionNode]) -> tuple[Problem, ...]:
    return reported(chain(parsed.problems, parsed.located(_findings(partitions))))


def _findings(partitions: Sequence[PartitionNode]) -> Iterator[DocumentFinding]:
    names: set[str] = set()
    for partition in partitions:
        yield from partition_name(partition, names)
        for group in RULE_GROUPS:
            yield from group(partition)
    for partition in partitions:
        for group in APPLIED_GROUPS:
            yield from group(partition)
