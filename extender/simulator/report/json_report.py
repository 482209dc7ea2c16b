"""A recording as plain data: what ``--json`` prints. The same recording gives the same bytes.

Keys are written in a fixed order, amounts and the fields of a pod sorted by name, lists as recorded. Times:
milliseconds from the start. Amounts: millicores for ``vcore``, base units else; null where there is none.
"""

import json
from collections.abc import Mapping
from typing import Any

from extender.simulator.report.recording import (
    Amounts,
    Difference,
    Happening,
    NodeLane,
    QueueLane,
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
    """Everything a run left behind. A member that a version does not know must be ignored."""
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


def _queue(lane: QueueLane) -> Data:
    return {
        "path": lane.path,
        "isLeaf": lane.is_leaf,
        "removed": lane.removed,
        "final": _sample(lane.samples[-1]) if lane.samples else None,
        "samples": [_sample(each) for each in lane.samples],
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


def _node(lane: NodeLane) -> Data:
    return {
        "name": lane.name,
        "allocatable": _sorted(lane.allocatable),
        "start": lane.start,
        "end": lane.end,
        "stays": [_stay(each) for each in lane.stays],
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
    return {
        "entry": difference.entry,
        "at": difference.at,
        "line": difference.line,
        "expected": difference.expected,
        "actual": difference.actual,
        "story": list(difference.story),
    }
