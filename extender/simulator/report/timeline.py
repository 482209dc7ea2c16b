"""The timeline as lines for people: time, pod, queue, event and reason; and a one-line summary.

The same event of many pods of one name at one instant is one line. Pure: no state, no clock, no output.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from extender.simulator.report.columns import GAP, Cell, row
from extender.simulator.report.recording import Happening, Recording
from extender.simulator.report.units import counted, moment, printable

NARROWEST: Final = 60
FOLDED_FROM: Final = 3
MOVES_FOLDED_FROM: Final = 10
"""Pods of one name and instant from which on a line stands for all.

Moves and evictions are listed one by one for longer, since each has its own node.
"""

KIND_COLOURS: Final = {
    "placed": "green",
    "succeeded": "green",
    "refused": "yellow",
    "waits": "yellow",
    "evicted": "red",
    "spared": "yellow",
    "failed": "red",
    "error": "red",
    "config": "blue",
    "settings": "blue",
    "restart": "magenta",
    "nominated": "magenta",
}

# Such entries differ only in the pod, so they can be moved between others of the same instant.
_MOVABLE: Final = frozenset({"refused", "waits", "submitted", "woken", "gate"})
_MOVES: Final = frozenset({"placed", "evicted", "nominated"})
_NUMBERED: Final = re.compile(r"(?P<prefix>.*?)-(?P<number>\d+(?:\.\d+)*)")


@dataclass(slots=True)
class _Group:
    """Entries that one line can stand for."""

    #: Entries in the order of the timeline.
    entries: list[Happening] = field(default_factory=list)

    @property
    def pods(self) -> list[str]:
        return list(dict.fromkeys(entry.pod for entry in self.entries))

    @property
    def nodes(self) -> list[str]:
        return list(dict.fromkeys(entry.node for entry in self.entries))


def timeline(recording: Recording, *, width: int | None = None, colour: bool = False) -> Iterator[str]:
    """The timeline in order, headed by the names of its columns.

    ``width``: columns of the terminal, None for no bound (a file, a pipe). Under a bound, text that does not
    fit its column continues below, and nothing is cut. ``colour``: with the codes that a terminal obeys.
    """
    rows = [_cells(group, end=recording.end) for group in _folded(recording.timeline)]
    head = tuple(Cell(title, "dim") for title in ("TIME", "POD", "QUEUE", "WHAT"))
    widths = _widths([head, *rows], width)
    for cells in (head, *rows):
        yield from row(cells, widths, colour=colour)


def summary(recording: Recording) -> str:
    """A one-line summary: how many pods there were, and how each ended."""
    totals = totals_of(recording)
    return (
        f"{counted(totals.pods, 'pod')}: {totals.placed:,} placed, {totals.waiting:,} waiting, "
        f"{counted(totals.evicted, 'eviction')}, {counted(totals.refusals, 'refusal')} "
        f"in {moment(recording.end)}"
    )


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of one run. Placeholders are left out of the counts of pods."""

    #: Number of pods.
    pods: int
    #: Number of pods that were ever bound.
    placed: int
    #: Number of pods that exist and have no node at the end.
    waiting: int
    #: Number of evictions; a pod may have several.
    evicted: int
    #: Number of refusals; a pod may have several.
    refusals: int


def totals_of(recording: Recording) -> Totals:
    """The totals of one run."""
    pods = [pod for pod in recording.pods.values() if not pod.get("placeholder")]
    return Totals(
        pods=len(pods),
        placed=sum(pod.get("bound") is not None for pod in pods),
        waiting=sum(
            pod.get("gone") is None and not pod.get("node") and pod.get("phase", "Pending") == "Pending"
            for pod in pods
        ),
        evicted=sum(entry.kind == "evicted" for entry in recording.timeline),
        refusals=sum(entry.kind == "refused" for entry in recording.timeline),
    )


