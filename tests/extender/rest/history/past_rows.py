"""Rows for tests of the store, and answers as plain values."""

import json
from array import array
from collections.abc import Mapping
from typing import Any

from core.ids import QueuePath
from core.queues.queue import Queue
from extender.rest.history.answer import queue_past
from extender.rest.history.band import UNSET
from extender.rest.history.past import Past
from extender.rest.history.rows import Row, Rows
from extender.rest.history.spans import TICK
from tests.builders import make_queue

Amounts = tuple[int, int, int | None, int | None]
"""Used, pending, guaranteed and max."""

BOUND = 96 * 2**20


def make_row(amounts: Mapping[str, Amounts], path: str = "root.a", *, left_out: int = 0) -> Row:
    packed = array("q")
    for name in sorted(amounts):
        packed.extend(UNSET if each is None else each for each in amounts[name])
    return Row(Queue(make_queue(path), None), 0, tuple(sorted(amounts)), packed, left_out)


def make_rows(queues: Mapping[str, Mapping[str, Amounts]]) -> Rows:
    return {QueuePath(path): make_row(amounts, path) for path, amounts in queues.items()}


def record(past: Past, tick: int, rows: Rows, *, bound: int = BOUND) -> None:
    for _ in past.record(tick, rows, bound=bound):
        pass


def asked(past: Past, path: str = "root.a", *names: str, seconds: float = 3600, tick: int) -> dict[str, Any]:
    """The answer at a tick."""
    steps = queue_past(past, QueuePath(path), names, seconds=seconds, now=tick * TICK + 1)
    body = b"".join(steps)
    assert body.endswith(b"\n")
    found: dict[str, Any] = json.loads(body)
    return found


def shown(past: Past, path: str, name: str, *, seconds: float, tick: int) -> dict[int, Amounts]:
    """Samples of an answer by tick, without gaps."""
    found = asked(past, path, name, seconds=seconds, tick=tick)
    series = found["resources"].get(name)
    if series is None:
        return {}
    first, step = found["start"] // 10**9 // TICK, found["step"] // 10**9 // TICK
    columns = [series[each] for each in ("used", "pending", "guaranteed", "max")]
    assert {len(column) for column in columns} == {found["count"]}
    assert all(used is not None or row == [None] * 3 for used, *row in zip(*columns, strict=True))
    return {
        first + place * step: row
        for place, row in enumerate(zip(*columns, strict=True))
        if row[0] is not None
    }
