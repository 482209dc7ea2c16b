"""Files and modules that documents about the code name exist, and the README's example passes."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from extender.simulator.run import run_scenario
from extender.simulator.scenario.reader import read_scenario
from tests.architecture.reading.sources import ROOT

FOLDERS = ("docs/architecture", "docs/benchmarks", "docs/decisions")
PAGES = [
    *(path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]

SAMPLE = Path("manifests/queues/queues.yaml")
"""Queues that the example of the README is about, as its `config` names them."""

_PATH = re.compile(r"`((?:core|extender|tests|e2e|manifests|docs)/[\w./-]+)`")
_MODULE = re.compile(r"`((?:core|extender)(?:\.\w+)+)`")


def missing(text: str) -> Iterator[str]:
    """Files, folders and modules that a text names and that do not exist."""
    yield from (path for path in _PATH.findall(text) if not (ROOT / path).exists())
    yield from (module for module in _MODULE.findall(text) if not _is_there(module))


def _is_there(module: str) -> bool:
    """True for a module or package, and for a name of a module."""
    path = ROOT.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").exists() or path.parent.with_suffix(".py").exists()


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_what_is_named_is_there(page: Path) -> None:
    assert list(missing(page.read_text())) == []


def test_a_name_of_nothing_is_found() -> None:
    text = "`core/ledger/settle.py`, `core/no.py`, `core.ledger.settle`, `core.no.settle`, `extender.app.App`"
    assert list(missing(text)) == ["core/no.py", "core.no.settle"]


def test_the_example_of_the_readme_plays_with_the_shipped_sample(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert str(SAMPLE) in example
    (tmp_path / SAMPLE).parent.mkdir(parents=True)
    shutil.copyfile(ROOT / SAMPLE, tmp_path / SAMPLE)
    (tmp_path / "example.yaml").write_text(example)
    recording = run_scenario(read_scenario(tmp_path / "example.yaml"))
    assert recording.differences == ()
    assert recording.checks == 3
