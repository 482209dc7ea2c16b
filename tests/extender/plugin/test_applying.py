"""ACT-51 to ACT-55: a document is compared, confirmed, and written by the user's kubectl, which is played."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extender.configuration.sources import checksum
from tests.extender.plugin.answering import HOSTILE, run

_KUBECTL = """#!{python}
import http.server, json, pathlib, sys
folder = pathlib.Path({folder!r})
given = [each for each in sys.argv[1:] if not each.startswith("--as")]
with open(folder / "log", "a") as log:
    log.write(json.dumps(given) + "\\n")
state = json.loads((folder / "state").read_text())
def fail(text):
    sys.exit(text)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"[+] synced ok\\nconfiguration: {{state['pods'][self.server.pod]}}\\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
if given[0] == "port-forward":
    name = given[3].removeprefix("pod/")
    if state["pods"][name] is None:
        fail("error: pods is forbidden: no port-forward")
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    server.pod = name
    print(f"Forwarding from 127.0.0.1:{{server.server_port}} -> 10291", flush=True)
    server.serve_forever()
elif given[:2] == ["get", "pods"]:
    items = [{{"metadata": {{"namespace": "system", "name": each}}}} for each in state["pods"]]
    print(json.dumps({{"items": items}}))
elif given[:2] == ["create", "--raw"] and given[2].endswith("/ws/v1/compare-conf"):
    sys.stdin.read()
    print(json.dumps(state["compared"]))
elif given[:2] == ["get", "--raw"]:
    if state["stored"] is None:
        fail('Error from server (NotFound): configmaps "yunikorn-configs" not found')
    print(json.dumps(state["stored"]))
elif given[1] == "--raw" and "/configmaps" in given[2]:
    body = json.load(sys.stdin)
    if state["fails"]:
        fail(state["fails"])
    if "dryRun=All" not in given[2]:
        state["stored"] = body
        (folder / "state").write_text(json.dumps(state))
"""

NEW = "# by alice\npartitions: []  # the end\n"
OLD = "partitions: [] # old\n"
SUM = checksum(NEW)
COMPARED = {
    "allowed": True,
    "checksum": SUM,
    "inForce": checksum(OLD),
    "configMap": {"namespace": "system", "name": "yunikorn-configs", "key": "queues.yaml"},
    "warnings": [{"path": "queues[0]", "rule": "Q-1", "message": HOSTILE, "line": 3}],
    "partition": [{"name": "preemption.enabled", "before": "true", "after": "false"}],
    "queues": [
        {"queue": "root.a", "change": "changed", "fields": [{"name": "max", "before": "vcore 2"}]},
        {"queue": "root.b", "change": "removed", "runningApps": 2},
        {"queue": "root.c", "change": "added"},
    ],
    "above": [{"queue": "root.a", "over": {"vcore": 1000}, "applications": [HOSTILE], "count": 1}],
    "preemptible": [
        {
            "queue": "root.a",
            "why": "quota",
            "amounts": {"vcore": 1000},
            "delay": 300,
            "pods": [f"default/p{number}" for number in range(12)],
            "count": 12,
        }
    ],
}
STORED = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "yunikorn-configs", "resourceVersion": "7", "labels": {"own": "stays"}},
    "data": {"queues.yaml": OLD, "other.key": "stays"},
}
MODIFIED = (
    'Error from server (Conflict): Operation cannot be fulfilled on configmaps "yunikorn-configs": '
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Played:
    """A played kubectl, which keeps its state in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "queues.yaml"
        self.file.write_text(NEW)
        program = folder / "kubectl"
        program.write_text(_KUBECTL.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)
        self.program = str(program)
        self.set()

    def set(self, **changes: Any) -> None:
        known = {"compared": COMPARED, "stored": STORED, "pods": {"one": SUM, "two": SUM}, "fails": ""}
        (self.folder / "state").write_text(json.dumps(known | changes))

    @property
    def stored(self) -> Any:
        return json.loads((self.folder / "state").read_text())["stored"]

    @property
    def writes(self) -> list[str]:
        lines = [json.loads(each) for each in (self.folder / "log").read_text().splitlines()]
        return [each[2] for each in lines if each[0] in ("create", "replace") and "/configmaps" in each[2]]


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    made = Played(tmp_path)
    monkeypatch.setenv("KUBECTL", made.program)
    return made


