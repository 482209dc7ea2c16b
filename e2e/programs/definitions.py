"""`make definitions`: copy the definitions of prometheus-operator's objects from its Go module, once."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from e2e.programs.binaries import ROOT, TOOLS, NoBinary
from e2e.programs.building import find_go

MODULE, VERSION = "github.com/prometheus-operator/prometheus-operator", "v0.85.0"
SUM = "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s="
CACHE = ROOT / ".cache" / "definitions" / VERSION
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KINDS = ("ServiceMonitor", "PodMonitor", "PrometheusRule")


def definitions() -> list[dict[str, Any]]:
    """The CustomResourceDefinition of each kind. Raises `NoBinary` where there is none."""
    files = [_file_of(CACHE, kind) for kind in KINDS]
    if missing := [each.name for each in files if not each.is_file()]:
        raise NoBinary(f"{', '.join(missing)} not in {CACHE}: run `make definitions`")
    return [next(yaml.load_all(each.read_text(), Loader=_Loader)) for each in files]


def main() -> int:
    try:
        if not all(_file_of(CACHE, kind).is_file() for kind in KINDS):
            _copy()
    except NoBinary as error:
        print(f"definitions: {error}", file=sys.stderr)
        return 1
    return 0


def _copy() -> None:
    asked = [find_go(), "mod", "download", "-json", f"{MODULE}@{VERSION}"]
    done = subprocess.run(asked, cwd=TOOLS, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout or "{}")
    if done.returncode or found.get("Sum") != SUM:
        raise NoBinary(f"{MODULE}@{VERSION}: {found.get('Error') or found.get('Sum') or done.stderr}")
    CACHE.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        shutil.copyfile(
            _file_of(Path(found["Dir"], "example", "prometheus-operator-crd"), kind), _file_of(CACHE, kind)
        )


def _file_of(folder: Path, kind: str) -> Path:
    return folder / f"monitoring.coreos.com_{kind.lower()}s.yaml"


if __name__ == "__main__":
    sys.exit(main())
