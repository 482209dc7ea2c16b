"""Classes and functions of a code base, with the types in their annotations.

Typing is followed only as far as needed to know which object an expression stands for.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.architecture.reading.sources import Parsed, Source, parsed


class Kind(NamedTuple):
    """A type. ``name``: qualified for a class of the code base, bare for others."""

    name: str
    args: tuple["Kind", ...] = ()


UNKNOWN = Kind("")

KEYED = frozenset({"dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict", "Counter"})
"""Containers whose second argument is the type of a subscript."""

LISTED = frozenset(
    {
        "list",
        "set",
        "frozenset",
        "deque",
        "tuple",
        "Iterable",
        "Iterator",
        "Sequence",
        "Collection",
        "Generator",
        "Set",
        "AbstractSet",
        "MutableSequence",
        "MutableSet",
        "SortedList",
        "SortedSet",
        "KeysView",
        "ValuesView",
    }
)
"""Containers whose first argument is the type of an element."""


@dataclass(slots=True)
class ClassInfo:
    """A class of the code base."""

    name: str
    tree: ast.ClassDef
    module: Parsed
    #: Types of the fields, and of the properties.
    fields: dict[str, Kind] = field(default_factory=dict)
    properties: dict[str, Kind] = field(default_factory=dict)
    bases: list[Kind] = field(default_factory=list)
    methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)
    #: Methods that change the object.
    mutating: set[str] = field(default_factory=set)
    is_mutable: bool = True


@dataclass(slots=True)
class FunctionInfo:
    """A function on the top level of a module."""

    tree: ast.FunctionDef | ast.AsyncFunctionDef
    module: Parsed
    #: Names of the parameters that it changes, without those whose type says where they belong.
    mutating: set[str] = field(default_factory=set)


class Index:
    """Classes and functions of a code base by their qualified names."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.modules = [parsed(each) for each in sources]
        self.classes: dict[str, ClassInfo] = {}
        self.functions: dict[str, FunctionInfo] = {}
        self._names = {each.source.module: each.imports for each in self.modules}
        self._kinds: dict[int, Kind] = {}
        for module in self.modules:
            self._collect(module)
        for info in self.classes.values():
            self._describe(info)

    def _collect(self, module: Parsed) -> None:
        for node in module.tree.body:
            name = f"{module.source.module}.{getattr(node, 'name', '')}"
            if isinstance(node, ast.ClassDef):
                self.classes[name] = ClassInfo(name, node, module)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions[name] = FunctionInfo(node, module)

    def _describe(self, info: ClassInfo) -> None:
        info.bases = [self.kind(base, info.module) for base in info.tree.bases]
        info.is_mutable = not (_is_frozen(info.tree) or any(base.name in _FIXED for base in info.bases))
        for node in info.tree.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                info.fields[node.target.id] = self.kind(node.annotation, info.module)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._describe_method(info, node)

    def _describe_method(self, info: ClassInfo, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any(isinstance(each, ast.Name) and each.id.endswith("property") for each in node.decorator_list):
            info.properties[node.name] = self.kind(node.returns, info.module)
            return
        info.methods[node.name] = node
        if node.name == "__init__":
            # What the class says of its fields counts.
            info.fields = self._assigned_in(node, info.module) | info.fields

    def _assigned_in(self, init: ast.FunctionDef | ast.AsyncFunctionDef, module: Parsed) -> dict[str, Kind]:
        """Fields that ``__init__`` sets, with their types by annotation, parameter or assigned class."""
        parameters = {arg.arg: self.kind(arg.annotation, module) for arg in arguments_of(init)}
        found: dict[str, Kind] = {}
        for node in ast.walk(init):
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
            for target in targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
                    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
                    found[target.attr] = self._assigned_kind(annotation, value, parameters, module)
        return found

    def _assigned_kind(
        self, annotation: ast.expr | None, value: ast.expr | None, parameters: dict[str, Kind], module: Parsed
    ) -> Kind:
        if annotation is not None:
            return self.kind(annotation, module)
        if isinstance(value, ast.Call):
            return self.kind(value.func, module)
        return parameters.get(value.id, UNKNOWN) if isinstance(value, ast.Name) else UNKNOWN

    # -- names -----------------------------------------------------------------------------------------------

    def qualified(self, name: str, module: Parsed) -> str:
        """The full name behind ``name`` in a module, followed through re-exports of packages."""
        own = f"{module.source.module}.{name}"
        if own in self.classes or own in self.functions:
            return own
        return self._followed(module.imports.get(name, name))

    def _followed(self, name: str) -> str:
        for _ in range(5):
            home, _, last = name.rpartition(".")
            if name in self.classes or name in self.functions or last not in self._names.get(home, {}):
                break
            name = self._names[home][last]
        return name

    def dotted(self, node: ast.expr, module: Parsed) -> str:
        """The full name behind a name or a chain of attributes, empty for any other expression."""
        if isinstance(node, ast.Name):
            return self.qualified(node.id, module)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value, module)
            return self._followed(f"{base}.{node.attr}") if base else ""
        return ""

    def kind(self, node: ast.expr | None, module: Parsed) -> Kind:
        """The type that an annotation names; of a union, the first that is not None."""
        if id(node) not in self._kinds:
            self._kinds[id(node)] = self._kind(node, module)
        return self._kinds[id(node)]

    def _kind(self, node: ast.expr | None, module: Parsed) -> Kind:
        if isinstance(node, ast.Constant):
            return self._kind_of_text(node.value, module)
        if isinstance(node, ast.BinOp):
            left, right = self.kind(node.left, module), self.kind(node.right, module)
            return right if left.name in ("", "None") else left
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Final":
            return self.kind(node.slice, module)
        if isinstance(node, ast.Subscript):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return Kind(self.kind(node.value, module).name, tuple(self.kind(each, module) for each in inner))
        if isinstance(node, ast.Name | ast.Attribute):
            name = self.dotted(node, module)
            return Kind(name if name in self.classes else name.rpartition(".")[2])
        return UNKNOWN

    def _kind_of_text(self, value: object, module: Parsed) -> Kind:
        if isinstance(value, str):
            return self._kind(ast.parse(value, mode="eval").body, module)
        return Kind("None") if value is None else UNKNOWN

    # -- members ---------------------------------------------------------------------------------------------

    def lineage(self, kind: Kind) -> list[ClassInfo]:
        """A class and those above it that belong to the code base."""
        info = self.classes.get(kind.name)
        return [info, *(each for base in info.bases for each in self.lineage(base))] if info else []

    def attribute(self, kind: Kind, name: str) -> Kind:
        for info in self.lineage(kind):
            found = info.fields.get(name) or info.properties.get(name)
            if found:
                return found
        return UNKNOWN

    def has_field(self, kind: Kind, name: str) -> bool:
        return any(name in info.fields for info in self.lineage(kind))

    def method(
        self, kind: Kind, name: str
    ) -> tuple[ClassInfo, ast.FunctionDef | ast.AsyncFunctionDef] | None:
        return next(((info, info.methods[name]) for info in self.lineage(kind) if name in info.methods), None)

    def container(self, kind: Kind) -> Kind:
        """The built-in container that a type is or inherits from."""
        for info in self.lineage(kind):
            for base in info.bases:
                if base.name in KEYED | LISTED:
                    return base
        return kind

    def element(self, kind: Kind) -> Kind:
        """Type of the elements that a loop over an object of this type gives."""
        kind = self.container(kind)
        if kind.name in KEYED | LISTED and kind.args:
            return kind.args[0]
        found = self.method(kind, "__iter__")
        return self.element(self.kind(found[1].returns, found[0].module)) if found else UNKNOWN

    def item(self, kind: Kind) -> Kind:
        """Type of the result of a subscript of an object of this type."""
        kind = self.container(kind)
        if kind.name in KEYED:
            return kind.args[1] if len(kind.args) > 1 else UNKNOWN
        return self.element(kind)


_FIXED = frozenset({"NamedTuple", "Enum", "StrEnum", "IntEnum", "Protocol", "tuple", "str", "int"})


def _is_frozen(node: ast.ClassDef) -> bool:
    """True if no field can be written: the dataclass is frozen, or each field is final."""
    fields = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
    if fields and all(ast.unparse(each).startswith("Final[") for each in fields):
        return True
    return any(
        isinstance(call, ast.Call)
        and any(
            word.arg == "frozen" and isinstance(word.value, ast.Constant) and word.value.value is True
            for word in call.keywords
        )
        for call in node.decorator_list
    )


def arguments_of(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    """Parameters in the order in which a call without keywords fills them, keyword-only ones last."""
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
