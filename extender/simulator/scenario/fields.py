"""Reading one mapping of a scenario file: strict keys, typed values, every mistake with its line.

Knows YAML values and Kubernetes' names and amounts, and nothing of what a scenario means.
"""

import difflib
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from core.errors import QuantityError
from core.quantity import kubernetes_amount
from extender.configuration.settings import seconds_of
from extender.queueconfig.document import ListValue, MapValue, QuotedText, Value
from extender.queueconfig.problems import Location, cut, path_text, shown
from extender.simulator.scenario.model import Mistake, Named

T = TypeVar("T")

MOST_MISTAKES = 200
LONGEST_PATTERN = 1000
LONGEST_NAME = 253
LONGEST_LABEL = 63
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
RESOURCE = re.compile(r"cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMGTPE]i|[^/]+/.+", re.ASCII)
"""Resources that Kubernetes knows by themselves, and those of anybody else, which have a domain."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_OTHER_BASE = re.compile(r"0x[0-9a-fA-F]{1,15}|0o[0-7]{1,20}", re.ASCII)
_DURATION_PART = re.compile(r"([0-9.]+)([a-zµμ]+)")
_MILLISECONDS = {
    **{"ns": Decimal("1e-6"), "us": Decimal("1e-3"), "µs": Decimal("1e-3")},
    **{"μs": Decimal("1e-3"), "ms": Decimal(1)},
    **{"s": Decimal(1000), "m": Decimal(60_000), "h": Decimal(3_600_000)},
}
_SWITCHES = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Mistakes:
    """What is wrong with a file, in the order found; no more than anybody reads."""

    def __init__(self) -> None:
        self.found: list[Mistake] = []

    def add(self, line: int | None, at: Location, message: str) -> None:
        if not self.full:
            self.found.append(Mistake(line, path_text(at), cut(message)))

    @property
    def full(self) -> bool:
        return len(self.found) >= MOST_MISTAKES


class Fields:
    """One mapping. Each reader takes a key's value, or its default when the key is absent or wrong."""

    def __init__(self, value: MapValue, at: Location, line: int, mistakes: Mistakes) -> None:
        self.value = value
        self.at = at
        self.line = line
        self.mistakes = mistakes
        self._read: set[str] = set()

    def __contains__(self, key: str) -> bool:
        """Whether the file has a key; who asks for it knows it."""
        self._read.add(key)
        return key in self.value

    def line_of(self, key: str) -> int:
        return self.value.lines.get(key, self.line)

    def wrong(self, key: str, message: str) -> None:
        self.mistakes.add(self.line_of(key), (*self.at, key), message)

    def take(self, key: str) -> Value:
        self._read.add(key)
        return self.value.get(key)

    def end(self, known: Iterable[str] = ()) -> None:
        """Every key that nobody asked for is a mistake."""
        known = sorted({*self._read, *known})
        for key in self.value:
            if self.mistakes.full:
                return
            if key not in known:
                near = difflib.get_close_matches(cut(key, LONGEST_NAME), known, n=1)
                hint = f"; did you mean {near[0]}?" if near else f"; known here: {', '.join(known)}"
                self.wrong(key, f"unknown key {shown(key)}{hint}")

    # -- plain values ----------------------------------------------------------------------------

    def text(self, key: str, default: str | None = None) -> str | None:
        value = self.take(key)
        if key not in self.value:
            return default
        if not isinstance(value, str):
            self.wrong(key, "must be text")
            return default
        return str(value)

    def required_text(self, key: str) -> str:
        found = self.text(key)
        if key not in self.value:
            self.mistakes.add(self.line, self.at, f"{key} is missing")
        elif found == "":
            self.wrong(key, "must not be empty")
        return found or ""

    def name(self, key: str = "name") -> str:
        """A required name of a Kubernetes object."""
        found = self.required_text(key)
        if found and not is_name(found):
            self.wrong(key, f"{shown(found)} is not a name: small letters, digits, - and . only, 253 at most")
        return found

    def number(self, key: str, default: int, *, least: int, most: int) -> int:
        value = self.take(key)
        if key not in self.value:
            return default
        number = whole_number(value)
        if number is None or not least <= number <= most:
            self.wrong(key, f"must be a whole number from {least} to {most}")
            return default
        return number

    def optional_number(self, key: str, *, least: int, most: int) -> int | None:
        return self.number(key, least, least=least, most=most) if key in self else None

    def switch(self, key: str, default: bool = False) -> bool:
        value = self.take(key)
        if key not in self.value:
            return default
        if not isinstance(value, str) or isinstance(value, QuotedText) or value not in _SWITCHES:
            self.wrong(key, "must be true or false")
            return default
        return _SWITCHES[value]

    def duration(self, key: str, default: int = 0) -> int:
        """Milliseconds."""
        value = self.take(key)
        if key not in self.value:
            return default
        milliseconds = milliseconds_of(value) if isinstance(value, str) else None
        if milliseconds is None:
            self.wrong(key, "must be a duration in whole milliseconds such as 30s, 1m30s or 250ms")
            return default
        return milliseconds

    def choice(self, key: str, choices: Iterable[str], default: str | None = None) -> str | None:
        found = self.text(key, default)
        if key in self.value and found is not None and found not in tuple(choices):
            self.wrong(key, f"must be one of {', '.join(choice for choice in choices if choice)}")
            return default
        return found

    def pattern(self, key: str) -> str | None:
        """A regular expression."""
        found = self.text(key)
        if found is None:
            return None
        if len(found) > LONGEST_PATTERN:
            self.wrong(key, f"a regular expression has at most {LONGEST_PATTERN} characters")
            return None
        try:
            # Python warns of patterns that it may read otherwise one day; they mean what they mean today.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(found)
        except (re.error, RecursionError, OverflowError) as error:
            self.wrong(key, f"not a regular expression: {error}")
            return None
        return found

    # -- mappings and lists ----------------------------------------------------------------------

    def fields(self, key: str) -> "Fields | None":
        """A mapping below this one, or None when there is none."""
        value = self.take(key)
        if key not in self.value:
            return None
        if not isinstance(value, MapValue):
            self.wrong(key, "must be a mapping")
            return None
        return Fields(value, (*self.at, key), self.line_of(key), self.mistakes)

    def each(self, key: str) -> "list[Fields]":
        """The mappings of a list."""
        found = []
        for at, (value, line) in enumerate(self._items(key)):
            place = (*self.at, key, at)
            if isinstance(value, MapValue):
                found.append(Fields(value, place, line, self.mistakes))
            else:
                self.mistakes.add(line, place, "must be a mapping")
        return found

    def names(self, key: str) -> tuple[Named, ...]:
        """A list of names, with their lines."""
        found = []
        for at, (value, line) in enumerate(self._items(key)):
            if isinstance(value, str) and value:
                found.append(Named(str(value), line))
            else:
                self.mistakes.add(line, (*self.at, key, at), "must be a name")
        return tuple(found)

    def optional_names(self, key: str) -> tuple[str, ...] | None:
        return tuple(name for name, _ in self.names(key)) if key in self else None

    def _items(self, key: str) -> list[tuple[Value, int]]:
        value = self.take(key)
        if key not in self.value:
            return []
        if not isinstance(value, ListValue):
            self.wrong(key, "must be a list")
            return []
        return list(zip(value, value.lines, strict=True))

    def texts(self, key: str) -> dict[str, str]:
        """A mapping of texts, as labels are: numbers and switches are taken as their text."""
        return self.mapping(key, lambda value: str(value) if isinstance(value, str) else None, "must be text")

    def amounts(self, key: str) -> dict[str, str]:
        """A mapping of resource names to quantities."""
        below = self.fields(key)
        if below is None:
            return {}
        known = [name for name in below.value if RESOURCE.fullmatch(name) or not _is_slip(name)]
        found = {name: amount for name in known if (amount := below.amount(name)) is not None}
        below.end(("cpu", "memory", "ephemeral-storage"))
        return found

    def amount(self, key: str) -> str | None:
        """A quantity as Kubernetes writes it, or None when absent or wrong."""
        value = self.take(key)
        if key not in self.value:
            return None
        try:
            kubernetes_amount(key, str(value) if isinstance(value, str) else "")
        except QuantityError as error:
            self.wrong(key, f"not a quantity: {error}")
            return None
        return str(value)

    def mapping(self, key: str, read: Callable[[Value], T | None], message: str) -> dict[str, T]:
        below = self.fields(key)
        if below is None:
            return {}
        found: dict[str, T] = {}
        for name in below.value:
            value = read(below.take(name))
            if value is None:
                below.wrong(name, message)
            else:
                found[name] = value
        return found

    def free(self, key: str) -> Any:
        """Whatever stands there, as plain Python values."""
        return plain(self.take(key))

    def free_mappings(self, key: str) -> tuple[Mapping[str, Any], ...]:
        """A list of mappings of which only kube-scheduler or Paddock knows what they mean."""
        return tuple(plain(each.value) for each in self.each(key))


