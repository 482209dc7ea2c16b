"""The table of rule entries is whole, and mutations replace nothing outside it."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.mutations import rule_entries
from tests.scenarios.mutations.every_scenario import MUTATIONS
from tests.scenarios.mutations.rule_entries import RULE_ENTRIES, Entry
from tests.scenarios.mutations.seam import PRODUCT, MissingEntry, Replacement, replaced, resolved, switch_off
from tests.scenarios.test_failover import NOTHING_TAKEN_UP
from tests.scenarios.test_scenarios import PLAYS

pytestmark = pytest.mark.interpreted

HERE = Path(__file__).parent
SEAM = HERE / "seam.py"
TABLE = HERE / "rule_entries.py"
RULE_ID = re.compile(r"[A-Z]+-[0-9]+(\.[0-9]+)?")

STILL_PRIVATE = 14
"""Rows that name a private function. There may be fewer, never more."""

BY_HAND = {
    "setattr",
    "delattr",
    "setitem",
    "delitem",
    "setenv",
    "getattr",
    "__setattr__",
    "vars",
    "eval",
    "exec",
}
MODULES_BY_HAND = ("unittest", "mock", "importlib", "sys", "gc", "ctypes", "builtins", "operator")


@pytest.mark.parametrize("key", RULE_ENTRIES)
def test_a_row_names_a_function_or_a_property(key: str) -> None:
    resolved(key)


def test_every_row_is_used_by_a_mutation() -> None:
    used = {each.key for mutation in (*MUTATIONS.values(), NOTHING_TAKEN_UP) for each in mutation}
    assert RULE_ENTRIES.keys() - used == set()


def test_no_two_rows_name_the_same() -> None:
    paths = [entry.path for entry in RULE_ENTRIES.values()]
    assert sorted(paths) == sorted(set(paths))


@pytest.mark.parametrize("key", RULE_ENTRIES)
def test_the_rules_of_a_row_are_ids_in_order(key: str) -> None:
    rules = RULE_ENTRIES[key].rules.split()
    assert rules
    assert all(map(RULE_ID.fullmatch, rules))
    assert len(set(rules)) == len(rules)


def test_a_row_cites_the_rules_whose_scenarios_replace_it() -> None:
    shown: dict[str, set[str]] = {}
    for play in PLAYS:
        for each in MUTATIONS[play.path.stem]:
            shown.setdefault(each.key, set()).add(play.named["rule"])
    cited = {key: set(RULE_ENTRIES[key].rules.split()) for key in shown}
    assert cited == shown


def test_no_more_rows_are_private() -> None:
    private = [entry.path for entry in RULE_ENTRIES.values() if re.search(r"[:.]_[a-z]", entry.path)]
    assert len(private) <= STILL_PRIVATE, private


def test_paths_stand_in_one_file_one_to_a_line() -> None:
    text = TABLE.read_text()
    for entry in RULE_ENTRIES.values():
        assert text.count(f'"{entry.path}"') == 1
    for line in text.splitlines():
        assert len(re.findall(r'"(?:core|extender)\.[^"]*:', line)) <= 1


# -- nothing is replaced but by the table ------------------------------


def mutation_files() -> list[Path]:
    """Files that build mutations: all of this folder but the seam, its table and these tests."""
    return [path for path in sorted(HERE.glob("*.py")) if path not in (SEAM, TABLE, Path(__file__))]


@pytest.mark.parametrize("path", mutation_files(), ids=lambda path: path.stem)
def test_a_mutation_touches_the_product_by_the_table_only(path: Path) -> None:
    assert list(breaches(ast.parse(path.read_text()))) == []


def breaches(tree: ast.AST) -> Iterator[str]:
    """Patches, private names and whole modules of the product that a file uses by hand."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from [f"imports {each.name}" for each in names if _is_by_hand(each.name)]
            case ast.ImportFrom(module=str(module), names=names):
                if module.partition(".")[0] in MODULES_BY_HAND:
                    yield f"imports from {module}"
                for each in names:
                    if each.name.startswith("_") or _is_module(f"{module}.{each.name}"):
                        yield f"imports {module}.{each.name}"
            case ast.Attribute(attr=name) if name in BY_HAND:
                yield f"uses {name}"
            case ast.Attribute(attr=name) if name.startswith("_") and name != "_replace":
                yield f"reads private {name}"
            case ast.Name(id=name) if name in BY_HAND or name in ("MonkeyPatch", "monkeypatch", "patch"):
                yield f"uses {name}"
            case ast.Constant(value=str(text)) if re.match(r"(core|extender)\.\w", text):
                yield f"names {text}"
            case _:
                pass


def _is_by_hand(module: str) -> bool:
    return module.partition(".")[0] in (*MODULES_BY_HAND, "core", "extender")


def _is_module(dotted: str) -> bool:
    """True if a dotted name leads to a module of the product, which could be patched as a whole."""
    path = HERE.parents[2] / dotted.replace(".", "/")
    return dotted.startswith(("core.", "extender.")) and (path.is_dir() or path.with_suffix(".py").is_file())


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_a_mutation_is_made_of_replacements_of_rows(mutation: object) -> None:
    assert isinstance(mutation, tuple)
    assert mutation
    assert all(isinstance(each, Replacement) and each.key in RULE_ENTRIES for each in mutation)


# -- the checks find what is planted ------------------------------


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("monkeypatch.setattr(ids, 'DEFAULT_QUEUE', None)", "uses setattr"),
        ("from core import ids", "imports core.ids"),
        ("import core.ids", "imports core.ids"),
        ("from core.ids import _hidden", "imports core.ids._hidden"),
        ("self._state.pods.records", "reads private _state"),
        ("from unittest.mock import patch", "imports from unittest.mock"),
        ("path = 'core.ids:parent_path'", "names core.ids:parent_path"),
        ("setattr(Queue, 'template', None)", "uses setattr"),
    ],
)
def test_a_breach_is_found(planted: str, found: str) -> None:
    assert found in list(breaches(ast.parse(planted)))


@pytest.mark.parametrize(
    "path",
    [
        "core.gone:f",
        "core.ids:gone",
        "core.ids:Gone.name",
        "core.ids:AppId.gone",
        "core.ids:AppId",
        "core.ids:ROOT",
    ],
)
def test_a_row_that_leads_nowhere_is_named(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rule_entries.RULE_ENTRIES, "astray", Entry(path, "Q-1"))
    with pytest.raises(MissingEntry, match=f"row 'astray' .*{re.escape(path)}"):
        resolved("astray")


def test_a_mutation_of_no_row_is_refused() -> None:
    with pytest.raises(KeyError, match="no row of the table"):
        replaced("nothing_of_the_kind", lambda rule: rule())


def test_a_function_is_replaced_wherever_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rule_entries.RULE_ENTRIES, "planted", Entry("core.instants:has_come", "Q-1"))
    place = resolved("planted")

    def holders() -> int:
        return sum(
            place.rule in vars(module).values() for name, module in sys.modules.items() if name in known
        )

    known = [name for name in sys.modules if name.startswith(PRODUCT)]
    before = holders()
    assert before > 1
    switch_off(replaced("planted", lambda rule, *args: "replaced"), monkeypatch)
    assert holders() == 0
    assert resolved("planted").rule() == "replaced"


def test_a_replacement_ends_with_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    key = next(iter(RULE_ENTRIES))
    before = resolved(key).rule
    switch_off(replaced(key, lambda rule, *args: "replaced"), monkeypatch)
    assert resolved(key).rule is not before
    monkeypatch.undo()
    assert resolved(key).rule is before
