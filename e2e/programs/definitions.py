"""`make definitions`: copy the definitions of objects that others define from their Go modules, once."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from e2e.programs.binaries import ROOT, TOOLS, NoBinary
from e2e.programs.building import find_go

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Definitions:
    """Files of a Go module, each with one CustomResourceDefinition.

    ``checksum``: of the whole module, as in a go.sum. ``place``: the folder of the files in the module.
    """

    module: str
    version: str
    checksum: str
    place: str
    files: tuple[str, ...]

    def read(self) -> list[dict[str, Any]]:
        """The definition in each file. Raises `NoBinary` where one was not copied."""
        if missing := self.missing():
            raise NoBinary(f"{', '.join(missing)} not in {self._cache}: run `make definitions`")
        texts = [(self._cache / name).read_text() for name in self.files]
        return [next(yaml.load_all(each, Loader=_Loader)) for each in texts]

    def missing(self) -> list[str]:
        """Names of files that were not copied."""
        return [name for name in self.files if not (self._cache / name).is_file()]

    def copy(self) -> None:
        """Copy the files from the module. Raises `NoBinary` for any module but the pinned one."""
        asked = [find_go(), "mod", "download", "-json", f"{self.module}@{self.version}"]
        done = subprocess.run(asked, cwd=TOOLS, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout or "{}")
        if done.returncode or found.get("Sum") != self.checksum:
            reason = found.get("Error") or found.get("Sum") or done.stderr
            raise NoBinary(f"{self.module}@{self.version}: {reason}")
        self._cache.mkdir(parents=True, exist_ok=True)
        for name in self.files:
            shutil.copyfile(Path(found["Dir"], self.place, name), self._cache / name)

    @property
    def _cache(self) -> Path:
        return ROOT / ".cache" / "definitions" / f"{self.module.rpartition('/')[2]}@{self.version}"


PROMETHEUS_OPERATOR = Definitions(
    "github.com/prometheus-operator/prometheus-operator",
    "v0.85.0",
    "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
    "example/prometheus-operator-crd",
    tuple(
        f"monitoring.coreos.com_{each}.yaml" for each in ("servicemonitors", "podmonitors", "prometheusrules")
    ),
)
CERT_MANAGER = Definitions(
    "github.com/cert-manager/cert-manager",
    "v1.21.2",
    "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
    "deploy/crds",
    ("cert-manager.io_certificates.yaml",),
)
EVERY = (PROMETHEUS_OPERATOR, CERT_MANAGER)


def main() -> int:
    try:
        for each in EVERY:
            if each.missing():
                each.copy()
    except NoBinary as error:
        print(f"definitions: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
