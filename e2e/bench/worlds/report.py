"""The form of a figure: one JSON line."""

import json
import statistics
from typing import Any


def show(name: str, **figures: Any) -> None:
    print(json.dumps({"benchmark": name, **figures}), flush=True)


def percentiles(seconds: list[float]) -> dict[str, float]:
    """p50, p99 and the worst, in microseconds."""
    ordered = sorted(seconds)
    return {
        "p50": round(statistics.median(ordered) * 1e6, 1),
        "p99": round(ordered[int(len(ordered) * 0.99)] * 1e6, 1),
        "max": round(ordered[-1] * 1e6, 1),
    }


def ratio(one: list[float], other: list[float]) -> float:
    """The median of the rounds' ratios. Machines are shared, so only neighbouring rounds are compared."""
    return round(statistics.median(a / b for a, b in zip(one, other, strict=True)), 3)
