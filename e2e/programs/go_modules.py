"""Programs that are built once from a Go module of their own, in a folder of e2e/tools."""

import fcntl
import hashlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from e2e.programs.binaries import ROOT, TOOLS, NoBinary
from e2e.programs.building import Progress, clock, find_go, output

STRIPPED = "-s -w"
"""Linker flags that leave out symbols."""


@dataclass(frozen=True)
class GoModule:
    """Programs of a module. ``name``: of its folder in e2e/tools, and of theirs in .cache.

    ``sources``: files of the folder whose change means a new build. ``flags()``: for the linker.
    """

    name: str
    packages: tuple[str, ...]
    programs: tuple[str, ...]
    sources: tuple[str, ...] = ("go.mod", "go.sum")
    flags: Callable[[], str] = lambda: STRIPPED

    @property
    def source(self) -> Path:
        return TOOLS / self.name

    @property
    def cache(self) -> Path:
        return ROOT / ".cache" / self.name

    def program(self, name: str) -> Path:
        """Path of a program, which may not be built yet."""
        return self.cache / name

    def is_built(self) -> bool:
        """True if all programs are built from the present sources."""
        stamp = self._stamp
        built = all(self.program(each).is_file() for each in self.programs)
        return built and stamp.is_file() and stamp.read_text() == self._digest()

    def main(self) -> int:
        """Build what is not built, and print where the first program is. 1 if there is no Go."""
        try:
            self._build()
        except NoBinary as error:
            print(f"{self.name}: {error}", file=sys.stderr)
            return 1
        print(f"{self.name}: {self.program(self.programs[0])}", flush=True)
        return 0

    def _build(self) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)
        with (self.cache / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.is_built():
                return
            self._stamp.unlink(missing_ok=True)
            began = time.monotonic()
            with Progress(0, say=lambda text: print(f"{self.name}: {text}", flush=True)) as progress:
                flags = ("-trimpath", "-ldflags", self.flags(), "-o", f"{self.cache}/")
                output(find_go(), progress, "build", "-v", *flags, *self.packages, cwd=self.source)
            self._stamp.write_text(self._digest())
            print(f"{self.name}: built in {clock(time.monotonic() - began)}", flush=True)

    @property
    def _stamp(self) -> Path:
        return self.cache / ".stamp"

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for each in self.sources:
            digest.update((self.source / each).read_bytes())
        return digest.hexdigest()
