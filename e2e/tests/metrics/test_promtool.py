"""The verdict of Prometheus' own checker on an exposition. Needs `promtool` and fails without it."""

import subprocess

import pytest

from e2e.programs.prometheus import program_path
from tests.builders import make_queue
from tests.extender.telemetry.yunikorn.reading import Watched

ADVICE = 3
"""Exit status when the text is right and some names could be better."""


def checked(text: bytes) -> tuple[int, list[str]]:
    """Exit status and lines of ``promtool check metrics``."""
    ended = subprocess.run(
        [program_path("promtool"), "check", "metrics"],
        input=text,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, (ended.stdout + ended.stderr).decode().splitlines()


@pytest.mark.rule("METRIC-17")
def test_the_text_is_right_and_our_own_names_follow_the_conventions() -> None:
    """Names of YuniKorn are as they are; the library's ``_created`` samples are gauges by its choice."""
    cluster = Watched(make_queue("root.a", max={"vcore": 5000}))
    cluster.place("p")
    status, advice = checked(cluster.metrics.exposition())
    assert status in (0, ADVICE), advice
    assert [line for line in advice if line.startswith("paddock_")] == []


def test_the_checker_notices_a_value_that_is_no_number_and_a_name_against_the_conventions() -> None:
    status, advice = checked(b"# TYPE paddock_pods gauge\npaddock_pods one\n")
    assert status not in (0, ADVICE), advice
    status, advice = checked(
        b"# HELP paddock_pods_total p\n# TYPE paddock_pods_total gauge\npaddock_pods_total 1\n"
    )
    assert (status, advice[0].split()[0]) == (ADVICE, "paddock_pods_total")
