"""The comparer of the audit: parts say what must be held, one function compares that with what is held."""

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
    """A value that is wrong. ``what``: its name, with the queue, node or pod it belongs to."""

    what: str
    expected: str
    actual: str


Step = list[Drift]

Claims = Iterable[tuple[str, object, object]]
"""Names, each with the value that follows from the facts and the value that is held."""


def _text(key: object) -> str:
    """A key in messages: the parts of a tuple that has no text of its own."""
    if isinstance(key, tuple) and type(key).__str__ is object.__str__:
        return "/".join(map(_text, key))
    return str(key)


def compare(claims: Claims) -> Step:
    """Every claim that does not hold."""
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
    """Compare what is claimed of each key, so many keys a step.

    The keys are those of now. ``claims`` must bear a key that has gone: then nothing is to be held.
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
    """Check an index of collections: what belongs there is filed, nothing else is, and no entry is empty.

    ``pairs``: entry and member, as the facts have them now.
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
    """A value without what makes no difference: amounts of 0, and the order of a set."""
    if isinstance(value, Tally):
        return amounts(value)
    return sorted(value) if isinstance(value, (set, frozenset)) else value


def amounts(tally: Tally) -> dict[str, int]:
    return {name: amount for name, amount in sorted(tally.items()) if amount}
