"""The time until what the end-to-end tests wait for, for tests marked `timed`, run one after another.

Only here are their figures held to bounds.
"""

import asyncio
import os
import sys

from e2e.bench.worlds.report import show
from e2e.stands.timing import HELD


async def run() -> None:
    """Run the tests. Raises AssertionError if one takes longer than it may."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "e2e", "-m", "timed", "-rP", "-q", "--durations=10"),
        env={**os.environ, HELD: "1"},
    )
    code = await process.wait()
    show("promptness", exit_code=code)
    assert code == 0, "something took longer than it may, or did not come about; see above"
