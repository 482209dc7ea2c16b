"""Simulation: the pods of a manifest, as the API server would store them, sent to Paddock."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from extender.plugin.commands.simulating import QUEUE, pods_of
from extender.plugin.outcome import Problem
from tests.extender.plugin.answering import ANSWERS, SIMULATION, answering, run

JOB = Path(__file__).parent / "job.json"
_PATH = "/apis/paddock.dev/v1alpha1/namespaces/default/explanations"
_TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}

_KUBECTL = """#!{python}
import json, sys
given = sys.argv[1:]
text = sys.stdin.read() if "-" in given else ""
with open({log!r}, "a") as log:
    log.write(json.dumps([given, text]) + "\\n")
if "--raw" in given:
    print(json.dumps({answer!r}))
elif "--dry-run=client" in given:
    print(open({job!r}).read())
elif "--dry-run=server" in given:
    if {refused}:
        sys.exit("Error from server (Forbidden): pods is forbidden")
    pod = json.loads(text)
    pod["metadata"] |= {{"name": pod["metadata"]["generateName"] + "xyz12"}}
    pod["spec"]["priority"] = 7
    print(json.dumps(pod))
else:
    print("default", end="")
"""


@pytest.mark.parametrize(
    ("workload", "count"),
    [
        ({"kind": "Pod", "metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}, 1),
        ({"kind": "Job", "spec": {"template": _TEMPLATE}}, 1),
        ({"kind": "Job", "spec": {"parallelism": 4, "template": _TEMPLATE}}, 4),
        ({"kind": "Job", "spec": {"parallelism": 4, "completions": 2, "template": _TEMPLATE}}, 2),
        (
            {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"parallelism": 3, "template": _TEMPLATE}}}},
            3,
        ),
        ({"kind": "Deployment", "spec": {"replicas": 5, "template": _TEMPLATE}}, 5),
        ({"kind": "DaemonSet", "spec": {"template": _TEMPLATE}}, 1),
    ],
)
def test_the_pods_that_run_together_are_found(workload: dict[str, Any], count: int) -> None:
    pod, found = pods_of(workload)
    assert found == count
    assert pod["metadata"] == {"name": "simulated", "labels": {"a": "b"}}
    assert pod["spec"] == {"containers": [], "restartPolicy": "Never"}


def test_an_object_without_pods_is_refused() -> None:
    with pytest.raises(Problem, match="ConfigMap has no pod template"):
        pods_of({"kind": "ConfigMap", "data": {}})


def simulate(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    refused: bool = False,
    answer: dict[str, Any] = SIMULATION,
) -> tuple[tuple[int, str, str], list[tuple[list[str], str]]]:
    """The result of the command with a played kubectl, and what kubectl was asked."""
    program, log = tmp_path / "kubectl", tmp_path / "log"
    text = _KUBECTL.format(python=sys.executable, log=str(log), job=str(JOB), refused=refused, answer=answer)
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("KUBECTL", str(program))
    found = run(capsys, "simulate", "-f", "job.yaml", "-q", "root.a")
    return found, [tuple(json.loads(line)) for line in log.read_text().splitlines()]


def test_the_api_server_completes_the_pod_and_paddock_judges_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code, out, err), asked = simulate(tmp_path, monkeypatch, capsys)
    assert (code, err) == (3, "")
    assert "1 of 3 pods would get a turn now" in out
    (given, body) = asked[-1]
    assert given == ["create", "--raw", _PATH, "-f", "-"]
    posted = json.loads(body)
    assert (posted["count"], posted["pod"]["spec"]["priority"]) == (3, 7)
    assert posted["pod"]["metadata"]["labels"] == {"applicationId": "train", QUEUE: "root.a"}
    assert posted["pod"]["metadata"]["name"] == "train"
    # Nothing but the question itself goes to the server without a dry run.
    assert all("--dry-run" in " ".join(each) for each, _ in asked[:-1] if each[0] == "create")


def test_a_pod_that_the_api_server_refuses_is_simulated_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code, _, err), asked = simulate(tmp_path, monkeypatch, capsys, refused=True)
    assert code == 3
    assert "simulated as it is written: pods is forbidden" in err
    assert "priority" not in json.loads(asked[-1][1])["pod"]["spec"]


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"placed": 3, "pod": None}, 0),
        ({"placed": 2}, 3),
        ({"placed": None, "pod": None}, 3),
        ({"pod": {"obstacles": [{"code": "AccessDenied", "text": "no"}]}}, 4),
    ],
)
def test_the_exit_code_says_whether_all_pods_would_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    members: dict[str, Any],
    code: int,
) -> None:
    found, _ = simulate(tmp_path, monkeypatch, capsys, answer={**SIMULATION, **members})
    assert found[0] == code


def test_several_objects_and_yaml_without_kubectl_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    several, text = tmp_path / "list.json", tmp_path / "job.yaml"
    several.write_text('{"kind": "List", "items": []}')
    text.write_text("kind: Job")
    with answering(ANSWERS) as fixed:
        for file, why in ((several, "several objects"), (text, "YAML needs kubectl")):
            code, _, err = run(capsys, "simulate", "-f", str(file), "--server", fixed.url)
            assert code == 1
            assert why in err
        assert not fixed.posted
