"""Lookup of a control plane's programs: in a folder that the user names, or in `make control-plane`'s cache.

Nothing is built here: a build takes minutes, and a test has two. `e2e.programs.building` builds.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "kubectl")
BESIDE_A_CLUSTER = ("kube-scheduler", "kubectl")
"""Programs that the suite runs itself where KUBECONFIG names a cluster."""
ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "e2e" / "tools"
CACHE = ROOT / ".cache" / "bin"
STAMP = CACHE / ".stamp"
BUILD = "make control-plane"


class NoBinary(RuntimeError):
    """A program that is missing. The text says how to get it."""


def binary(name: str) -> Path:
    """The path of one of `PROGRAMS`. Raises `NoBinary`."""
    path = folder() / name
    if not path.is_file():
        raise NoBinary(_missing([name]))
    return path


def folder() -> Path:
    """The folder that all programs come from. Two folders would mix versions."""
    chosen, _ = named()
    return chosen or CACHE


def named() -> tuple[Path | None, str]:
    """The folder that the user names, and the variable that names it. An empty variable names nothing."""
    for variable in ("PADDOCK_E2E_BIN", "KUBEBUILDER_ASSETS"):
        if os.environ.get(variable):
            return Path(os.environ[variable]), variable
    return None, ""


def wanted() -> tuple[str, ...]:
    return BESIDE_A_CLUSTER if os.environ.get("KUBECONFIG") else PROGRAMS


def require() -> None:
    """Raise `NoBinary` unless every program that a run needs exists, in the versions pinned in `TOOLS`."""
    lacking = list(_lacking())
    if lacking:
        raise NoBinary(_missing(lacking))
    if folder() == CACHE and not is_current():
        raise NoBinary(f"{CACHE} holds other versions than e2e/tools/go.mod pins: run `{_build_command()}`")


def is_current() -> bool:
    """True if the cache holds all programs, built from the current pins."""
    built = all((CACHE / name).is_file() for name in PROGRAMS)
    return built and STAMP.is_file() and STAMP.read_text() == stamp()


def stamp() -> str:
    digest = hashlib.sha256(kubernetes_flags().encode())
    for name in ("go.mod", "go.sum"):
        digest.update((TOOLS / name).read_bytes())
    return digest.hexdigest()


def kubernetes_version() -> str:
    """The version of Kubernetes that is pinned, such as `v1.36.2`."""
    found = re.search(r"k8s\.io/kubernetes (v\d+\.\d+\.\d+)", (TOOLS / "go.mod").read_text())
    if found is None:
        raise NoBinary("e2e/tools/go.mod names no version of k8s.io/kubernetes")
    return found[1]


def kubernetes_flags(version: str = "") -> str:
    """Linker flags with a version in them, by default the pinned one.

    An API server without a version refuses feature gates.
    """
    found = version or kubernetes_version()
    major, minor, _ = found.removeprefix("v").split(".")
    base = "k8s.io/component-base/version"
    return f"-s -w -X {base}.gitVersion={found} -X {base}.gitMajor={major} -X {base}.gitMinor={minor}"


def version_of_programs() -> str:
    """The version of the kube-scheduler that a run starts, such as `1.36.2`."""
    command = [str(binary("kube-scheduler")), "--version"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return shown.strip().rpartition(" v")[2]


def minor_of_programs() -> int:
    """The minor version of the kube-scheduler that a run starts, such as 36."""
    return int(version_of_programs().split(".")[1])


def _lacking() -> Iterator[str]:
    return (name for name in wanted() if not (folder() / name).is_file())


def _missing(names: list[str]) -> str:
    lacked = ", ".join(names)
    chosen, variable = named()
    if chosen:
        return (
            f"{variable}={chosen} has no {lacked}. Put it there, of the same version as the others, "
            f"or unset {variable} and run `{BUILD}`"
        )
    if os.environ.get("KUBECONFIG"):
        return (
            f"KUBECONFIG names a cluster, and the suite runs {lacked} beside it: let PADDOCK_E2E_BIN name "
            f"a folder that has them, or run `{_build_command()}`"
        )
    return f"{CACHE} has no {lacked}: run `{BUILD}`, or let PADDOCK_E2E_BIN name a folder that has them"


def _build_command() -> str:
    """The command that builds. With KUBECONFIG set the target builds nothing."""
    return f"env -u KUBECONFIG {BUILD}" if os.environ.get("KUBECONFIG") else BUILD
