"""Answer about the past of one queue, written in steps (REST-50)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from core.ids import QueuePath
from extender.rest.history.band import Band
from extender.rest.history.past import Figures, Past
from extender.rest.history.spans import FINEST, SPANS, TICK, tick_of
from extender.rest.model.histories import HistoryMemory, QueuePast, ResourcePast

_ENCODE = msgspec.json.Encoder().encode
_NANOSECONDS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Window:
    """Samples that an answer shows: ``count`` slots from slot ``first``, of ``every`` ticks each."""

    #: Place of the span in `SPANS`.
    place: int
    every: int
    first: int
    count: int


def window_of(past: Past, *, seconds: float, now: float) -> Window:
    """Choose the finest samples that cover a time, up to now. ``seconds``: above 0, at most a day."""
    place = next(place for place, span in enumerate(SPANS) if seconds <= span * TICK)
    every, tick = past.plan[place], tick_of(now)
    # At the beginning of a tick its sample may not be stored yet.
    last = (past.last if tick - past.last == 1 else tick) // every
    count = min(-int(-seconds // (every * TICK)), SPANS[place] // every)
    return Window(place, every, last - count + 1, count)


def queue_past(
    past: Past, path: QueuePath, names: tuple[str, ...], *, seconds: float, now: float
) -> Iterator[bytes]:
    """Write the answer. The samples are copied in the first step. ``names``: resources; empty for all."""
    window = window_of(past, seconds=seconds, now=now)
    series = past.of(path)
    wanted = sorted(name for name in (set(names) or set(series)) if name in series)
    bands = {name: series[name].bands[window.place].copied() for name in wanted}
    head = _ENCODE(_head(path, window, past.figures))
    return _written(head, bands, window)


def _head(path: QueuePath, window: Window, figures: Figures) -> QueuePast:
    step = window.every * TICK * _NANOSECONDS
    return QueuePast(
        queue=path,
        start=window.first * step,
        step=step,
        count=window.count,
        thinned=window.every > FINEST[window.place],
        memory=HistoryMemory(
            limit=figures.limit,
            used=figures.used,
            unrecorded=figures.unrecorded,
            dropped=figures.dropped,
        ),
        resources={},
    )


def _written(head: bytes, bands: Mapping[str, Band], window: Window) -> Iterator[bytes]:
    # The resources are the last member, and empty.
    yield head.removesuffix(b"}}") if bands else head
    before = b""
    for name, band in bands.items():
        yield before + _ENCODE(name) + b":" + _ENCODE(_resource(band, window))
        before = b","
    yield b"}}\n" if bands else b"\n"


def _resource(band: Band, window: Window) -> ResourcePast:
    band.change(window.every)
    used, pending, guaranteed, limit = (
        tuple(band.column(measure, window.first, window.count)) for measure in range(4)
    )
    return ResourcePast(used=used, pending=pending, guaranteed=guaranteed, max=limit)
