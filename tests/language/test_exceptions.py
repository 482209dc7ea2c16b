"""The repository keeps the rules, but for the lists of exceptions. A list may only shrink."""

from pathlib import Path

from tests.language.breaches import LISTS, Breach, exceptions, faults, shrink
from tests.language.findings import every_breach

PLANTED = Breach("name", "core.a", "free_room", "room")


def test_names_docstrings_and_documents_keep_the_rules() -> None:
    """A new breach is mended. A line that is not needed is taken out by `python -m tests.language.shrink`."""
    assert faults(every_breach(), exceptions()) == []


def test_a_planted_breach_is_a_fault() -> None:
    found = faults([*every_breach(), PLANTED], exceptions())
    assert found == ["name core.a free_room: room"]


def test_an_exception_holds_for_one_place_and_no_longer_than_needed() -> None:
    assert faults([PLANTED], [PLANTED.line]) == []
    assert faults([PLANTED._replace(module="core.b")], [PLANTED.line]) == [
        "name core.b free_room: room",
        "take out the exception name core.a free_room: it is not needed any more",
    ]


def test_lists_are_sorted_and_name_no_place_twice() -> None:
    for path in LISTS.glob("*.txt"):
        lines = path.read_text().splitlines()
        assert lines == sorted(set(lines)), path.name


def test_shrinking_takes_out_what_is_not_needed_and_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "core.txt"
    path.write_text("name core.a free_room\nname core.a told\n")
    shrink([PLANTED, Breach("long", "core.a", "f", "…")], tmp_path)
    assert path.read_text() == "name core.a free_room\n"
