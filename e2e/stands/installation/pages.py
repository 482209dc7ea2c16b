"""Commands of a page of the documents, copied from it and run as a reader would."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from e2e.programs.binaries import ROOT, folder
from e2e.programs.helm import HELM

_BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_DEADLINE = 150.0
_PATIENCE, _PAUSE = 30.0, 0.5


@dataclass(frozen=True)
class Replaced:
    """A command that cannot run here. ``start``: its first characters. ``instead``: run in its place, if any.

    ``why``: the reason, which the test prints.
    """

    start: str
    why: str
    instead: str = ""


def commands_of(page: str, *, after: str = "", before: str = "") -> list[str]:
    """Commands in the blocks of a page, each with its continued lines, loops and here-documents.

    ``after``, ``before``: headings between which the blocks stand; empty for the page's ends.
    """
    text = (ROOT / "docs" / page).read_text()
    if after:
        text = text[text.index(f"\n{after}\n") :]
    if before:
        text = text[: text.index(f"\n{before}\n")]
    return [command for block in _BLOCK.findall(text) for command in _split(block)]


def _split(block: str) -> Iterator[str]:
    lines: list[str] = []
    for line in block.splitlines():
        if not lines and (not line.strip() or line.lstrip().startswith("#")):
            continue
        lines.append(line)
        text = "\n".join(lines)
        if _is_complete(text):
            yield text.strip()
            lines = []
    assert not lines, f"a command has no end: {lines}"


def _is_complete(text: str) -> bool:
    """True if the shell reads no further. It warns about a here-document without its end."""
    if text.endswith(("\\", "|")):
        return False
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    return done.returncode == 0 and not done.stderr


@dataclass
class Reader:
    """A reader of a page, in a folder with the repository's `manifests`, as the cluster's administrator.

    ``replaced``: commands that do not run as they are. ``texts``: addresses on the page, and those here.
    """

    kubeconfig: Path
    place: Path
    replaced: Sequence[Replaced] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        (self.place / "manifests").symlink_to(ROOT / "manifests")

    async def run(self, command: str) -> str:
        """Run a command, or what replaces it. Returns what it prints. Raises AssertionError if it fails."""
        found = [each for each in self.replaced if command.startswith(each.start)]
        for each in found:
            self._used.add(each.start)
            print(f"replaced: {command.splitlines()[0]}: {each.why}")
        text = found[0].instead if found else command
        for name, here in self.texts.items():
            if name in text:
                print(f"replaced: {name} by {here}: tests use ports that are free")
            text = text.replace(name, here)
        return await self._typed(text) if text else ""

    async def run_until(self, command: str, holds: Callable[[str], bool]) -> str:
        """Run a command until it prints what is wanted, as a reader does with figures of the moment."""
        until = time.monotonic() + _PATIENCE
        while not holds(printed := await self.run(command)):
            assert time.monotonic() < until, f"{command}\nafter {_PATIENCE} s still prints:\n{printed}"
            await asyncio.sleep(_PAUSE)
        return printed

    def check_replaced(self) -> None:
        """Assert that the page still has every command that is replaced."""
        left = [each.start for each in self.replaced if each.start not in self._used]
        assert left == [], f"the page no longer has {left}"

    async def _typed(self, text: str) -> str:
        path = f"{folder()}:{HELM.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        process = await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", text),
            cwd=self.place,
            env={"PATH": path, "HOME": str(self.place), "KUBECONFIG": str(self.kubeconfig)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, problems = await asyncio.wait_for(process.communicate(), _DEADLINE)
        assert process.returncode == 0, f"{text}\nended with {process.returncode}: {problems.decode()}"
        return out.decode()
