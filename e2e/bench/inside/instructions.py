"""(c) Instructions of a pod's life by its form, as valgrind counts them, without those of the benchmark.

They hardly depend on the machine and on what else runs there, so they show the gain of a change where times
cannot. The steps are those of `life`, the interpreter's own instructions included.
"""

import asyncio
import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable

from e2e.bench.inside.life import FORMS, Step, lives
from e2e.bench.worlds.report import show
from e2e.programs.compiled import is_compiled

FEW, MANY = 50, 250
"""Lives of a short and of a long run. Their difference leaves out the start."""

_FOUND = re.compile(r"I\s+refs:\s+([\d,]+)")

Counted = Callable[[str, int, bool], int]
"""Function that counts a run: its form, its number of lives, and whether it takes their steps."""


def instructions_of(form: str, counted: Counted) -> int:
    """Instructions of one life."""
    with_steps, without = (counted(form, MANY, each) - counted(form, FEW, each) for each in (True, False))
    return (with_steps - without) // (MANY - FEW)


def counted_by(valgrind: str) -> Counted:
    """Count runs in processes of their own."""

    def counted(form: str, count: int, steps: bool) -> int:
        command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        command += [sys.executable, "-m", __name__, form, str(count), "steps" if steps else "none"]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return found_in(ran.stderr)

    return counted


def found_in(text: str) -> int:
    """The number of instructions in what valgrind prints. Raises ValueError without one."""
    found = _FOUND.search(text)
    if found is None:
        raise ValueError(f"valgrind printed no number of instructions: {text[-200:]}")
    return int(found[1].replace(",", ""))


async def run() -> None:
    """Print the instructions of a life in each form."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        print("instructions: not measured, since valgrind is not installed", file=sys.stderr)
        return
    counted, core = counted_by(valgrind), "compiled" if is_compiled() else "interpreted"
    for form in FORMS:
        show(f"instructions, {form}", core=core, instructions=instructions_of(form, counted))


async def _live(form: str, count: int, *, steps: bool) -> None:
    async def take(_name: str, step: Step) -> None:
        if steps and isinstance(made := step(), Awaitable):
            await made

    gc.collect()
    gc.freeze()
    await lives(form, count, take)


if __name__ == "__main__":
    asyncio.run(_live(sys.argv[1], int(sys.argv[2]), steps=sys.argv[3] == "steps"))
