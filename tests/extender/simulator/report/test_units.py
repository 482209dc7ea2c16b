"""Amounts, times and texts as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.simulator.report.units import counted, human, moment, printable, resource_order


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("vcore", 0, "0"),
        ("vcore", 1500, "1.5"),
        ("vcore", 125, "0.125"),
        ("vcore", -500, "-0.5"),
        ("vcore", 100_000, "100"),
        ("memory", 0, "0"),
        ("memory", 3 * 2**30 + 2**29, "3.5Gi"),
        ("memory", 1000, "1000"),
        ("memory", 2**20 - 1, "1Mi"),
        ("memory", -(2**30), "-1Gi"),
        ("ephemeral-storage", 10 * 2**40, "10Ti"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("memory", 2**63 - 1, "8Ei"),
        ("nvidia.com/gpu", 8, "8"),
        ("pods", 110, "110"),
    ],
)
def test_an_amount_is_written_in_the_unit_people_use(resource: str, amount: int, text: str) -> None:
    assert human(resource, amount) == text


@pytest.mark.parametrize(
    ("at", "longest", "text"),
    [
        (0, 0, "00:00.000"),
        (12_500, 0, "00:12.500"),
        (12_500, 3_600_000, "0:00:12.500"),
        (3_600_001, 0, "1:00:00.001"),
        (5_000, 360_000_000, "000:00:05.000"),
        (-1_000, 0, "-00:01.000"),
    ],
)
def test_a_time_has_hours_when_the_run_has(at: int, longest: int, text: str) -> None:
    assert moment(at, longest=longest) == text


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_times_of_one_run_are_equally_wide_and_in_order(one: int, other: int) -> None:
    longest = max(one, other)
    texts = [moment(at, longest=longest) for at in sorted((one, other))]
    assert texts == sorted(texts)
    assert len(texts[0]) == len(texts[1])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("web-0", "web-0"),
        ("über", "über"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("two\nlines\tof", "two lines of"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\x9b31m", "\\x9b31m"),
        ("lone \ud800", "lone \\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_nothing_printable_rules_a_terminal(text: str) -> None:
    shown = printable(text)
    assert not any(ord(each) < 0x20 or 0x7F <= ord(each) < 0xA0 for each in shown)
    assert printable(shown) == shown


def test_vcore_and_memory_come_first() -> None:
    names = ["pods", "memory", "a.example/x", "vcore"]
    assert sorted(names, key=resource_order) == ["vcore", "memory", "a.example/x", "pods"]


def test_a_count_agrees_with_its_word() -> None:
    assert [counted(1, "pod"), counted(1200, "pod"), counted(2, "entry", "entries")] == [
        "1 pod",
        "1,200 pods",
        "2 entries",
    ]
