"""Words for users: amounts and lists."""

import pytest

from core.sentences import amounts_words, several


@pytest.mark.parametrize(
    ("amounts", "words"),
    [
        ({"vcore": 4000, "memory": 2**34, "pods": 1}, "4 cpu and 16Gi memory"),
        ({"memory": 2**30, "nvidia.com/gpu": 2, "vcore": 500}, "500m cpu, 1Gi memory and 2 nvidia.com/gpu"),
        ({"pods": 1}, "1 pods"),
        ({}, "nothing"),
    ],
)
def test_amounts_as_pods_spell_them(amounts: dict[str, int], words: str) -> None:
    assert amounts_words(amounts) == words


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], ""),
        (["a"], "a"),
        (["b", "a"], "a and b"),
        (list("dbca"), "a, b, c and 1 more"),
        (list("cab"), "a, b and c"),
    ],
)
def test_a_list_is_cut_short(names: list[str], words: str) -> None:
    assert several(names) == words
