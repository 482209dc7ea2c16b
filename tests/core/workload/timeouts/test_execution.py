"""ACT-40 to ACT-45: durations, announced ends and records of execution time-outs."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.workload.timeouts.execution import (
    Execution,
    ExecutionRecord,
    ahead,
    asked_for,
    behind,
    end_announced,
    execution_text,
    record_from,
    since_text,
    warned_from,
)

NOW = 1_767_225_600.0
TIMES = st.floats(min_value=0, max_value=2e11)


@pytest.mark.rule("ACT-40")
@pytest.mark.parametrize(
    "text", ["", "0", "-1h", "1", "1y", "NaN", "\x00", "1h" * 60, " 5m", "5m\n", "[" * 300]
)
def test_a_text_that_is_no_duration_above_zero_asks_for_nothing(text: str) -> None:
    assert asked_for(text) is None


@pytest.mark.rule("ACT-43")
def test_the_warning_is_due_when_nine_tenths_are_over() -> None:
    assert warned_from(NOW, NOW + 600) == NOW + 540


@pytest.mark.rule("ACT-44")
@given(target=TIMES, known=TIMES, now=TIMES)
def test_an_end_comes_sooner_only_with_five_minutes_of_notice(
    target: float, known: float, now: float
) -> None:
    ends = end_announced(target, known, is_new=False, now=now)
    assert ends >= min(known, now + 300)
    assert ends == max(target, min(known, now + 300))
    assert end_announced(target, None, is_new=False, now=now) == max(target, now + 300)


@pytest.mark.rule("ACT-45")
@given(st.floats(min_value=-1e6, max_value=1e6))
def test_no_difference_of_clocks_hastens(skew: float) -> None:
    assert ahead(skew) >= 0
    assert behind(skew) >= 0
    assert (
        (ahead(skew), behind(skew)) == (0, 0) if abs(skew) <= 5 else ahead(skew) + behind(skew) == abs(skew)
    )


@pytest.mark.rule("ACT-41")
@given(since=TIMES, ends=st.none() | TIMES, asked=st.none() | TIMES, through=st.none() | TIMES)
def test_a_record_is_read_as_it_was_written(
    since: float, ends: float | None, asked: float | None, through: float | None
) -> None:
    record = ExecutionRecord(since, ends, asked, through)
    found = record_from(since_text(record), execution_text(record) or "")
    assert found is not None
    assert found[1:] == record[1:]
    assert -1e-4 <= found.since - since <= 0.002


@pytest.mark.rule("ACT-41")
@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_raises(since: str, execution: str) -> None:
    record_from(since, execution)
    record_from("2026-01-01T00:00:00Z", execution)


@pytest.mark.rule("ACT-41")
@pytest.mark.parametrize(
    "text", ["2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01", "1", "2026-01-01T00:00:00+01:00"]
)
def test_other_forms_of_a_moment_count_for_nothing(text: str) -> None:
    assert record_from(text, "") is None


@pytest.mark.parametrize("name", [each.name for each in fields(Execution)])
def test_whatever_an_execution_says_it_is_not_blank(name: str) -> None:
    execution = Execution()
    assert execution.is_blank
    setattr(execution, name, 1)
    assert not execution.is_blank
