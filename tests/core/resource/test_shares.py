"""Shares of guarantees, and comparisons of shares (RES-9, RES-10)."""

import pytest

from core.resource import Limit, Resource
from core.resource.shares import compare_usage, fair_share


@pytest.mark.rule("RES-9")
@pytest.mark.parametrize(
    ("used", "guaranteed", "fair_max", "share"),
    [
        ({"vcore": 10, "memory": 1000}, {"vcore": 0}, {"vcore": 5000, "memory": 5000}, 1.0),
        ({"pods": 100}, {"pods": 200}, None, 0.5),
        ({}, {"vcore": 10}, {"vcore": 10}, 0.0),
        ({"vcore": 0}, {"vcore": 0}, None, 0.0),
        ({"vcore": 5}, None, {"vcore": 10}, 0.5),
        ({"vcore": 5}, {"memory": 1}, {"vcore": 10}, 0.5),
        ({"vcore": 5}, {"vcore": 4}, {"vcore": 10}, 1.25),
        ({"gpu": 3}, None, {"vcore": 10}, 0.0),
        ({"gpu": 3}, None, None, 0.0),
        ({"vcore": 1, "memory": 9}, {"vcore": 10, "memory": 10}, None, 0.9),
        ({"vcore": -5}, {"vcore": 10}, None, 0.0),
        ({"vcore": 5}, None, {"vcore": 0}, 1.0),
        ({"vcore": 5}, None, {"vcore": -3}, 1.0),
    ],
)
def test_a_fair_share(
    used: dict[str, int], guaranteed: dict[str, int] | None, fair_max: dict[str, int] | None, share: float
) -> None:
    due = Resource(guaranteed) if guaranteed is not None else None
    cap = Limit(fair_max) if fair_max is not None else None
    assert fair_share(Resource(used), due, cap) == share


def test_equal_shares_are_equal_numbers() -> None:
    thirds = [
        fair_share(Resource({"vcore": 7 * n}), Resource({"vcore": 21 * n}), None) for n in (1, 10**9, 3)
    ]
    assert len(set(thirds)) == 1


@pytest.mark.rule("RES-10")
@pytest.mark.parametrize(
    ("left", "right", "total", "order"),
    [
        ({"vcore": 1}, {"vcore": 2}, {"vcore": 10}, -1),
        ({"vcore": 5, "memory": 1}, {"vcore": 1, "memory": 5}, {"vcore": 10, "memory": 10}, 0),
        ({"vcore": 5, "memory": 2}, {"vcore": 1, "memory": 5}, {"vcore": 10, "memory": 10}, 1),
        ({"vcore": 5}, {"memory": 5}, {"vcore": 10, "memory": 100}, 1),
        ({"vcore": 5}, {"vcore": 4}, None, 1),
        ({"vcore": 5}, {"vcore": 5}, {"vcore": 0}, 0),
        ({"vcore": 5}, {"vcore": 5, "memory": 1}, {"vcore": 10, "memory": 10}, -1),
        ({"vcore": 5, "memory": 1}, {"vcore": 5}, {"vcore": 10, "memory": 10}, 1),
        ({"vcore": 5, "memory": 0}, {"vcore": 5}, {"vcore": 10, "memory": 10}, 0),
        ({"vcore": 5, "memory": -1}, {"vcore": 5}, {"vcore": 10, "memory": 10}, -1),
        ({}, {}, {"vcore": 10}, 0),
        ({}, {"vcore": 0}, {"vcore": 10}, 0),
        ({}, {"vcore": 1}, {"vcore": 10}, -1),
    ],
)
def test_which_uses_more(
    left: dict[str, int], right: dict[str, int], total: dict[str, int] | None, order: int
) -> None:
    whole = Resource(total) if total is not None else None
    assert compare_usage(Resource(left), Resource(right), whole) == order
    assert compare_usage(Resource(right), Resource(left), whole) == -order
