"""Where a code base assigns, deletes or changes the fields of its record classes.

A record class is a root (`State`, `PodRecord`) or a part: a changeable class below the root's folder that is
the type of a field. A field is named by its dotted path, such as ``state.unguarded.placing``. What an object
of another class holds belongs to the field that holds the object.

Expressions are followed through annotations: parameters, locals, loops, containers, properties, results of
functions. A method of a record class writes in its own module, whoever calls it; a method of any other class
that changes its object writes where it is called.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.architecture.classes import (
    KEYED,
    LISTED,
    UNKNOWN,
    ClassInfo,
    FunctionInfo,
    Index,
    Kind,
    arguments_of,
)
from tests.architecture.sources import Parsed, Source

CHANGING = frozenset(
    {
        "add",
        "append",
        "appendleft",
        "clear",
        "difference_update",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "intersection_update",
        "move_to_end",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "rotate",
        "setdefault",
        "sort",
        "subtract",
        "symmetric_difference_update",
        "update",
        "__setitem__",
        "__delitem__",
        "__ior__",
        "__iadd__",
        "__isub__",
        "__iand__",
    }
)
"""Methods of built-in containers that change them."""

CHANGING_FIRST = frozenset(
    {
        "heapq.heappush",
        "heapq.heappop",
        "heapq.heapreplace",
        "heapq.heappushpop",
        "heapq.heapify",
        "bisect.insort",
        "bisect.insort_left",
        "bisect.insort_right",
        "random.shuffle",
    }
)
"""Functions of the standard library that change their first argument."""

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

BY_NAME = {"state": "state", "_state": "state"}
"""Roots that a name stands for where its type is not known."""


class Write(NamedTuple):
    """One place that changes a field."""

    path: str
    module: str
    line: int


class Value(NamedTuple):
    """What an expression stands for. ``path``: the field that holds it, empty when none is known."""

    kind: Kind = UNKNOWN
    path: str = ""
    #: A new container with the elements of the one at ``path``.
    is_copy: bool = False


class Layout:
    """Which class is found at which path."""

    def __init__(self, index: Index, roots: Mapping[str, str], caches: Iterable[str] = ()) -> None:
        self.index = index
        self.caches = frozenset(caches)
        self.prefixes: dict[str, str] = {}
        self.fields: set[str] = set()
        for name, cls in roots.items():
            self.prefixes[cls] = name
        for name, cls in roots.items():
            self._lay_out(name, cls, folder=f"{cls.rpartition('.')[0].partition('.ledger')[0]}.ledger.")
        self.homes = self._homes()

    def _lay_out(self, prefix: str, cls: str, *, folder: str) -> None:
        for info in self.index.lineage(Kind(cls)):
            for name, kind in info.fields.items():
                path = f"{prefix}.{name}"
                if self._is_part(kind, folder):
                    self.prefixes[kind.name] = path
                    self._lay_out(path, kind.name, folder=folder)
                else:
                    self.fields.add(path)

    def _is_part(self, kind: Kind, folder: str) -> bool:
        info = self.index.classes.get(kind.name)
        if info is None or kind.name in self.prefixes or not kind.name.startswith(folder):
            return False
        return info.is_mutable and bool(info.fields) and self.index.container(kind) == kind

    def _homes(self) -> dict[str, str]:
        """The field that holds the objects of a class, for classes that one field alone holds."""
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


def writes(
    sources: Iterable[Source], roots: Mapping[str, str], caches: Iterable[str] = ()
) -> tuple[Layout, list[Write]]:
    """Every write to a field of the record classes.

    ``roots``: their qualified names by what to call them. ``caches``: qualified names of fields of other
    classes that a reading method may fill.
    """
    index = Index(sources)
    layout = Layout(index, roots, caches)
    known = -1
    found: list[Write] = []
    while (now_known := _summary_size(index)) != known:
        known = now_known
        found = [write for scope in _scopes(layout) for write in scope()]
    return layout, sorted({write for write in found if not write.path.startswith("<")})


def _summary_size(index: Index) -> int:
    """How much is known of what methods and functions change; it only grows."""
    classes, functions = index.classes.values(), index.functions.values()
    return sum(len(each.mutating) for each in classes) + sum(len(each.mutating) for each in functions)


def _scopes(layout: Layout) -> Iterator[Callable[[], list[Write]]]:
    for info in list(layout.index.functions.values()):
        yield lambda info=info: _of_function(layout, info)  # type: ignore[misc]
    for cls in list(layout.index.classes.values()):
        for name, method in cls.methods.items():
            yield lambda cls=cls, name=name, method=method: _of_method(layout, cls, name, method)  # type: ignore[misc]
    for module in layout.index.modules:
        yield lambda module=module: _of_module(layout, module)  # type: ignore[misc]


def _of_function(layout: Layout, info: FunctionInfo) -> list[Write]:
    flow = Flow(layout, info.module)
    flow.enter(info.tree)
    info.mutating |= {write.path.strip("<>") for write in flow.found if write.path.startswith("<")}
    return flow.found


def _of_method(
    layout: Layout, cls: ClassInfo, name: str, method: ast.FunctionDef | ast.AsyncFunctionDef
) -> list[Write]:
    flow = Flow(layout, cls.module)
    first = next(iter(arguments_of(method)), None)
    own = {first.arg: Value(Kind(cls.name), "<self>")} if first is not None else {}
    flow.enter(method, own)
    own_writes = {write.path.partition(">")[2] for write in flow.found if write.path.startswith("<self>")}
    if any(f"{cls.name}{attribute}" not in layout.caches for attribute in own_writes):
        cls.mutating.add(name)
    return flow.found


def _of_module(layout: Layout, module: Parsed) -> list[Write]:
    flow = Flow(layout, module)
    for node in module.tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            flow.visit(node)
    return flow.found


class Flow(ast.NodeVisitor):
    """One function, followed from top to bottom."""

    def __init__(self, layout: Layout, module: Parsed, names: Mapping[str, Value] | None = None) -> None:
        self.layout = layout
        self.index = layout.index
        self.module = module
        self.names = dict(names or {})
        self.found: list[Write] = []

    def enter(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        own: Mapping[str, Value] | None = None,
    ) -> None:
        for arg in arguments_of(function):
            kind = self.index.kind(arg.annotation, self.module)
            self.names[arg.arg] = self._home(Value(kind)) if kind != UNKNOWN else Value()
            if not self.names[arg.arg].path:
                self.names[arg.arg] = Value(kind, f"<{arg.arg}>")
        self.names |= own or {}
        for node in function.body if isinstance(function.body, list) else [function.body]:
            self.visit(node)

    # -- what a statement changes ----------------------------------------------------------------------------

    def _note(self, path: str, node: ast.AST) -> None:
        self.found.append(Write(path, self.module.source.module, getattr(node, "lineno", 0)))

    def _note_value(self, value: Value, node: ast.AST) -> None:
        if value.path and not value.is_copy and value.kind.name not in self.layout.prefixes:
            self._note(value.path, node)

    def _store(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._store(each)
        elif isinstance(target, ast.Starred):
            self._store(target.value)
        elif isinstance(target, ast.Subscript):
            self._note_value(self.value(target.value), target)
        elif isinstance(target, ast.Attribute):
            self._store_attribute(target)

    def _store_attribute(self, target: ast.Attribute) -> None:
        base = self.value(target.value)
        prefix = self.layout.prefixes.get(base.kind.name)
        if prefix is not None:
            self._note(f"{prefix}.{target.attr}", target)
        elif base.path == "<self>":
            self._note(f"<self>.{target.attr}", target)
        elif base.kind == UNKNOWN and not base.path:
            self._note(f"?.{target.attr}", target)
        else:
            self._note_value(base, target)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        value = self.value(node.value)
        for target in node.targets:
            self._visit_target(target)
            self._store(target)
            self._bind(target, value, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        value = self.value(node.value) if node.value is not None else Value()
        if node.value is not None:
            self.visit(node.value)
            self._store(node.target)
        kind = self.index.kind(node.annotation, self.module)
        self._bind(node.target, self._home(Value(kind, value.path, value.is_copy), fresh=True))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._visit_target(node.target)
        self._store(node.target)
        if isinstance(node.target, ast.Name):
            value = self.value(node.target)
            if self.index.container(value.kind).name in KEYED | LISTED - {"tuple", "frozenset"}:
                self._note_value(value, node)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._visit_target(target)
            self._store(target)

    def _visit_target(self, target: ast.expr) -> None:
        """What the expressions inside a target change."""
        for child in ast.iter_child_nodes(target):
            if isinstance(child, ast.expr):
                self.visit(child)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._store(node.target)
        self._bind(node.target, self._element(self.value(node.iter)))
        for each in [*node.body, *node.orelse]:
            self.visit(each)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._bind(node.target, self.value(node.value))

    def _visit_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        for part in node.generators:
            self.visit(part.iter)
            self._bind(part.target, self._element(self.value(part.iter)))
            for each in part.ifs:
                self.visit(each)
        for each in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
            self.visit(each)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._visit_comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._visit_comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._visit_comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._visit_comprehension(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_inner(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_inner(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_inner(node)

    def _visit_inner(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        inner = Flow(self.layout, self.module, self.names)
        inner.enter(node)
        own = {f"<{arg.arg}>" for arg in arguments_of(node)}
        self.found += [write for write in inner.found if write.path not in own]

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A changing method that is called, or handed on to be called."""
        self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            return
        base = self.value(node.value)
        lineage = self.index.lineage(base.kind)
        built_in = not lineage or self.index.container(base.kind) != base.kind
        if (built_in and node.attr in CHANGING) or any(node.attr in info.mutating for info in lineage):
            self._note_value(base, node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = self.index.dotted(node.func, self.module)
        if name in CHANGING_FIRST and node.args:
            self._note_value(self.value(node.args[0]), node)
        if name in ("setattr", "delattr", "object.__setattr__", "object.__delattr__") and len(node.args) > 1:
            self._note_by_name(node)
        function = self.index.functions.get(name)
        if function is not None:
            self._note_handed_on(function, node)

    def _note_by_name(self, node: ast.Call) -> None:
        prefix = self.layout.prefixes.get(self.value(node.args[0]).kind.name)
        word = node.args[1]
        name = str(word.value) if isinstance(word, ast.Constant) else "*"
        if prefix is not None:
            self._note(f"{prefix}.{name}", node)

    def _note_handed_on(self, function: FunctionInfo, node: ast.Call) -> None:
        """Arguments that the called function changes."""
        names = [arg.arg for arg in arguments_of(function.tree)]
        given = [
            *zip(names, node.args, strict=False),
            *((word.arg, word.value) for word in node.keywords if word.arg is not None),
        ]
        for name, argument in given:
            if name in function.mutating:
                self._note_value(self.value(argument), node)

    # -- what an expression stands for -----------------------------------------------------------------------

    def _bind(self, target: ast.expr, value: Value, source: ast.expr | None = None) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(source, ast.Tuple):
            for each, part in zip(target.elts, source.elts, strict=False):
                self._bind(each, self.value(part), part)
        elif isinstance(target, ast.Tuple):
            args = value.kind.args if value.kind.name == "tuple" else ()
            args = args or tuple(self.index.attribute(value.kind, name) for name in self._members(value.kind))
            for number, each in enumerate(target.elts):
                self._bind(each, Value(args[number] if number < len(args) else UNKNOWN, value.path))

    def _members(self, kind: Kind) -> list[str]:
        info = self.index.classes.get(kind.name)
        return list(info.fields) if info is not None else []

    def _home(self, value: Value, *, fresh: bool = False) -> Value:
        """The value with the path where objects of its class are held, if it has no other."""
        home = self.layout.homes.get(value.kind.name, "")
        inside = self.module.source.module.startswith("core.ledger")
        return value._replace(path=home) if home and inside and not (value.path or fresh) else value

    def _element(self, value: Value) -> Value:
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
            return self._home(Value(kind), fresh=True)
        if base.kind == UNKNOWN and node.attr in BY_NAME:
            return self._value_of_name(ast.Name(node.attr))
        if base.path == "<self>":
            return self._home(Value(kind)) if self._has_home(kind) else Value(kind, f"<self>.{node.attr}")
        return self._home(Value(kind, "" if base.is_copy else base.path))

    def _has_home(self, kind: Kind) -> bool:
        return bool(self._home(Value(kind)).path)

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
        inner = Flow(self.layout, self.module, self.names)
        for part in node.generators:
            inner._bind(part.target, inner._element(inner.value(part.iter)))
        found = inner.value(node.elt)
        return Value(Kind("list", (found.kind,)), found.path, is_copy=True)

    def _value_of_call(self, node: ast.Call) -> Value:
        name = self.index.dotted(node.func, self.module)
        if name in self.index.classes:
            return Value(Kind(name))
        if name in self.index.functions:
            function = self.index.functions[name]
            return self._home(Value(self.index.kind(function.tree.returns, function.module)))
        if isinstance(node.func, ast.Name) and node.args:
            return self._built_in(node.func.id, node)
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, self.value(node.func.value))
        return Value()

    def _built_in(self, name: str, node: ast.Call) -> Value:
        first = self.value(node.args[-1] if name == "cast" else node.args[0])
        element = self._element(first)
        if name in COPYING:
            same = self.index.container(first.kind).name in KEYED and name == "dict"
            kind = first.kind if same else Kind("list", (element.kind,))
            return Value(kind, element.path, is_copy=True)
        if name == "enumerate":
            return Value(Kind("Iterable", (Kind("tuple", (Kind("int"), element.kind)),)), element.path)
        if name == "zip":
            kinds = tuple(self._element(self.value(each)).kind for each in node.args)
            return Value(Kind("Iterable", (Kind("tuple", kinds),)))
        if name == "cast":
            return self._home(Value(self.index.kind(node.args[0], self.module), first.path))
        if name in ("next", "min", "max"):
            return element if name == "next" or len(node.args) == 1 else first
        return first if name == "iter" else Value()

    def _method(self, func: ast.Attribute, base: Value) -> Value:
        found = self.index.method(base.kind, func.attr)
        if found is not None:
            kind = self.index.kind(found[1].returns, found[0].module)
            return self._home(Value(kind), fresh=kind == base.kind)
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
