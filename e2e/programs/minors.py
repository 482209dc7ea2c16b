"""Control planes of further minor versions of Kubernetes, each built once from its Go modules.

`k8s.io/kubernetes` of a minor names its staging modules. They are replaced by the published ones of the same
version, and Go resolves everything else.
"""

import fcntl
import json
import re
import shutil
import sys
import time
from pathlib import Path

from e2e.programs.binaries import CACHE, ROOT, NoBinary, kubernetes_flags, kubernetes_version
from e2e.programs.building import KUBERNETES, Progress, clock, find_go, output

OLDER = ("v1.33.13", "v1.34.4", "v1.35.4")
"""Minors that Paddock supports beside the pinned one, each by its version that is tested."""
MINORS = ROOT / ".cache" / "minors"
_STAGING = re.compile(r"^\s*(k8s\.io/\S+) => \./staging/", re.MULTILINE)


def versions() -> tuple[str, ...]:
    """Every version that is tested, oldest first."""
    return (*OLDER, kubernetes_version())


def folder_of(version: str) -> Path:
    """The folder with the programs of a version, once they are built."""
    return CACHE if version == kubernetes_version() else MINORS / version


def beta_flags(minor: int) -> tuple[str, ...]:
    """Flags with which an API server of a minor serves MutatingAdmissionPolicy v1beta1. 1.33 has none."""
    served = "--runtime-config=admissionregistration.k8s.io/v1beta1=true"
    gate = "--feature-gates=MutatingAdmissionPolicy=true"
    return {33: (), 34: (served, gate), 35: (served, gate)}.get(minor, (served,))


def build(version: str) -> Path:
    """Build the programs of a version unless they are there, and return their folder. Raises `NoBinary`.

    etcd is that of the pinned control plane, which must be built.
    """
    place = folder_of(version)
    if place == CACHE:
        return place
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = place / ".stamp"
        if not (stamp.is_file() and stamp.read_text() == kubernetes_flags(version)):
            began = time.monotonic()
            _compile(version, place)
            stamp.write_text(kubernetes_flags(version))
            _say(f"{version} built in {clock(time.monotonic() - began)}")
    return place


def _compile(version: str, place: Path) -> None:
    go, module = find_go(), place / "module"
    module.mkdir(exist_ok=True)
    (module / "go.mod").write_text("module paddock.dev/e2e/minor\n\ngo 1.26.0\n")
    (module / "go.sum").unlink(missing_ok=True)
    with Progress(0, say=_say) as progress:
        asked = ("mod", "download", "-json", f"k8s.io/kubernetes@{version}")
        found = json.loads(output(go, progress, *asked, cwd=module))
        (module / "go.mod").write_text(module_text(version, Path(found["GoMod"]).read_text()))
        flags = ("-mod=mod", "-trimpath", "-ldflags", kubernetes_flags(version), "-o", f"{place}/")
        output(go, progress, "build", "-v", *flags, *KUBERNETES, cwd=module)
    shutil.copy(CACHE / "etcd", place / "etcd")


def module_text(version: str, kubernetes: str) -> str:
    """A go.mod for a version. ``kubernetes``: the go.mod of its module."""
    staged = version.replace("v1.", "v0.", 1)
    names = _STAGING.findall(kubernetes)
    if not names:
        raise NoBinary(f"k8s.io/kubernetes {version} names no staging modules")
    replaced = "".join(f"\t{name} => {name} {staged}\n" for name in names)
    return (
        "module paddock.dev/e2e/minor\n\ngo 1.26.0\n\n"
        f"require k8s.io/kubernetes {version}\n\nreplace (\n{replaced})\n"
    )


def _say(text: str) -> None:
    print(f"minors: {text}", flush=True)


if __name__ == "__main__":
    for each in sys.argv[1:] or OLDER:
        _say(f"{each} in {build(each)}")
