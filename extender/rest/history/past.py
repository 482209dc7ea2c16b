"""Store of all series, within a bound on its memory.

Beyond the bound the longest span becomes coarser first, then the next (`PLANS`). After the last plan, series
of removed queues are dropped, oldest first. Then resources are left unrecorded. All work is done in steps.
"""

from array import array
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, NamedTuple

from core.ids import QueuePath
from extender.rest.history.band import UNSET, WIDTH
from extender.rest.history.rows import Row, Rows
from extender.rest.history.series import Series, full_size
from extender.rest.history.spans import DAY, FINEST, PLANS, Plan

RELAXED: Final = 0.8
"""Largest share of the bound that a finer plan may need to be used again."""

_NOTHING = array("q", [0, 0, UNSET, UNSET])
_NO_SERIES: Final[Mapping[str, Series]] = {}


class Figures(NamedTuple):
    """Figures about the store, as of the last sample."""

    #: Bound on the memory in bytes.
    limit: int = 0
    #: Bytes in use, rounded up.
    used: int = 0
    #: Number of series.
    series: int = 0
    #: Number of resources of queues that are not recorded, for lack of memory.
    unrecorded: int = 0
    #: Number of series that were dropped before they were a day old, since the start.
    dropped: int = 0
    plan: Plan = FINEST


@dataclass(slots=True)
class Survey:
    """Memory that the next sample needs."""

    #: Bytes of the rows.
    rows: int = 0
    #: Live series.
    known: int = 0
    #: Resources of live queues without a series.
    fresh: int = 0
    #: Heap of removed queues, each with its newest tick and the bytes of its series.
    removed: list[tuple[int, QueuePath, int]] = field(default_factory=list)
    #: Bytes of the series of removed queues.
    removed_size: int = 0

    @property
    def taken(self) -> int:
        """Bytes of everything but the live series."""
        return self.rows + self.removed_size

    def add_removed(self, path: QueuePath, known: Mapping[str, Series]) -> None:
        """Count the series of a removed queue."""
        size = sum(series.size for series in known.values())
        heappush(self.removed, (max(series.seen for series in known.values()), path, size))
        self.removed_size += size

    def pop_oldest(self) -> QueuePath:
        """Pop the queue that was removed first."""
        _, path, size = heappop(self.removed)
        self.removed_size -= size
        return path

    def needs(self, plan: Plan) -> int:
        """Bytes in all by a plan, once each live series is full."""
        return self.taken + (self.known + self.fresh) * full_size(plan)


