"""Annotations of a namespace about the dynamic queue for its pods (NS-1 to NS-4)."""

import json
from collections.abc import Mapping

from core.errors import QuantityError
from core.quantity import canonical, signed_kubernetes_amount
from core.resource import Limit, Resource

PREFIX = "yunikorn.apache.org/namespace."
PARENT_QUEUE = "yunikorn.apache.org/parentqueue"
LONGEST = 64 * 1024
_MOST_APPLICATIONS = 2**63 - 1


def quota_from(annotations: Mapping[str, str]) -> Limit | None:
    """Max of the dynamic queue, or None. An invalid quota does not fall back to older annotations (NS-2)."""
    quota = annotations.get(PREFIX + "quota")
    found = _amounts(quota) if quota else _old_quota(annotations)
    return Limit.of(found) if found is not None else None


def guaranteed_from(annotations: Mapping[str, str]) -> Resource | None:
    """Guaranteed resources of the dynamic queue, or None."""
    return _amounts(annotations.get(PREFIX + "guaranteed", ""))


def max_applications_from(annotations: Mapping[str, str]) -> int:
    """Most applications of the dynamic queue. 0 for no limit, and for an invalid number (NS-3)."""
    text = annotations.get(PREFIX + "maxApps", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
    return number if number <= _MOST_APPLICATIONS else 0


def _old_quota(annotations: Mapping[str, str]) -> Resource | None:
    texts = {name: annotations.get(PREFIX + f"max.{name}", "") for name in ("cpu", "memory")}
    return _read({name: text for name, text in texts.items() if text})


def _amounts(annotation: str) -> Resource | None:
    """Amounts from a JSON object of quantities, or None if one of them is invalid (NS-1)."""
    if not annotation or len(annotation) > LONGEST:
        return None
    try:
        read = json.loads(annotation)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or not all(isinstance(value, str) for value in read.values()):
        return None
    return _read(read)


def _read(texts: Mapping[str, str]) -> Resource | None:
    """Amounts, or None if one is invalid or negative, or if none is above zero (NS-4)."""
    try:
        amounts = {canonical(name): signed_kubernetes_amount(name, text) for name, text in texts.items()}
    except QuantityError:
        return None
    if any(amount < 0 for amount in amounts.values()) or not any(amounts.values()):
        return None
    return Resource(amounts)
