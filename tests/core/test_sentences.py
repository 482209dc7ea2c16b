"""Phrases for users: amounts and lists."""

import pytest

from core.sentences import amounts_phrase, several


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
