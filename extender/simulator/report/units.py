"""Amounts and times as people read them, and texts made safe to print."""

from typing import Final

BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")

_BYTES: Final = ("memory", "ephemeral-storage", "storage")
_FIRST: Final = ("vcore", "memory")

# Characters that reorder the text around them: a name could pretend to be another one.
_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LINE_ENDS: Final = frozenset("\u2028\u2029")


def is_bytes(resource: str) -> bool:
    """True if amounts of a resource are bytes: memory, storage, huge pages."""
    return resource in _BYTES or resource.startswith("hugepages-")


def resource_order(resource: str) -> tuple[int, str]:
    """The sort key of a resource: vcore, then memory, then the others by name."""
    return (_FIRST.index(resource) if resource in _FIRST else len(_FIRST)), resource


def human(resource: str, amount: int) -> str:
    """An amount in the unit that people use, with at most two decimals.

    A vcore of 1500 is ``1.5``, and memory may be ``3.5Gi``. Millicores are exact (``0.125``). An amount that
    is neither cores nor bytes is written in full.
    """
    if resource == "vcore":
        return _trimmed(f"{amount / 1000:.3f}")
    return _human_bytes(amount) if is_bytes(resource) else str(amount)


def _human_bytes(amount: int) -> str:
    size, unit = float(abs(amount)), 0
    while round(size, 2) >= 1024 and unit < len(BINARY) - 1:
        size, unit = size / 1024, unit + 1
    return ("-" if amount < 0 else "") + _trimmed(f"{size:.2f}") + BINARY[unit]


def _trimmed(number: str) -> str:
    return number.rstrip("0").rstrip(".")


def moment(at: int, *, longest: int = 0) -> str:
    """Milliseconds as ``00:12.500``, or ``1:00:12.500`` when ``longest`` or ``at`` is an hour or more."""
    seconds, thousandths = divmod(abs(at), 1000)
    minutes, seconds = divmod(seconds, 60)
    sign, hours_of_all = "-" if at < 0 else "", max(abs(at), longest) // 3_600_000
    if not hours_of_all:
        return f"{sign}{minutes:02}:{seconds:02}.{thousandths:03}"
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours:0{len(str(hours_of_all))}}:{minutes:02}:{seconds:02}.{thousandths:03}"


def counted(number: int, one: str, many: str = "") -> str:
    """``1 pod``, ``2 pods``, ``1,200 pods``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def printable(text: str) -> str:
    r"""``text`` on one line, with control characters written as ``\x1b``, since names come from files."""
    if text.isprintable():
        return text
    return "".join(_shown(each) for each in text)


def _shown(character: str) -> str:
    if character in "\n\t\r":
        return " "
    code = ord(character)
    unsafe = code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000
    if not (unsafe or character in _BIDI or character in _LINE_ENDS):
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