class Past:
    """Series by queue and resource."""

    def __init__(self) -> None:
        self._series: dict[QueuePath, dict[str, Series]] = {}
        self._place = 0
        self._figures = Figures()
        #: Tick of the newest complete sample; 0 before the first.
        self.last = 0

    @property
    def plan(self) -> Plan:
        """Steps of new samples."""
        return PLANS[self._place]

    @property
    def figures(self) -> Figures:
        """Figures as of the last sample."""
        return self._figures

    def of(self, path: QueuePath) -> Mapping[str, Series]:
        """Return the series of a queue by resource. They are live, and valid until the next step."""
        return self._series.get(path, _NO_SERIES)

    def clear(self) -> None:
        """Drop everything."""
        self._series = {}
        self._place = self.last = 0
        self._figures = Figures(dropped=self._figures.dropped)

    def record(self, tick: int, rows: Rows, *, bound: int, left_out: int = 0) -> Iterator[None]:
        """Store a sample in steps. A tick that is stored already is left out.

        A tick before the last one drops everything from it on, because the clock was set back.
        ``bound``: bytes, above zero. ``left_out``: number of queues without a row.
        """
        if tick == self.last:
            return
        if tick < self.last:
            yield from self._rewind(tick - 1)
        yield from self._expire(tick, rows)
        survey = yield from self._survey(rows)
        place = self._fitting(survey, bound)
        if place != self._place:
            yield from self._change(place)
            survey = yield from self._survey(rows)
        if survey.needs(self.plan) > bound:
            yield from self._drop_removed(survey, bound)
        most = max(0, (bound - survey.taken) // full_size(self.plan))
        unrecorded = yield from self._write(tick, rows, most=most, fresh=most - survey.known)
        yield from self._note(bound, survey.rows, unrecorded + left_out)
        self.last = tick

    # -- steps of a sample -----------------------------------------------------------------------------------

    def _rewind(self, tick: int) -> Iterator[None]:
        for known in self._in_steps():
            yield
            for series in known.values():
                series.rewind(tick)

    def _expire(self, tick: int, rows: Rows) -> Iterator[None]:
        """Drop what is a day old: samples of removed queues, and series of resources without amounts."""
        for path in list(self._series):
            yield
            known, live = self._series[path], path in rows
            for name, series in list(known.items()):
                if not live:
                    series.expire(tick)
                # A series may be empty for a moment, since a coarser plan has no slot for its first tick.
                if (series.empty and series.seen < self.last) or series.named + DAY < tick:
                    del known[name]
            if not known:
                del self._series[path]

    def _survey(self, rows: Rows) -> Generator[None, None, Survey]:
        found = Survey()
        for path, row in rows.items():
            known = self.of(path)
            found.rows += row.size
            found.known += len(known)
            found.fresh += sum(name not in known for name in row.names)
            yield
        for path, known in list(self._series.items()):
            if path not in rows:
                found.add_removed(path, known)
            yield
        return found

    def _fitting(self, survey: Survey, bound: int) -> int:
        """Place of the plan for the next sample. A finer one is taken again only if much is free."""
        last = len(PLANS) - 1
        fits = next((place for place, plan in enumerate(PLANS) if survey.needs(plan) <= bound), last)
        if fits >= self._place:
            return fits
        needed = (place for place, plan in enumerate(PLANS) if survey.needs(plan) <= bound * RELAXED)
        return min(next(needed, last), self._place)

    def _change(self, place: int) -> Iterator[None]:
        """Change the steps of all series. Readers see the coarser of both plans meanwhile."""
        self._place = max(place, self._place)
        for known in self._in_steps():
            for series in list(known.values()):
                yield
                series.change(PLANS[place])
        self._place = place

    def _drop_removed(self, survey: Survey, bound: int) -> Iterator[None]:
        """Drop series of removed queues, oldest first, until the live ones fit."""
        while survey.removed and survey.needs(self.plan) > bound:
            self._count_dropped(len(self._series.pop(survey.pop_oldest())))
            yield

    def _write(self, tick: int, rows: Rows, *, most: int, fresh: int) -> Generator[None, None, int]:
        """Store the amounts of all rows, and return how many resources are left out.

        ``most``: live series that may stay. ``fresh``: series that may be added.
        """
        unrecorded = 0
        for path, row in rows.items():
            known = self._series.setdefault(path, {})
            at = {name: place * WIDTH for place, name in enumerate(row.names)}
            unrecorded += row.left_out
            for name in sorted({*known, *at}):
                if name in known:
                    allowed, most = most > 0, most - 1
                else:
                    allowed, fresh = fresh > 0, fresh - 1
                if allowed:
                    self._put(known, tick, name, row, at.get(name))
                    continue
                unrecorded += name in at
                if known.pop(name, None) is not None:
                    self._count_dropped(1)
            if not known:
                del self._series[path]
            yield
        return unrecorded

    def _put(self, known: dict[str, Series], tick: int, name: str, row: Row, place: int | None) -> None:
        series = known.get(name)
        if series is None:
            series = known[name] = Series(self.plan, tick)
        if place is None:
            series.put(tick, _NOTHING)
        else:
            series.named = tick
            series.put(tick, row.amounts[place : place + WIDTH])

    def _note(self, bound: int, used: int, unrecorded: int) -> Iterator[None]:
        count = 0
        for known in self._in_steps():
            count += len(known)
            used += sum(series.size for series in known.values())
            yield
        self._figures = Figures(bound, used, count, unrecorded, self._figures.dropped, self.plan)

    def _count_dropped(self, count: int) -> None:
        self._figures = self._figures._replace(dropped=self._figures.dropped + count)

    def _in_steps(self) -> Iterator[Mapping[str, Series]]:
        """Series of each queue. No other step may add or remove a queue meanwhile."""
        return iter(list(self._series.values()))