def _is_slip(name: str) -> bool:
    """Whether a resource without a domain looks like one of Kubernetes' own, mistyped."""
    own = ("cpu", "vcore", "memory", "ephemeral-storage")
    return bool(difflib.get_close_matches(cut(name, LONGEST_NAME), own, n=1, cutoff=0.75))


def is_name(text: str) -> bool:
    return len(text) <= LONGEST_NAME and NAME.fullmatch(text) is not None


def is_label(text: str) -> bool:
    """Whether it may name a namespace."""
    return len(text) <= LONGEST_LABEL and "." not in text and is_name(text)


def whole_number(value: Value) -> int | None:
    plain_text = isinstance(value, str) and not isinstance(value, QuotedText)
    return int(str(value)) if plain_text and _WHOLE.fullmatch(str(value)) else None


def milliseconds_of(text: str) -> int | None:
    """A Go duration in milliseconds, None when it is none or not whole."""
    if text == "0":
        return 0
    try:
        seconds_of(text)
    except ValueError:
        return None
    # Exactly, where a float would take 1000000 h and 1 ms for something in between.
    parts = _DURATION_PART.findall(text)
    milliseconds = sum((Decimal(amount) * _MILLISECONDS[unit] for amount, unit in parts), Decimal(0))
    return int(milliseconds) if milliseconds == int(milliseconds) and milliseconds < 10**12 else None


def plain(value: Value) -> Any:
    """Python's own values: plain scalars as YAML's core schema reads them, quoted ones as text.

    As in Kubernetes, an integer beyond 64 bits is a float, and there is no infinity: its text is kept.
    """
    if isinstance(value, MapValue):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, ListValue):
        return [plain(each) for each in value]
    if value is None or isinstance(value, QuotedText):
        return None if value is None else str(value)
    if value in _SWITCHES:
        return _SWITCHES[value]
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
