"""Texts of others on a terminal."""

import pytest

from extender.plugin import printing
from extender.plugin.asked import Asked
from extender.plugin.plain import plain
from extender.plugin.printing import Result, show


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


LONG = "  - end 1 pod, which the queue root.a.with-a-long-name holds 列名列名列名列名"


@pytest.mark.parametrize(
    ("on_terminal", "shown"),
    [
        (False, [LONG]),
        (
            True,
            [
                "  - end 1 pod, which the queue",
                "    root.a.with-a-long-name holds",
                "    列名列名列名列名",
            ],
        ),
    ],
)
def test_a_terminal_breaks_lines_at_spaces_and_a_pipe_gets_them_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], on_terminal: bool, shown: list[str]
) -> None:
    monkeypatch.setattr(printing, "is_terminal", lambda: on_terminal)
    monkeypatch.setattr(printing, "_columns", lambda: 36)
    show(Result("Pod", [{}], ["pod/a"], [LONG], single=True), Asked())
    assert capsys.readouterr().out.splitlines() == shown
