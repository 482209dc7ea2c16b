"""Runner of many random histories, in pieces that an interrupted run can continue (``make histories``).

Each piece adds one line to a file: the code's digest, the property, its seeds, and the result. A piece that
the same code has played before is not played again. With exit code 1 the output names the failed seed.
"""

import argparse
import hashlib
import multiprocessing
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROPERTIES = ("quota", "preemption", "ordering", "explanation", "administration")
"""Each a module beside this one with ``play(seed)``, which raises AssertionError with the history.

A module may have ``figures()``, a text about all that it has played so far. It may have ``unreached()``, the
names of what its histories should reach, as far as this process has not reached them.
"""

PIECE = 250
ENOUGH = 3000
"""Histories of one property in a run that should reach everything."""

LONGEST = 120.0
"""Seconds of CPU within which a history must end. Most take a tenth of a second."""

HELD = "held"


@dataclass(frozen=True)
class Piece:
    """Seeds of one property: ``first`` and those after it, ``count`` in all."""

    name: str
    first: int
    count: int

    def line(self, digest: str, outcome: str) -> str:
        return f"{digest} {self.name} seeds {self.first}-{self.first + self.count - 1} {outcome}"


@dataclass(frozen=True)
class Played:
    """``failed``: the seed that did, None when all held; ``why``: its text.

    ``figures`` and ``unreached``: of the property, in the process so far. None if it has no such function.
    """

    piece: Piece
    seconds: float
    failed: int | None = None
    why: str = ""
    figures: str = ""
    unreached: frozenset[str] | None = None

    @property
    def verdict(self) -> str:
        """The failure in one line: the command to repeat it, and the beginning of its text."""
        again = f"make histories PROPERTY={self.piece.name} SEED={self.failed} COUNT=1"
        return f"{again}: {' '.join(self.why.split())[:400]}"

    @property
    def outcome(self) -> str:
        return HELD if self.failed is None else f"seed {self.failed} FAILED"


def digest_of(root: Path) -> str:
    """Digest of the tested code, twelve characters long."""
    found = hashlib.sha256()
    for folder in ("core", "extender", "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


def pieces(names: Sequence[str], first: int, count: int) -> Iterator[Piece]:
    """The properties in turn, so that an interrupted run has played some of each."""
    for start in range(first, first + count, PIECE):
        for name in names:
            yield Piece(name, start, min(PIECE, first + count - start))


def played(piece: Piece) -> Played:
    module = import_module(f"tests.histories.{piece.name}")
    began = time.perf_counter()
    for seed in range(piece.first, piece.first + piece.count):
        try:
            with _ending_within(LONGEST):
                module.play(seed)
        except Exception as error:  # noqa: BLE001 - whatever is raised, its seed must be told
            why = f"{type(error).__name__}: {error}"
            return Played(piece, time.perf_counter() - began, seed, why)
    figures = module.figures() if hasattr(module, "figures") else ""
    unreached = module.unreached() if hasattr(module, "unreached") else None
    return Played(piece, time.perf_counter() - began, figures=figures, unreached=unreached)


@contextmanager
def _ending_within(seconds: float) -> Iterator[None]:
    """Raise AssertionError in what takes longer, such as an endless loop. Only in the main thread."""

    def give_up(*_: object) -> None:
        raise AssertionError(f"it did not end within {seconds} s of CPU")

    before = signal.signal(signal.SIGVTALRM, give_up)
    timer = signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, *timer)
        signal.signal(signal.SIGVTALRM, before)


@dataclass
class Reach:
    """Names that no history of a run has reached, by property, and numbers of those played."""

    played: Counter[str] = field(default_factory=Counter)
    unreached: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, result: Played) -> None:
        if result.unreached is not None:
            name = result.piece.name
            self.played[name] += result.piece.count
            self.unreached[name] = self.unreached.get(name, result.unreached) & result.unreached

    def lines(self) -> Iterator[str]:
        """A line for each property that says what it should reach."""
        for name, missing in sorted(self.unreached.items()):
            yield f"{name}: never reached in {self.played[name]}: {', '.join(sorted(missing)) or 'none'}"

    def lacking(self) -> list[str]:
        """Properties that left something out, although they were played often enough."""
        return [name for name, missing in self.unreached.items() if missing and self.played[name] >= ENOUGH]


def run(wanted: Sequence[Piece], notes: Path, *, jobs: int) -> int:
    """Play all pieces that the file does not list yet. Returns the exit code."""
    digest = digest_of(ROOT)
    notes.parent.mkdir(parents=True, exist_ok=True)
    known = set(notes.read_text().splitlines()) if notes.exists() else set()
    left = [piece for piece in wanted if piece.line(digest, HELD) not in known]
    print(f"{len(wanted) - len(left)} of {len(wanted)} pieces were played before", flush=True)
    reach = Reach()
    pool = multiprocessing.get_context("spawn").Pool(jobs) if jobs > 1 else None
    try:
        for result in pool.imap_unordered(played, left) if pool else map(played, left):
            line = result.piece.line(digest, result.outcome)
            with notes.open("a") as file:
                file.write(line + "\n")
            print(f"{line} in {result.seconds:.1f} s{result.figures}", flush=True)
            reach.add(result)
            if result.failed is not None:
                print(result.why, file=sys.stderr, flush=True)
                # Of a long output often only the end is kept.
                print(f"histories: FAILED: {result.verdict}", flush=True)
                return 1
    finally:
        if pool is not None:
            pool.terminate()
    for each in reach.lines():
        print(each, flush=True)
    if reach.lacking():
        print(f"histories: FAILED: {', '.join(reach.lacking())} did not reach everything", flush=True)
        return 1
    print("histories: held", flush=True)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make histories")
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--count", type=int, default=1000, help="how many of each property")
    parser.add_argument("--property", choices=("", *PROPERTIES), default="", help="all of them by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--notes", type=Path, default=ROOT / ".cache" / "histories.txt")
    given = parser.parse_args(arguments)
    names = (given.property,) if given.property else PROPERTIES
    return run(list(pieces(names, given.seed, given.count)), given.notes, jobs=given.jobs)
