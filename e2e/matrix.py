"""`make matrix`: the smoke tier, and tests with the mark `matrix`, on every minor version of Kubernetes.

The versions that `e2e.programs.minors` names are built once. Prints a row of a table for each.
"""

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from e2e.programs.binaries import ROOT, NoBinary
from e2e.programs.building import clock
from e2e.programs.minors import build, versions

HEAD = "| version | passed | not for this version | failed | time |\n|---|---|---|---|---|"


@dataclass(frozen=True)
class Result:
    """Numbers of tests of a version, and the names of those that failed. ``seconds``: of the whole run."""

    version: str
    passed: int
    skipped: int
    failed: tuple[str, ...]
    seconds: float

    @property
    def row(self) -> str:
        wrong = ", ".join(self.failed) or "none"
        return f"| {self.version} | {self.passed} | {self.skipped} | {wrong} | {clock(self.seconds)} |"


def main(asked: Sequence[str]) -> int:
    """Run each version that is asked for, or all. Returns 1 if a test failed or a version cannot be built."""
    results = []
    for version in asked or versions():
        try:
            results.append(_run(version, build(version)))
        except NoBinary as error:
            print(f"matrix: {error}", file=sys.stderr)
            return 1
    print("\n".join((HEAD, *(each.row for each in results))))
    return 1 if any(each.failed for each in results) else 0


def _run(version: str, programs: Path) -> Result:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        marked = ("-m", "smoke or matrix", "--timeout=240", "-q", f"--junitxml={report}")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "e2e", *marked],
            cwd=ROOT,
            env={**os.environ, "PADDOCK_E2E_BIN": str(programs)},
            check=False,
        )
        if not report.exists():
            raise NoBinary(f"the tests of {version} ended with exit code {done.returncode} and no report")
        return result_of(version, report.read_text(), time.monotonic() - began)


def result_of(version: str, report: str, seconds: float) -> Result:
    """Read a report of pytest. A run without a test that passed counts as failed."""
    cases = list(ET.fromstring(report).iter("testcase"))  # noqa: S314 - of our own pytest
    failed = tuple(each.attrib["name"] for each in cases if _has(each, "failure") or _has(each, "error"))
    skipped = sum(_has(each, "skipped") for each in cases)
    passed = len(cases) - len(failed) - skipped
    return Result(version, passed, skipped, failed if passed or failed else ("no test ran",), seconds)


def _has(case: ET.Element, name: str) -> bool:
    return case.find(name) is not None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
