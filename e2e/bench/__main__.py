"""`make bench`: every benchmark, or those named on the command line."""

import asyncio
import sys
from importlib import import_module

BENCHMARKS = {
    "latency": "latency",
    "life": "inside.life",
    "promptness": "promptness",
    "passes": "passes",
    "start": "start",
    "scale": "inside.scale",
    "throughput": "rates.throughput",
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
    for name in names or BENCHMARKS:
        asyncio.run(import_module(f"e2e.bench.{BENCHMARKS[name]}").run())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
