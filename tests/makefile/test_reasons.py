"""`.ci/run` ends with the reason of a failure, whatever ran beside it and went on for longer."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = """
all: quick slow
quick:
\t@echo begun; echo why >&2; exit 3
slow:
\t@while [ ! -s failed ]; do sleep 0.01; done; echo end of the slow one
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["/usr/bin/make", f"SHELL={ROOT / '.ci' / 'noted'}", *arguments],
        cwd=folder,
        env={**plain, "PADDOCK_FAILED": str(folder / "failed")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_failure_is_noted_with_its_last_lines_while_others_go_on(folder: Path) -> None:
    done = make(folder, "--jobs=2", "all")
    assert done.returncode == 2
    assert done.stdout.index("why") < done.stdout.index("end of the slow one")
    noted = (folder / "failed").read_text()
    assert noted.startswith("--- failed with exit code 3: echo begun;")
    assert noted.endswith("begun\nwhy\n")


def test_success_leaves_no_note(folder: Path) -> None:
    (folder / "failed").write_text("-")
    assert make(folder, "slow").returncode == 0
    assert (folder / "failed").read_text() == "-"


def test_every_target_of_the_run_is_noted_and_printed_last() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert all('"$noted"' in line for line in lines if line.startswith("make "))
    (trap,) = [line for line in lines if line.startswith("trap ")]
    assert 'wait; cat "$PADDOCK_FAILED"' in trap
