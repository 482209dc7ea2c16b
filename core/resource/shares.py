"""Shares: how much of its due a queue or application has, as one number or one order (RES-9, RES-10)."""

from core.resource.amounts import Resource
from core.resource.limit import Limit


def fair_share(used: Resource, guaranteed: Resource | None, fair_max: Limit | None) -> float:
    """Largest share over the types used (RES-9): of the guarantee, else of the fair max, else none.

    A type whose measure is zero or less counts as fully used once any of it is used. Quotients are rounded to
    the nearest, so equal shares are equal numbers.
    """
    return max(
        (_share(name, amount, guaranteed, fair_max) for name, amount in used.items() if amount >= 0),
        default=0.0,
    )


def _share(name: str, amount: int, guaranteed: Resource | None, fair_max: Limit | None) -> float:
    if guaranteed is not None and name in guaranteed:
        measure = guaranteed.get(name)
    else:
        cap = fair_max.get(name) if fair_max is not None else None
        if cap is None:
            return 0.0
        measure = cap
    if measure <= 0:
        return 1.0 if amount > 0 else 0.0
    return amount / measure


def compare_usage(left: Resource, right: Resource, total: Resource | None) -> int:
    """Compare the usage of a total, by the largest shares first (RES-10): -1, 0 or 1.

    A type that the total lacks counts with its amount. If one side has no more types, the first nonzero share
    of the other side decides.
    """
    mine, others = _shares(left, total), _shares(right, total)
    for one, other in zip(mine, others, strict=False):
        if one != other:
            return 1 if one > other else -1
    common = min(len(mine), len(others))
    for one in mine[common:]:
        if one:
            return 1 if one > 0 else -1
    for other in others[common:]:
        if other:
            return -1 if other > 0 else 1
    return 0


def _shares(used: Resource, total: Resource | None) -> list[float]:
    """Shares, the largest first."""
    return sorted((_of_total(name, amount, total) for name, amount in used.items()), reverse=True)


def _of_total(name: str, amount: int, total: Resource | None) -> float:
    whole = total.get(name) if total is not None else 0
    return amount / whole if whole else float(amount)
