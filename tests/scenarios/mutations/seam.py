"""Replacements that switch a rule off. It then answers as if it did not apply, and never raises.

A mutation names rows of `tests.scenarios.mutations.rule_entries`, and no other part of the product.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from tests.scenarios.mutations.rule_entries import RULE_ENTRIES

PRODUCT = ("core.", "extender.")

Rule = Callable[..., Any]


class Replacement(NamedTuple):
    """The replacement of one entry of the table."""

    #: Key of the entry.
    key: str
    #: Called with the rule itself first, then with the rule's own arguments.
    by: Rule


Mutate = tuple[Replacement, ...]
"""The replacements that switch one rule off together."""


def replaced(key: str, by: Rule) -> Mutate:
    """``by`` is given the rule itself first."""
    if key not in RULE_ENTRIES:
        raise KeyError(f"no row of the table of rule entries is named {key}")
    return (Replacement(key, by),)


def answering(key: str, answer: Any) -> Mutate:
    """The rule always gives the same answer."""
    return replaced(key, lambda *_, **__: answer)


def both(*mutations: Mutate) -> Mutate:
    return tuple(each for mutation in mutations for each in mutation)


# -- the seam ------------------------------


class Place(NamedTuple):
    """Where an entry is defined."""

    #: The module or class that holds it.
    owner: Any
    #: Name of the entry there.
    name: str
    #: The function or property itself.
    rule: Any


class MissingEntry(LookupError):
    """Error for a row of the table that names nothing replaceable."""


def resolved(key: str) -> Place:
    """Raise `MissingEntry`, which names the row, if its path leads to no function or property."""
    path = RULE_ENTRIES[key].path
    module, _, names = path.partition(":")
    *above, name = names.split(".")
    try:
        owner: Any = importlib.import_module(module)
        for each in above:
            owner = vars(owner)[each]
        rule = vars(owner)[name]
    except (ImportError, KeyError) as error:
        raise MissingEntry(f"row {key!r} of the rule entries: there is no {path} ({error})") from error
    if isinstance(rule, type) or not (callable(rule) or isinstance(rule, property)):
        raise MissingEntry(f"row {key!r} of the rule entries: {path} is neither a function nor a property")
    return Place(owner, name, rule)


def switch_off(mutation: Mutate, patch: pytest.MonkeyPatch) -> None:
    for key, by in mutation:
        place = resolved(key)
        stand_in = _stand_in(by, place.rule)
        for owner, name in _holders(place):
            patch.setattr(owner, name, stand_in)


def _stand_in(by: Rule, rule: Any) -> Any:
    if isinstance(rule, property):
        return property(lambda self: by(rule.fget, self))
    return lambda *args, **more: by(rule, *args, **more)


def _holders(place: Place) -> Iterator[tuple[Any, str]]:
    """All places with an entry's name: its definition, and each module that imports it."""
    if isinstance(place.owner, type):
        yield place.owner, place.name
        return
    product = [module for name, module in sorted(sys.modules.items()) if name.startswith(PRODUCT)]
    for module in product:
        yield from [(module, name) for name, held in vars(module).items() if held is place.rule]
