"""`make bench`: every benchmark, or those named on the command line.

With ``PADDOCK_BENCH_CORE=compiled`` they run the core of `make compiled`, as the image does.
"""

import asyncio
import os
import subprocess
import sys
from importlib import import_module

from e2e.programs import compiled

CORE = os.environ.get("PADDOCK_BENCH_CORE", "interpreted")

BENCHMARKS = {
    "latency": "latency",
    "life": "inside.life",
    "instructions": "inside.instructions",
    "promptness": "promptness",
    "passes": "passes",
    "start": "start",
    "scale": "inside.scale",
    "throughput": "rates.throughput",
    "pairs": "rates.pairs",
    "backlog": "rates.backlog",
    "policies": "rates.policies",
    "groups": "groups",
    "contention": "contention",
    "gangs": "gangs",
    "simulation": "simulation",
    "plans": "plans",
    "past": "past",
    "explanations": "explanations",
    "beside_plans": "beside.plans",
    "beside_scrapes": "beside.scrapes",
    "beside_answers": "beside.answers",
}
"""The module of each benchmark, in the order in which they run."""


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"unknown benchmark {unknown[0]}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    if CORE not in ("interpreted", "compiled"):
        print(f"PADDOCK_BENCH_CORE is interpreted or compiled, not {CORE}", file=sys.stderr)
        return 2
    if CORE == "compiled" and not compiled.is_compiled():
        return _again_compiled(names)
    for name in names or BENCHMARKS:
        asyncio.run(import_module(f"e2e.bench.{BENCHMARKS[name]}").run())
    return 0


def _again_compiled(names: list[str]) -> int:
    """Build what `make compiled` builds, and run the benchmarks there instead of here."""
    if compiled.SAFE_PATH in os.environ:
        print("the compiled core is not found", file=sys.stderr)
        return 2
    if failed := compiled.main():
        return failed
    # Otherwise the sources in the working directory would come before the compiled core, in each program.
    environment = {**os.environ, compiled.SAFE_PATH: "1"}
    return subprocess.run([compiled.PYTHON, "-m", "e2e.bench", *names], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
