"""A recording as plain data: what ``--json`` prints. The same recording gives the same bytes.

Keys have a fixed order. Amounts and the fields of a pod are sorted by name. Lists are in the order recorded.
Times are milliseconds from the start. Amounts are millicores for ``vcore`` and base units otherwise; null
means none.
"""

import json
from collections.abc import Mapping
from typing import Any

from extender.simulator.report.recording import (
    Amounts,
    Difference,
    Happening,
    NodeHistory,
    QueueHistory,
    QueueSample,
    Recording,
    Stay,
)
from extender.simulator.report.timeline import totals_of

Data = dict[str, Any]


def json_of(recording: Recording) -> str:
    """`data_of` as text: ASCII, indented by two blanks, with a line end."""
    return json.dumps(data_of(recording), indent=2) + "\n"


def data_of(recording: Recording) -> Data:
    """Everything that a run left behind. Readers must ignore members that they do not know."""
    totals = totals_of(recording)
    return {
        "apiVersion": "paddock.dev/v1",
        "kind": "Recording",
        "scenario": {"name": recording.name, "file": recording.file},
        "end": recording.end,
        "checks": recording.checks,
        "attempts": recording.attempts,
        "totals": {
            "pods": totals.pods,
            "placed": totals.placed,
            "waiting": totals.waiting,
            "evicted": totals.evicted,
            "refusals": totals.refusals,
        },
        "differences": [data_of_difference(each) for each in recording.differences],
        "timeline": [_happening(each) for each in recording.timeline],
        "queues": [_queue(each) for each in recording.queues],
        "nodes": [_node(each) for each in recording.nodes],
        "pods": [{"name": name, **_sorted(pod)} for name, pod in recording.pods.items()],
    }


def _sorted(values: Mapping[str, Any]) -> Data:
    return dict(sorted(values.items()))


def _bounds(amounts: Amounts | None) -> Data | None:
    return None if amounts is None else _sorted(amounts)


def _happening(entry: Happening) -> Data:
    return {
        "at": entry.at,
        "kind": entry.kind,
        "pod": entry.pod,
        "queue": entry.queue,
        "node": entry.node,
        "what": entry.what,
        "code": entry.code,
        "why": entry.why,
    }


def _queue(history: QueueHistory) -> Data:
    return {
        "path": history.path,
        "isLeaf": history.is_leaf,
        "removed": history.removed,
        "final": _sample(history.samples[-1]) if history.samples else None,
        "samples": [_sample(each) for each in history.samples],
    }


def _sample(sample: QueueSample) -> Data:
    return {
        "at": sample.at,
        "used": _sorted(sample.used),
        "guaranteed": _bounds(sample.guaranteed),
        "max": _bounds(sample.max),
        "pending": _sorted(sample.pending),
        "draining": sample.draining,
    }


def _node(history: NodeHistory) -> Data:
    return {
        "name": history.name,
        "allocatable": _sorted(history.allocatable),
        "start": history.start,
        "end": history.end,
        "stays": [_stay(each) for each in history.stays],
    }


def _stay(stay: Stay) -> Data:
    return {
        "pod": stay.pod,
        "queue": stay.queue,
        "size": _sorted(stay.size),
        "start": stay.start,
        "end": stay.end,
    }


def data_of_difference(difference: Difference) -> Data:
    """A difference as plain data."""
    return {
        "entry": difference.entry,
        "at": difference.at,
        "line": difference.line,
        "expected": difference.expected,
        "actual": difference.actual,
        "story": list(difference.story),
    }
