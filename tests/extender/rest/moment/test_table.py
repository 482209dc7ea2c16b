"""Table in parts, none of which takes long to grow (REST-45)."""

import pytest

from extender.rest.moment import table
from extender.rest.moment.table import KeySet, Table
from tests.effort import effort

ENTRIES = 30_000
PER_STEP = 10_000


@pytest.fixture
def filled() -> Table[str, int]:
    found: Table[str, int] = Table()
    for at in range(1_000):
        found.put(f"key-{at}", at)
    return found


def test_entries_are_put_found_replaced_and_taken(filled: Table[str, int]) -> None:
    assert (len(filled), filled.get("key-7"), filled.get("none")) == (1_000, 7, None)
    filled.put("key-7", 70)
    assert (len(filled), filled.get("key-7")) == (1_000, 70)
    assert (filled.pop("key-7"), filled.pop("key-7"), len(filled)) == (70, None, 999)


def test_any_entry_is_taken_until_none_is_left(filled: Table[str, int]) -> None:
    taken = {filled.pop_any() for _ in range(1_000)}
    assert taken == {f"key-{at}" for at in range(1_000)}
    assert len(filled) == 0
    filled.put("again", 1)
    assert filled.pop_any() == "again"


def test_parts_have_all_entries(filled: Table[str, int]) -> None:
    assert sorted(value for part in filled.parts() for value in part.values()) == list(range(1_000))


def test_a_table_is_emptied_part_by_part(filled: Table[str, int]) -> None:
    left = [len(filled) for _ in filled.clear_in_steps()]
    assert left[-1] == 0
    assert max(before - after for before, after in zip([1_000, *left], left, strict=False)) < 50


def test_keys_are_a_set() -> None:
    keys: KeySet[str] = KeySet()
    keys.update(["a", "b", "a"])
    keys.add("b")
    assert len(keys) == 2
    assert {keys.pop(), keys.pop()} == {"a", "b"}
    assert len(keys) == 0


def most_of_growth() -> int:
    """Most work of an entry that makes a part grow, on the way to `ENTRIES`."""
    found: Table[str, int] = Table()
    return max(effort(lambda key=f"key-{at}": found.put(key, 0)) for at in range(ENTRIES))


@pytest.mark.rule("REST-45")
def test_no_entry_moves_many_others() -> None:
    assert most_of_growth() <= PER_STEP


@pytest.mark.rule("REST-45")
def test_a_table_in_one_part_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(table, "PARTS", 1)
    assert most_of_growth() > PER_STEP
