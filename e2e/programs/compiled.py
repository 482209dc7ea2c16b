"""`make compiled`: build the wheel with modules compiled by mypyc, and a virtual environment that runs it.

Both lie in `.cache/compiled`, apart from the sources. The environment has core and extender from the wheel,
and everything else, such as tests, from the checkout. Its Python is the image's, where the machine has that.
The last line of the output is the path of its Python.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.ledger import ledger
from e2e.programs.binaries import ROOT
from e2e.programs.building import clock

CACHE = ROOT / ".cache" / "compiled"
SOURCE, WHEELS, ENVIRONMENT = CACHE / "source", CACHE / "wheels", CACHE / "environment"
PYTHON = ENVIRONMENT / "bin" / "python"
SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))
"""End of the name of a shared object that this Python loads."""
SAFE_PATH = "PYTHONSAFEPATH"
"""Variable that keeps the working directory, with the sources, out of the path of a Python."""
PINS = "requirements-dev.txt"
OWN = Path(__file__)
_STAMP = CACHE / ".stamp"
_PACKAGES = ("core", "extender")
_FILES = ("pyproject.toml", "README.md", "LICENSE")
_MADE = {".pyc", ".so"}
FLAGS = "-fvisibility=hidden -fno-semantic-interposition"
"""Flags of the C compiler. With them modules call each other directly, and not through a table."""
_HOOK = {"HATCH_BUILD_HOOK_ENABLE_MYPYC": "1", "CFLAGS": FLAGS}
_OF_IMAGE = Path("/usr/bin/python3.11")
# Without venv it could not make the environment.
_ABOUT = "import sys, sysconfig, venv; print(sysconfig.get_config_var('EXT_SUFFIX'), sys.version)"


class BuildFailed(Exception):
    """A step of the build failed. The message ends with what the step printed last."""


def main() -> int:
    try:
        _build()
    except BuildFailed as error:
        print(f"compiled: {error}", file=sys.stderr)
        return 1
    print(PYTHON, flush=True)
    return 0


def is_compiled() -> bool:
    """True if this process runs a compiled core."""
    return str(ledger.__file__).endswith(SUFFIX)


def beside_sources(root: Path = ROOT) -> list[Path]:
    """Shared objects beside the sources. Python would load them instead of the sources, unnoticed."""
    return sorted([*root.glob("*.so"), *(path for name in _PACKAGES for path in (root / name).rglob("*.so"))])


def _build() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # What is edited during the build may not be in the wheel.
        wanted = stamp()
        if _STAMP.is_file() and _STAMP.read_text() == wanted and PYTHON.exists():
            return
        _STAMP.unlink(missing_ok=True)
        began = time.monotonic()
        _say("compiling with mypyc; this takes minutes, once for each change of core or extender")
        _make_wheel()
        _make_environment()
        _STAMP.write_text(wanted)
        _say(f"built in {clock(time.monotonic() - began)}")


def _make_wheel() -> None:
    """Compile a copy of the sources, so that no shared object is left beside them."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.rmtree(WHEELS, ignore_errors=True)
    for name in _PACKAGES:
        shutil.copytree(ROOT / name, SOURCE / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name in _FILES:
        shutil.copy2(ROOT / name, SOURCE / name)
    _run("build", "-m", "hatchling", "build", "-t", "wheel", "-d", str(WHEELS), cwd=SOURCE, more=_HOOK)


def _make_environment() -> None:
    """Install the pins and the wheel. What is not in the wheel comes from the checkout."""
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    # Debian's own Python has no pip, and no module that would install it.
    _run("environment", "-m", "venv", "--without-pip", str(ENVIRONMENT), python=runner())
    pip = ("-m", "pip", "--python", str(PYTHON), "install", "--quiet", "--disable-pip-version-check")
    _run("pins", *pip, "--require-hashes", "-r", str(ROOT / PINS))
    (wheel,) = WHEELS.glob("*.whl")
    _run("wheel", *pip, "--no-deps", str(wheel))
    (packages,) = ENVIRONMENT.glob("lib/python*/site-packages")
    (packages / "checkout.pth").write_text(f"{ROOT}\n")


def runner(of_image: Path = _OF_IMAGE) -> Path:
    """The Python that runs the wheel: that of Debian 12, as the image has it, or this one.

    Debian builds it with optimizations that many others lack: it takes an eighth less CPU for the same work.
    """
    return of_image if _about(of_image).startswith(f"{SUFFIX} ") else Path(sys.executable)


def _about(python: Path) -> str:
    """Return how a Python names shared objects, and its version. Empty if it does not run."""
    try:
        return subprocess.run([python, "-c", _ABOUT], capture_output=True, text=True).stdout
    except OSError:
        return ""


def _run(
    step: str,
    *arguments: str,
    python: Path = Path(sys.executable),
    cwd: Path = ROOT,
    more: Mapping[str, str] | None = None,
) -> None:
    done = subprocess.run(
        [str(python), *arguments],
        cwd=cwd,
        env={**os.environ, **(more or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        said = "\n".join(done.stdout.splitlines()[-30:])
        raise BuildFailed(f"{step}: exit code {done.returncode}\n{said}")


def stamp() -> str:
    """A digest of all that the wheel is made of, and of the build's settings, the pins and both Pythons."""
    digest = hashlib.sha256(f"{sys.version} {SUFFIX} {_about(runner())}".encode())
    for path in _inputs():
        digest.update(f"\n{path.relative_to(ROOT)}\n".encode())
        digest.update(path.read_bytes())
    digest.update(OWN.read_bytes())
    return digest.hexdigest()


def _inputs() -> Iterator[Path]:
    yield from (ROOT / "pyproject.toml", ROOT / PINS)
    # A compiled module depends on the types of the interpreted ones, and the environment has all of them.
    for name in _PACKAGES:
        files = (path for path in (ROOT / name).rglob("*") if path.is_file())
        yield from sorted(path for path in files if path.suffix not in _MADE)


def _say(text: str) -> None:
    print(f"compiled: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
