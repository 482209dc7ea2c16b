"""Quantities of a document: parsing, comparison with caps, and texts for messages.

Unit of all amounts: millicores for ``vcore``, and the base unit for every other resource.
"""

from collections.abc import Mapping

from core.errors import QuantityError
from core.quantity import queue_amount
from extender.queueconfig.problems import shown

Excess = tuple[str, int, int]
"""A resource, its amount, and the smaller amount that it may have."""


def amounts_from(texts: Mapping[str, str] | None) -> tuple[dict[str, int], dict[str, str]]:
    """Parse quantities. Returns the amounts, and an error for each invalid text (CFG-22)."""
    amounts, broken = {}, {}
    for name, text in (texts or {}).items():
        try:
            amounts[name] = queue_amount(name, text)
        except QuantityError as error:
            broken[name] = f"{error}; write it like 10, 500m (vcore only), 5G or 512Mi"
    return amounts, broken


def excesses(amounts: Mapping[str, int], cap: Mapping[str, int]) -> list[Excess]:
    """Amounts above their cap, sorted by name. A resource without a cap is unlimited.

    Cost: linear in the smaller of the two maps, since thousands of entries may be compared with a cap.
    """
    common = amounts.keys() & cap.keys()
    return [(name, amounts[name], cap[name]) for name in sorted(common) if amounts[name] > cap[name]]


def written(name: str, amount: int) -> str:
    """An amount as a document writes it, such as 1500m or 2 for ``vcore``."""
    if name != "vcore":
        return str(amount)
    return f"{amount}m" if amount % 1000 else str(amount // 1000)


def named(name: str, amount: int) -> str:
    """An amount with its resource, for a message: ``memory 5``."""
    return f"{shown(name)[1:-1]} {written(name, amount)}"
