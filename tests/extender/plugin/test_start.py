"""The start of the command: without the server's libraries, and soon."""

import os
import re
import subprocess
import sys

import pytest

from extender.plugin.main import main

PURE = {
    "rich",
    "typer",
    "shellingham",
    "annotated_doc",
    "markdown_it",
    "mdurl",
    "pygments",
    "extender",
    "core",
}
"""Packages that may be imported. All are pure Python."""

SHARED = {"extender.configuration", "extender.configuration.edit", "extender.configuration.ownership"}
"""Modules of the server that the plugin imports, too. They import the standard library and the core."""

_PROGRAM = (
    f"shared = {sorted(SHARED)}"
    + """
import importlib.abc, sys
allowed = set(sys.argv[1].split(",")) | set(sys.stdlib_module_names) | {"__main__"}
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        # The compiled core is one library beside its modules.
        if name.partition(".")[0] not in allowed and not name.endswith("__mypyc"):
            raise ImportError(f"{name} is absent")
        if name.startswith("extender.") and not name.startswith("extender.plugin") and name not in shared:
            raise ImportError(f"{name} belongs to the server")
sys.meta_path.insert(0, Absent())
from extender.plugin.main import command_of, main
from extender.plugin.table import COMMANDS
for name in COMMANDS:
    command_of(name)
    assert main([name, "--help"]) == 0, name
from extender.plugin.asked import Asked
from extender.plugin.printing import Result, Rows, show
show(Result("Queue", [1], ["a"], [Rows(("A",), [("b",)])]), Asked())
"""
)


def test_it_runs_where_the_libraries_of_the_server_are_absent() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, ",".join(PURE)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("A\nb\n")


def test_what_is_absent_would_be_noticed() -> None:
    program = _PROGRAM.replace("for name in COMMANDS:", "import msgspec\nfor name in COMMANDS:")
    done = subprocess.run(
        [sys.executable, "-c", program, ",".join(PURE)], capture_output=True, text=True, check=False
    )
    assert "msgspec is absent" in done.stderr


def test_names_of_commands_are_completed_in_fish() -> None:
    environment = {"_KUBECTL_PADDOCK_COMPLETE": "complete_fish"}
    environment |= {"_TYPER_COMPLETE_ARGS": "kubectl-paddock qu"}
    environment |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-m", "extender.plugin.main"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert {"queue", "queues"} <= set(re.findall(r"\w+", done.stdout)), done.stderr


@pytest.mark.parametrize(
    ("shell", "code"), [("bash", 0), ("zsh", 0), ("fish", 0), ("powershell", 0), ("kubectl", 0), ("sh", 1)]
)
def test_a_script_is_printed_for_each_shell(
    capsys: pytest.CaptureFixture[str], shell: str, code: int
) -> None:
    assert main(["completion", shell]) == code
    shown = capsys.readouterr().out
    assert ("_KUBECTL_PADDOCK_COMPLETE" in shown or "__complete" in shown) == (code == 0)
