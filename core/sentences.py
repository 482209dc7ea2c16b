"""Phrases of Events and explanations for users. What is named of others is decided here alone."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from core.quantity import amount_text

_FIRST: Final = ("vcore", "memory")
_NAMED_AT_MOST: Final = 3


def other_pods(pods: Collection[tuple[str, str, str]], *, named: bool) -> str:
    """Other pods, as users may read of them: by name, or only by queue. Empty for none.

    ``pods``: namespace, name and queue of each. ``named``: `LedgerSettings.names_others`.
    """
    if named:
        return several(f"{namespace}/{name}" for namespace, name, _ in pods)
    queues = several({queue or "no queue" for _, _, queue in pods})
    return f"{'a pod' if len(pods) == 1 else 'pods'} of {queues}" if queues else ""


def several(names: Iterable[str]) -> str:
    """``a``, ``a and b``, or ``a, b, c and 4 more``; empty for none. Names are sorted."""
    every = sorted(names)
    shown, more = every[:_NAMED_AT_MOST], len(every) - _NAMED_AT_MOST
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def in_order(names: Iterable[str]) -> list[str]:
    """Names of resources as people list them: CPU, memory, then the others."""
    return sorted(
        names, key=lambda name: (name not in _FIRST, _FIRST.index(name) if name in _FIRST else 0, name)
    )


def resource_name(name: str) -> str:
    """The name of a resource as pods spell it: ``cpu`` for ``vcore``."""
    return "cpu" if name == "vcore" else name


def amount_phrase(name: str, amount: int) -> str:
    """``4 cpu`` or ``16Gi memory``."""
    return f"{signed_amount(name, amount)} {resource_name(name)}"


def signed_amount(name: str, amount: int) -> str:
    """``4``, ``500m``, ``16Gi`` or ``-16Gi``."""
    return f"-{amount_text(name, -amount)}" if amount < 0 else amount_text(name, amount)


def amounts_phrase(amounts: Mapping[str, int]) -> str:
    """``4 cpu and 16Gi memory``, without the number of pods unless there is nothing else."""
    names = [name for name in in_order(amounts) if amounts[name] > 0]
    names = [name for name in names if name != "pods"] or names
    phrase = [amount_phrase(name, amounts[name]) for name in names]
    return " and ".join(part for part in (", ".join(phrase[:-1]), *phrase[-1:]) if part) or "nothing"
