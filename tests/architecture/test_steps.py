"""Handlers touch pods and the ledger settles them. All steps of a handler are performed."""

import ast
from collections.abc import Iterable, Iterator

from tests.architecture.folders import imports_between
from tests.architecture.reading.classes import Index
from tests.architecture.reading.sources import Source, sources

SETTLE, LEDGER = "core.ledger.settle", "core.ledger.ledger"
_YIELDS = (ast.Yield, ast.YieldFrom)


def settlers(read: Iterable[Source]) -> list[str]:
    """Modules that may settle pods."""
    return sorted(module for module, others in imports_between(read).items() if SETTLE in others)


def unfinished(read: Iterable[Source]) -> list[str]:
    """Calls of generator functions with unused results, whose steps are never performed."""
    index = Index(list(read))
    stepwise = {
        name
        for name, info in index.functions.items()
        if any(isinstance(each, _YIELDS) for each in _own(info.tree))
    }
    return [
        f"{module.source.module}:{node.lineno} takes no step of {name}"
        for module in index.modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if (name := index.dotted(node.value.func, module)) in stepwise
    ]


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a function, without those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield child
            yield from _own(child)


def test_the_ledger_alone_settles() -> None:
    assert settlers(sources(packages=("core", "extender"))) == [LEDGER]


def test_a_handler_that_settles_is_found() -> None:
    planted = Source("core.ledger.pods.planted", "from core.ledger.settle import settle_touched")
    assert settlers([*sources(packages=("core",)), planted]) == [LEDGER, planted.module]


def test_every_step_is_taken() -> None:
    assert unfinished(sources(packages=("core",))) == []


def test_steps_that_are_not_taken_are_found() -> None:
    planted = Source(
        "core.ledger.planted",
        "from core.ledger.pods.registry import forget\n"
        "def end(state):\n    forget(state, None)\n    later(state)\n    yield from later(state)\n"
        "def later(state):\n    yield\n",
    )
    assert unfinished([*sources(packages=("core",)), planted]) == [
        "core.ledger.planted:3 takes no step of core.ledger.pods.registry.forget",
        "core.ledger.planted:4 takes no step of core.ledger.planted.later",
    ]
