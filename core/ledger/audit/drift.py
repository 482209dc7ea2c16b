"""What an audit finds, and the steps it is found in."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from core.resource import Tally

KEYS_PER_STEP = 200

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Drift:
    """One counter that is wrong. ``what``: its name, with the queue, node or pod it belongs to."""

    what: str
    expected: str
    actual: str


Step = list[Drift]


def each(keys: Iterable[K], check: Callable[[K], Step]) -> Iterator[Step]:
    """One step per so many keys. The keys are those of now; ``check`` must bear one that has gone."""
    known = list(keys)
    for start in range(0, len(known), KEYS_PER_STEP):
        yield [drift for key in known[start : start + KEYS_PER_STEP] for drift in check(key)]


def compare(what: str, expected: object, actual: object) -> Step:
    return [] if expected == actual else [Drift(what, str(expected), str(actual))]


def compare_tallies(what: str, expected: Tally, actual: Tally) -> Step:
    return compare(what, amounts(expected), amounts(actual))


def amounts(tally: Tally) -> dict[str, int]:
    return {name: amount for name, amount in sorted(tally.items()) if amount}
