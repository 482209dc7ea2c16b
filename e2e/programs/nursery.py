"""A process that has loaded Paddock's code and forks Paddocks from it, which saves the imports.

The imports take more than a second of CPU, half of the cost of most tests. A forked Paddock runs the same
`main` with the same arguments, and is killed and reaped by process id like any other. Benchmarks, the soak
and the tests of the shipped configurations start theirs as a user does.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from e2e.programs.processes import die_with_parent

ROOT = Path(__file__).resolve().parents[2]


class Nursery:
    """The process, as a context manager. Paddocks that run at its end die with it."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        command = "import sys; from e2e.programs.nursery import serve; serve(int(sys.argv[1]))"
        self._process = subprocess.Popen(
            [sys.executable, "-c", command, str(theirs.fileno())],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            preexec_fn=die_with_parent,
        )
        theirs.close()
        self._lines = self._ours.makefile("rw")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._ours.close()
        self._process.wait(timeout=30)

    def fork(self, arguments: Sequence[str], log: Path, *, host: str = "") -> "Forked":
        """Fork a Paddock with these arguments. Its output goes to the end of ``log``.

        ``host``: as in `PaddockProcess`.
        """
        pid = self._ask({"arguments": [*arguments], "log": str(log), "host": host})
        return Forked(self, int(pid))

    def code_of(self, pid: int) -> int | None:
        """The exit code of a child that has ended, in `subprocess`' form; None while it runs."""
        found: int | None = self._ask({"poll": pid})
        return found

    def _ask(self, request: dict[str, Any]) -> Any:
        self._lines.write(json.dumps(request) + "\n")
        self._lines.flush()
        return json.loads(self._lines.readline())


class Forked:
    """`subprocess.Popen` for a child that the nursery forked."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._nursery = nursery

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.code_of(self.pid)
        return self.returncode

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        """Send a signal. Until `poll` reaps the child, its id belongs to no other process."""
        if self.returncode is None:
            os.kill(self.pid, number)


# -- in the process itself -----------------------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """Fork and reap as asked until the other end is closed."""
    import extender.app
    import extender.cli
    import extender.http.server  # noqa: F401

    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as asked, asked.makefile("rw") as lines:
        for line in iter(lines.readline, ""):
            request = json.loads(line)
            lines.write(json.dumps(_polled(request) if "poll" in request else _forked(request, asked)) + "\n")
            lines.flush()


def _polled(request: dict[str, Any]) -> int | None:
    pid, status = os.waitpid(request["poll"], os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if pid else None


def _forked(request: dict[str, Any], asked: socket.socket) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            die_with_parent()
            asked.close()
            code = _run(request)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return pid


def _run(request: dict[str, Any]) -> int:
    """Run as ``python -m extender.cli`` with these arguments, and return the exit code."""
    from extender.cli import main

    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["paddock", *request["arguments"]]
    if request["host"]:
        socket.gethostname = lambda: str(request["host"])
    try:
        return int(main() or 0)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
