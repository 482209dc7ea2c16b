"""`kubectl paddock` with the answers of a whole server, beside an application with a hostile id."""

import asyncio
from pathlib import Path

import pytest

from tests.extender.app_bench import Server, document, kubeconfig, server, undone
from tests.extender.plugin.answering import HOSTILE, run

__all__ = ["kubeconfig", "server", "undone"]

JOB = str(Path(__file__).parents[1] / "plugin" / "job.json")

COMMANDS = {
    ("queues",): 0,
    ("queues", "root.a", "--flat", "-o", "wide"): 0,
    ("queue", "root.a"): 0,
    ("queue", "root.none"): 1,
    ("apps",): 0,
    ("app", HOSTILE, "-n", "default"): 0,
    ("app", "none"): 1,
    ("pods",): 0,
    ("pods", "--pending", "-o", "name"): 0,
    ("explain", "runs"): 0,
    ("explain", "waiting", "-n", "default"): 3,
    ("explain", "app/app-1"): 3,
    ("explain", "none"): 1,
    ("users",): 0,
    ("groups",): 0,
    ("nodes",): 0,
    ("nodes", "n1"): 0,
    ("events",): 0,
    ("preemptions",): 0,
    ("config",): 0,
    ("simulate", "-f", JOB, "-q", "root.a"): 3,
    ("simulate", "-f", JOB, "-q", "root.none"): 4,
    ("status",): 0,
    ("top",): 0,
    ("version",): 0,
    ("wait", "app/app-1", "--timeout=0"): 0,
}
"""Exit code by arguments."""


async def test_every_command_reads_a_whole_server(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.configure(document())
    server.pod("runs", node="n1")
    server.pod("hostile", node="n1", app=HOSTILE)
    server.pod("waiting")
    await server.started()
    await server.until_shown("/ws/v1/scheduler/healthcheck", "HealthChecks")
    url = f"http://127.0.0.1:{server.admin}"
    for arguments, expected in COMMANDS.items():
        code, out, err = await asyncio.to_thread(run, capsys, *arguments, "--server", url)
        assert (arguments, code) == (arguments, expected), err
        assert all(line.isprintable() for line in f"{out}{err}".split("\n"))
        assert out or err
