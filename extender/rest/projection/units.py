"""Conversion of amounts and times to the units of the interface (REST-3)."""

from collections.abc import Iterable
from datetime import UTC, datetime

from core.resource import Limit, Resource, Tally, usage_percent
from core.resource.amounts import Amounts


def amounts(values: Resource | Tally | None) -> dict[str, int]:
    """Return a usage by resource, without zeros."""
    return {name: amount for name, amount in sorted(values.items()) if amount} if values is not None else {}


def limits(values: Limit | Resource | None) -> dict[str, int]:
    """Return a limit by resource, with zeros, since a zero forbids a resource."""
    return dict(sorted(values.items())) if values is not None else {}


def percentages(cap: Amounts | None, used: Amounts) -> dict[str, int]:
    """Return percentages of ``cap`` for the resources that both have."""
    return dict(sorted(usage_percent(cap, used).items()))


def total(sizes: Iterable[Resource]) -> Resource:
    """Return the sum of sizes."""
    return Resource.sum_of(*sizes)


def nanoseconds(seconds: float) -> int:
    """Convert seconds since 1970 to nanoseconds, with the precision of a millisecond."""
    return milliseconds(seconds) * 1_000_000


def milliseconds(seconds: float) -> int:
    """Convert seconds since 1970 to milliseconds."""
    # Shorter than `round`, which each pod would need ten times.
    return int(seconds * 1000 + 0.5)


def moment_text(seconds: float) -> str:
    """Format a time by RFC 3339 in UTC. A fraction is written only if it is not zero."""
    text = datetime.fromtimestamp(round(seconds * 1000) / 1000, UTC).isoformat(
        timespec="milliseconds" if round(seconds * 1000) % 1000 else "seconds"
    )
    return text.replace("+00:00", "Z")
