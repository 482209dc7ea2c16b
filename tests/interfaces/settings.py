"""Settings with their keys, defaults, flags and variables, and the other keys and variables that are read."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from extender.configuration.flags import environment_from
from extender.configuration.settings import (
    KEYS,
    NOT_RELOADABLE,
    Settings,
    SettingsError,
    settings_from,
)
from extender.wire.service_keys import SERVICE_KEYS
from tests.interfaces.commands import flags_of
from tests.interfaces.product import parts

_NONSENSE = "\x00"


def settings() -> list[str]:
    """``KEY default=… FLAG VARIABLE`` of every setting, with its words and its need for a restart."""
    values, flags = _values(), flags_of("serve")
    return sorted(
        f"{key} default={_shown(Settings.model_fields[name].default)} {flags[name]} {_variable(name)}"
        f"{_accepted(key, values)}{' until a restart' if name in NOT_RELOADABLE else ''}"
        for key, name in KEYS.items()
    )


def service_keys() -> list[str]:
    """``KEY default=…`` of every key of YuniKorn, and whether it has an effect."""
    return sorted(
        f"{name} default={key.default} "
        f"{'without effect' if key.no_effect else 'works'}"
        f"{', a bad value refuses the reload' if key.refuses else ''}"
        f"{', holds until a restart' if key.needs_restart else ''}"
        for name, key in SERVICE_KEYS.items()
    )


def environment() -> list[str]:
    """Variables that the product names itself. Variables of settings are listed with the settings."""
    return sorted({name for _, tree in parts() for name in _variables(tree)})


def _shown(value: Any) -> str:
    if isinstance(value, frozenset):
        return ",".join(sorted(value))
    if isinstance(value, bool):
        return str(value).lower()
    if is_dataclass(value) and not isinstance(value, type):
        return ",".join(f"{name}={_shown(each)}" for name, each in asdict(value).items())
    return f"{value:g}" if isinstance(value, float) else str(value)


class _Asked(Mapping[str, str]):
    """An environment with every variable. The value of each is its name."""

    def __getitem__(self, name: str) -> str:
        return name

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _variable(name: str) -> str:
    return environment_from(_Asked())[name]


def _values() -> list[str]:
    """Texts written in the module of the settings, and other values that a switch takes."""
    (tree,) = (each.tree for each in parts() if each.module.__name__ == Settings.__module__)
    written = {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)}
    return sorted({"true", "false", *(each for each in written if isinstance(each, str) and each.isalpha())})


def _accepted(key: str, values: list[str]) -> str:
    """The possible values of a setting; none if they are not limited."""
    if _takes(key, _NONSENSE):
        return ""
    found = [word for word in values if _takes(key, word)]
    return f" takes={','.join(found)}" if found else ""


def _takes(key: str, word: str) -> bool:
    try:
        settings_from({key: word}, {})
    except SettingsError:
        return False
    return True


def _variables(tree: ast.AST) -> Iterator[str]:
    """Names given to ``os.environ`` and ``os.getenv``."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(base, "get" | "getenv" | "pop"), [ast.Constant(str() as name), *_]):
                if _is_environment(base):
                    yield name
            case ast.Subscript(base, ast.Constant(str() as name)) if _is_environment(base):
                yield name
            case _:
                pass


def _is_environment(base: ast.expr) -> bool:
    match base:
        case ast.Attribute(ast.Name("os"), "environ") | ast.Name("environ" | "os"):
            return True
        case _:
            return False
