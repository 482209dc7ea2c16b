"""Texts that are possible arguments of calls in the product, found in the syntax trees.

An argument that is a parameter of the function around the call is followed to that function's callers.
Parts that depend on a run are shown as `OPEN`.
"""

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import product as combinations
from types import ModuleType
from typing import Any, NamedTuple

from tests.interfaces.product import parts

OPEN = "…"
_DEEPEST = 12
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Place(NamedTuple):
    """Place of an expression: its module, and the enclosing functions, innermost first."""

    module: ModuleType
    functions: tuple[_Function, ...]

    @property
    def parameters(self) -> set[str]:
        return set(_parameters(self.functions[0])) if self.functions else set()


class Written(NamedTuple):
    """An expression with its place."""

    place: Place
    expression: ast.expr


class Site(NamedTuple):
    """A call in the product. ``arguments``: by the parameters' names, defaults included."""

    place: Place
    arguments: Mapping[str, Written]


Row = tuple[str, ...]


def rows_of(target: Any, names: Sequence[str]) -> set[Row]:
    """Texts of some parameters, call by call, with several if an argument has several values."""
    found: set[Row] = set()
    for site in sites_of(target):
        wanted = [site.arguments[name] for name in names]
        for row in _followed(wanted, _DEEPEST):
            found |= set(combinations(*(sorted(texts_of(each)) for each in row)))
    return found


def _followed(row: Sequence[Written], depth: int) -> Iterator[Sequence[Written]]:
    """The row, with parameters of enclosing functions replaced by their callers' arguments."""
    at = next((each.place for each in row if _is_parameter(each)), None)
    callers = list(_callers(at)) if at is not None and depth else []
    if at is None or not callers:
        yield row
        return
    for caller in callers:
        given = caller.arguments
        yield from _followed(
            [
                given[each.expression.id]
                if _is_parameter(each)
                and each.place == at
                and isinstance(each.expression, ast.Name)
                and each.expression.id in given
                else each
                for each in row
            ],
            depth - 1,
        )


def _is_parameter(written: Written) -> bool:
    return isinstance(written.expression, ast.Name) and written.expression.id in written.place.parameters


def _callers(place: Place) -> Iterator[Site]:
    function = place.functions[0]
    made = getattr(place.module, function.name, None)
    yield from sites_of(made if callable(made) else function)


# -- calls ---------------------------------------------------------------------------------------------------


def sites_of(target: Any) -> Iterator[Site]:
    """Every call of a class or function. ``target``: a tree stands for a method, found by its name."""
    for module, tree in parts():
        for call, functions in _calls(tree):
            place = Place(module, functions)
            if _calls_it(call.func, target, place):
                yield Site(place, _arguments(call, target, place))


@lru_cache(maxsize=2000)
def _calls(tree: ast.AST) -> list[tuple[ast.Call, tuple[_Function, ...]]]:
    waiting: list[tuple[ast.AST, tuple[_Function, ...]]] = [(tree, ())]
    found = []
    while waiting:
        node, functions = waiting.pop()
        if isinstance(node, ast.Call):
            found.append((node, functions))
        inner = (node, *functions) if isinstance(node, _Function) else functions
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
    return found


def _calls_it(function: ast.expr, target: Any, place: Place) -> bool:
    if isinstance(target, _Function):
        return isinstance(function, ast.Attribute) and function.attr == target.name
    if isinstance(function, ast.Name) and any(
        (target.__module__, function.id) in _imported(each) for each in place.functions
    ):
        return bool(function.id == target.__name__)
    return _valued(function, place.module) is target


@lru_cache(maxsize=10_000)
def _imported(function: _Function) -> frozenset[tuple[str | None, str]]:
    """Modules and names that are imported in the function itself."""
    return frozenset(
        (each.module, alias.name)
        for each in ast.walk(function)
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
    )


def _arguments(call: ast.Call, target: Any, place: Place) -> dict[str, Written]:
    if isinstance(target, _Function):
        names, defaults = _parameters(target)[1:], {}
    elif isinstance(target, type) and issubclass(target, Exception):
        # Its text; Python knows no signature of such a class.
        names, defaults = ["args"], {}
    else:
        signature = inspect.signature(target).parameters
        names = list(signature)
        defaults = {name: each.default for name, each in signature.items() if each.default is not each.empty}
    given = {name: ast.Constant(value) for name, value in defaults.items()}
    given |= dict(zip(names, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg}
    return {name: Written(place, given.get(name) or ast.Name(OPEN)) for name in names}


def _parameters(function: _Function) -> list[str]:
    every = function.args
    return [each.arg for each in (*every.posonlyargs, *every.args, *every.kwonlyargs)]


# -- expressions ---------------------------------------------------------------------------------------------


def texts_of(written: Written, depth: int = _DEEPEST) -> set[str]:
    """Texts that an expression can have."""
    place, expression = written
    if not depth:
        return {OPEN}

    def below(other: ast.expr) -> set[str]:
        return texts_of(Written(place, other), depth - 1)

    match expression:
        case ast.Constant(value):
            return {str(value)}
        case ast.JoinedStr(pieces):
            return {"".join(row) for row in combinations(*(sorted(below(each)) for each in pieces))}
        case ast.FormattedValue(value):
            return below(value)
        case ast.IfExp(_, body, other):
            return below(body) | below(other)
        case ast.BoolOp(ast.Or(), operands):
            return set().union(*(below(each) for each in operands))
        case ast.BinOp(left, ast.Add(), right):
            return {one + other for one in below(left) for other in below(right)}
        case ast.Name(name) if place.functions and (local := _assigned(place.functions[0], name)):
            return set().union(*(below(each) for each in local))
        case ast.Name(name) if name in place.parameters:
            return {OPEN}
        case ast.Subscript(base):
            held = _valued(base, place.module)
            return {_text(each) for each in held.values()} if isinstance(held, dict) else {OPEN}
        case _:
            return {_text(_valued(expression, place.module))}


def _text(value: object) -> str:
    if isinstance(value, Enum):
        value = value.value
    return str(value) if isinstance(value, str | int | float) else OPEN


def _assigned(function: _Function, name: str) -> list[ast.expr]:
    """Expressions that a local name is set to; none for one that is no plain local name."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        match node:
            case ast.Assign([ast.Name(target)], value) if target == name:
                found.append(value)
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                named = zip(targets, values, strict=True)
                found += [
                    each for target, each in named if isinstance(target, ast.Name) and target.id == name
                ]
            case ast.NamedExpr(ast.Name(target), value) if target == name:
                found.append(value)
            case _:
                pass
    return found


def _valued(expression: ast.expr, module: ModuleType) -> Any:
    """The value of a name, or of an attribute of one, in a module; None if there is none."""
    if isinstance(expression, ast.Name):
        return getattr(module, expression.id, None)
    if isinstance(expression, ast.Attribute):
        return getattr(_valued(expression.value, module), expression.attr, None)
    return None
