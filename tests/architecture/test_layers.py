"""Imports between packages (DESIGN-8), and the length of files.

Every module of ``core`` and ``extender`` needs a row here; one without fails the test.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.architecture.reading.sources import Source, sources
from tests.architecture.tables import tables

ROOT = Path(__file__).parents[2]

ROWS: dict[str, int] = {
    "core.ids": 1,
    "core.errors": 1,
    "core.instants": 1,
    "core.white_space": 1,
    "core.durations": 2,
    "core.quantity": 2,
    "core.resource": 2,
    "core.reasons": 2,
    "core.sentences": 3,
    "core.queues": 3,
    "core.workload": 4,
    "core.ledger": 5,
    "core.decisions": 6,
    "extender.configuration": 8,
    "extender.actions": 7,
    "extender.wire": 7,
    "extender.queueconfig": 7,
    "extender.page": 7,
    "extender.views": 7,
    "extender.rest": 7,
    "extender.version": 7,
    "extender.checking": 8,
    "extender.identity": 8,
    "extender.host": 9,
    "extender.engine": 8,
    "extender.verbs": 8,
    "extender.mutation": 8,
    "extender.http": 9,
    "extender.kube": 9,
    "extender.telemetry": 9,
    "extender.simulator": 9,
    "extender.certificates": 8,
    "extender.administration": 10,
    "extender.app": 10,
    "extender.auditing": 10,
    "extender.front_door": 10,
    "extender.listeners": 10,
    "extender.offers": 10,
    "extender.webhook": 10,
    "extender.first_queues": 10,
    "extender.played_rest": 10,
    "extender.readiness": 10,
    "extender.removal": 10,
    "extender.demo": 10,
    "extender.cli": 10,
    "extender.plugin": 10,
}

APART = 9
"""The row whose packages must not import each other either."""

PACKAGES = ("core", "extender")

IMPURE = frozenset({"asyncio", "time", "datetime", "random", "logging", "os", "importlib"})
"""Modules of the standard library that ``core`` must not use."""

WITHOUT_PRODUCT = (
    "programs/control_plane",
    "programs/proxy",
    "cluster/kubelet",
    "cluster/garbage",
    "cluster/observer",
    "cluster/client",
    "cluster/watching",
)
"""Modules of ``e2e`` that check or run the product and so must not share code with it."""

LONGEST_FILE = 400


def home_of(module: str) -> str | None:
    """The entry of `ROWS` that a module belongs to."""
    return next((home for home in ROWS if module == home or module.startswith(home + ".")), None)


def imports_of(source: str, package: str) -> Iterator[str]:
    """The dotted names a module imports, those of ``from`` imports with the name taken."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def mentions_type_checking(source: str) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == "TYPE_CHECKING")
        or (isinstance(node, ast.Attribute) and node.attr == "TYPE_CHECKING")
        or (isinstance(node, ast.alias) and node.name == "TYPE_CHECKING")
        for node in ast.walk(ast.parse(source))
    )


def faults(module: str, source: str, *, is_package: bool = False) -> list[str]:
    """Breaches of the rules by a module of ``core`` or ``extender``, one sentence each."""
    found = [f"{module} mentions TYPE_CHECKING"] if mentions_type_checking(source) else []
    package = module if is_package else module.rpartition(".")[0]
    imported = sorted(set(imports_of(source, package)))
    if module in PACKAGES:
        return [*found, *(f"{module} imports {name}" for name in imported)]
    home = home_of(module)
    if home is None:
        return [*found, f"{module} has no row"]
    return [*found, *(fault for name in imported if (fault := _import_fault(module, home, name)))]


def _import_fault(module: str, home: str, name: str) -> str | None:
    top = name.partition(".")[0]
    if top in PACKAGES:
        return _row_fault(module, home, name)
    if top in ("tests", "e2e"):
        return f"{module} imports {name}"
    if module.startswith("core.") and (top not in sys.stdlib_module_names or top in IMPURE):
        return f"{module} imports {name}, and core is pure"
    return None


def _row_fault(module: str, home: str, name: str) -> str | None:
    other = home_of(name)
    if other is None:
        return f"{module} imports {name}, which has no row"
    if ROWS[other] > ROWS[home]:
        return f"{module} (row {ROWS[home]}) imports {name} (row {ROWS[other]})"
    if ROWS[home] == APART == ROWS[other] and other != home:
        return f"{module} imports {name} beside it in row {APART}"
    return None


def product_imports(source: str, package: str) -> list[str]:
    return sorted({name for name in imports_of(source, package) if name.partition(".")[0] in PACKAGES})


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path


def test_every_module_keeps_to_its_row() -> None:
    found = [
        fault
        for module, path in modules()
        for fault in faults(module, path.read_text(), is_package=path.name == "__init__.py")
    ]
    assert not found


def test_every_home_that_exists_was_checked() -> None:
    homes_found = {home_of(module) for module, _ in modules()} - {None}
    there = {
        home
        for home in ROWS
        if (path := ROOT.joinpath(*home.split("."))).with_suffix(".py").exists() or path.is_dir()
    }
    assert homes_found == there >= {"core.ledger", "core.decisions", "extender.engine", "extender.verbs"}


