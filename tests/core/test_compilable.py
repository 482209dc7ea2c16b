"""Modules that `make compiled` compiles stay compilable by mypyc.

No class has two concrete bases, or belongs to a library that makes classes. No object is made past its
constructor, unless its class is named. Nor may an error have an attribute in the body of its class: a
compiled one lacks it, unlike the source. Another module finds a ``Final`` tuple of floats not set. In a
compiled coroutine, a name that two ``except`` clauses give to errors has the type of the first.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HOOK = _PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
MADE_BY_LIBRARIES = {"Struct", "Wire", "BaseModel"}
NOT_CONCRETE = {"Protocol", "Generic", "NamedTuple", "Enum", "StrEnum", "IntEnum", "ValueError"}
"""Bases beside which a class may have another: they have no fields of their own that a compiler lays out."""


def faults_of(source: str) -> Iterator[str]:
    """Classes and functions that mypyc compiles not at all, or not to the same."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(each).partition("[")[0].rpartition(".")[2] for each in node.bases]
            if MADE_BY_LIBRARIES.intersection(bases):
                yield f"{node.name} is made by a library"
            if "Generic" in bases and any("slots=True" in ast.unparse(each) for each in node.decorator_list):
                yield f"{node.name} is a generic dataclass with slots"
            if len([each for each in bases if each not in NOT_CONCRETE]) > 1:
                yield f"{node.name} has the bases {', '.join(bases)}"
            is_error = any(each.endswith(("Error", "Exception")) for each in bases)
            assigned = [each for each in node.body if isinstance(each, ast.Assign)]
            if is_error and assigned:
                yield f"{node.name} has an attribute of the class"
            if any(not isinstance(target, ast.Name) for each in assigned for target in each.targets):
                yield f"{node.name} assigns several attributes at once"
        elif isinstance(node, ast.AsyncFunctionDef):
            yield f"{node.name} is asynchronous"
        elif isinstance(node, ast.AnnAssign) and _is_final_tuple_of_floats(node):
            yield f"{ast.unparse(node.target)} is a final tuple of floats"
        elif isinstance(node, ast.Attribute) and node.attr == "__new__" and not _names_a_class(node.value):
            yield f"line {node.lineno} makes an object of an unknown class past its constructor"


def _is_final_tuple_of_floats(node: ast.AnnAssign) -> bool:
    items = node.value.elts if isinstance(node.value, ast.Tuple) else []
    is_final = ast.unparse(node.annotation).partition("[")[0] == "Final"
    return is_final and any(
        isinstance(each, ast.Constant) and isinstance(each.value, float) for each in items
    )


def _names_a_class(node: ast.expr) -> bool:
    """True for a class under its own name, of which mypyc knows the fields."""
    return isinstance(node, ast.Name) and node.id[:1].isupper()


def compiled() -> Iterator[Path]:
    for pattern in HOOK["include"]:
        path = ROOT / pattern.lstrip("/")
        assert path.is_dir() if pattern.endswith("/") else path.is_file(), pattern
        yield from path.rglob("*.py") if path.is_dir() else [path]


def test_what_is_compiled_has_none() -> None:
    left_out = {ROOT / each.lstrip("/") for each in HOOK["exclude"]}
    assert all(each.is_file() for each in left_out)
    found = {path: list(faults_of(path.read_text())) for path in compiled() if path not in left_out}
    assert len(found) > 250
    assert {path: faults for path, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    "source",
    [
        "class A(B, C): ...",
        "class A(x.B, C[int]): ...",
        "class A(XError):\n    b = 1",
        "class A(msgspec.Struct, frozen=True): ...",
        "@dataclass(slots=True)\nclass A(Generic[T]): ...",
        "class A:\n    b, c = 1, 2",
        "def f(cls):\n    return cls.__new__(cls)",
        "async def f(): ...",
        "A: Final = (0.5, 1.0)",
    ],
)
def test_a_planted_one_is_found(source: str) -> None:
    assert list(faults_of(source))


@pytest.mark.parametrize(
    "source",
    [
        "class A(B): ...",
        "class A(B, Protocol): ...",
        "class A(B, Generic[T]): ...",
        "def f():\n    return A.__new__(A)",
        "A: Final = (1, 2)",
        "A = (0.5, 1.0)",
    ],
)
def test_what_compiles_passes(source: str) -> None:
    assert not list(faults_of(source))
