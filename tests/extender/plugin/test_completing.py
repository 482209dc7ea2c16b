"""Completion of names, in real shells on a terminal."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from extender.plugin import completing
from extender.plugin.main import main
from tests.extender.plugin.answering import ANSWERS, HOSTILE, Fixed, answering, application, queue

_P = "/ws/v1/partition/default"
_ACCOUNT = "system:serviceaccount:team:runner"
_EXPANDED = ("$(touch x)", "`id`", "a b", "--evil", "~root", "x;y", "a\nb", HOSTILE)

NAMED = {
    **ANSWERS,
    f"{_P}/queues": queue(
        "root", isLeaf=False, children=[queue("root.team"), *(queue(each) for each in _EXPANDED)]
    ),
    f"{_P}/applications/active": [application(each) for each in ("spark-1", "spark-2", *_EXPANDED)],
    f"{_P}/usage/users": [{"userName": each} for each in ("alice", _ACCOUNT, *_EXPANDED)],
    f"{_P}/usage/groups": [{"groupName": "devs"}],
}

_PROGRAM = """#!/bin/sh
if [ "$1" = __complete ]; then exec {python} -c '
from extender.plugin import completing, main
completing.WITHIN = 30.0
main.main()
' "$@"; fi
printf 'RAN<%s>\\n' "$*"
"""
_SHELLS = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], "PS1='ready> '"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; unsetopt beep; PS1='ready> '"),
}
WITHIN = 30.0


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fixed]:
    # A busy machine must not decide whether there are names.
    monkeypatch.setattr(completing, "WITHIN", 30.0)
    with answering(NAMED) as found:
        yield found


def candidates(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["__complete", "zsh", *arguments]) == 0
    shown = capsys.readouterr()
    assert not shown.err
    return shown.out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("queue",), ["root", "root.team"]),
        (("apps", "-q"), ["root", "root.team"]),
        (("close-queue",), ["root", "root.team"]),
        (("app",), ["spark-1", "spark-2"]),
        (("wait",), ["spark-1", "spark-2"]),
        (("explain",), ["waiting"]),
        (("nodes",), ["n1"]),
        (("users",), ["alice", _ACCOUNT]),
        (("groups",), ["devs"]),
        (("top",), ["queues", "users"]),
    ],
)
def test_names_that_a_shell_would_expand_are_left_out(
    named: Fixed, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], found: list[str]
) -> None:
    assert candidates(capsys, arguments[0], "--server", named.url, *arguments[1:], "") == found


@pytest.mark.parametrize(
    ("arguments", "typed", "found"),
    [
        (("explain",), "app/s", ["app/spark-1", "app/spark-2"]),
        (("explain",), "pod/", ["pod/waiting"]),
        (("events", "--for"), "no", ["node/n1"]),
        (("apps",), "--queue=root.t", ["--queue=root.team"]),
        (("apps", "-n", "other"), "", []),
    ],
)
def test_a_kind_before_the_name_and_an_option_with_its_value_stay(
    named: Fixed, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], typed: str, found: list[str]
) -> None:
    assert candidates(capsys, arguments[0], "--server", named.url, *arguments[1:], typed) == found


def test_without_a_server_there_are_no_names_and_no_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert candidates(capsys, "queue", "--server", "http://127.0.0.1:1", "") == []
    assert candidates(capsys, "queue", "--nonsense", "") == []


def test_without_kubectl_there_are_no_names_and_no_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECTL", "no-such-program")
    assert candidates(capsys, "queue", "") == []


def test_kubectl_learns_whether_files_are_to_be_offered(
    named: Fixed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["__complete", "kubectl", "queue", "--server", named.url, "root.t"]) == 0
    assert capsys.readouterr().out == "root.team\n:4\n"
    assert main(["__complete", "kubectl", "check", "-f", ""]) == 0
    assert capsys.readouterr().out == ":0\n"


# -- real shells ---------------------------------------------------------------------------------------------


def typed(shell: str, folder: Path, line: str) -> str:
    """The command that runs when a line is typed on a terminal, where ``\\t`` asks for completion."""
    program, script = folder / "kubectl-paddock", folder / "script"
    program.write_text(_PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    script.write_bytes(
        subprocess.run(
            [sys.executable, "-m", "extender.plugin.main", "completion", shell],
            capture_output=True,
            check=True,
        ).stdout
    )
    arguments, setup = _SHELLS[shell]
    path = f"{folder}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TERM": "xterm", "HOME": str(folder), "COLUMNS": "400"}
    terminal, inner = pty.openpty()
    running = subprocess.Popen(
        arguments,
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    os.close(inner)
    try:
        os.write(terminal, f"{setup}; . {script}; printf 'be%s\\n' gun\n".encode())
        _read_until(terminal, rb"begun.*ready> ")
        os.write(terminal, f"{line}\n".encode())
        shown = _read_until(terminal, rb"RAN<[^\n]*>\r\n")
    finally:
        running.kill()
        running.wait()
        os.close(terminal)
    return shown.rpartition(b"RAN<")[2].partition(b">\r\n")[0].decode()


def _read_until(terminal: int, end: bytes) -> bytes:
    """Output up to an end, as an expression. Fails after some time."""
    shown, until = b"", time.monotonic() + WITHIN
    while not re.search(end, shown, re.DOTALL):
        ready, _, _ = select.select([terminal], [], [], max(0.0, until - time.monotonic()))
        assert ready, shown
        shown += os.read(terminal, 65536)
    return shown


@pytest.fixture(params=_SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.mark.parametrize(
    ("line", "ran"),
    [
        ("kubectl-paddock expl\t", "explain "),
        ("kubectl-paddock queue --server {url} root.t\t", "queue --server {url} root.team "),
        ("kubectl-paddock app --server {url} sp\t1", "app --server {url} spark-1"),
        ("kubectl-paddock explain --server {url} w\t", "explain --server {url} waiting "),
        ("kubectl-paddock users --server {url} al\t", "users --server {url} alice "),
        ("kubectl-paddock users --server {url} system:serv\t", f"users --server {{url}} {_ACCOUNT} "),
        ("kubectl-paddock groups --server {url} d\t", "groups --server {url} devs "),
        ("kubectl-paddock nodes --server {url} n\t", "nodes --server {url} n1 "),
        ("kubectl-paddock apps --server {url} --queue=root.t\t", "apps --server {url} --queue=root.team "),
    ],
)
def test_a_name_is_completed_on_a_terminal(
    named: Fixed, tmp_path: Path, shell: str, line: str, ran: str
) -> None:
    assert typed(shell, tmp_path, line.format(url=named.url)) == ran.format(url=named.url).rstrip()


def test_a_hostile_name_does_not_reach_the_command_line(named: Fixed, tmp_path: Path, shell: str) -> None:
    assert typed(shell, tmp_path, f"kubectl-paddock app --server {named.url} '$(t'\t") == (
        f"app --server {named.url} $(t"
    )
    assert not (tmp_path / "x").exists()
