"""Texts that name an amount of a resource, and the amounts that they name.

There are two syntaxes: that of the queue document (RES-1, RES-2) and that of Kubernetes objects (RES-3).
Amounts are signed 64-bit integers: millicores for ``vcore``, the base unit for every other resource.
"""

import re
from functools import lru_cache
from typing import Final

from core.errors import QuantityError
from core.white_space import trimmed

INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)

# Longer than any amount worth writing. The bound limits the work that a hostile text can cause.
LONGEST_TEXT: Final = 256

# A mantissa has at most LONGEST_TEXT digits. Beyond this exponent every amount is 0, 1 or saturated.
_LARGEST_EXPONENT: Final = 2 * LONGEST_TEXT

_DECIMAL_EXPONENT: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY_SHIFT: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_QUEUE_FACTOR: Final[dict[str, int]] = {
    **{suffix: 10**exponent for suffix, exponent in _DECIMAL_EXPONENT.items() if exponent >= 0},
    **{suffix: 1 << shift for suffix, shift in _BINARY_SHIFT.items()},
}

# Digits are spelled out, because \d would match the digits of every script.
_QUEUE_TEXT: Final = re.compile(r"([0-9]+)[\t\n\f\r ]*((?:[mkKMGTPE]i?)?)")
_KUBERNETES_TEXT: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"
)


def saturated(value: int) -> int:
    """``value``, or the nearest end of the signed 64-bit range if it lies outside."""
    return INT64_MIN if value < INT64_MIN else INT64_MAX if value > INT64_MAX else value


def canonical(resource: str) -> str:
    """Queue name of a Kubernetes resource: ``vcore`` for ``cpu``, and the name itself otherwise (RES-3)."""
    return "vcore" if resource == "cpu" else resource


def queue_amount(resource: str, text: str) -> int:
    """Amount that ``text`` names in the queue document (RES-1, RES-2).

    Millicores for ``vcore``: ``"10"`` is 10000 and ``"500m"`` is 500. For every other name, ``cpu`` included,
    the number itself. Raises ``QuantityError`` for a sign, a fraction, an unknown suffix, and ``m`` on
    anything but ``vcore``. It also raises for an amount above the signed 64-bit range and for a text over 256
    characters.
    """
    match = _QUEUE_TEXT.fullmatch(trimmed(_bounded(text)))
    if match is None:
        raise QuantityError(
            text, "must be a whole number with an optional suffix k, M, G, T, P, E or Ki to Ei"
        )
    digits, suffix = match.groups()
    amount = int(digits) * _queue_factor(resource, suffix, text)
    if amount > INT64_MAX:
        raise QuantityError(text, "is larger than a signed 64-bit number")
    return amount


def _queue_factor(resource: str, suffix: str, text: str) -> int:
    if suffix == "m":
        if resource != "vcore":
            raise QuantityError(text, f"the suffix m is for vcore only, not for {resource}")
        return 1
    factor = _QUEUE_FACTOR.get(suffix)
    if factor is None:
        raise QuantityError(text, f"unknown suffix {suffix!r}")
    return factor * 1000 if resource == "vcore" else factor


@lru_cache(maxsize=8192)
def kubernetes_amount(resource: str, text: str) -> int:
    """Amount that ``text`` names in a Kubernetes object, where none may be negative (RES-3).

    Reads like `signed_kubernetes_amount`, and also raises ``QuantityError`` for a negative amount.
    """
    amount = signed_kubernetes_amount(resource, text)
    if amount < 0:
        raise QuantityError(text, "is negative")
    return amount


@lru_cache(maxsize=8192)
def signed_kubernetes_amount(resource: str, text: str) -> int:
    """Amount that ``text`` names in Kubernetes' quantity syntax, possibly negative (RES-3, NS-1).

    ``resource`` is the Kubernetes name. ``cpu`` is counted in millicores, everything else in its base unit.
    The arithmetic is exact. A remainder below the unit rounds away from zero, as in ``Quantity.Value``
    (``k8s.io/apimachinery/pkg/api/resource``). An amount beyond 64 bits saturates. Raises ``QuantityError``
    for a text outside the grammar or over 256 characters.
    """
    return saturated(exact_kubernetes_amount(resource, text))


def exact_kubernetes_amount(resource: str, text: str) -> int:
    """Amount as in `signed_kubernetes_amount`, but without saturation, to detect an overflow (POD-11)."""
    match = _KUBERNETES_TEXT.fullmatch(_bounded(text))
    digits = (match["whole"] + (match["fraction"] or "")) if match else ""
    if match is None or not digits:
        raise QuantityError(text, "must be a number with an optional suffix, such as 2, 500m, 1.5Gi or 1e3")
    exponent, shift = _scale(match["suffix"] or "")
    exponent += (3 if resource == "cpu" else 0) - len(match["fraction"] or "")
    magnitude = _rounded_up(int(digits) << shift, exponent)
    return -magnitude if match["sign"] == "-" else magnitude


def _bounded(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise QuantityError(text, f"is longer than {LONGEST_TEXT} characters")
    return text


def _scale(suffix: str) -> tuple[int, int]:
    """Power of ten and power of two that a suffix stands for."""
    if suffix in _BINARY_SHIFT:
        return 0, _BINARY_SHIFT[suffix]
    if suffix in _DECIMAL_EXPONENT:
        return _DECIMAL_EXPONENT[suffix], 0
    return max(-_LARGEST_EXPONENT, min(_LARGEST_EXPONENT, int(suffix[1:]))), 0


def _rounded_up(mantissa: int, exponent: int) -> int:
    if exponent >= 0:
        return mantissa * int(10**exponent)
    return -(-mantissa // int(10**-exponent))


def amount_text(resource: str, amount: int) -> str:
    """An amount as a queue document would write it: ``vcore`` 1500 is ``1500m``, memory 2**30 is ``1Gi``."""
    if resource == "vcore":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    for suffix, shift in reversed(_BINARY_SHIFT.items()):
        if amount and amount % (1 << shift) == 0:
            return f"{amount >> shift}{suffix}"
    return str(amount)
