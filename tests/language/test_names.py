"""The word list applies to names, and each use of a listed word is found."""

from dataclasses import replace

import pytest

from tests.architecture.reading.sources import Source, sources
from tests.architecture.tables import tables
from tests.language.names import name_breaches, names_in, snake, unused_allowances


def found_in(text: str) -> list[str]:
    return [f"{each.name}: {each.detail}" for each in name_breaches(Source("core.a", text), tables())]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def free_room(): ...", "free_room: room"),
        ("async def told_once(): ...", "told_once: told"),
        ("class OrderWalk: ...", "OrderWalk: walk"),
        ("def f(*, kept): ...", "kept: kept"),
        ("f = lambda gone: 1", "gone: gone"),
        ("self.x.rests_until = 3", "rests_until: rests"),
        ("FIRST_REST = 1", "FIRST_REST: first_rest"),
        ("class A:\n    nobody: int", "nobody: nobody"),
        ("import a as lineup", "lineup: lineup"),
        ("for who in x: ...", "who: who"),
        ("def test_a_pod_that_is_told_in_one_go(): ...", "test_a_pod_that_is_told_in_one_go: told"),
        ("def test_all_in_one_go(): ...", "test_all_in_one_go: in_one_go"),
        ("match x:\n    case [*marks]: ...", "marks: marks"),
    ],
)
def test_a_planted_name_is_found(text: str, found: str) -> None:
    assert found_in(text) == [found]


@pytest.mark.parametrize(
    "text",
    ["import os\nfor a, b, c in os.walk('.'): ...", "first, *rest = x", "def lookup(): ...", "x.told()"],
)
def test_part_of_a_word_and_what_others_define_are_free(text: str) -> None:
    assert found_in(text) == []


def test_a_phrase_may_mean_something_else() -> None:
    assert found_in("def look_up_groups(): ...") == []


def test_an_allowed_name_is_free_in_its_module_only() -> None:
    house = replace(tables(), allowed={"core.a gone": "HTTP 410"})
    assert list(name_breaches(Source("core.a", "gone = 1"), house)) == []
    assert len(list(name_breaches(Source("core.b", "gone = 1"), house))) == 1
    assert unused_allowances([Source("core.a", "")], house) == ["core.a gone"]


def test_every_allowance_is_used() -> None:
    assert unused_allowances(sources(), tables()) == []


def test_names_are_split_at_underscores_and_capitals() -> None:
    assert [snake(each) for each in ("RESTWalk", "_told__By", "LookUp2Groups")] == [
        "rest_walk",
        "told_by",
        "look_up2_groups",
    ]


def test_names_of_all_kinds_are_collected() -> None:
    assert names_in(Source("a", "class A:\n    b = 1\n    def c(self, d): e.f = [g for g in h]")) >= set(
        "Abcdfg"
    )
