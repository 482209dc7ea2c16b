"""Filters of placement rules, with a given function that matches names (PL-5)."""

import pytest

from core.queues.placement.filters import passes
from core.queues.spec import FilterSpec


def begins_with_a(name: str) -> bool:
    return name.startswith("a")


@pytest.mark.rule("PL-5")
@pytest.mark.parametrize(
    ("spec", "user", "groups", "passed"),
    [
        (FilterSpec(users=("^a",), user_pattern=begins_with_a), "alice", (), True),
        (FilterSpec(users=("^a",), user_pattern=begins_with_a), "bob", ("all",), False),
        (FilterSpec(groups=("^a",), group_pattern=begins_with_a), "alice", ("dev",), False),
        (FilterSpec(groups=("^a",), group_pattern=begins_with_a), "bob", ("dev", "all"), True),
        (FilterSpec(False, groups=("^a",), group_pattern=begins_with_a), "bob", ("dev", "all"), False),
        (FilterSpec(users=("^a",)), "^a", (), False),
        (FilterSpec(users=("^a",)), "alice", (), False),
        (FilterSpec(users=("bob", "^a"), user_pattern=begins_with_a), "alice", (), False),
    ],
)
def test_what_the_pattern_of_a_filter_decides(
    spec: FilterSpec, user: str, groups: tuple[str, ...], passed: bool
) -> None:
    assert passes(spec, user, groups) is passed
