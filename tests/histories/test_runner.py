"""The runner of histories: pieces, their lines, continued runs, and the end after a failure."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.histories import runner

PLAYED: list[int] = []


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """A property that fails for seed 7."""

    def play(seed: int) -> None:
        PLAYED.append(seed)
        if seed == 7:
            raise AssertionError("seed 7: a breach\nthe history")

    module = ModuleType("tests.histories.fake")
    module.play = play  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tests.histories.fake", module)
    monkeypatch.setattr(runner, "PIECE", 3)
    PLAYED.clear()


def test_pieces_take_the_properties_in_turn() -> None:
    found = [(each.name, each.first, each.count) for each in runner.pieces(("a", "b"), 1, 5)]
    assert found == [("a", 1, 3), ("b", 1, 3), ("a", 4, 2), ("b", 4, 2)]


def test_what_held_is_noted_and_not_played_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "new" / "notes.txt"
    assert runner.run(list(runner.pieces(("fake",), 1, 6)), notes, jobs=1) == 0
    assert [line.split(" ", 1)[1] for line in notes.read_text().splitlines()] == [
        "fake seeds 1-3 held",
        "fake seeds 4-6 held",
    ]
    assert runner.run(list(runner.pieces(("fake",), 1, 9)), notes, jobs=1) == 1
    assert PLAYED == [1, 2, 3, 4, 5, 6, 7]
    output = capsys.readouterr()
    assert "2 of 3 pieces were played before" in output.out
    assert "fake seeds 7-9 seed 7 FAILED" in notes.read_text()
    assert "a breach\nthe history" in output.err
    last = "histories: FAILED: make histories PROPERTY=fake SEED=7 COUNT=1: AssertionError: seed 7: a breach"
    assert output.out.splitlines()[-1].startswith(last)


def test_a_failed_piece_is_played_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    for _ in range(2):
        assert runner.run(list(runner.pieces(("fake",), 7, 3)), notes, jobs=1) == 1
    assert PLAYED == [7, 7]


def test_a_history_without_an_end_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(seed: int) -> None:
        while seed == 8:
            pass

    monkeypatch.setattr(sys.modules["tests.histories.fake"], "play", play)
    monkeypatch.setattr(runner, "LONGEST", 0.1)
    found = runner.played(runner.Piece("fake", 7, 3))
    assert (found.failed, found.why) == (8, "AssertionError: it did not end within 0.1 s of CPU")


def piece_that_misses(count: int, *missing: str) -> runner.Played:
    return runner.Played(runner.Piece("fake", 1, count), 1.0, unreached=frozenset(missing))


def test_what_no_process_reached_is_named() -> None:
    reach = runner.Reach()
    reach.add(piece_that_misses(2, "A", "B"))
    reach.add(piece_that_misses(3, "B", "C"))
    reach.add(runner.Played(runner.Piece("other", 1, 9), 1.0))
    assert list(reach.lines()) == ["fake: never reached in 5: B"]


@pytest.mark.parametrize(
    ("enough", "missing", "code"), [(6, ("A",), 1), (7, ("A",), 0), (6, (), 0)], ids=["lacks", "few", "all"]
)
def test_a_long_run_that_leaves_something_out_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, enough: int, missing: tuple[str, ...], code: int
) -> None:
    monkeypatch.setattr(runner, "ENOUGH", enough)
    module = sys.modules["tests.histories.fake"]
    monkeypatch.setattr(module, "unreached", lambda: frozenset(missing), raising=False)
    assert runner.run(list(runner.pieces(("fake",), 1, 6)), tmp_path / "notes.txt", jobs=1) == code


def test_each_property_is_there() -> None:
    for name in runner.PROPERTIES:
        piece = runner.Piece(name, 1, 1)
        assert runner.played(piece).failed is None


def test_the_notes_are_of_this_code() -> None:
    assert len(runner.digest_of(runner.ROOT)) == 12


def test_two_processes_share_the_pieces(tmp_path: Path) -> None:
    """As ``make histories JOBS=2`` starts them."""
    command = [sys.executable, "-m", "tests.histories", "--count=2", "--jobs=2", f"--notes={tmp_path / 'n'}"]
    done = subprocess.run(command, cwd=runner.ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len((tmp_path / "n").read_text().splitlines()) == len(runner.PROPERTIES)
