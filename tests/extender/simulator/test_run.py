"""Runs that cannot continue, texts of differences, exit codes, and equal bytes of two runs."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from extender import cli
from extender.simulator.report.json_report import json_of
from extender.simulator.report.recording import Recording
from extender.simulator.run import run_scenario
from extender.simulator.scenario.model import ScenarioError
from extender.simulator.scenario.reader import scenario_from

HEAD = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: s
config:
  partitions:
    - name: default
      queues: [{name: root, submitacl: "*", queues: [{name: a, resources: {max: {vcore: 2}}}]}]
cluster: {nodes: [{name: n1, cpu: 8, memory: 16Gi}]}
steps:
  - at: 0s
    submit: [{name: p, app: x, queue: root.a, cpu: 1}, {name: w, app: x, queue: root.a, cpu: 2}]
"""


def played(text: str, head: str = HEAD) -> Recording:
    return run_scenario(scenario_from(head + text, file="s.yaml", folder=Path("/nowhere")))


def step(text: str) -> str:
    return f"  - at: 1s\n    {text}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("complete: [q]", "s.yaml:13: steps[1].complete: there is no pod q"),
        ("complete: [w]", "s.yaml:13: steps[1].complete: pod w has no node, so it cannot complete"),
        ("fail: [p, p]", "s.yaml:13: steps[1].fail: pod p is Failed already"),
        ("delete: [p, p]", "s.yaml:13: steps[1].delete: there is no pod p"),
        ("resize: {q: {cpu: 1}}", "s.yaml:13: steps[1].resize: there is no pod q"),
        ("cordon: [n2]", "s.yaml:13: steps[1].cordon: there is no node n2"),
        ("uncordon: [n2]", "s.yaml:13: steps[1].uncordon: there is no node n2"),
        ("removeNodes: [n2]", "s.yaml:13: steps[1].removeNodes: there is no node n2"),
        ("addNodes: [{name: n1}]", "s.yaml:13: steps[1].addNodes: node n1 exists already"),
        ("submit: [{name: p}]", "s.yaml:13: steps[1].submit[0]: there is a pod p already"),
        ("submit: [{name: q, node: n2}]", "s.yaml:13: steps[1].submit[0]: there is no node n2"),
    ],
)
def test_a_step_that_cannot_be_done_ends_the_run(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        played(step(text))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "spec",
    [
        "{tolerations: 5}",
        "{containers: x}",
        "{affinity: {nodeAffinity: 3}}",
        "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [1]}}}",
        "{containers: [{ports: [{hostPort: many}]}]}",
        "{containers: [{resources: {requests: {cpu: x}}}]}",
        "{schedulingGates: 3}",
    ],
)
def test_a_spec_that_is_no_pods_is_a_mistake_of_the_file(spec: str) -> None:
    with pytest.raises(ScenarioError, match=r"s.yaml:13: steps\[1\].submit\[0\]: spec is not a pod's: "):
        played(step(f"submit: [{{name: q, spec: {spec}}}]"))


def test_a_first_configuration_that_is_refused() -> None:
    head = HEAD.replace("vcore: 2", "vcore: two")
    with pytest.raises(ScenarioError, match=r"s.yaml:4: config: Paddock does not start: .*vcore.*CFG-22"):
        played("", head)


def test_an_unexpected_refusal_of_a_configuration_is_a_difference() -> None:
    (difference,) = played(step("config: {partitions: 5}")).differences
    assert (difference.entry, difference.line, difference.expected) == ("config", 13, "accepted")


