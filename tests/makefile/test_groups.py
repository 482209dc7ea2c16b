"""Groups of tests, by which files with a costly fixture run in one worker (`make e2e`)."""

import subprocess
import sys
from pathlib import Path

FILE = """
import os, pathlib, time, pytest
pytestmark = pytest.mark.xdist_group("one group")
@pytest.mark.parametrize("number", range(4))
def test_it(number):
    time.sleep(0.2)
    pathlib.Path("workers", os.environ["PYTEST_XDIST_WORKER"]).touch()
"""


def workers_of(folder: Path, text: str) -> set[str]:
    """Workers that ran the tests of a file, of two workers."""
    (folder / "workers").mkdir(parents=True)
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = ["-m", "pytest", "-q", "--numprocesses=2", "--dist=loadgroup", "-p", "no:cacheprovider"]
    ended = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout
    return {each.name for each in (folder / "workers").iterdir()}


def test_a_group_runs_in_one_worker_and_other_tests_in_any(tmp_path: Path) -> None:
    assert len(workers_of(tmp_path / "group", FILE)) == 1
    assert len(workers_of(tmp_path / "none", FILE.replace("pytestmark", "unused"))) == 2
