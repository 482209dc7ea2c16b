"""Rules that refuse are outside the ledger, which only supplies values and stores the answer."""

import ast

from tests.architecture.reading.sources import Source, sources


def refusals_made(read: list[Source]) -> list[str]:
    """Modules of the ledger that make a `Refusal` themselves, with the line."""
    return [
        f"{each.module}:{node.lineno}"
        for each in read
        if each.module.startswith("core.ledger.")
        for node in ast.walk(ast.parse(each.text))
        if isinstance(node, ast.Call) and _name_of(node.func) == "Refusal"
    ]


def _name_of(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def test_the_ledger_makes_no_refusal() -> None:
    assert refusals_made(sources(packages=("core",))) == []


def test_a_refusal_planted_in_the_ledger_is_found() -> None:
    planted = Source("core.ledger.gangs.planted", "def f(x):\n    return reasons.Refusal(x) or Refusal(x)")
    elsewhere = Source("core.decisions.planted", "Refusal(1)")
    assert refusals_made([planted, elsewhere]) == [
        "core.ledger.gangs.planted:2",
        "core.ledger.gangs.planted:2",
    ]
