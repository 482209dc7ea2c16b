"""The last lines of the programs that `make` runs."""

from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from e2e.attack.__main__ import Report
from e2e.attack.scene import Broken
from e2e.soak import EXPECTED_AFTER, Figures
from e2e.verdict import MOST, TEXT, judged, lines

WORK = {"gates opened": 3.0, "evictions": 2.0, "placeholders": 1.0}


def test_what_held_says_so_last(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged("soak", list) == 0
    assert capsys.readouterr().out == "soak: held\n"


def test_an_exception_is_a_reason_in_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> list[str]:
        raise ExceptionGroup("tasks", [AssertionError("after 30 s still not:\n  all pods were served")])

    assert judged("soak", run) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "soak: FAILED: AssertionError: after 30 s still not: all pods were served"


def test_long_and_many_reasons_are_cut() -> None:
    found = [*lines("attack", ["x" * 1000] * (MOST + 2))]
    assert len(found) == MOST + 1
    assert len(found[0]) == len("attack: FAILED: ") + TEXT
    assert found[-1] == "attack: FAILED: 2 more reasons above"


def test_a_short_soak_may_lack_some_work_and_a_long_one_may_not() -> None:
    figures = Figures(audits=1, work={**WORK, "evictions": 0.0})
    assert [*figures.broken(EXPECTED_AFTER - 1)] == []
    assert [*figures.broken(EXPECTED_AFTER)] == ["no evictions were seen"]


def test_a_soak_fails_by_drift_and_without_audits() -> None:
    assert [*Figures(work=WORK).broken(600)] == ["no audit was answered"]
    assert [*Figures(audits=1, drifts=["a: 1, not 2"], work=WORK).broken(600)] == [
        "the audit found 1 differences, first a: 1, not 2"
    ]


def _raising(error: Exception) -> Callable[[], Awaitable[str]]:
    async def attack() -> str:
        raise error

    return attack


async def test_a_gain_is_never_forgiven() -> None:
    report = Report()
    assert await report.note("F-1", "forced", _raising(Broken("8 cores")), last=False)
    assert report.reasons == ["NOT HELD: F-1: forced: 8 cores"]


@pytest.mark.parametrize(
    "error",
    [TimeoutError("late"), AssertionError("late"), aiohttp.ServerDisconnectedError("late")],
    ids=lambda error: type(error).__name__,
)
async def test_an_attack_that_a_busy_machine_cut_off_counts_the_second_time(error: Exception) -> None:
    report = Report()
    assert not await report.note("F-1", "forced", _raising(error), last=False)
    assert report.reasons == []
    assert await report.note("F-1", "forced", _raising(error))
    assert report.reasons == [f"UNKNOWN: F-1: forced: {type(error).__name__}: late"]
