"""The overlays are what the chart renders, to the byte."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.manifests.chart.overlays import FIRST_LINE, files
from tests.manifests.rendering import CHART, MANIFESTS, QUEUES


@pytest.fixture(scope="module")
def rendered() -> Mapping[Path, str]:
    return files()


def differing(texts: Mapping[Path, str]) -> list[str]:
    return [path.name for path, text in texts.items() if not path.is_file() or path.read_text() != text]


def test_every_file_is_as_the_chart_renders_it(rendered: Mapping[Path, str]) -> None:
    assert differing(rendered) == [], "run `make manifests`"


def test_a_file_that_was_edited_is_found(rendered: Mapping[Path, str]) -> None:
    first = next(iter(rendered))
    assert differing({**rendered, first: rendered[first] + "\n"}) == [first.name]


def test_no_object_comes_from_elsewhere(rendered: Mapping[Path, str]) -> None:
    """By hand are only the files that put others together, and the sample of queues."""
    found = {path for path in MANIFESTS.rglob("*.yaml") if CHART not in path.parents}
    assert {path for path in found if path.name != "kustomization.yaml"} - {QUEUES} == set(rendered)
    assert all(path.read_text().startswith(FIRST_LINE) for path in rendered)


def test_no_line_ends_with_a_space(rendered: Mapping[Path, str]) -> None:
    assert [line for text in rendered.values() for line in text.splitlines() if line != line.rstrip()] == []
