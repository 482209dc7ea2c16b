"""`make bench`: every benchmark, or those named on the command line."""

import asyncio
import sys
from importlib import import_module

BENCHMARKS = (
    "latency",
    "promptness",
    "passes",
    "start",
    "throughput",
    "gates",
    "groups",
    "contention",
    "gangs",
    "simulation",
    "plans",
    "past",
    "beside_plans",
    "beside_scrapes",
    "beside_answers",
)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"unknown benchmark {unknown[0]}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in names or BENCHMARKS:
        asyncio.run(import_module(f"e2e.bench.{name.replace('beside_', 'beside.')}").run())
    return 0


sys.exit(main(sys.argv[1:]))
