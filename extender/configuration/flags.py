"""Settings as command-line flags: names, defaults as a user writes them, and help texts."""

import argparse
from collections.abc import Mapping
from typing import Any

from core.quantity import amount_text
from extender.configuration.settings import NOT_RELOADABLE, Settings
from extender.configuration.values import MEMORY, Parsed
from extender.wire.placeholder import ANY, ORIGINATOR, TemplateParts

_GROUP = "settings"
_ABOUT = (
    "Each setting is also a key of the ConfigMap yunikorn-configs, given in brackets, and an environment "
    "variable. The variable of --turn-lease is PADDOCK_TURN_LEASE. A flag wins over a variable, and a "
    "variable over a key."
)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add a flag for each setting. A value that is not given stays None."""
    group = parser.add_argument_group(_GROUP, _ABOUT)
    for name in Settings.model_fields:
        group.add_argument(flag_of(name), dest=name, metavar=metavar_of(name), help=_help(name))


def flag_of(name: str) -> str:
    """The flag of a setting, by its field."""
    return f"--{name.replace('_', '-')}"


def metavar_of(name: str) -> str:
    """Type of a setting's value, such as ``DURATION`` or ``true|false``."""
    (parsed,) = (each for each in Settings.model_fields[name].metadata if isinstance(each, Parsed))
    return parsed.metavar


def default_of(name: str) -> str:
    """Default of a setting, as a user would write it."""
    default = Settings.model_fields[name].default
    if metavar_of(name) == MEMORY.metavar:
        return amount_text("memory", default)
    return _written(default)


def _help(name: str) -> str:
    field = Settings.model_fields[name]
    meaning = (field.description or "").replace("`", "")
    default = default_of(name) or "empty"
    restart = ", changed only by a restart" if name in NOT_RELOADABLE else ""
    # A percent sign would be a placeholder of argparse.
    return f"{meaning}. [{field.alias}] (default: {default}{restart})".replace("%", "%%")


def _written(default: Any) -> str:
    match default:
        case bool():
            return str(default).lower()
        case float():
            return f"{default:g}s"
        case frozenset():
            return ",".join(sorted(default))
        case TemplateParts():
            parts = {"tolerations": default.tolerations, "labels": default.labels}
            parts["annotations"] = default.annotations
            return ",".join(f"{part}={ANY if copied else ORIGINATOR}" for part, copied in parts.items())
        case _:
            return str(default)


def environment_from(environ: Mapping[str, str]) -> dict[str, str]:
    """Settings in the environment, by field. A variable is ``PADDOCK_`` and the field's name in capitals."""
    return {
        name: environ[variable]
        for name in Settings.model_fields
        if (variable := f"PADDOCK_{name.upper()}") in environ
    }
