"""Core stays compilable by mypyc: no class with two concrete bases, no object made past its constructor.

Nor may an error have an attribute in the body of its class: a compiled one lacks it, unlike the source.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
NOT_CONCRETE = {"Protocol", "Generic", "NamedTuple", "Enum", "StrEnum", "IntEnum", "ValueError"}
"""Bases beside which a class may have another: they have no fields of their own that a compiler lays out."""


def faults_of(source: str) -> Iterator[str]:
    """Classes with several concrete bases, errors with attributes of the class, and calls of ``__new__``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(each).partition("[")[0].rpartition(".")[2] for each in node.bases]
            if len([each for each in bases if each not in NOT_CONCRETE]) > 1:
                yield f"{node.name} has the bases {', '.join(bases)}"
            is_error = any(each.endswith(("Error", "Exception")) for each in bases)
            if is_error and any(isinstance(each, ast.Assign) for each in node.body):
                yield f"{node.name} has an attribute of the class"
        elif isinstance(node, ast.Attribute) and node.attr == "__new__":
            yield f"line {node.lineno} makes an object past its constructor"


def test_core_has_none() -> None:
    found = {path.name: list(faults_of(path.read_text())) for path in CORE.rglob("*.py")}
    assert len(found) > 50
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    "source",
    [
        "class A(B, C): ...",
        "class A(x.B, C[int]): ...",
        "class A(XError):\n    b = 1",
        "def f(cls):\n    return cls.__new__(cls)",
    ],
)
def test_a_planted_one_is_found(source: str) -> None:
    assert list(faults_of(source))


@pytest.mark.parametrize(
    "source", ["class A(B): ...", "class A(B, Protocol): ...", "class A(B, Generic[T]): ..."]
)
def test_what_compiles_passes(source: str) -> None:
    assert not list(faults_of(source))
