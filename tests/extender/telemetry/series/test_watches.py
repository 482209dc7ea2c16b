"""Age of a watch's last message, as a number and in words."""

import pytest

from extender.telemetry.series.watches import QUIET, Staleness, stale_text, staleness

BEGAN, NOW = 100.0, 10_000.0


@pytest.mark.parametrize(
    ("error", "heard", "seconds"),
    [
        pytest.param("", NOW - 1, 0, id="up"),
        pytest.param("", NOW - 60, 0, id="quiet for as long as is usual"),
        pytest.param("", NOW - QUIET - 1, QUIET + 1, id="quiet for too long"),
        pytest.param("no route", NOW - 5, 5, id="broken"),
        pytest.param("403", None, NOW - BEGAN, id="never listed"),
        pytest.param("", None, NOW - BEGAN, id="not listed yet"),
    ],
)
def test_how_stale_a_watch_is(error: str, heard: float | None, seconds: float) -> None:
    assert staleness("pods", error, heard, began=BEGAN, now=NOW) == ("pods", seconds, error)


def test_those_that_are_not_up_are_named_with_the_time_and_the_error() -> None:
    watches = [Staleness("pods", 65.0, "no route"), Staleness("nodes", 5.0), Staleness("namespaces", 0.0)]
    assert stale_text(watches, now=86_465.0) == (
        "nodes since 1970-01-02T00:01:00Z; pods since 1970-01-02T00:00:00Z (no route)"
    )
    assert stale_text([Staleness("pods", 0.0)], now=86_465.0) == ""