def said(entry: Happening) -> str:
    """Event and reason in one sentence, with the node and the code where neither of them names it."""
    what = entry.what or entry.kind
    if entry.kind == "node":
        return _with_reason(f"node {entry.node} {what}", entry)
    if entry.why.startswith(what):
        what = entry.kind
    if entry.node and entry.node not in f"{what} {entry.why}":
        what += f" on {entry.node}"
    return _with_reason(what, entry)


def _with_reason(what: str, entry: Happening) -> str:
    code = entry.code if entry.code not in f"{what} {entry.why}" else ""
    return ": ".join(printable(part) for part in (what, code, entry.why) if part)


def _folded(entries: Iterable[Happening]) -> Iterator[_Group]:
    for _, instant in groupby(entries, key=lambda entry: entry.at):
        for group in _alike(instant):
            if len(group.pods) >= _folded_from(group):
                yield group
            else:
                yield from (_Group([entry]) for entry in group.entries)


def _folded_from(group: _Group) -> int:
    is_move = group.entries[0].kind in _MOVES and len(group.nodes) > 1
    return MOVES_FOLDED_FROM if is_move else FOLDED_FROM


def _alike(instant: Iterable[Happening]) -> Iterable[_Group]:
    """Entries of one instant that differ only in the pod or its node, in the order first seen."""
    groups: dict[tuple[object, ...], _Group] = {}
    run, last = 0, None
    for entry in instant:
        key = _sameness(entry)
        run += key != last
        last = key
        place = key if entry.kind in _MOVABLE else (*key, run)
        groups.setdefault(place, _Group()).entries.append(entry)
    return groups.values()


def _sameness(entry: Happening) -> tuple[object, ...]:
    what = entry.what.replace(entry.node, "*") if entry.node else entry.what
    return entry.kind, entry.queue, _prefix(entry.pod), what, entry.why, entry.code


def _prefix(pod: str) -> str:
    numbered = _NUMBERED.fullmatch(pod)
    return numbered["prefix"] if numbered else pod


def _by_number(pod: str) -> tuple[int, ...]:
    numbered = _NUMBERED.fullmatch(pod)
    return tuple(int(part) for part in numbered["number"].split(".")) if numbered else ()


def _cells(group: _Group, *, end: int) -> tuple[Cell, ...]:
    entry = group.entries[0]
    return (
        Cell(moment(entry.at, longest=end), "dim"),
        Cell(_pod_text(group), "bold"),
        Cell(printable(entry.queue)),
        Cell(_what_text(group), KIND_COLOURS.get(entry.kind, "")),
    )


def _pod_text(group: _Group) -> str:
    pods = group.pods
    if len(pods) == 1:
        return printable(pods[0])
    first, last = min(pods, key=_by_number), max(pods, key=_by_number)
    return f"{printable(first)} … {printable(last)} ({counted(len(pods), 'pod')})"


def _what_text(group: _Group) -> str:
    entry, nodes = group.entries[0], group.nodes
    if len(nodes) > 1:
        return _with_reason(f"{entry.kind} on {counted(len(nodes), 'node')}", entry)
    again = len(group.entries) - len(group.pods)
    return said(entry) + (f" ({counted(len(group.entries), 'time')})" if again else "")


def _widths(rows: Sequence[tuple[Cell, ...]], width: int | None) -> list[int]:
    """The widths of the columns.

    Each column gets what its texts need. Under a bound, the last column gets the remainder. Pod and queue may
    take all that a readable last column of two fifths leaves. If that is too little, they share it by need.
    """
    needs = [max(len(cells[place].text) for cells in rows) for place in range(4)]
    if width is None:
        return needs
    space = max(width, NARROWEST) - needs[0] - 3 * len(GAP)
    names = _shared(needs[1], needs[2], max(space - needs[3], space * 3 // 5))
    return [needs[0], *names, space - sum(names)]


def _shared(one: int, other: int, space: int) -> tuple[int, int]:
    if one + other <= space:
        return one, other
    half = space // 2
    if one <= half:
        return one, space - one
    return (space - other, other) if other <= half else (half, space - half)
