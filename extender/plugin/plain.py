"""Texts of others made harmless for a terminal. Every text of the server is hostile."""

import unicodedata

_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of control, format (bidirectional, zero-width), surrogate, private and separator characters."""


def plain(text: object) -> str:
    """The text with control, bidirectional and invisible characters written as escapes, on one line."""
    shown = str(text)
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(_shown(each) for each in shown)


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _ESCAPED:
        return character
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
