"""The size of a pod, computed independently, as the suite must not trust what it tests.

Amounts are integers: cpu in millicores, everything else in base units.
"""

from fractions import Fraction
from math import ceil
from typing import Any

Amounts = dict[str, int]

_SUFFIX = {
    **{suffix: Fraction(1024) ** (at + 1) for at, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))},
    **{suffix: Fraction(1000) ** (at + 1) for at, suffix in enumerate(("k", "M", "G", "T", "P", "E"))},
    "m": Fraction(1, 1000),
}
_MARKERS = "paddock.dev/"


def amount(name: str, text: str) -> int:
    factor = Fraction(1)
    for suffix, value in _SUFFIX.items():
        if text.endswith(suffix):
            text, factor = text[: -len(suffix)], value
            break
    return ceil(Fraction(text) * factor * (1000 if name == "cpu" else 1))


def amounts_of(quantities: dict[str, str] | None) -> Amounts:
    return {
        name: amount(name, str(text))
        for name, text in (quantities or {}).items()
        if not name.startswith(_MARKERS)
    }


def size_of(pod: dict[str, Any]) -> Amounts:
    """The amounts that a pod asks for: containers and sidecars, or its largest init step; then overhead."""
    spec, statuses = pod["spec"], _statuses(pod)
    sidecars: Amounts = {}
    initial: Amounts = {}
    for container in spec.get("initContainers", ()):
        own = _container(container, statuses)
        initial = _largest(initial, _sum(own, sidecars))
        if container.get("restartPolicy") == "Always":
            sidecars = _sum(sidecars, own)
    total = sidecars
    for container in spec.get("containers", ()):
        total = _sum(total, _container(container, statuses))
    total = _largest(total, initial)
    level = amounts_of(spec.get("resources", {}).get("requests"))
    total |= {name: value for name, value in level.items() if name in ("cpu", "memory")}
    return {**_sum(total, amounts_of(spec.get("overhead"))), "pods": 1}


def _statuses(pod: dict[str, Any]) -> dict[str, dict[str, Any]]:
    status = pod.get("status", {})
    kinds = ("initContainerStatuses", "containerStatuses")
    return {each["name"]: each for kind in kinds for each in status.get(kind, ())}


def _container(container: dict[str, Any], statuses: dict[str, dict[str, Any]]) -> Amounts:
    status = statuses.get(container["name"], {})
    asked = amounts_of(container.get("resources", {}).get("requests"))
    given = amounts_of(status.get("allocatedResources"))
    in_use = amounts_of(status.get("resources", {}).get("requests"))
    return _largest(asked, _largest(given, in_use))


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, 0) + other.get(name, 0) for name in one | other}


def _largest(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in one | other}
