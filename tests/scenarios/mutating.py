"""Ways to switch a rule off: it gives the answer it would give if it did not apply, never an exception."""

from collections.abc import Callable
from typing import Any

import pytest

Mutate = Callable[[pytest.MonkeyPatch], None]


def answering(target: object, name: str, answer: Any) -> Mutate:
    """The rule always answers the same."""
    return lambda patch: patch.setattr(target, name, lambda *_, **__: answer)


def replaced(target: object, name: str, by: Callable[..., Any]) -> Mutate:
    """``by`` is given the rule itself first."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        rule = getattr(target, name)
        patch.setattr(target, name, lambda *args, **more: by(rule, *args, **more))

    return mutate


def valued(target: object, name: str, value: object) -> Mutate:
    return lambda patch: patch.setattr(target, name, value)


def both(*mutations: Mutate) -> Mutate:
    def mutate(patch: pytest.MonkeyPatch) -> None:
        for each in mutations:
            each(patch)

    return mutate


def fixed(target: type, name: str, value: object) -> Mutate:
    """A member of a frozen class is always the same."""
    return valued(target, name, property(lambda _: value, lambda *_: None))
