"""Output of every command, as golden files. Set ``PADDOCK_WRITE_GOLDEN`` to write them anew."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extender.plugin.answering import NOW, Fixed, answering, run

GOLDEN = Path(__file__).parent / "golden"

CASES = {
    "queues": ("queues",),
    "queues-wide": ("queues", "-o", "wide", "--flat"),
    "queues-name": ("queues", "-o", "name"),
    "queues-raw": ("queues", "--units", "raw", "--no-headers"),
    "queue": ("queue", "root.a"),
    "apps": ("apps",),
    "apps-wide": ("apps", "-o", "wide"),
    "apps-json": ("apps", "-o", "json"),
    "apps-yaml": ("apps", "-o", "yaml"),
    "apps-jsonpath": ("apps", "-o", 'jsonpath={.items[*].applicationID}{"\\n"}'),
    "app": ("app", "spark-1"),
    "app-hostile": ("app", "-n", "default", "\x1b]0;x\x07[red]"),
    "pods": ("pods",),
    "explain": ("explain", "waiting", "-n", "default"),
    "users": ("users",),
    "groups": ("groups",),
    "nodes": ("nodes",),
    "events": ("events",),
    "preemptions": ("preemptions",),
    "config": ("config",),
    "check": ("check", "-f", os.devnull),
    "status": ("status",),
    "version": ("version", "-o", "jsonpath={.server} {.started}"),
    "wait": ("wait", "app/spark-1"),
    "unknown": ("queue", "root.none"),
}
"""Arguments by the name of the golden file."""


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fixed]:
    monkeypatch.setattr(time, "time", lambda: float(NOW))
    with answering() as found:
        yield found


@pytest.mark.parametrize("name", CASES)
def test_the_output_is_the_golden_one(fixed: Fixed, capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = run(capsys, *CASES[name], "--server", fixed.url)
    shown = f"exit {code}\n-- stdout\n{out}-- stderr\n{err}"
    path = GOLDEN / f"{name}.txt"
    if "PADDOCK_WRITE_GOLDEN" in os.environ:
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_no_output_can_steer_a_terminal_or_is_wider_than_80_columns(
    fixed: Fixed, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    _, out, err = run(capsys, *CASES[name], "--server", fixed.url)
    for line in [*out.split("\n"), *err.split("\n")]:
        assert line.isascii()
        assert line.isprintable()
        if not name.endswith(("-wide", "-json", "-yaml")):
            assert len(line) <= 80


def test_every_golden_file_belongs_to_a_case() -> None:
    assert {each.stem for each in GOLDEN.iterdir()} == set(CASES)
