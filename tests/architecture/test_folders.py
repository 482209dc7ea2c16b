"""Imports of the ledger's folders, the width of a folder, and the names of modules."""

import pytest

from tests.architecture.folders import floors, folder_faults, name_faults, width_faults
from tests.architecture.reading.sources import Source, sources
from tests.architecture.tables import Folders, tables

ROWS = {
    "core.ledger.pods.record": (),
    "core.ledger.state": ("core.ledger.pods.record",),
    "core.ledger.pods": ("core.ledger.state", "core.ledger.pods.record"),
    "core.ledger.ledger": ("core.ledger.state", "core.ledger.pods"),
}

HOUSE = {
    "core.ledger.pods.record": "import json",
    "core.ledger.state": "from core.ledger.pods.record import PodRecord",
    "core.ledger.pods.registry": "from core.ledger.state import State\nfrom core.ledger.pods import update",
    "core.ledger.pods.update": "from . import record",
    "core.ledger.ledger": "from core.ledger.pods import registry",
}


def small_house(more: dict[str, str], rules: Folders | None = None) -> list[str]:
    read = [Source(*each) for each in (HOUSE | more).items()]
    return folder_faults(read, rules or Folders(ROWS, frozenset()))


def test_the_folders_of_the_ledger_keep_to_their_rows() -> None:
    assert folder_faults(sources(packages=("core",)), tables().folders) == []


def test_an_import_planted_in_the_ledger_is_found() -> None:
    planted = Source("core.ledger.usage.planted", "from core.ledger.admission.turns import end_turn")
    assert folder_faults([*sources(packages=("core",)), planted], tables().folders) == [
        "core.ledger.usage.planted imports core.ledger.admission.turns against the rows"
    ]


def test_a_house_that_keeps_to_its_rows_passes() -> None:
    assert small_house({}) == []


@pytest.mark.parametrize(
    ("module", "text", "fault"),
    [
        ("core.ledger.pods.record", "import core.ledger.state", "imports core.ledger.state against the rows"),
        (
            "core.ledger.state",
            "from core.ledger.pods import update",
            "imports core.ledger.pods.update against",
        ),
        ("core.ledger.state", "def f():\n    from core.ledger.pods.update import f", "pods.update against"),
        (
            "core.ledger.pods.update",
            "from ..ledger import Ledger",
            "imports core.ledger.ledger against the rows",
        ),
        ("core.ledger.newcomer", "", "core.ledger.newcomer has no row"),
    ],
)
def test_an_import_against_the_rows_is_found(module: str, text: str, fault: str) -> None:
    (found,) = small_house({module: text})
    assert fault in found


def test_exceptions_hold_for_one_import_and_no_longer_than_needed() -> None:
    rules = Folders(ROWS, frozenset({("core.ledger.state", "core.ledger.pods.update")}))
    assert small_house({"core.ledger.state": "from core.ledger.pods import update"}, rules) == []
    (found,) = small_house({}, rules)
    assert found.startswith("take out the exception core.ledger.state core.ledger.pods.update")


def test_rows_that_are_out_of_date_or_go_round_are_found() -> None:
    rows = {
        **ROWS,
        "core.ledger.pods.record": ("core.ledger.state",),
        "core.ledger.former": ("core.ledger.none",),
    }
    assert small_house({}, Folders(rows, frozenset())) == [
        "take out the row core.ledger.former: no such module",
        "core.ledger.former may import core.ledger.none, which has no row",
        "core.ledger.pods.record may import itself, through its rows",
        "core.ledger.state may import itself, through its rows",
    ]


def test_floors_are_the_longest_chain_of_imports() -> None:
    assert floors({}) == 0
    assert floors({"a": ["b", "c"], "b": ["c"], "c": []}) == 3
    assert floors({"a": ["b"], "b": ["c"], "c": ["b"]}) == 2


def test_no_folder_is_too_wide() -> None:
    assert width_faults(sources(), tables().wide) == []


def test_a_folder_that_is_too_wide_is_found() -> None:
    wide = [Source("core.a.__init__", "", is_package=True), *(Source(f"core.a.m{n}", "") for n in range(15))]
    assert width_faults(wide[:-1], {}) == []
    assert width_faults(wide, {}) == ["core.a has 15 modules, at most 14 are allowed"]
    assert width_faults(wide, {"core.a": 15}) == []
    assert width_faults([*wide, Source("core.a.more", "")], {"core.a": 15}) == [
        "core.a has 16 modules, at most 15 are allowed"
    ]
    assert width_faults(wide[:-1], {"core.a": 15}) == ["take out the width of core.a: it has 14 modules"]


def test_modules_are_named_by_the_house() -> None:
    names, modules = tables(), [each.module for each in sources()]
    assert name_faults(modules, names.banned, names.misnamed, other_meanings=names.other_meanings) == []


@pytest.mark.parametrize(
    "module", ["core.ledger.muster", "core.a.test_in_one_go", "core.room_of", "core.walk.order"]
)
def test_a_module_called_by_another_word_is_found(module: str) -> None:
    (found,) = name_faults([module], tables().banned, ())
    assert "in its name" in found


def test_a_word_may_mean_something_else_in_a_phrase() -> None:
    assert name_faults(["core.test_rest_subsets"], ["rest"], other_meanings=["rest_subsets"]) == []
    assert name_faults(["core.rest_walk"], ["rest"], other_meanings=["rest_subsets"]) != []


def test_a_name_is_excepted_no_longer_than_needed() -> None:
    assert name_faults(["core.walk"], ["walk"], ["core.walk"]) == []
    assert name_faults(["core.sidewalk"], ["walk"], ["core.walk"]) == [
        "take out the exception core.walk: it is not needed any more"
    ]
