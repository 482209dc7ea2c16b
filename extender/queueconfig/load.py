"""A queue document to the queues core knows, or every reason why not."""

from collections.abc import Iterator, Sequence
from itertools import chain

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
"""What stands in for a document that is missing or empty (SRC-8)."""

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
"""In the order of CFG 2.2, so that the first problem is the one YuniKorn reports."""

APPLIED_GROUPS = (applied_rules, templates, applied_access)
"""In the order of APPLY-5. They come after the others, as YuniKorn finds them later."""


def load_document(text: str | bytes, *, zero_blocks: bool = False) -> PartitionSpec:
    """The queues of partition ``default`` (CFG-4); the other partitions are checked and dropped.

    An empty text has no partitions and is valid (CFG-2): the spec then has no queues. Cost: about 1 s for
    the largest document allowed, see `extender.queueconfig.document`.
    ``zero_blocks``: see `partition_spec_from`.
    Raises `ConfigError` with every problem found; whatever the text holds, nothing else is raised.
    """
    parsed = parse(text)
    partitions = _partitions(parsed)
    problems = _problems(parsed, partitions)
    if problems:
        raise ConfigError(problems)
    used = (one for one in partitions if one.name == DEFAULT_PARTITION)
    return next(
        (partition_spec_from(one, zero_blocks=zero_blocks) for one in used),
        PartitionSpec(DEFAULT_PARTITION, ()),
    )


def check_document(text: str | bytes) -> tuple[Problem, ...]:
    """Every problem of a document, in YuniKorn's order of checks; none when it loads. Never raises."""
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
