"""Places where a code base assigns, deletes or changes the fields of its record classes.

A record class is a root (`State`, `PodRecord`) or a part: a changeable class below the root's folder that is
the type of a field. A field is named by its dotted path, such as ``state.unguarded.placing``. The content of
an object of another class belongs to the field that holds the object.

Expressions are followed through annotations: parameters, locals, loops, containers, properties, results of
functions. A method of a record class writes in its own module, whatever module calls it. A method of any
other class that changes its object writes where it is called.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.architecture.reading.classes import (
    KEYED,
    LISTED,
    UNKNOWN,
    ClassInfo,
    FunctionInfo,
    Index,
    Kind,
    arguments_of,
)
from tests.architecture.reading.sources import Parsed, Source
from tests.architecture.reading.values import Layout, Value, Values

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


class Write(NamedTuple):
    """A place that changes a field."""

    path: str
    module: str
    line: int


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
    """Knowledge about the changes by methods and functions, which only grows."""
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
    return [write for write in flow.found if not _is_construction(layout, cls, name, write)]


def _is_construction(layout: Layout, cls: ClassInfo, method: str, write: Write) -> bool:
    """True for the initial value of an object of a record class, which is no change."""
    prefix = layout.prefixes.get(cls.name)
    return method in ("__init__", "__post_init__") and write.path.rpartition(".")[0] == prefix


def _of_module(layout: Layout, module: Parsed) -> list[Write]:
    flow = Flow(layout, module)
    for node in module.tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            flow.visit(node)
    return flow.found


class Flow(ast.NodeVisitor):
    """A function, followed from top to bottom."""

    def __init__(self, layout: Layout, module: Parsed, names: Mapping[str, Value] | None = None) -> None:
        self.layout = layout
        self.index = layout.index
        self.module = module
        self.values = Values(layout, module, names)
        self.found: list[Write] = []

    def enter(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        own: Mapping[str, Value] | None = None,
    ) -> None:
        for arg in arguments_of(function):
            kind = self.index.kind(arg.annotation, self.module)
            self.values.names[arg.arg] = self.values.home(Value(kind)) if kind != UNKNOWN else Value()
            if not self.values.names[arg.arg].path:
                self.values.names[arg.arg] = Value(kind, f"<{arg.arg}>")
        self.values.names |= own or {}
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
            self._note_value(self.values.value(target.value), target)
        elif isinstance(target, ast.Attribute):
            self._store_attribute(target)

    def _store_attribute(self, target: ast.Attribute) -> None:
        base = self.values.value(target.value)
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
        value = self.values.value(node.value)
        for target in node.targets:
            self._visit_target(target)
            self._store(target)
            self.values.bind(target, value, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        value = self.values.value(node.value) if node.value is not None else Value()
        if node.value is not None:
            self.visit(node.value)
            self._store(node.target)
        kind = self.index.kind(node.annotation, self.module)
        self.values.bind(node.target, self.values.home(Value(kind, value.path, value.is_copy), fresh=True))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._visit_target(node.target)
        self._store(node.target)
        if isinstance(node.target, ast.Name):
            value = self.values.value(node.target)
            if self.index.container(value.kind).name in KEYED | LISTED - {"tuple", "frozenset"}:
                self._note_value(value, node)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._visit_target(target)
            self._store(target)

    def _visit_target(self, target: ast.expr) -> None:
        """Note changes by the expressions inside a target."""
        for child in ast.iter_child_nodes(target):
            if isinstance(child, ast.expr):
                self.visit(child)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._store(node.target)
        self.values.bind(node.target, self.values.element(self.values.value(node.iter)))
        for each in [*node.body, *node.orelse]:
            self.visit(each)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.values.bind(node.target, self.values.value(node.value))

    def _visit_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        for part in node.generators:
            self.visit(part.iter)
            self.values.bind(part.target, self.values.element(self.values.value(part.iter)))
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
        inner = Flow(self.layout, self.module, self.values.names)
        inner.enter(node)
        own = {f"<{arg.arg}>" for arg in arguments_of(node)}
        self.found += [write for write in inner.found if write.path not in own]

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A changing method that is called, or passed on to be called."""
        self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            return
        base = self.values.value(node.value)
        lineage = self.index.lineage(base.kind)
        built_in = not lineage or self.index.container(base.kind) != base.kind
        if (built_in and node.attr in CHANGING) or any(node.attr in info.mutating for info in lineage):
            self._note_value(base, node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = self.index.dotted(node.func, self.module)
        if name in CHANGING_FIRST and node.args:
            self._note_value(self.values.value(node.args[0]), node)
        if name in ("setattr", "delattr", "object.__setattr__", "object.__delattr__") and len(node.args) > 1:
            self._note_by_name(node)
        function = self.index.functions.get(name)
        if function is not None:
            self._note_handed_on(function, node)

    def _note_by_name(self, node: ast.Call) -> None:
        prefix = self.layout.prefixes.get(self.values.value(node.args[0]).kind.name)
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
                self._note_value(self.values.value(argument), node)
