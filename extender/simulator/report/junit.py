"""The outcomes of scenarios as a JUnit XML document, for CI systems to read."""

import re
from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from extender.simulator.report.units import counted
from extender.simulator.report.verdict import Outcome, failure_lines
from extender.simulator.scenario.model import ScenarioError

# XML 1.0 cannot express these, escaped or not.
_UNWRITABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_of(outcomes: Sequence[Outcome]) -> str:
    """A test case per outcome: a difference is a failure, an unreadable file an error.

    The case's class is the file, and its name is the scenario's. There are no times: the text depends on the
    outcomes only.
    """
    suites = Element("testsuites", _counts(outcomes))
    suite = SubElement(suites, "testsuite", {"name": "paddock test", **_counts(outcomes)})
    for outcome in outcomes:
        _add_case(suite, outcome)
    indent(suites)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{tostring(suites, encoding='unicode')}\n"


def _counts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    errors = sum(isinstance(outcome, ScenarioError) for outcome in outcomes)
    failures = sum(
        not isinstance(outcome, ScenarioError) and bool(outcome.differences) for outcome in outcomes
    )
    return {"tests": str(len(outcomes)), "failures": str(failures), "errors": str(errors), "skipped": "0"}


def _add_case(suite: Element, outcome: Outcome) -> None:
    name = outcome.file if isinstance(outcome, ScenarioError) else outcome.name
    case = SubElement(suite, "testcase", {"classname": _writable(outcome.file), "name": _writable(name)})
    text = _writable("\n".join(failure_lines(outcome)))
    if isinstance(outcome, ScenarioError):
        message = counted(len(outcome.mistakes), "mistake")
        SubElement(case, "error", {"message": message, "type": "ScenarioError"}).text = text
    elif outcome.differences:
        message = ", ".join(difference.entry for difference in outcome.differences)
        SubElement(case, "failure", {"message": _writable(message), "type": "Difference"}).text = text


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", text)
