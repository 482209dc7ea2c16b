"""Names on objects of Kubernetes: annotations, labels, taints, resources, gates, conditions, ConfigMaps."""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any

import msgspec

from tests.interfaces.product import parts

_QUALIFIED = re.compile(r"(?:[a-z0-9-]+\.)+[a-z0-9-]+/[A-Za-z0-9._-]*")
_SHARED = re.compile(r"yunikorn-[a-z-]*[a-z]")


def names() -> list[str]:
    """Every name with a domain in the product, and the names that it shares with YuniKorn."""
    found = {text for module, tree in parts() for text in (*held(vars(module)), *written(tree))}
    return sorted(text for text in found if _QUALIFIED.fullmatch(text) or _SHARED.fullmatch(text))


def held(values: Mapping[str, Any]) -> Iterator[str]:
    """Texts that are values of a module, or are in its collections."""
    for value in values.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple | list | set | frozenset | dict):
            yield from (each for each in value if isinstance(each, str))


def written(tree: ast.Module) -> Iterator[str]:
    """Texts that stand anywhere in a module's code."""
    yield from (
        each.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


# -- keys that are looked up ---------------------------------------------------------------------------------


class _Asked(dict[str, str]):
    """Labels or annotations that record the keys of look-ups."""

    def __init__(self, place: str, seen: set[str]) -> None:
        super().__init__({"asked.example/for": "nothing"})
        self._place = place
        self._seen = seen

    def _note(self, key: object) -> None:
        self._seen.add(f"{self._place} {key}")

    def get(self, key: Any, default: Any = None) -> Any:
        self._note(key)
        return default

    def __getitem__(self, key: str) -> str:
        self._note(key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        self._note(key)
        return False


def keys_read() -> list[str]:
    """``KIND PLACE KEY`` of the labels and annotations that are looked up on objects of the API."""
    return sorted(_looked_up(_objects()))


def _objects() -> Iterator[tuple[Callable[[Any], Any], type[msgspec.Struct]]]:
    """Every function that reads one object of the API, and the type of that object."""
    for module, _ in parts():
        for made in vars(module).values():
            if isinstance(made, FunctionType) and made.__module__ == module.__name__:
                kinds = [each.annotation for each in inspect.signature(made).parameters.values()]
                if len(kinds) == 1 and _is_object(kinds[0]):
                    yield made, kinds[0]


def _is_object(kind: Any) -> bool:
    return isinstance(kind, type) and "metadata" in getattr(kind, "__struct_fields__", ())


def _looked_up(readers: Iterable[tuple[Callable[[Any], Any], type[msgspec.Struct]]]) -> set[str]:
    seen: set[str] = set()
    for reads, kind in readers:
        what = kind.__name__.removeprefix("Wire")
        plain = msgspec.convert({"metadata": {"name": "x", "namespace": "x", "uid": "x"}}, kind)
        asked = {
            name: _Asked(f"{what} {name.removesuffix('s')}", seen)
            for name in ("labels", "annotations")
            if name in plain.metadata.__struct_fields__
        }
        metadata = msgspec.structs.replace(plain.metadata, **asked)
        reads(msgspec.structs.replace(plain, metadata=metadata))
    return seen
