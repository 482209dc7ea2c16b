"""Verdict of Prometheus' own checker on an exposition, where it is installed (`promtool`)."""

import os
import shutil
import subprocess

import pytest

from tests.builders import make_queue
from tests.extender.telemetry.yunikorn.reading import Watched

PROMTOOL = os.environ.get("PADDOCK_PROMTOOL") or shutil.which("promtool")

ADVICE = 3
"""Exit status when the text is right and some names could be better."""


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
def test_the_text_is_right_and_our_own_names_follow_the_conventions() -> None:
    """Names of YuniKorn are as they are; the library's ``_created`` samples are gauges by its choice."""
    assert PROMTOOL is not None
    cluster = Watched(make_queue("root.a", max={"vcore": 5000}))
    cluster.place("p")
    checked = subprocess.run(
        [PROMTOOL, "check", "metrics"],
        input=cluster.metrics.exposition(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    advice = (checked.stdout + checked.stderr).decode().splitlines()
    assert checked.returncode in (0, ADVICE), advice
    assert [line for line in advice if line.startswith("paddock_")] == []
