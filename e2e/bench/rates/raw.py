"""The file of all figures of a benchmark, written anew after each of its sides."""

import dataclasses
import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path

from e2e.bench.rates.figures import Measured
from e2e.programs.binaries import ROOT
from e2e.programs.compiled import is_compiled


def keep(name: str, measured: Sequence[Measured], **sizes: int) -> None:
    """Write everything measured so far. ``sizes``: what the rounds did, by name."""
    path = Path(os.environ.get("PADDOCK_BENCH_RAW", ROOT / ".cache" / "bench" / f"{name}.json"))
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = {
        "benchmark": name,
        "recorded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "core": "compiled" if is_compiled() else "interpreted",
        "cores": os.cpu_count(),
        **sizes,
        "rounds": [dataclasses.asdict(each) for each in measured],
    }
    path.write_text(json.dumps(raw, indent=1) + "\n")
