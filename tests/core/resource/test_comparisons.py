"""Comparisons of amounts: the operators of RES-3.3 and of the table in docs/specification/ordering.md."""

from collections.abc import Callable, Mapping

import pytest

from core.quantity import INT64_MAX
from core.resource import (
    Amounts,
    Limit,
    Resource,
    Tally,
    at_least,
    equals,
    equals_or_empty,
    is_empty,
    is_zero,
    shares_type,
    strictly_more,
    strictly_more_of_known,
    strictly_positive,
    usage_percent,
    within,
)

Plain = Mapping[str, int] | None


def res(amounts: Plain) -> Resource | None:
    return None if amounts is None else Resource(amounts)


def lim(amounts: Plain) -> Limit | None:
    return None if amounts is None else Limit(amounts)


@pytest.mark.rule("RES-3.3")
@pytest.mark.parametrize(
    ("left", "right", "equal", "equal_or_empty"),
    [
        pytest.param({"a": 1}, {"a": 1, "b": 0}, True, True, id="absent is zero"),
        pytest.param({"a": 1}, {"a": 2}, False, False, id="amounts differ"),
        pytest.param({"a": 1}, {"b": 1}, False, False, id="names differ"),
        pytest.param(None, None, True, True, id="undefined equals undefined"),
        pytest.param(None, {}, False, True, id="undefined is not empty"),
        pytest.param({"a": 0}, None, False, True, id="undefined is not all-zero"),
        pytest.param({}, {"a": 0}, True, True, id="empty equals all-zero"),
        pytest.param(None, {"a": 1}, False, False, id="undefined is not something"),
    ],
)
def test_equals(left: Plain, right: Plain, equal: bool, equal_or_empty: bool) -> None:
    for one, other in ((left, right), (right, left)):
        assert equals(res(one), res(other)) is equal
        assert equals_or_empty(res(one), lim(other)) is equal_or_empty


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"a": 1}, {"a": 1, "b": 0}, True),
        ({}, {"a": 0}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {}, False),
    ],
)
def test_amounts_equal_reads_an_absent_name_as_zero(left: Plain, right: Plain, same: bool) -> None:
    assert Resource(left or {}).amounts_equal(Resource(right or {})) is same
    assert Resource(left or {}).amounts_equal(Tally(right)) is same


@pytest.mark.parametrize(
    ("amounts", "zero", "empty"),
    [
        (None, True, True),
        ({}, True, True),
        ({"a": 0}, True, False),
        ({"a": 1}, False, False),
        ({"a": -1}, False, False),
    ],
)
def test_is_zero_and_is_empty(amounts: Plain, zero: bool, empty: bool) -> None:
    assert is_zero(res(amounts)) is zero
    assert is_empty(lim(amounts)) is empty


@pytest.mark.parametrize(
    ("left", "right", "more", "not_less"),
    [
        pytest.param({"a": 10, "b": 10}, {"a": 1}, True, True, id="more of everything"),
        pytest.param({"a": 10}, {"b": 1}, False, False, id="different names"),
        pytest.param({}, {"a": -1}, True, True, id="nothing is more than a debt"),
        pytest.param({}, {}, False, True, id="both empty"),
        pytest.param(None, None, False, True, id="both undefined"),
        pytest.param({"a": 1}, {"a": 1, "b": 0}, False, True, id="the same amounts"),
        pytest.param({"a": 2, "b": 1}, {"a": 1, "b": 2}, False, False, id="more of one, less of another"),
        pytest.param({"a": 1}, None, True, True, id="something is more than undefined"),
    ],
)
def test_strictly_greater_than(left: Plain, right: Plain, more: bool, not_less: bool) -> None:
    assert strictly_more(res(left), res(right)) is more
    assert at_least(res(left), res(right)) is not_less


@pytest.mark.parametrize(
    ("amounts", "positive"),
    [(None, False), ({}, False), ({"a": 0}, False), ({"a": 0, "b": 1}, True), ({"a": -1, "b": 1}, False)],
)
def test_strictly_greater_than_zero(amounts: Plain, positive: bool) -> None:
    assert strictly_positive(res(amounts)) is positive


@pytest.mark.parametrize(
    ("left", "right", "more", "not_less"),
    [
        pytest.param({"a": 10}, {"a": 5, "b": 99}, True, True, id="names only the right has are ignored"),
        pytest.param({"a": 10}, {"a": 10}, False, True, id="the same amounts"),
        pytest.param({"a": 10}, {"a": 11}, False, False, id="less"),
        pytest.param({"a": 10, "b": 5}, {"a": 10, "b": 4}, True, True, id="one of two is more"),
        pytest.param({"a": 2, "b": 2}, {"a": 3, "b": 1}, False, False, id="one of two is less"),
        pytest.param({"a": 10}, {"b": 80}, True, True, id="nothing in common"),
        pytest.param({"a": 1}, {}, True, True, id="right empty, all positive"),
        pytest.param({"a": 1}, None, True, True, id="right undefined, all positive"),
        pytest.param({"a": 0}, {}, False, False, id="right empty, a zero"),
        pytest.param({"a": 1, "b": -1}, {}, False, False, id="right empty, a negative"),
        pytest.param({}, {}, False, False, id="both empty"),
        pytest.param({}, {"a": 1}, False, False, id="left empty"),
        pytest.param(None, {"a": 1}, False, False, id="left undefined"),
    ],
)
def test_greater_than_only_existing(left: Plain, right: Plain, more: bool, not_less: bool) -> None:
    assert strictly_more_of_known(lim(left), res(right)) is more
    assert within(lim(left), res(right)) is not_less


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        ({"a": 1, "b": 1}, {"b": 0}, True),
        ({"a": 1}, {"b": 1}, False),
        ({}, {"b": 1}, False),
        (None, {"b": 1}, False),
        ({"b": 1}, None, False),
    ],
)
def test_match_any(left: Plain, right: Plain, shared: bool) -> None:
    assert shares_type(res(left), lim(right)) is shared


@pytest.mark.parametrize(
    ("cap", "used", "percent"),
    [
        pytest.param({"a": 3}, {"a": 2}, {"a": 66}, id="rounded down"),
        pytest.param({"a": 3}, {"a": 6}, {"a": 200}, id="over the cap"),
        pytest.param({"a": 3, "b": 1}, {"a": 3, "c": 1}, {"a": 100}, id="names of both only"),
        pytest.param({"a": 0}, {"a": 1}, {"a": 100}, id="something of a cap of zero"),
        pytest.param({"a": 0}, {"a": 0}, {"a": 0}, id="nothing of a cap of zero"),
        pytest.param({"a": 5}, {"a": -1}, {"a": 0}, id="negative usage"),
        pytest.param({"a": 1}, {"a": INT64_MAX}, {"a": 2**31 - 1}, id="held to 32 bits"),
        pytest.param({"a": INT64_MAX}, {"a": INT64_MAX - 1}, {"a": 99}, id="exact for large amounts"),
        pytest.param(None, {"a": 1}, {}, id="no cap"),
        pytest.param({"a": 1}, None, {}, id="no usage"),
    ],
)
def test_usage_percent(cap: Plain, used: Plain, percent: dict[str, int]) -> None:
    assert usage_percent(lim(cap), res(used)) == percent


def test_comparisons_take_tallies_too() -> None:
    predicates: list[Callable[[Amounts | None, Amounts | None], bool]] = [
        equals,
        at_least,
        within,
        shares_type,
    ]
    assert all(ask(Limit({"a": 1}), Tally({"a": 1})) for ask in predicates)
