"""Rates, ratios, the order of sides, and the table."""

import pytest

from e2e.bench.rates.figures import (
    Measured,
    Times,
    medians,
    order_of,
    percentile,
    rate_between,
    rate_until,
    ratio,
    ratio_by_cpu,
    table,
)

SIDES = ("none", "echo", "paddock")


def _measured(side: str, at: int, rate: float, *, disturbed: bool = False) -> Measured:
    return Measured(side, at, {"mode": {"pods/s": rate}}, disturbed)


def test_each_round_begins_with_another_side_and_each_second_one_is_reversed() -> None:
    assert [order_of(SIDES, at) for at in range(4)] == [
        ["none", "echo", "paddock"],
        ["none", "paddock", "echo"],
        ["paddock", "none", "echo"],
        ["paddock", "echo", "none"],
    ]


def test_rates_count_from_their_own_moments() -> None:
    times = [Times(1.0, 2.0), Times(1.0, 4.0), Times(1.0, 3.0)]
    assert rate_until(1.0, times) == 1.0
    assert rate_between(times) == 1.0
    assert rate_until(-2.0, times) == 0.5


def test_percentiles_are_of_ordered_values() -> None:
    values = [float(at) for at in range(100, 0, -1)]
    assert percentile(values, 0.5) == 51.0
    assert percentile(values, 0.99) == 100.0
    assert percentile([7.0], 0.99) == 7.0


def test_disturbed_rounds_count_for_nothing() -> None:
    rounds = [_measured("a", 0, 1.0), _measured("a", 1, 100.0, disturbed=True), _measured("a", 1, 3.0)]
    assert medians(rounds) == {"a": {"mode": {"pods/s": 2.0}}}


def test_a_ratio_is_of_the_rounds_that_have_both_sides() -> None:
    rounds = [
        _measured("a", 0, 1.0),
        _measured("b", 0, 2.0),
        _measured("a", 1, 9.0),
        _measured("b", 1, 1.0, disturbed=True),
        _measured("a", 2, 4.0),
        _measured("b", 2, 4.0),
    ]
    assert ratio(rounds, "a", "b", "mode", "pods/s") == 0.75
    assert ratio(rounds, "a", "none", "mode", "pods/s") is None


@pytest.mark.parametrize("mode", ["mode", "another"])
def test_a_side_without_the_mode_has_no_ratio(mode: str) -> None:
    found = ratio([_measured("a", 0, 1.0), _measured("b", 0, 1.0)], "a", "b", mode, "pods/s")
    assert found == (1.0 if mode == "mode" else None)


def test_the_table_is_markdown_with_dashes_for_what_is_missing() -> None:
    assert table(["a", "b"], [[1, None]]) == "| a | b |\n| --- | --- |\n| 1 | - |"


def _of_cpu(side: str, at: int, decider: str, own: float, *, others: float) -> Measured:
    cpu = {f"cpu {decider}": own, "cpu etcd": others / 4, "cpu kube-apiserver": others * 3 / 4}
    return Measured(side, at, {"mode": {"pods/s": 1.0, **cpu, "cpu all": own + others}})


def test_a_ratio_by_cpu_does_not_change_with_the_speed_of_the_machine() -> None:
    rounds = [
        _of_cpu("paddock", 0, "paddock", 1.0, others=4.0),
        _of_cpu("echo", 0, "echo", 0.5, others=4.0),
        _of_cpu("paddock", 1, "paddock", 3.0, others=12.0),
        _of_cpu("echo", 1, "echo", 0.5, others=4.0),
    ]
    assert ratio_by_cpu(rounds, "paddock", "echo", "mode") == 0.9
    assert ratio_by_cpu(rounds[:1], "paddock", "echo", "mode") is None