@pytest.fixture
def apply(played: Played, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    return lambda *more: run(capsys, "apply", "-f", str(played.file), *more)


Apply = Callable[..., tuple[int, str, str]]


@pytest.mark.rule("ACT-51", "ACT-53")
def test_a_document_is_written_as_it_is_over_the_version_that_was_read(played: Played, apply: Apply) -> None:
    code, out, err = apply("--yes")
    assert (code, err) == (0, "")
    assert played.stored == {**STORED, "data": {"queues.yaml": NEW, "other.key": "stays"}}
    assert out.splitlines() == [
        "warning: queues[0] (line 3): \\x1b]0;x\\x07[red]",
        "~ preemption.enabled: true -> false",
        "~ root.a",
        "    max: vcore 2 -> none",
        "- root.b: 2 applications run on until they end",
        "+ root.c",
        "! root.a would be above its limit by cpu=1",
        "    \\x1b]0;x\\x07[red]",
        "! 12 pods of root.a would be evicted after 5m, above the max by cpu=1",
        *(f"    default/p{number}" for number in range(10)),
        "    and 2 more",
        "ConfigMap system/yunikorn-configs is written.",
        "Each instance has the document: one, two.",
    ]
    again, out, _ = apply("--yes")
    assert (again, len(played.writes)) == (0, 1)
    assert out.startswith("ConfigMap system/yunikorn-configs has this document already.")


def test_nothing_is_written_without_a_terminal_and_without_yes(played: Played, apply: Apply) -> None:
    code, _, err = apply()
    assert (code, "--yes" in err, played.writes) == (1, True, [])


@pytest.mark.rule("ACT-53")
def test_a_dry_run_is_checked_by_the_api_server(played: Played, apply: Apply) -> None:
    code, out, _ = apply("--dry-run")
    assert (code, out.splitlines()[-1]) == (
        0,
        "ConfigMap system/yunikorn-configs would be written (dry run).",
    )
    (path,) = played.writes
    assert ("dryRun=All" in path, played.stored) == (True, STORED)


@pytest.mark.rule("ACT-53")
@pytest.mark.parametrize("text", [MODIFIED, 'Error from server (AlreadyExists): "x" already exists'])
def test_an_edit_of_another_is_said_and_not_lost(played: Played, apply: Apply, text: str) -> None:
    played.set(fails=text)
    code, _, err = apply("--yes")
    assert (code, played.stored) == (1, STORED)
    assert "changed meanwhile, so nothing was written: run the command again" in err


def test_a_missing_right_is_said_as_the_api_server_says_it(played: Played, apply: Apply) -> None:
    played.set(fails='Error from server (Forbidden): User "alice" cannot update resource "configmaps"')
    code, _, err = apply("--yes")
    assert (code, "cannot update" in err, played.stored) == (1, True, STORED)


@pytest.mark.rule("ACT-52")
def test_a_document_with_errors_is_refused_before_the_configmap_is_read(played: Played, apply: Apply) -> None:
    problem = {"path": "queues[0].name", "rule": "CFG-6", "message": HOSTILE, "line": 4}
    played.set(compared={"allowed": False, "problems": [problem], "checksum": SUM})
    code, out, _ = apply("--yes")
    assert (code, played.writes) == (3, [])
    assert out.splitlines() == [
        "The document is refused:",
        "  queues[0].name (line 4): \\x1b]0;x\\x07[red] [CFG-6]",
    ]


@pytest.mark.rule("ACT-54")
def test_a_configmap_of_helm_is_written_by_force_only(played: Played, apply: Apply) -> None:
    meta = {**STORED["metadata"], "labels": {"app.kubernetes.io/managed-by": "Helm"}}  # type: ignore[dict-item]
    played.set(stored={**STORED, "metadata": meta})
    code, _, err = apply("--yes")
    assert (code, "Helm" in err, "--force" in err, played.writes) == (1, True, True, [])
    assert apply("--yes", "--force")[0] == 0
    assert played.stored["data"]["queues.yaml"] == NEW


def test_a_missing_configmap_is_created(played: Played, apply: Apply) -> None:
    played.set(stored=None)
    code, _, err = apply("--yes")
    assert (code, err) == (0, "")
    assert played.stored["data"] == {"queues.yaml": NEW}
    assert played.stored["metadata"] == {"name": "yunikorn-configs", "namespace": "system"}


def test_a_document_that_is_not_in_force_is_named_before_it_is_replaced(played: Played, apply: Apply) -> None:
    played.set(stored={**STORED, "data": {"queues.yaml": "another"}})
    _, _, err = apply("--dry-run")
    assert "not in force" in err


@pytest.mark.rule("ACT-55")
def test_an_instance_that_lags_is_named_at_the_deadline(played: Played, apply: Apply) -> None:
    played.set(pods={"one": SUM, "two": "0123456789abcdef", "three": None})
    code, out, _ = apply("--yes", "--deadline", "1s")
    assert code == 124
    assert out.splitlines()[-2:] == [
        "three lags: it cannot be asked through a port-forward: error: pods is forbidden: no port-forward",
        "two lags: it has 0123456789ab",
    ]
    assert apply("--yes", "--no-wait")[0] == 0


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_a_user_at_a_terminal_is_asked(played: Played, answer: str, written: bool) -> None:
    ours, theirs = pty.openpty()
    arguments = ["apply", "-f", str(played.file), "--no-wait"]
    with subprocess.Popen(
        [sys.executable, "-m", "extender.plugin.main", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "dumb"},
    ) as process:
        os.close(theirs)
        os.write(ours, answer.encode())
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:
            # Linux reports the end of the other side so.
            pass
        process.wait(timeout=30)
    os.close(ours)
    assert b"Write ConfigMap system/yunikorn-configs? [y/N]" in shown
    assert (process.returncode == 0, played.stored["data"]["queues.yaml"] == NEW) == (written, written)
