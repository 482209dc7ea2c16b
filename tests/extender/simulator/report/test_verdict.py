"""Results of scenarios: lines for people, and a JUnit file."""

from xml.etree.ElementTree import Element, fromstring

from extender.simulator.report.junit import junit_of
from extender.simulator.report.verdict import verdict
from extender.simulator.scenario.model import Mistake, ScenarioError
from tests.extender.simulator.report.recordings import five_pods, make_recording, with_difference

PASSED = five_pods()
FAILED = with_difference(PASSED)
UNREADABLE = ScenarioError(
    "policies/broken.yaml",
    (Mistake(3, "steps[0].submit[1].cpuu", "unknown key"), Mistake(None, "", "no steps")),
)


def read(document: str) -> Element:
    return fromstring(document)  # noqa: S314  our own text


def test_a_scenario_that_passed_is_one_line() -> None:
    assert list(verdict(PASSED)) == [
        "ok    policies/scenario.yaml: a guarantee takes its share back (4 checks)"
    ]


def test_a_difference_says_what_was_expected_what_was_and_the_story() -> None:
    assert list(verdict(FAILED)) == [
        "FAIL  policies/scenario.yaml: a guarantee takes its share back (1 of 4 checks differ)",
        "  policies/scenario.yaml:31: placed at 00:12.500",
        "    expected: [web-2]",
        "    was:      [batch-1]",
        "    story:",
        "      +0s web-2 submitted",
        "      +0s web-2 refused",
    ]


def test_a_file_that_cannot_be_read_names_every_mistake() -> None:
    assert list(verdict(UNREADABLE)) == [
        "ERROR policies/broken.yaml: cannot be read (2 mistakes)",
        "  policies/broken.yaml:3: steps[0].submit[1].cpuu: unknown key",
        "  policies/broken.yaml: no steps",
    ]


def test_colour_is_in_the_first_word_only() -> None:
    lines = list(verdict(FAILED, colour=True))
    assert lines[0].startswith("\x1b[31mFAIL \x1b[0m ")
    assert "\x1b" not in "".join(lines[1:])


def test_a_junit_file_counts_and_tells() -> None:
    suites = read(junit_of([PASSED, FAILED, UNREADABLE]))
    (suite,) = suites
    assert (suites.tag, suite.tag) == ("testsuites", "testsuite")
    assert suite.attrib == {
        "name": "paddock test",
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    passed, failed, unreadable = suite
    assert passed.attrib == {"classname": PASSED.file, "name": PASSED.name}
    assert list(passed) == []
    assert failed[0].tag == "failure"
    assert failed[0].attrib == {"message": "placed", "type": "Difference"}
    assert "expected: [web-2]" in (failed[0].text or "")
    assert unreadable[0].tag == "error"
    assert unreadable[0].text == str(UNREADABLE)


def test_a_junit_file_of_nothing() -> None:
    (suite,) = read(junit_of([]))
    assert suite.attrib["tests"] == "0"


def test_what_xml_cannot_hold_is_replaced_and_the_rest_escaped() -> None:
    name = 'a <b> & "c" \x00\x1b\ufffe\ud800 é'
    suites = read(junit_of([make_recording(name=name)]))
    assert suites[0][0].attrib["name"] == 'a <b> & "c" \ufffd\ufffd\ufffd\ufffd é'
