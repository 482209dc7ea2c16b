"""The queues at the end of a run, as lines for people: a tree with amounts and bars."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from extender.simulator.report.columns import GAP, Cell, row
from extender.simulator.report.recording import Amounts, QueueHistory, QueueSample, Recording
from extender.simulator.report.units import human, printable, resource_order

TITLES: Final = ("QUEUE", "RESOURCE", "USED", "GUARANTEED", "MAX", "PENDING", "USED OF MAX")
SHORTEST_BAR, LONGEST_BAR = 10, 32
NONE: Final = "-"

_FULL, _EMPTY, _GUARANTEE = "█", "·", "┃"


def queue_table(recording: Recording, *, width: int | None = None, colour: bool = False) -> Iterator[str]:
    """The queues that still exist, in tree order, with a line per resource used, asked for or bounded.

    The bar shows used against max, and marks where guaranteed ends. Without a max its right end is open, and
    it is as long as used and guaranteed need. Without either there is no bar. ``width`` and ``colour``: as
    for the timeline.
    """
    histories = [
        history for history in in_tree_order(recording.queues) if history.removed is None and history.samples
    ]
    rows = [cells for history in histories for cells in _rows(history)]
    head = tuple(Cell(title, "dim", right=2 <= place <= 5) for place, title in enumerate(TITLES[:6]))
    widths = _widths([head, *(cells for cells, _ in rows)], width)
    bar_width = max(SHORTEST_BAR, min(LONGEST_BAR, (width or 120) - sum(widths) - len(GAP) * len(widths) - 2))
    yield from row((*head, Cell(TITLES[6], "dim")), (*widths, bar_width + 2), colour=colour)
    for cells, gauge in rows:
        yield from row((*cells, _bar(gauge, bar_width)), (*widths, bar_width + 2), colour=colour)


def in_tree_order(histories: Iterable[QueueHistory]) -> list[QueueHistory]:
    """Every queue after its parent, beside its siblings; siblings in the order given."""
    given = list(histories)
    places = {history.path: place for place, history in enumerate(given)}
    return sorted(given, key=lambda history: [places.get(path, -1) for path in _prefixes(history.path)])


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[: length + 1]) for length in range(len(parts))]


class _Gauge(NamedTuple):
    """A resource of a queue, as a bar shows it. Amounts are in the units of `Resource`."""

    #: Amount that pods of the queue hold.
    used: int
    #: Guaranteed amount; None when the queue has none of that resource.
    guaranteed: int | None
    #: Most that pods may hold; None when the queue has no max of that resource.
    max: int | None


def _rows(history: QueueHistory) -> Iterator[tuple[tuple[Cell, ...], _Gauge]]:
    sample, name = history.samples[-1], _name(history)
    for resource in _resources(sample) or ["vcore"]:
        gauge = _Gauge(
            sample.used.get(resource, 0), _bound(sample.guaranteed, resource), _bound(sample.max, resource)
        )
        yield _amount_cells(name, resource, gauge, sample.pending.get(resource, 0)), gauge
        name = ""


def _name(history: QueueHistory) -> str:
    depth = history.path.count(".")
    draining = " (draining)" if history.samples[-1].draining else ""
    return "  " * depth + printable(history.path.rpartition(".")[2]) + draining


def _resources(sample: QueueSample) -> list[str]:
    """Resources worth a line: an amount of zero alone is not, a bound of zero is."""
    amounts = {name for each in (sample.used, sample.pending) for name, amount in each.items() if amount}
    bounds = {name for each in (sample.guaranteed, sample.max) if each for name in each}
    return sorted(amounts | bounds, key=resource_order)


def _bound(amounts: Amounts | None, resource: str) -> int | None:
    return None if amounts is None else amounts.get(resource)


def _amount_cells(name: str, resource: str, gauge: _Gauge, pending: int) -> tuple[Cell, ...]:
    return (
        Cell(name, "bold"),
        Cell(printable(resource)),
        Cell(human(resource, gauge.used), right=True),
        Cell(NONE if gauge.guaranteed is None else human(resource, gauge.guaranteed), right=True),
        Cell(NONE if gauge.max is None else human(resource, gauge.max), right=True),
        Cell(human(resource, pending) if pending else NONE, "yellow" if pending else "", right=True),
    )


def _bar(gauge: _Gauge, width: int) -> Cell:
    if gauge.max is None and not gauge.guaranteed:
        return Cell("no max", "dim")
    whole = gauge.max if gauge.max is not None else max(gauge.used, gauge.guaranteed or 0)
    filled = _length(gauge.used, whole, width)
    blocks = [_FULL] * filled + [_EMPTY] * (width - filled)
    if gauge.guaranteed:
        blocks[max(0, _length(gauge.guaranteed, whole, width) - 1)] = _GUARANTEE
    close = "]" if gauge.max is not None else ">"
    return Cell("[" + "".join(blocks) + close, _bar_colour(gauge))


def _length(amount: int, whole: int, width: int) -> int:
    """The blocks for an amount: at least one for a positive one, all of them only for the whole."""
    if amount <= 0:
        return 0
    if amount >= whole:
        return width
    return max(1, min(width - 1, round(amount * width / whole)))


def _bar_colour(gauge: _Gauge) -> str:
    if gauge.max is not None and gauge.used > gauge.max:
        return "red"
    return "yellow" if gauge.max is not None and gauge.used == gauge.max > 0 else "green"


def _widths(rows: Sequence[Sequence[Cell]], width: int | None) -> list[int]:
    """The width that the texts need.

    Under a bound, queue names are wrapped to leave space for the shortest bar.
    """
    needs = [max(len(cells[place].text) for cells in rows) for place in range(6)]
    if width is not None:
        rest = sum(needs[1:]) + 6 * len(GAP) + SHORTEST_BAR + 2
        needs[0] = max(12, min(needs[0], width - rest))
    return needs
