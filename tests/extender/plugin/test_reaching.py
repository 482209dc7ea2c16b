"""Ways to the server: the aggregated API by kubectl, else a port-forward to the pod that leads."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.extender.plugin.answering import answering, run

_KUBECTL = """#!{python}
import json, sys, time, urllib.request, urllib.error
given = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(given) + "\\n")
words = [each for each in given if not each.startswith("--")]
def fail(text):
    sys.exit(text)
if words[0] == "port-forward":
    if words[-2] == "pod/broken":
        fail("error: no such pod")
    print("Forwarding from 127.0.0.1:{port} -> 10291", flush=True)
    time.sleep(60)
elif words[:2] == ["get", "pods"]:
    pods = [{{"metadata": {{"namespace": "system", "name": each}}}} for each in ("broken", "leader")]
    print(json.dumps({{"items": pods}}))
elif words[0] == "config":
    print("team", end="")
elif "--raw" in given:
    path = given[given.index("--raw") + 1]
    if {served}:
        try:
            with urllib.request.urlopen("http://127.0.0.1:{port}" + path.removeprefix({root!r})) as answer:
                sys.stdout.buffer.write(answer.read())
        except urllib.error.HTTPError:
            fail("Error from server (Forbidden): you may not")
    else:
        fail("Error from server (ServiceUnavailable): the server is currently unable to handle the request")
"""
ROOT = "/apis/paddock.dev/v1alpha1"

Made = Callable[..., Path]


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A played kubectl. ``served``: whether the aggregated API answers."""

    def make(url: str, *, served: bool) -> Path:
        program, log = tmp_path / "kubectl", tmp_path / "log"
        port = url.rpartition(":")[2]
        text = _KUBECTL.format(python=sys.executable, log=str(log), port=port, served=served, root=ROOT)
        program.write_text(text)
        program.chmod(0o755)
        monkeypatch.setenv("KUBECTL", str(program))
        return log

    return make


def asked_of(log: Path) -> list[list[str]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_kubectl_asks_the_aggregated_api_with_the_flags_of_the_user(
    kubectl: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering() as fixed:
        log = kubectl(fixed.url, served=True)
        code, out, err = run(
            capsys, "nodes", "-o", "name", "--as", "alice", "--context=c", "--request-timeout=9s"
        )
    assert (code, out, err) == (0, "node/n1\n", "")
    flags = ["--context=c", "--as=alice", "--request-timeout=9s"]
    assert asked_of(log) == [[*flags, "get", "--raw", f"{ROOT}/ws/v1/partition/default/nodes"]]


def test_the_plans_of_preemption_come_through_the_aggregated_api_too(
    kubectl: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering() as fixed:
        log = kubectl(fixed.url, served=True)
        code, out, err = run(capsys, "preemptions", "-o", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["items"]
    assert asked_of(log) == [["get", "--raw", f"{ROOT}/debug/preemptions"]]


def test_a_refusal_of_the_api_server_is_passed_on(kubectl: Made, capsys: pytest.CaptureFixture[str]) -> None:
    with answering({}) as fixed:
        kubectl(fixed.url, served=True)
        assert run(capsys, "nodes") == (1, "", "kubectl paddock: you may not\n")


def test_without_the_aggregated_api_the_leader_is_asked_through_a_port_forward(
    kubectl: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering() as fixed:
        log = kubectl(fixed.url, served=False)
        code, out, err = run(capsys, "nodes", "-o", "name")
    assert (code, out) == (0, "node/n1\n")
    assert "asking through a port-forward" in err
    forwards = [each for each in asked_of(log) if "port-forward" in each]
    assert [each[-2] for each in forwards] == ["pod/broken", "pod/leader"]


def test_without_kubectl_the_server_is_not_reached(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECTL", "no-such-program")
    assert run(capsys, "nodes") == (2, "", "kubectl paddock: kubectl is not on the PATH\n")


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("explain",), ("nodes", "--nonsense"), ("nodes", "-o", "x")]
)
def test_wrong_use_is_1(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    with answering() as fixed:
        server = ("--server", fixed.url) if arguments[0] == "nodes" else ()
        code, out, err = run(capsys, *arguments, *server)
    assert (code, out, bool(err)) == (1, "", True)


def test_wait_runs_out_of_time(capsys: pytest.CaptureFixture[str]) -> None:
    with answering() as fixed:
        code, out, err = run(
            capsys, "wait", "app/spark-1", "--for", "state=Completed", "--timeout=0", "--server", fixed.url
        )
    assert (code, out, err) == (124, "", "app/spark-1 is Running after 0 s\n")
