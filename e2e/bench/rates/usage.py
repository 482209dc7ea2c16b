"""CPU time and memory of the processes of a round, and of everything else on the machine.

Pure arithmetic over what `/proc` says, and the two functions that read it.
"""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
KERNEL = 2
"""The parent of all threads of the kernel, which work for whoever calls them."""

OTHERS_AT_MOST = 0.1
"""Cores that other processes may use while a round is measured."""

NAMED = ("etcd", "kube-apiserver", "kube-scheduler")
"""Programs of which a round has one each, so that their name is enough."""


@dataclass(frozen=True, slots=True)
class Line:
    """A process, as `/proc/PID/stat` shows it. Ticks include those of children that were waited for."""

    pid: int
    name: str
    parent: int
    ticks: int
    inherited: int


@dataclass(frozen=True, slots=True)
class Reading:
    """CPU seconds at a moment. ``own``: by name, of this process and its descendants."""

    at: float
    own: Mapping[str, float]
    others: float
    stolen: float


@dataclass(frozen=True, slots=True)
class Used:
    """CPU of an interval: seconds by name, cores of all other processes, and seconds of steal."""

    seconds: float
    own: Mapping[str, float]
    others: float
    stolen: float

    @property
    def disturbed(self) -> bool:
        """True if the interval must be repeated."""
        return self.others > OTHERS_AT_MOST or self.stolen > 0

    def milliseconds_each(self, count: int) -> dict[str, float]:
        """CPU for each of ``count`` things, by name, in milliseconds."""
        return {name: round(seconds / count * 1e3, 3) for name, seconds in self.own.items()}


def line_from(text: str) -> Line:
    """Parse `/proc/PID/stat`. The name may contain spaces and brackets."""
    head, _, rest = text.rpartition(")")
    pid, _, name = head.partition(" (")
    fields = rest.split()
    return Line(
        pid=int(pid),
        name=name,
        parent=int(fields[1]),
        ticks=int(fields[11]) + int(fields[12]),
        inherited=int(fields[13]) + int(fields[14]),
    )


def stolen_ticks(text: str) -> int:
    """Ticks of steal of all cores, from `/proc/stat`."""
    return int(text.partition("\n")[0].split()[8])


def descendants(lines: Iterable[Line], root: int) -> set[int]:
    """The process ``root`` and all below it."""
    below: dict[int, list[int]] = {}
    for line in lines:
        below.setdefault(line.parent, []).append(line.pid)
    found, left = {root}, [root]
    while left:
        new = [pid for pid in below.get(left.pop(), ()) if pid not in found]
        found.update(new)
        left += new
    return found


def reading_of(
    lines: Iterable[Line], *, at: float, stolen: int, root: int, named: Mapping[int, str]
) -> Reading:
    """Sum up processes. ``named``: names of own processes by pid; all others have their program's name.

    A process of others that ends counts with the parent that waits for it. The difference of two sums is
    therefore the time used between them.
    """
    lines = list(lines)
    mine = descendants(lines, root)
    own: dict[str, float] = {}
    others = 0
    for line in lines:
        if line.pid in mine:
            name = named.get(line.pid) or (line.name if line.name in NAMED else "client")
            own[name] = own.get(name, 0.0) + line.ticks / TICKS
        elif KERNEL not in (line.pid, line.parent):
            others += line.ticks + line.inherited
    return Reading(at, own, others / TICKS, stolen / TICKS)


def used(before: Reading, after: Reading) -> Used:
    """CPU between two readings. A process that began between them counts from its start."""
    seconds = after.at - before.at
    return Used(
        seconds=seconds,
        own={name: max(0.0, total - before.own.get(name, 0.0)) for name, total in sorted(after.own.items())},
        others=max(0.0, after.others - before.others) / seconds,
        stolen=after.stolen - before.stolen,
    )


def read(named: Mapping[int, str]) -> Reading:
    """Read `/proc` now."""
    return reading_of(
        _lines(),
        at=time.monotonic(),
        stolen=stolen_ticks((PROC / "stat").read_text()),
        root=os.getpid(),
        named=named,
    )


def peaks(named: Mapping[int, str]) -> dict[str, float]:
    """Peak memory by name, in MB, of the processes of this one that run now."""
    lines = list(_lines())
    mine = descendants(lines, os.getpid())
    shown = {line.pid: named.get(line.pid, line.name) for line in lines if line.pid in mine}
    return {name: _peak(pid) for pid, name in sorted(shown.items()) if name in (*NAMED, *named.values())}


def peak_from(text: str) -> float:
    """Peak memory in MB, from `/proc/PID/status`; 0 for a process that has ended."""
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


def _peak(pid: int) -> float:
    try:
        return peak_from((PROC / str(pid) / "status").read_text())
    except OSError:
        return 0.0


def _lines() -> Iterable[Line]:
    for path in PROC.iterdir():
        if path.name.isdigit():
            try:
                yield line_from((path / "stat").read_text())
            except OSError:
                continue
