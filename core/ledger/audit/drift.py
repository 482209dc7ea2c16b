"""Comparison in the audit. Each part claims values, and one function compares them with the stored ones."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from core.ledger.state.state import State
from core.resource import Tally

KEYS_PER_STEP = 200

K = TypeVar("K")
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Drift:
    """A wrong value. ``what``: its name, with the queue, node or pod to which it belongs."""

    what: str
    expected: str
    actual: str


Step = list[Drift]

Claims = Iterable[tuple[str, object, object]]
"""Names, each with the value that follows from the facts, and the stored value."""


def _text(key: object) -> str:
    """Text of a key in messages: the parts of a tuple that has no text of its own."""
    if isinstance(key, tuple) and type(key).__str__ is object.__str__:
        return "/".join(map(_text, key))
    return str(key)


def compare(claims: Claims) -> Step:
    """Claims that do not hold."""
    return [
        Drift(name, str(wanted), str(found))
        for name, expected, held in claims
        if expected != held and (wanted := _plain(expected)) != (found := _plain(held))
    ]


def compare_each(
    state: State,
    keys: Iterable[K],
    claims: Callable[[State, K], Claims],
    title: Callable[[K], str] = _text,
) -> Iterator[Step]:
    """Compare the claims about each key, a bounded number of keys per step.

    The keys are those of now. ``claims`` must accept a key that has vanished, about which nothing is claimed.
    """
    known = list(dict.fromkeys(keys))
    for start in range(0, len(known), KEYS_PER_STEP):
        some = known[start : start + KEYS_PER_STEP]
        yield [
            replace(drift, what=f"{drift.what} of {title(key)}")
            for key in some
            for drift in compare(claims(state, key))
        ]


def compare_index(
    state: State,
    name: str,
    index: Callable[[State], Mapping[A, Collection[B]]],
    pairs: Iterable[tuple[A, B]],
    belongs: Callable[[State, A, B], bool],
) -> Iterator[Step]:
    """Check an index of collections: every member that belongs is filed, no other is, and no entry is empty.

    ``pairs``: entry and member, as they follow from the facts.
    """

    def claims(state: State, pair: tuple[A, B]) -> Claims:
        entry, member = pair
        yield name, belongs(state, entry, member), member in index(state).get(entry, ())

    def is_used(state: State, entry: A) -> Claims:
        yield f"{name}: any", entry in index(state), bool(index(state).get(entry))

    filed = ((entry, member) for entry, members in index(state).items() for member in members)
    yield from compare_each(state, chain(pairs, filed), claims)
    yield from compare_each(state, index(state), is_used)


def _plain(value: object) -> object:
    """Value without irrelevant differences: amounts of 0, and the order of a set."""
    if isinstance(value, Tally):
        return amounts(value)
    return sorted(value) if isinstance(value, (set, frozenset)) else value


def amounts(tally: Tally) -> dict[str, int]:
    """Nonzero amounts of a tally, in name order."""
    return {name: amount for name, amount in sorted(tally.items()) if amount}
