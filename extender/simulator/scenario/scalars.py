"""Scalars of a scenario file: names, numbers, durations, switches. Pure."""

import difflib
import math
import re
from decimal import Decimal
from typing import Any

from extender.configuration.values import seconds_of
from extender.queueconfig.document import ListValue, MapValue, QuotedText, Value
from extender.queueconfig.problems import cut

LONGEST_NAME = 253
LONGEST_LABEL = 63
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
RESOURCE = re.compile(r"cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMGTPE]i|[^/]+/.+", re.ASCII)
"""Resources that Kubernetes defines itself, and resources with a domain, which others define."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_OTHER_BASE = re.compile(r"0x[0-9a-fA-F]{1,15}|0o[0-7]{1,20}", re.ASCII)
_DURATION_PART = re.compile(r"([0-9.]+)([a-zµμ]+)")
_MILLISECONDS = {
    **{"ns": Decimal("1e-6"), "us": Decimal("1e-3"), "µs": Decimal("1e-3")},
    **{"μs": Decimal("1e-3"), "ms": Decimal(1)},
    **{"s": Decimal(1000), "m": Decimal(60_000), "h": Decimal(3_600_000)},
}
SWITCHES = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def is_slip(name: str) -> bool:
    """True if a resource without a domain looks like a mistyped resource of Kubernetes."""
    own = ("cpu", "vcore", "memory", "ephemeral-storage")
    return bool(difflib.get_close_matches(cut(name, LONGEST_NAME), own, n=1, cutoff=0.75))


def is_name(text: str) -> bool:
    """True if a text may name an object of Kubernetes."""
    return len(text) <= LONGEST_NAME and NAME.fullmatch(text) is not None


def is_label(text: str) -> bool:
    """True if a text may name a namespace."""
    return len(text) <= LONGEST_LABEL and "." not in text and is_name(text)


def whole_number(value: Value) -> int | None:
    """The number that a plain scalar stands for; None if it is not a whole one."""
    plain_text = isinstance(value, str) and not isinstance(value, QuotedText)
    return int(str(value)) if plain_text and _WHOLE.fullmatch(str(value)) else None


def milliseconds_of(text: str) -> int | None:
    """A Go duration in milliseconds; None if it is not one, or not whole."""
    if text == "0":
        return 0
    try:
        seconds_of(text)
    except ValueError:
        return None
    # Exact, where a float would round 1000000 h and 1 ms.
    parts = _DURATION_PART.findall(text)
    milliseconds = sum((Decimal(amount) * _MILLISECONDS[unit] for amount, unit in parts), Decimal(0))
    return int(milliseconds) if milliseconds == int(milliseconds) and milliseconds < 10**12 else None


def plain(value: Value) -> Any:
    """Python's own values: plain scalars by YAML's core schema, quoted ones as text.

    As in Kubernetes, an integer beyond 64 bits is a float, and infinity is no number and stays text.
    """
    if isinstance(value, MapValue):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, ListValue):
        return [plain(each) for each in value]
    if value is None or isinstance(value, QuotedText):
        return None if value is None else str(value)
    if value in SWITCHES:
        return SWITCHES[value]
    return _number(value)


def _number(text: str) -> int | float | str:
    if _WHOLE.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if not _DECIMAL.fullmatch(text):
        return str(text)
    number = float(text)
    if number.is_integer() and abs(number) < 2**64 and text.lstrip("+-").isdigit():
        whole = int(text)
        return whole if -(2**63) <= whole < 2**63 else number
    return number if math.isfinite(number) else str(text)
