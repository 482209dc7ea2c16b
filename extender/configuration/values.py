"""Values of settings: how each type is parsed, and how help texts name it."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import BeforeValidator

from core import durations
from core.quantity import amount_text, kubernetes_amount
from extender.wire.host_names import host_names_from
from extender.wire.names import is_namespace_name, is_object_name
from extender.wire.placeholder import TemplateParts, template_parts_from
from extender.wire.service_keys import int64_of, switch_of

LEAST_MEMORY, MOST_MEMORY = 8 * 2**20, 2**30
"""Bounds of a setting for memory, in bytes, unless it is 0."""

_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:.]+\](:[0-9]{1,5})?")


@dataclass(frozen=True)
class Parsed(BeforeValidator):
    """A parser of values. ``metavar``: the type of the value in help texts."""

    metavar: str = ""


def seconds_of(text: str) -> float:
    """Parse a Go duration without a sign, such as ``1m30s``, into seconds. Raises ValueError."""
    if text[:1] in ("+", "-"):
        raise ValueError("must be a duration such as 30s, 500ms or 1m30s, without a sign")
    return durations.seconds_of(text)


def _duration(value: Any) -> float:
    seconds = seconds_of(value) if isinstance(value, str) else float(value)
    if seconds <= 0:
        raise ValueError("must be above zero")
    return seconds


def _names(value: Any) -> frozenset[str]:
    names = value.split(",") if isinstance(value, str) else list(value)
    found = frozenset(name.strip() for name in names if name.strip())
    if not found:
        raise ValueError("must name at least one scheduler")
    return found


def _hosts(value: Any) -> frozenset[str]:
    return host_names_from(value if isinstance(value, str) else ",".join(value))


def _origins(value: Any) -> frozenset[str]:
    origins = value.split(",") if isinstance(value, str) else list(value)
    found = frozenset(origin.strip().lower() for origin in origins if origin.strip())
    if not all(_ORIGIN.fullmatch(origin) for origin in found):
        raise ValueError("must be origins such as https://ui.example:8443, separated by commas")
    return found


def _port(value: Any) -> int:
    number = int64_of(str(value))
    if not 0 <= number <= 65_535:
        raise ValueError("must be a port, or 0 for none")
    return number


def _lease(value: Any) -> str:
    text = str(value)
    namespace, _, name = text.partition("/")
    if text and not (is_namespace_name(namespace) and is_object_name(name)):
        raise ValueError("must be empty or namespace/name")
    return text


def _count(value: Any) -> int:
    number = int64_of(str(value))
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def _memory(value: Any) -> int:
    size = kubernetes_amount("memory", value) if isinstance(value, str) else int(value)
    if size and not LEAST_MEMORY <= size <= MOST_MEMORY:
        least, most = amount_text("memory", LEAST_MEMORY), amount_text("memory", MOST_MEMORY)
        raise ValueError(f"must be 0, or from {least} to {most}")
    return size


def _template(value: Any) -> TemplateParts:
    return value if isinstance(value, TemplateParts) else template_parts_from(str(value))


def one_of(*choices: str) -> Parsed:
    """Parser of a value that must be one of some words."""

    def parse(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"must be {' or '.join(choices)}")
        return str(value)

    return Parsed(parse, metavar="|".join(choices))


DURATION = Parsed(_duration, metavar="DURATION")
NAMES = Parsed(_names, metavar="NAME[,NAME]")
HOSTS = Parsed(_hosts, metavar="HOST[,HOST]")
ORIGINS = Parsed(_origins, metavar="ORIGIN[,ORIGIN]")
PORT = Parsed(_port, metavar="PORT")
SWITCH = Parsed(lambda value: switch_of(str(value)), metavar="true|false")
COUNT = Parsed(_count, metavar="NUMBER")
MEMORY = Parsed(_memory, metavar="BYTES")
ID = Parsed(lambda value: int64_of(str(value)), metavar="ID")
LEASE = Parsed(_lease, metavar="NAMESPACE/NAME")
TEMPLATE = Parsed(_template, metavar="PARTS")
IMAGE = Parsed(str, metavar="IMAGE")