def test_a_pod_of_a_name_that_has_ended_may_come_again() -> None:
    recording = played(step("complete: [p]") + "  - at: 2s\n    submit: [{name: p, app: x, queue: root.a}]\n")
    assert recording.pods["p"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("expect", "entry", "expected", "actual"),
    [
        ("placed: [w]", "placed", "[w]", "[p]"),
        ("placed: [p, w]", "placed", "[p, w]", "[p]"),
        ("placedAnyOrder: []", "placedAnyOrder", "[]", "[p]"),
        ("evicted: [p]", "evicted", "[p]", "[]"),
        ("running: {p: 2}", "running.p", "2", "1"),
        ("pending: {w: 0}", "pending.w", "0", "1"),
        ("pods: {p: {node: n2}}", "pods.p.node", "n2", "n1"),
        ("pods: {q: {node: n2}}", "pods.q.node", "n2", "no such pod"),
        ("pods: {w: {reason: NotReady}}", "pods.w.reason", "NotReady", "QuotaExceeded"),
        ("pods: {p: {message: x}}", "pods.p.message", "/x/", "none"),
        ("pods: {p: {phase: Pending}}", "pods.p.phase", "Pending", "Running"),
        ("queues: {root.b: {}}", "queues.root.b", "to exist", "does not exist"),
        ("queues: {root.a: {isLeaf: false}}", "queues.root.a.isLeaf", "false", "true"),
        ("queues: {root.a: {headroom: {vcore: 5}}}", "queues.root.a.headroom.vcore", "5", "1000"),
        ("applications: {x: {queueName: root.b}}", "applications.x.queueName", "root.b", "root.a"),
        ("applications: {y: {}}", "applications.y", "to exist", "does not exist"),
        ("exists: {root.a: false}", "exists.root.a", "false", "true"),
        ("placeholders: {x: 1}", "placeholders.x", "1", "0"),
        ("configRejected: true", "configRejected", "true", "false"),
    ],
)
def test_a_difference_says_what_was_expected_and_what_is(
    expect: str, entry: str, expected: str, actual: str
) -> None:
    (difference,) = played(f"    expect: {{{expect}}}\n").differences
    assert (difference.entry, difference.expected, difference.actual) == (entry, expected, actual)
    assert (difference.line, difference.at) == (12, 0)


def test_the_story_of_the_pod_concerned_comes_along() -> None:
    (difference,) = played("    expect: {pods: {w: {node: n1}}}\n").differences
    assert difference.story == ("+0s w submitted", "+0s w QuotaExceeded: QuotaExceeded: root.a max vcore=2")


def test_exit_codes_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, broken = tmp_path / "good.yaml", tmp_path / "bad.yaml", tmp_path / "broken.yaml"
    good.write_text(HEAD + "    expect: {placed: [p]}\n")
    bad.write_text(HEAD + "    expect: {placed: [w]}\n")
    broken.write_text("kind: Scenario\n")
    (tmp_path / "queues.yaml").write_text("partitions: []\n")
    report = tmp_path / "out.xml"
    assert cli.main(["test", str(good)]) == 0
    assert cli.main(["test", str(good), str(bad), "--junit", str(report)]) == 1
    assert cli.main(["test", str(tmp_path)]) == 2
    printed = capsys.readouterr().out
    assert f"ok    {good}: s (1 check)" in printed
    assert "expected: [w]" in printed
    assert f"{broken}: cannot be read" in printed
    assert "queues.yaml" not in printed
    suites = ElementTree.parse(report).getroot()  # noqa: S314 - our own file
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("2", "1", "0")
    assert cli.main(["test", str(tmp_path / "none")]) == 2


def test_simulate_prints_data_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "s.yaml", tmp_path / "page.html"
    path.write_text(HEAD)
    assert cli.main(["simulate", str(path), "--json", "--html", str(page)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["totals"]["placed"] == 1
    assert "<html" in page.read_text()
    assert cli.main(["simulate", str(path)]) == 0
    assert "root.a" in capsys.readouterr().out
    assert cli.main(["simulate", str(tmp_path / "none.yaml")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def crowd(queues: int = 20, nodes: int = 10, each: int = 20) -> str:
    """Many pods of three priorities in many queues, half of them over their quota, with some deletions."""
    lines = [HEAD.split("config:")[0] + "config:", "  partitions:", "  - name: default", "    queues:"]
    lines += ["    - name: root", "      submitacl: '*'", "      queues:"]
    lines += [f"      - {{name: q{at}, resources: {{max: {{vcore: {each // 2}}}}}}}" for at in range(queues)]
    lines += ["cluster:", f"  nodes: [{{name: n, count: {nodes}, cpu: 64, memory: 128Gi}}]", "steps:"]
    lines += ["  - at: 0s", "    submit:"]
    for at in range(queues):
        for level in range(3):
            count = each // 3 + (level < each % 3)
            what = f"name: p{at}-{level}, count: {count}, app: a{at}, queue: root.q{at}"
            lines.append(f"    - {{{what}, cpu: 1, memory: 1Gi, priority: {level * 100}}}")
    for wave in range(1, 5):
        names = ", ".join(f"p{at}-2-{wave - 1}" for at in range(queues))
        lines.append(f"  - {{at: {wave * 10}s, complete: [{names}]}}")
    return "\n".join(lines) + "\n"


def test_the_same_scenario_gives_the_same_bytes() -> None:
    text = crowd()
    first, second = json_of(played(text, "")), json_of(played(text, ""))
    assert first == second
    assert json.loads(first)["totals"]["placed"] == 20 * 10 + 4 * 20
