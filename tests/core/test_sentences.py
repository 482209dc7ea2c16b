"""Phrases for users: amounts and lists."""

import pytest

from core.sentences import amounts_phrase, other_pods, several


@pytest.mark.parametrize(
    ("amounts", "phrase"),
    [
        ({"vcore": 4000, "memory": 2**34, "pods": 1}, "4 cpu and 16Gi memory"),
        ({"memory": 2**30, "nvidia.com/gpu": 2, "vcore": 500}, "500m cpu, 1Gi memory and 2 nvidia.com/gpu"),
        ({"pods": 1}, "1 pods"),
        ({}, "nothing"),
    ],
)
def test_amounts_as_pods_spell_them(amounts: dict[str, int], phrase: str) -> None:
    assert amounts_phrase(amounts) == phrase


@pytest.mark.parametrize(
    ("names", "phrase"),
    [
        ([], ""),
        (["a"], "a"),
        (["b", "a"], "a and b"),
        (list("dbca"), "a, b, c and 1 more"),
        (list("cab"), "a, b and c"),
    ],
)
def test_a_list_is_cut_short(names: list[str], phrase: str) -> None:
    assert several(names) == phrase


LOW, MID = ("team-b", "low", "root.b"), ("team-c", "mid", "root.c")


@pytest.mark.parametrize(
    ("pods", "named", "phrase"),
    [
        ([LOW], True, "team-b/low"),
        ([LOW, MID], True, "team-b/low and team-c/mid"),
        ([LOW], False, "a pod of root.b"),
        ([LOW, LOW], False, "pods of root.b"),
        ([LOW, MID], False, "pods of root.b and root.c"),
        ([("team-d", "alone", "")], False, "a pod of no queue"),
        ([], True, ""),
        ([], False, ""),
    ],
)
def test_pods_of_others(pods: list[tuple[str, str, str]], named: bool, phrase: str) -> None:
    assert other_pods(pods, named=named) == phrase