def long_files(read: Iterable[Source]) -> dict[str, int]:
    """Number of lines of the modules that are too long."""
    lengths = {each.module: len(each.text.splitlines()) for each in read}
    return {module: length for module, length in lengths.items() if length > LONGEST_FILE}


def test_files_are_short() -> None:
    assert long_files(sources()) == {}


@pytest.mark.parametrize("package", ["core", "extender", "tests", "e2e"])
def test_a_file_that_is_too_long_is_found(package: str) -> None:
    planted = Source(f"{package}.planted", "\n" * (LONGEST_FILE + 1))
    assert long_files([*sources(packages=(package,)), planted]) == {planted.module: LONGEST_FILE + 1}


def behind_the_view(read: Iterable[Source], allowed: Iterable[str]) -> list[str]:
    """Places where a test reads the state of a ledger, which only its view should show.

    ``allowed``: folders that may. A test's own class may have a field of that name.
    """
    folders = tuple(f"{folder}." for folder in allowed)
    return [
        f"{each.module}:{node.lineno} reads _state"
        for each in read
        if not each.module.startswith(folders)
        for node in ast.walk(ast.parse(each.text))
        if _reads_state(node)
    ]


def _reads_state(node: ast.AST) -> TypeGuard[ast.expr]:
    match node:
        case ast.Attribute(ast.Name("self"), "_state"):
            return False
        case ast.Attribute(_, "_state"):
            return True
        case ast.Call(ast.Name("getattr" | "attrgetter"), args):
            return any(isinstance(each, ast.Constant) and each.value == "_state" for each in args)
        case _:
            return False


def test_tests_go_through_the_view() -> None:
    assert behind_the_view(sources(packages=("tests", "e2e")), tables().behind_view) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def test() -> None:\n    assert ledger._state.pods.listed", [2]),
        ("state = self.rig.engine._ledger._state", [1]),
        ("state = getattr(ledger, '_state')", [1]),
        ("class Own:\n    def __init__(self) -> None:\n        self._state = 0", []),
        ("assert ledger.view.synced", []),
    ],
)
def test_a_test_that_reaches_behind_the_view_is_found(source: str, lines: list[int]) -> None:
    planted = Source("tests.core.ledger.test_planted", source)
    found = behind_the_view([*sources(packages=("tests",)), planted], tables().behind_view)
    assert found == [f"{planted.module}:{line} reads _state" for line in lines]


def test_the_tests_of_the_audit_may() -> None:
    planted = Source("tests.core.ledger.audit.test_planted", "ledger._state")
    assert behind_the_view([planted], ["tests.core.ledger.audit"]) == []
    assert len(behind_the_view([planted], [])) == 1


@pytest.mark.parametrize("name", WITHOUT_PRODUCT)
def test_the_judges_of_the_product_share_no_code_with_it(name: str) -> None:
    assert product_imports((ROOT / "e2e" / f"{name}.py").read_text(), "e2e") == []


@pytest.mark.parametrize(
    ("module", "source", "fault"),
    [
        ("core.queues.tree", "from core.ledger.state import State", "(row 3) imports core.ledger.state"),
        ("core.queues.tree", "import core.decisions.admission", "(row 3) imports core.decisions.admission"),
        ("core.queues.tree", "from core import ledger", "(row 3) imports core.ledger"),
        ("core.queues.tree", "from ..ledger import state", "(row 3) imports core.ledger.state"),
        ("core.queues.tree", "def f():\n    import extender.verbs", "(row 3) imports extender.verbs"),
        ("core.queues.tree", "import core", "imports core, which has no row"),
        ("core.queues.tree", "import asyncio", "core is pure"),
        ("core.queues.tree", "from time import monotonic", "core is pure"),
        ("core.queues.tree", "import os.path", "core is pure"),
        ("core.queues.tree", "import msgspec", "core is pure"),
        ("core.queues.tree", "from typing import TYPE_CHECKING", "mentions TYPE_CHECKING"),
        ("core.queues.tree", "import typing\nif typing.TYPE_CHECKING:\n    pass", "mentions TYPE_CHECKING"),
        ("core.newcomer", "", "has no row"),
        ("core", "import json", "core imports json"),
        ("extender.wire.pod", "from extender.engine import Engine", "(row 7) imports extender.engine.Engine"),
        ("extender.kube.feeds", "from extender.http import server", "beside it in row 9"),
        ("extender.kube.feeds", "from extender.newcomer import x", "which has no row"),
        ("extender.verbs", "from tests import builders", "imports tests.builders"),
    ],
)
def test_a_module_that_breaks_a_rule_is_found(module: str, source: str, fault: str) -> None:
    (found,) = faults(module, source)
    assert fault in found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "core.ledger.audit.rounds",
            "from heapq import heappop\nfrom core.ids import PodUid\nfrom .state import State",
        ),
        ("extender.kube.feeds", "import os\nfrom extender.kube import api\nfrom extender.verbs import Verbs"),
        ("extender.queueconfig.load", "from extender import wire\nimport yaml"),
    ],
)
def test_a_module_that_keeps_the_rules_passes(module: str, source: str) -> None:
    assert faults(module, source) == []


def test_a_judge_that_shares_code_is_found() -> None:
    assert product_imports("from core.ids import PodUid\nimport json", "e2e") == ["core.ids.PodUid"]
