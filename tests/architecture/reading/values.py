"""Objects that the expressions of a function stand for, followed through annotations.

Parameters, locals, loops, containers, properties and the results of functions are followed. An expression
without an annotation is unknown.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.architecture.reading.classes import KEYED, UNKNOWN, ClassInfo, Index, Kind
from tests.architecture.reading.sources import Parsed

COPYING = frozenset(
    {
        "list",
        "sorted",
        "set",
        "tuple",
        "frozenset",
        "dict",
        "reversed",
        "deque",
    }
)

PARTS_IN = "core.ledger."
"""Modules of the classes whose objects are parts of a record."""

BY_NAME = {"state": "state", "_state": "state"}
"""Roots by the usual names of variables, for variables without a known type."""


class Value(NamedTuple):
    """An object that an expression stands for.

    ``path``: the field that holds it, empty when none is known.
    """

    kind: Kind = UNKNOWN
    path: str = ""
    #: A new container with the elements of the one at ``path``.
    is_copy: bool = False


class Layout:
    """Classes by the path of the field that holds them."""

    def __init__(self, index: Index, roots: Mapping[str, str], caches: Iterable[str] = ()) -> None:
        self.index = index
        self.caches = frozenset(caches)
        self.prefixes: dict[str, str] = {}
        self.fields: set[str] = set()
        for name, cls in roots.items():
            self.prefixes[cls] = name
        self._held = Counter(
            kind.name
            for name, info in index.classes.items()
            if name in self.prefixes or self._may_be_part(info)
            for kind in info.fields.values()
        )
        for name, cls in roots.items():
            self._lay_out(name, cls)
        self.homes = self._homes()

    def _lay_out(self, prefix: str, cls: str) -> None:
        for info in self.index.lineage(Kind(cls)):
            for name, kind in info.fields.items():
                path = f"{prefix}.{name}"
                if self._is_part(kind):
                    self.prefixes[kind.name] = path
                    self._lay_out(path, kind.name)
                else:
                    self.fields.add(path)

    def _is_part(self, kind: Kind) -> bool:
        """True for a class whose objects are held by a single field."""
        info = self.index.classes.get(kind.name)
        if info is None or kind.name in self.prefixes or self._held[kind.name] > 1:
            return False
        return self._may_be_part(info)

    def _may_be_part(self, info: ClassInfo) -> bool:
        own = Kind(info.name)
        is_container = self.index.container(own) != own
        return info.name.startswith(PARTS_IN) and info.is_mutable and bool(info.fields) and not is_container

    def _homes(self) -> dict[str, str]:
        """The field that holds the objects of a class, for classes that a single field holds."""
        found: dict[str, set[str]] = {}
        for cls, prefix in self.prefixes.items():
            for info in self.index.lineage(Kind(cls)):
                for name, kind in info.fields.items():
                    for inner in _all_of(kind):
                        found.setdefault(inner.name, set()).add(f"{prefix}.{name}")
        held = {name for name, info in self.index.classes.items() if info.is_mutable} - self.prefixes.keys()
        return {cls: min(paths) for cls, paths in found.items() if len(paths) == 1 and cls in held}


def _all_of(kind: Kind) -> Iterator[Kind]:
    yield kind
    for each in kind.args:
        yield from _all_of(each)


class Values:
    """Names of a function, with their present values."""

    def __init__(self, layout: Layout, module: Parsed, names: Mapping[str, Value] | None = None) -> None:
        self.layout = layout
        self.index = layout.index
        self.module = module
        self.names = dict(names or {})

    def bind(self, target: ast.expr, value: Value, source: ast.expr | None = None) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(source, ast.Tuple):
            for each, part in zip(target.elts, source.elts, strict=False):
                self.bind(each, self.value(part), part)
        elif isinstance(target, ast.Tuple):
            args = value.kind.args if value.kind.name == "tuple" else ()
            args = args or tuple(self.index.attribute(value.kind, name) for name in self._members(value.kind))
            for number, each in enumerate(target.elts):
                self.bind(each, Value(args[number] if number < len(args) else UNKNOWN, value.path))

    def _members(self, kind: Kind) -> list[str]:
        info = self.index.classes.get(kind.name)
        return list(info.fields) if info is not None else []

    def home(self, value: Value, *, fresh: bool = False) -> Value:
        """The value with the path of the field that holds its class, if its path is unknown."""
        home = self.layout.homes.get(value.kind.name, "")
        inside = self.module.source.module.startswith("core.ledger")
        return value._replace(path=home) if home and inside and not (value.path or fresh) else value

    def element(self, value: Value) -> Value:
        return Value(self.index.element(value.kind), value.path)

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Name():
                return self._value_of_name(node)
            case ast.Attribute():
                return self._value_of_attribute(node)
            case ast.Subscript():
                return self._value_of_subscript(node)
            case ast.Call():
                return self._value_of_call(node)
            case ast.NamedExpr():
                return self.value(node.value)
            case ast.IfExp():
                return self._first([node.body, node.orelse])
            case ast.BoolOp():
                return self._first(node.values)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._value_of_comprehension(node)
            case ast.Tuple():
                return Value(Kind("tuple", tuple(self.value(each).kind for each in node.elts)))
        return Value()

    def _value_of_name(self, node: ast.Name) -> Value:
        found = self.names.get(node.id, Value())
        root = BY_NAME.get(node.id)
        if found.kind == UNKNOWN and root is not None:
            return next((Value(Kind(cls)) for cls, at in self.layout.prefixes.items() if at == root), found)
        return found

    def _value_of_attribute(self, node: ast.Attribute) -> Value:
        base = self.value(node.value)
        kind = self.index.attribute(base.kind, node.attr)
        prefix = self.layout.prefixes.get(base.kind.name)
        if prefix is not None and self.index.has_field(base.kind, node.attr):
            return Value(kind, f"{prefix}.{node.attr}")
        if prefix is not None:
            return self.home(Value(kind), fresh=True)
        if base.kind == UNKNOWN and node.attr in BY_NAME:
            return self._value_of_name(ast.Name(node.attr))
        if base.path == "<self>":
            return self.home(Value(kind)) if self._has_home(kind) else Value(kind, f"<self>.{node.attr}")
        return self.home(Value(kind, "" if base.is_copy else base.path))

    def _has_home(self, kind: Kind) -> bool:
        return bool(self.home(Value(kind)).path)

    def _value_of_subscript(self, node: ast.Subscript) -> Value:
        base = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            return base._replace(is_copy=True)
        if base.kind.name == "tuple" and isinstance(node.slice, ast.Constant):
            number = node.slice.value
            if isinstance(number, int) and 0 <= number < len(base.kind.args):
                return Value(base.kind.args[number], base.path)
        return Value(self.index.item(base.kind), base.path)

    def _first(self, nodes: list[ast.expr]) -> Value:
        values = [self.value(each) for each in nodes]
        known = [each for each in values if each.kind.name not in ("", "None")]
        return next((each for each in known if each.path), known[0] if known else Value())

    def _value_of_comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
        inner = Values(self.layout, self.module, self.names)
        for part in node.generators:
            inner.bind(part.target, inner.element(inner.value(part.iter)))
        found = inner.value(node.elt)
        return Value(Kind("list", (found.kind,)), found.path, is_copy=True)

    def _value_of_call(self, node: ast.Call) -> Value:
        name = self.index.dotted(node.func, self.module)
        if name in self.index.classes:
            return Value(Kind(name))
        if name in self.index.functions:
            function = self.index.functions[name]
            return self.home(Value(self.index.kind(function.tree.returns, function.module)))
        if isinstance(node.func, ast.Name) and node.args:
            return self._built_in(node.func.id, node)
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, self.value(node.func.value))
        return Value()

    def _built_in(self, name: str, node: ast.Call) -> Value:
        first = self.value(node.args[-1] if name == "cast" else node.args[0])
        element = self.element(first)
        if name in COPYING:
            same = self.index.container(first.kind).name in KEYED and name == "dict"
            kind = first.kind if same else Kind("list", (element.kind,))
            return Value(kind, element.path, is_copy=True)
        if name == "enumerate":
            return Value(Kind("Iterable", (Kind("tuple", (Kind("int"), element.kind)),)), element.path)
        if name == "zip":
            kinds = tuple(self.element(self.value(each)).kind for each in node.args)
            return Value(Kind("Iterable", (Kind("tuple", kinds),)))
        if name == "cast":
            return self.home(Value(self.index.kind(node.args[0], self.module), first.path))
        if name in ("next", "min", "max"):
            return element if name == "next" or len(node.args) == 1 else first
        return first if name == "iter" else Value()

    def _method(self, func: ast.Attribute, base: Value) -> Value:
        found = self.index.method(base.kind, func.attr)
        if found is not None:
            kind = self.index.kind(found[1].returns, found[0].module)
            return self.home(Value(kind), fresh=kind == base.kind)
        item, element = self.index.item(base.kind), self.index.element(base.kind)
        if func.attr in ("get", "setdefault"):
            return Value(item, base.path)
        if func.attr in ("pop", "popleft"):
            return Value(item)
        pair = Kind("tuple", (element, item))
        if func.attr == "popitem":
            return Value(pair)
        kinds = {"values": item, "keys": element, "items": pair, "most_common": pair, "elements": element}
        if func.attr in kinds:
            return Value(Kind("Iterable", (kinds[func.attr],)), base.path)
        return base._replace(is_copy=True) if func.attr in ("copy", "union", "difference") else Value()
