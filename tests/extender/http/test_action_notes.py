"""ACT-6: texts of callers and of pods' authors in Events of actions."""

import pytest

from extender.http.actions.acting import MESSAGE_SHOWN
from extender.http.actions.notes import one_line


@pytest.mark.rule("ACT-6")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("user eve\nWarning may not submit", "user eve?Warning may not submit"),
        ("\x1b[2Jcleared\u202e", "?[2Jcleared?"),
        ("\u2028\x00", "??"),
    ],
)
def test_a_text_stays_on_its_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.rule("ACT-6")
def test_a_text_is_cut() -> None:
    assert len(one_line("x" * 10_000)) == 256
    assert len(one_line("x" * 10_000, longest=MESSAGE_SHOWN)) == MESSAGE_SHOWN
