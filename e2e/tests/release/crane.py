"""`make crane`: build crane once from its Go module. It validates and copies images, and is a registry."""

import fcntl
import hashlib
import sys

from e2e.programs.binaries import ROOT, TOOLS, NoBinary
from e2e.programs.building import Progress, find_go, output

MODULE = TOOLS / "crane"
CACHE = ROOT / ".cache" / "crane"
CRANE = CACHE / "crane"
_PACKAGE = "github.com/google/go-containerregistry/cmd/crane"
_STAMP = CACHE / ".stamp"


def is_built() -> bool:
    """True if it is built from the current pins."""
    return CRANE.is_file() and _STAMP.is_file() and _STAMP.read_text() == _stamp()


def main() -> int:
    try:
        _build()
    except NoBinary as error:
        print(f"crane: {error}", file=sys.stderr)
        return 1
    print(f"crane: {CRANE}", flush=True)
    return 0


def _build() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_built():
            return
        _STAMP.unlink(missing_ok=True)
        with Progress(0, say=lambda text: print(f"crane: {text}", flush=True)) as progress:
            flags = ("-trimpath", "-ldflags", "-s -w", "-o", f"{CACHE}/")
            output(find_go(), progress, "build", "-v", *flags, _PACKAGE, cwd=MODULE)
        _STAMP.write_text(_stamp())


def _stamp() -> str:
    pins = ((MODULE / name).read_bytes() for name in ("go.mod", "go.sum"))
    return hashlib.sha256(b"".join(pins)).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
