"""The queues as a table: order, units, bars."""

import re

import pytest

from extender.simulator.report.queue_table import in_tree_order, queue_table
from tests.extender.simulator.report.recordings import (
    amounts,
    five_pods,
    make_history,
    make_recording,
    make_sample,
)


def table_of(*histories: object, width: int | None = 80) -> list[str]:
    return list(queue_table(make_recording(queues=histories), width=width))


def bar_of(used: int, *, guaranteed: int | None = None, max: int | None = None, width: int = 64) -> str:
    def bound(amount: int | None) -> dict[str, int] | None:
        return None if amount is None else {"vcore": amount}

    sample = make_sample(used={"vcore": used}, guaranteed=bound(guaranteed), max=bound(max))
    return re.search(r"\[.*|no max", table_of(make_history("root", sample), width=width)[1])[0]  # type: ignore[index]


def test_a_table() -> None:
    lines = list(queue_table(five_pods(), width=80))
    assert lines[0] == "QUEUE         RESOURCE  USED  GUARANTEED  MAX  PENDING  USED OF MAX"
    assert lines[1] == "root          vcore        4           -    -        1  no max"
    assert lines[3] == "  web         vcore        1           1    2        1  [██████████┃···········]"
    assert lines[5] == "  batch       vcore        3           3    4        -  [███████████████┃······]"
    assert all(len(line) <= 80 for line in lines)


def test_children_follow_their_parent_in_the_order_given() -> None:
    histories = [
        make_history(path) for path in ("root", "root.b", "root.a", "root.a.x", "root.b.y", "root.b2")
    ]
    assert [history.path for history in in_tree_order(histories)] == [
        "root",
        "root.b",
        "root.b.y",
        "root.a",
        "root.a.x",
        "root.b2",
    ]


def test_a_queue_that_was_removed_has_no_line_and_one_that_drains_says_so() -> None:
    removed_one = make_history("root.gone", make_sample(used=amounts(1)), removed=5)
    drains = make_history("root.old", make_sample(used=amounts(1), draining=True))
    lines = table_of(make_history("root"), removed_one, drains)
    assert not any("gone" in line for line in lines)
    assert any("  old (draining)" in line for line in lines)


def test_only_resources_that_say_something_have_a_line_and_every_queue_has_one() -> None:
    sample = make_sample(used={"vcore": 0, "pods": 3, "memory": 0}, max={"nvidia.com/gpu": 0})
    lines = table_of(make_history("root", make_sample()), make_history("root.a", sample))
    assert [line.split()[:2] for line in lines[1:]] == [
        ["root", "vcore"],
        ["a", "nvidia.com/gpu"],
        ["pods", "3"],
    ]


@pytest.mark.parametrize(
    ("bar", "shown"),
    [
        (bar_of(0, max=4000), "[··········]"),
        (bar_of(1, max=4000), "[█·········]"),
        (bar_of(2000, max=4000), "[█████·····]"),
        (bar_of(3999, max=4000), "[█████████·]"),
        (bar_of(4000, max=4000), "[██████████]"),
        (bar_of(9000, max=4000), "[██████████]"),
        (bar_of(1000, max=4000, guaranteed=2000), "[██··┃·····]"),
        (bar_of(4000, max=4000, guaranteed=2000), "[████┃█████]"),
        (bar_of(1000, guaranteed=2000), "[█████····┃>"),
        (bar_of(3000, guaranteed=1500), "[████┃█████>"),
        (bar_of(1000), "no max"),
        (bar_of(0, guaranteed=0), "no max"),
        (bar_of(0, max=0), "[··········]"),
    ],
)
def test_a_bar_is_full_only_at_the_max_and_empty_only_at_nothing(bar: str, shown: str) -> None:
    assert bar == shown


def test_a_long_name_is_wrapped_and_not_cut() -> None:
    name = "a-team-with-a-name-that-goes-on-and-on-and-on"
    lines = table_of(make_history(f"root.{name}", make_sample(used=amounts(1, 1), max=amounts(2, 2))))
    column = lines[0].index("RESOURCE")
    assert name in "".join(line[:column].strip() for line in lines[1:])
    assert max(map(len, lines)) <= 80


def test_colour_warns_of_a_queue_that_is_over_its_max() -> None:
    over = make_recording(queues=(make_history("root", make_sample(used=amounts(3), max=amounts(2))),))
    assert "\x1b[31m[" in list(queue_table(over, colour=True))[1]
    assert "\x1b" not in "".join(queue_table(over))
