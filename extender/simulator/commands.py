"""``paddock simulate`` and ``paddock test``: from arguments to an exit code. Texts are made elsewhere."""

import argparse
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from extender.simulator.report.json_report import json_of
from extender.simulator.report.junit import junit_of
from extender.simulator.report.page import page_of
from extender.simulator.report.progress import Progress
from extender.simulator.report.queue_table import queue_table
from extender.simulator.report.recording import Happening, Recording
from extender.simulator.report.timeline import summary, timeline
from extender.simulator.report.verdict import Outcome, verdict
from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import ScenarioError
from extender.simulator.scenario.reader import read_scenario

OK, DIFFERENT, UNREADABLE = 0, 1, 2
SUFFIXES = (".yaml", ".yml")


def simulate(options: argparse.Namespace) -> int:
    """Play one scenario and print what happened. Exit code as `test`."""
    try:
        recording = play(options.file)
        if options.html is not None:
            options.html.write_text(page_of(recording), encoding="utf-8")
    except (ScenarioError, OSError) as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    if options.json:
        sys.stdout.write(json_of(recording))
    else:
        for line in lines_of(recording):
            print(line)
    return DIFFERENT if recording.differences else OK


def lines_of(recording: Recording, shown: Sequence[Happening] | None = None) -> Iterable[str]:
    """Everything that ``simulate`` prints for people. ``shown``: lines of the timeline, None for all."""
    colour, width = _terminal()
    cut = recording if shown is None else replace(recording, timeline=tuple(shown))
    yield from timeline(cut, width=width, colour=colour)
    yield ""
    yield from queue_table(recording, width=width, colour=colour)
    yield ""
    yield summary(recording)
    if recording.checks:
        yield ""
        yield from verdict(recording, colour=colour)


def test(options: argparse.Namespace) -> int:
    """Play every scenario under some paths.

    Exit codes: 0 if all went as expected, 1 for differences, 2 for an unreadable file.
    """
    outcomes: list[Outcome] = []
    colour, _ = _terminal()
    for path in scenario_files(options.paths):
        outcomes.append(outcome_of(path))
        for line in verdict(outcomes[-1], colour=colour):
            print(line, flush=True)
    if options.junit is not None:
        options.junit.write_text(junit_of(outcomes), encoding="utf-8")
    if not outcomes:
        print("paddock test: no scenario found", file=sys.stderr)
        return UNREADABLE
    return exit_code(outcomes)


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """The exit code of ``paddock test`` for all outcomes together."""
    if any(isinstance(outcome, ScenarioError) for outcome in outcomes):
        return UNREADABLE
    return DIFFERENT if any(isinstance(each, Recording) and each.differences for each in outcomes) else OK


def outcome_of(path: Path) -> Outcome:
    """The outcome of one scenario file."""
    try:
        return play(path)
    except ScenarioError as error:
        return error


def play(path: Path) -> Recording:
    """Read a file and play it, with progress on a terminal. Raises `ScenarioError`."""
    scenario = read_scenario(path)
    end = scenario.steps[-1].at if scenario.steps else 0
    with Progress(sys.stderr, clock=time.monotonic, end=end) as progress:
        return run_scenario(scenario, watch=lambda at, attempts: progress.show(at, attempts=attempts))


def scenario_files(paths: Iterable[Path]) -> list[Path]:
    """The files given, and all scenario files in the folders given, sorted by name."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += [each for each in sorted(path.rglob("*")) if _is_scenario(each)]
        else:
            found.append(path)
    return found


def _is_scenario(path: Path) -> bool:
    """True if a file says that it is a scenario. A folder may hold queue documents, too."""
    if path.suffix not in SUFFIXES or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return True
    return b"Scenario" in head


def _terminal() -> tuple[bool, int | None]:
    """Colour and width of the terminal; neither for a pipe or a file."""
    if not sys.stdout.isatty():
        return False, None
    return True, shutil.get_terminal_size().columns
