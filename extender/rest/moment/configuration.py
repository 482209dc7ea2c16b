"""The configuration in force as JSON and as YAML, one queue of the document in each step (REST-27).

The document is a frozen value, so all pieces show the same one.
"""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import yaml

from extender.queueconfig import schema
from extender.rest.facts import InForce
from extender.rest.model.config import Config, ConfigPartition, ConfigQueue
from extender.rest.moment.writing import PLACE, inner_list
from extender.rest.projection.config import config_head, members_in_yaml, partition_section, queue_section

_ENCODE = msgspec.json.Encoder().encode

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_LINE = 2**31 - 1
"""Width of a line in YAML. No text is folded."""


@dataclass(frozen=True, slots=True)
class Part:
    """Part of the document. ``head()``: the part without its queues, made when it is written."""

    head: Callable[[], ConfigPartition | ConfigQueue]
    queues: Sequence[schema.QueueSection]

    def below(self) -> Iterator["Part"]:
        """Yield the queues of this part."""
        return (_queue(each) for each in self.queues)


def _partitions(config: InForce) -> list[Part]:
    document = config.document
    return [_partition(each) for each in document.partitions] if document is not None else []


def _partition(section: schema.PartitionSection) -> Part:
    return Part(lambda: partition_section(section), section.queues or ())


def _queue(section: schema.QueueSection) -> Part:
    return Part(lambda: queue_section(section), section.queues)


def config_as_json(config: InForce) -> Iterator[bytes]:
    """Yield the answer as JSON."""
    partitions, head = _partitions(config), config_head(config)
    if partitions:
        head = msgspec.structs.replace(head, partitions=(PLACE,))
    before, _, after = _ENCODE(head).partition(b"[\0]")
    yield before
    if partitions:
        yield from inner_list(map(_as_json, partitions))
    yield after + b"\n"


def _as_json(part: Part) -> Iterator[bytes]:
    head: Any = part.head()
    if not part.queues:
        yield _ENCODE(head)
        return
    before, _, after = _ENCODE(msgspec.structs.replace(head, queues=(PLACE,))).partition(b"[\0]")
    yield before
    yield from inner_list(map(_as_json, part.below()))
    yield after


def config_as_yaml(config: InForce) -> Iterator[bytes]:
    """Yield the answer as YAML, with names of members in lower case and without empty structures."""
    # A time is no part of a document that can be applied again.
    partitions, head = _partitions(config), msgspec.structs.replace(config_head(config), applied_time=0)
    if partitions:
        yield b"partitions:\n"
    for each in partitions:
        yield from _as_yaml(each, "")
    yield _yaml(head).encode()


def _as_yaml(part: Part, margin: str) -> Iterator[bytes]:
    """Yield an element of a list. ``margin``: the white space before its dash."""
    head = _yaml(part.head(), leaves_out=("queues",) if part.queues else ())
    inner = f"{margin}  "
    yield f"{margin}- {textwrap.indent(head, inner).removeprefix(inner)}".encode()
    if not part.queues:
        return
    yield f"{inner}queues:\n".encode()
    for each in part.below():
        yield from _as_yaml(each, inner)


def _yaml(head: Config | ConfigPartition | ConfigQueue, *, leaves_out: tuple[str, ...] = ()) -> str:
    found = {name: each for name, each in members_in_yaml(head).items() if name not in leaves_out}
    text: str = yaml.dump(found, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=_LINE)
    return text
