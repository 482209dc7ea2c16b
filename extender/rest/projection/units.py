"""Amounts and times in the units of the interface (REST-3)."""

from collections.abc import Iterable
from datetime import UTC, datetime

from core.resource import Limit, Resource, Tally, usage_percent
from core.resource.amounts import Amounts


def amounts(values: Resource | Tally | None) -> dict[str, int]:
    """By name. Zeros say nothing in a usage, so they are left out."""
    return {name: amount for name, amount in sorted(values.items()) if amount} if values is not None else {}


def limits(values: Limit | Resource | None) -> dict[str, int]:
    """By name. A zero in a limit forbids a resource, so it stays."""
    return dict(sorted(values.items())) if values is not None else {}


def percentages(cap: Amounts | None, used: Amounts) -> dict[str, int]:
    """By name, for resources that both have."""
    return dict(sorted(usage_percent(cap, used).items()))


def total(sizes: Iterable[Resource]) -> Resource:
    """Sum of sizes."""
    return Resource.sum_of(*sizes)


def nanoseconds(seconds: float) -> int:
    """Whole milliseconds: a float of seconds since 1970 knows no more."""
    return round(seconds * 1000) * 1_000_000


def milliseconds(seconds: float) -> int:
    """Milliseconds since 1970."""
    return round(seconds * 1000)


def moment_text(seconds: float) -> str:
    """RFC 3339 in UTC, with a fraction only if there is one."""
    text = datetime.fromtimestamp(round(seconds * 1000) / 1000, UTC).isoformat(
        timespec="milliseconds" if round(seconds * 1000) % 1000 else "seconds"
    )
    return text.replace("+00:00", "Z")
