"""State dump: everything that the interface answers, at one moment, as one object (REST-14)."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from core.ledger.view import LedgerView
from extender.rest.facts import PARTITION, Facts
from extender.rest.memory.samples import Samples
from extender.rest.model.dump import EventStream, PlacementRules
from extender.rest.moment import writing
from extender.rest.moment.moment import Taking
from extender.rest.moment.stored import StoredRows
from extender.rest.projection.config import config_from
from extender.rest.projection.partitions import cluster_from, partition_from
from extender.rest.projection.placement import rules_in_force
from extender.rest.projection.queues import queue_tree
from extender.rest.projection.units import nanoseconds

_ENCODE = msgspec.json.Encoder().encode


def dump(
    facts: Facts,
    stored: StoredRows,
    samples: Samples,
    streams: Sequence[EventStream],
    *,
    now: float,
) -> Iterator[bytes]:
    """Pieces of the dump: amounts, counts and names. No other part of a pod's specification is included."""
    taking = Taking(facts, stored)
    yield from taking
    # No step separates these from the moment, so they belong to it, too.
    small = {
        "timestamp": nanoseconds(now),
        "partitions": (partition_from(facts),),
        "clusterInfo": (cluster_from(facts),),
        "queues": (queue_tree(facts),),
        "placementRules": (PlacementRules(partition=PARTITION, rules=rules_in_force(facts)),),
        "config": config_from(facts.config),
        "appHistory": samples.applications(),
        "containerHistory": samples.containers(),
        "eventStreams": tuple(streams),
        "rmDiagnostics": {"paddock": ledger_counts(facts.view)},
    }
    before = b"{"
    for name in sorted(small):
        yield before + _ENCODE(name) + b":" + _ENCODE(small[name])
        before = b","
    moment = taking.moment
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
