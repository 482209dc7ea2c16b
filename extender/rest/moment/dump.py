"""State dump: all answers of the interface, of one moment and in one object (REST-14)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from core.ledger.view import LedgerView
from extender.rest.facts import PARTITION, Facts
from extender.rest.memory.samples import Samples
from extender.rest.model.dump import EventStream, PlacementRules
from extender.rest.moment import trees, writing
from extender.rest.moment.configuration import config_as_json
from extender.rest.moment.moment import Taking
from extender.rest.moment.stored import StoredRows
from extender.rest.projection.partitions import cluster_from
from extender.rest.projection.placement import rules_in_force
from extender.rest.projection.units import nanoseconds

_ENCODE = msgspec.json.Encoder().encode


def dump(
    facts: Facts,
    stored: StoredRows,
    samples: Samples,
    streams: Sequence[EventStream],
    *,
    now: float,
    log_level: str,
) -> Iterator[bytes]:
    """Yield the dump: amounts, counts and names. No other part of a pod's specification is included."""
    taking = Taking(facts, stored)
    yield from taking
    # No other event can occur between the moment and this line.
    counts = ledger_counts(facts.view)
    moment = taking.moment
    small: dict[str, Callable[[], Any]] = {
        "timestamp": lambda: nanoseconds(now),
        "clusterInfo": lambda: (cluster_from(facts),),
        "placementRules": lambda: (PlacementRules(partition=PARTITION, rules=rules_in_force(facts)),),
        "appHistory": samples.applications,
        "containerHistory": samples.containers,
        "eventStreams": lambda: tuple(streams),
        "logLevel": lambda: log_level,
        "rmDiagnostics": lambda: {"paddock": counts},
    }
    before = b"{"
    for name in sorted(small):
        yield before + _ENCODE(name) + b":" + _ENCODE(small[name]())
        before = b","
    yield b',"config":'
    yield from config_as_json(facts.config)
    yield b',"partitions":'
    yield from writing.written_list([writing.partition(moment)])
    yield b',"queues":'
    yield from writing.written_list([trees.queue_tree(moment)])
    yield b',"applications":'
    yield from writing.every_application(moment)
    yield b',"nodes":[{"partitionName":' + _ENCODE(PARTITION) + b',"nodesInfo":'
    yield from writing.all_nodes(moment)
    yield b"}]}\n"


def ledger_counts(view: LedgerView) -> Mapping[str, int]:
    """Return the numbers of objects in the ledger."""
    return {
        "nodes": len(view.nodes),
        "pendingPods": len(view.waiting),
        "queues": len(view.tree),
        "reservedNodes": len(view.reserved_nodes),
    }
