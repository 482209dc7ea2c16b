"""No outward interface changes unnoticed. Each kind equals its record, byte for byte."""

from pathlib import Path

import pytest

from tests.interfaces.__main__ import main
from tests.interfaces.comparing import GOLDEN, Breaking, Difference, difference, record, recorded_lines
from tests.interfaces.kinds import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_an_interface_reads_as_recorded(kind: str) -> None:
    found = difference(recorded_lines(kind), KINDS[kind]())
    assert not found, f"{kind}; `python -m tests.interfaces {kind}` records new lines\n{found}"


def test_every_kind_is_recorded_and_no_other() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{kind}.txt" for kind in KINDS}


def test_no_kind_is_empty() -> None:
    assert all(recorded_lines(kind) for kind in KINDS)


@pytest.mark.parametrize(
    ("now", "removed", "new"),
    [
        (["a", "b"], [], []),
        (["a", "b", "c"], [], ["c"]),
        (["a", "ab", "b"], [], ["ab"]),
        (["a"], ["b"], []),
        (["a", "B"], ["b"], ["B"]),
        (["b", "a"], ["b"], ["b"]),
        ([], ["a", "b"], []),
    ],
)
def test_a_difference_names_what_is_removed_and_what_is_new(
    now: list[str], removed: list[str], new: list[str]
) -> None:
    assert difference(["a", "b"], now) == Difference(removed, new)


def test_a_new_line_is_recorded_beside_the_old_ones(tmp_path: Path) -> None:
    record("kind", ["a", "b"], folder=tmp_path)
    assert record("kind", ["a", "ab", "b"], folder=tmp_path) == Difference([], ["ab"])
    assert recorded_lines("kind", tmp_path) == ["a", "ab", "b"]


@pytest.mark.parametrize("now", [["a"], ["a", "c"], ["b", "a"]])
def test_a_line_goes_only_when_that_is_said(tmp_path: Path, now: list[str]) -> None:
    record("kind", ["a", "b"], folder=tmp_path)
    with pytest.raises(Breaking, match="never instead"):
        record("kind", now, folder=tmp_path)
    assert recorded_lines("kind", tmp_path) == ["a", "b"]
    record("kind", now, drop=True, folder=tmp_path)
    assert recorded_lines("kind", tmp_path) == now


@pytest.mark.parametrize(("now", "taken"), [("k: a, b, c", True), ("k: b, c", False), ("j: a, b, c", False)])
def test_another_value_of_a_place_of_a_scenario_breaks_nothing(
    tmp_path: Path, now: str, *, taken: bool
) -> None:
    for kind in ("scenario-format", "settings"):
        record(kind, ["k: a, b"], folder=tmp_path)
    with pytest.raises(Breaking):
        record("settings", [now], folder=tmp_path)
    if taken:
        assert record("scenario-format", [now], folder=tmp_path) == Difference(["k: a, b"], [now])
    else:
        with pytest.raises(Breaking):
            record("scenario-format", [now], folder=tmp_path)


def test_the_command_refuses_a_changed_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.interfaces.__main__.KINDS", {"made": lambda: ["b"]})
    monkeypatch.setattr("tests.interfaces.comparing.GOLDEN", tmp_path)
    monkeypatch.setattr(record, "__kwdefaults__", {"drop": False, "folder": tmp_path})
    (tmp_path / "made.txt").write_text("a\n")
    assert main([]) == 1
    assert "- a\n+ b" in capsys.readouterr().err
    assert (tmp_path / "made.txt").read_text() == "a\n"
    assert main(["--drop", "made"]) == 0
    assert (tmp_path / "made.txt").read_text() == "b\n"
    assert main([]) == 0
    assert "made: unchanged" in capsys.readouterr().out
