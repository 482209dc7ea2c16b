"""Amounts and ages as Kubernetes writes them. No locale is read."""

from collections.abc import Mapping

from core.quantity import amount_text
from core.sentences import in_order, resource_name


def amount(name: str, value: int, *, raw: bool = False) -> str:
    """``2500m`` or ``12Gi``; the number in base units if ``raw``."""
    if raw:
        return str(value)
    return f"-{amount_text(name, -value)}" if value < 0 else amount_text(name, value)


def amounts(values: Mapping[str, int] | None, *, raw: bool = False) -> str:
    """``cpu=2 memory=4Gi``; ``-`` for none."""
    found = values or {}
    shown = [f"{resource_name(name)}={amount(name, found[name], raw=raw)}" for name in in_order(found)]
    return " ".join(shown) or "-"


def age(seconds: float) -> str:
    """``45s``, ``12m``, ``5h`` or ``3d``."""
    whole = max(0, int(seconds))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if whole >= 2 * size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def percent(used: int, cap: int) -> str:
    """``45%``; ``-`` without a bound."""
    return f"{used * 100 // cap}%" if cap > 0 else "-"
