"""E8: scenarios by users who have not read the format."""

from pathlib import Path

import pytest

from extender.simulator.report.page_data import page_data_of
from extender.simulator.report.recording import Recording
from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import ScenarioError
from extender.simulator.scenario.reader import scenario_from

SCENARIO = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: x
config: |
  partitions:
    - name: default
      preemption: {enabled: true}
      queues:
        - name: root
          submitacl: "*"
          queues:
            - {name: a, resources: {guaranteed: {vcore: 2}}}
            - {name: b}
cluster:
  nodes: [{name: n, cpu: 4, memory: 16Gi}]
steps:
  - at: 0s
    submit: [{name: batch, count: 4, app: batch, queue: root.b, cpu: 1}]
    expect: {running: {batch: 4}, evicted: {}}
  - at: 1m
    submit: [{name: web, count: 2, app: web, queue: root.a, cpu: 1}]
  - at: 5m
    expect: {running: {web: 2}, evicted: EVICTED}
"""


def played(evicted: str, file: str = "x.yaml") -> Recording:
    text = SCENARIO.replace("EVICTED", evicted)
    return run_scenario(scenario_from(text, file=file, folder=Path()))


@pytest.mark.rule("FORMAT-8")
def test_e8_a_text_of_several_lines_is_the_document_itself_and_evicted_takes_numbers() -> None:
    assert played("{batch: 2}").differences == ()


@pytest.mark.rule("FORMAT-8")
@pytest.mark.parametrize(
    ("wanted", "expected", "actual"),
    [
        ("{batch: 1}", "{batch: 1}", "{batch: 2}"),
        ("{}", "{}", "{batch: 2}"),
        ("{batch: 2, web: 1}", "{batch: 2, web: 1}", "{batch: 2}"),
    ],
)
def test_e8_other_numbers_are_a_difference(wanted: str, expected: str, actual: str) -> None:
    (difference,) = played(wanted).differences
    assert (difference.entry, difference.expected, difference.actual) == ("evicted", expected, actual)


def test_e8_a_number_that_is_none_is_a_mistake() -> None:
    with pytest.raises(ScenarioError, match=r"evicted\.batch: must be a whole number"):
        played("{batch: two}")


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/home/author/tests/x.yaml", "x.yaml"),
        ("../../author/x.yaml", "x.yaml"),
        ("tests/x.yaml", "tests/x.yaml"),
    ],
)
def test_e8_a_page_shows_no_path_of_its_author(file: str, shown: str) -> None:
    assert page_data_of(played("{batch: 2}", file))["file"] == shown
