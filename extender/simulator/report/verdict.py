"""The result of a scenario as lines for people, for `paddock test` and the JUnit file."""

from collections.abc import Iterator

from extender.simulator.report.columns import painted
from extender.simulator.report.recording import Difference, Recording
from extender.simulator.report.units import counted, moment, printable
from extender.simulator.scenario.model import ScenarioError

Outcome = Recording | ScenarioError
"""A scenario that was played, or one that could not be."""


def verdict(outcome: Outcome, *, colour: bool = False) -> Iterator[str]:
    """A line for a scenario that passed; otherwise what was expected, what was found, and the story."""
    word, hue = _word(outcome)
    label = painted(f"{word:5}", hue) if colour else f"{word:5}"
    yield f"{label} {heading(outcome)}"
    yield from (f"  {line}" for line in failure_lines(outcome))


def heading(outcome: Outcome) -> str:
    """``FILE: NAME (3 checks)``, or how many went wrong."""
    file = printable(outcome.file)
    if isinstance(outcome, ScenarioError):
        return f"{file}: cannot be read ({counted(len(outcome.mistakes), 'mistake')})"
    checks = counted(outcome.checks, "check")
    wrong = f"{len(outcome.differences)} of {checks} differ" if outcome.differences else checks
    return f"{file}: {printable(outcome.name)} ({wrong})"


def failure_lines(outcome: Outcome) -> Iterator[str]:
    """The lines about all that went wrong in one scenario; none if it passed."""
    if isinstance(outcome, ScenarioError):
        yield from (printable(line) for line in str(outcome).splitlines())
        return
    for difference in outcome.differences:
        yield from _difference_lines(difference, outcome)


def _word(outcome: Outcome) -> tuple[str, str]:
    if isinstance(outcome, ScenarioError):
        return "ERROR", "red"
    return ("FAIL", "red") if outcome.differences else ("ok", "green")


def _difference_lines(difference: Difference, recording: Recording) -> Iterator[str]:
    at = moment(difference.at, longest=recording.end)
    yield f"{printable(recording.file)}:{difference.line}: {printable(difference.entry)} at {at}"
    yield f"  expected: {printable(difference.expected)}"
    yield f"  was:      {printable(difference.actual)}"
    if difference.story:
        yield "  story:"
        yield from (f"    {printable(line)}" for line in difference.story)
