"""Texts of others on a terminal."""

import pytest

from extender.plugin.plain import plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("spark-1", "spark-1"),
        ("\x1b]0;x\x07[red]", "\\x1b]0;x\\x07[red]"),
        ("a\nb\tc", "a\\x0ab\\x09c"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\x9b31m", "\\x9b31m"),
        ("\U000e0041", "\\U000e0041"),
        ("列名 ü", "列名 ü"),
    ],
)
def test_what_steers_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert plain(text) == shown
