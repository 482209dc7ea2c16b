"""A recording as the page's script takes it: columns, texts listed once, values only where they change."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import PurePath
from typing import Any, Final

from extender.simulator.report.json_report import data_of_difference
from extender.simulator.report.queue_table import in_tree_order
from extender.simulator.report.recording import Amounts, Happening, NodeHistory, QueueHistory, Recording
from extender.simulator.report.timeline import said, totals_of
from extender.simulator.report.units import is_bytes, printable, resource_order

Data = dict[str, Any]

POD_FIELDS: Final = ("queue", "node", "phase", "reason", "message", "created", "bound", "gone")
_TEXT_FIELDS: Final = ("kind", "pod", "queue", "node", "code")


class _Numbering:
    """Numbers for values, in the order in which they are first seen."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def __call__(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def values(self) -> list[Any]:
        return list(self._numbers)


def page_data_of(recording: Recording) -> Data:
    """Data for the page's script, whose shapes ``web/model.js`` describes. Texts are made printable."""
    texts, sizes = _Numbering(), _Numbering()
    histories = in_tree_order(recording.queues)
    return {
        "name": printable(recording.name),
        "file": printable(_shown_file(recording.file)),
        "end": recording.end,
        "checks": recording.checks,
        "totals": _totals(recording),
        "differences": [_printed(data_of_difference(each)) for each in recording.differences],
        "resources": [{"name": name, "unit": _unit(name)} for name in _resources(recording)],
        "queues": [_queue(history) for history in histories],
        "nodes": [_node(history, texts, sizes) for history in recording.nodes],
        "happenings": _columns(recording.timeline, texts),
        "pods": {printable(name): _pod(state, texts) for name, state in recording.pods.items()},
        "sizes": [dict(size) for size in sizes.values()],
        "texts": texts.values(),
    }


def _shown_file(file: str) -> str:
    """A path below the folder of the run, as it was given; of any other path the name only."""
    path = PurePath(file)
    return path.name if path.is_absolute() or ".." in path.parts else file


def _printed(value: Any) -> Any:
    """A value with every text in it made printable."""
    match value:
        case str():
            return printable(value)
        case dict():
            return {printable(str(key)): _printed(each) for key, each in value.items()}
        case list() | tuple():
            return [_printed(each) for each in value]
        case _:
            return value


def _totals(recording: Recording) -> Data:
    totals = totals_of(recording)
    return {
        "pods": totals.pods,
        "placed": totals.placed,
        "waiting": totals.waiting,
        "evicted": totals.evicted,
        "refusals": totals.refusals,
    }


def _unit(resource: str) -> str:
    return "cores" if resource == "vcore" else "bytes" if is_bytes(resource) else "count"


def _resources(recording: Recording) -> list[str]:
    """Resources that any pod asked for or any queue bounds; vcore if there are none."""
    found = {name for history in recording.queues for each in _amounts(history) for name in each}
    found |= {name for history in recording.nodes for stay in history.stays for name in stay.size}
    return sorted(found or {"vcore"}, key=resource_order)


def _amounts(history: QueueHistory) -> Iterable[Amounts]:
    for sample in history.samples:
        yield from (each for each in (sample.used, sample.pending, sample.guaranteed, sample.max) if each)


def _queue(history: QueueHistory) -> Data:
    names = sorted({name for each in _amounts(history) for name in each}, key=resource_order)
    return {
        "path": printable(history.path),
        "leaf": history.is_leaf,
        "start": history.samples[0].at if history.samples else 0,
        "removed": history.removed,
        "draining": bool(history.samples) and history.samples[-1].draining,
        "usage": {name: _steps(history, name, ("used", "pending"), 0) for name in names},
        "bounds": {name: _steps(history, name, ("guaranteed", "max"), None) for name in names},
    }


def _steps(
    history: QueueHistory, resource: str, fields: Sequence[str], absent: int | None
) -> list[list[Any]]:
    """Columns of times and of each field's amounts, with a row for each change."""
    take = attrgetter(*fields)
    rows: list[tuple[Any, ...]] = []
    for sample in history.samples:
        values = tuple((each or {}).get(resource, absent) for each in take(sample))
        if not rows or rows[-1][1:] != values:
            rows.append((sample.at, *values))
    return [list(column) for column in zip(*rows, strict=True)]


def _node(history: NodeHistory, texts: _Numbering, sizes: _Numbering) -> Data:
    return {
        "name": printable(history.name),
        "allocatable": dict(sorted(history.allocatable.items())),
        "start": history.start,
        "end": history.end,
        "stays": [
            [
                texts(printable(stay.pod)),
                texts(printable(stay.queue)),
                sizes(tuple(sorted(stay.size.items()))),
                stay.start,
                stay.end,
            ]
            for stay in history.stays
        ],
    }


def _columns(timeline: Sequence[Happening], texts: _Numbering) -> Data:
    columns: Data = {
        name: [texts(printable(getattr(entry, name))) for entry in timeline] for name in _TEXT_FIELDS
    }
    return {
        "at": [entry.at for entry in timeline],
        **columns,
        "said": [texts(printable(said(entry))) for entry in timeline],
    }


def _pod(state: Mapping[str, Any], texts: _Numbering) -> list[Any]:
    values = (state.get(name) for name in POD_FIELDS)
    return [texts(printable(value)) if isinstance(value, str) else value for value in values]
