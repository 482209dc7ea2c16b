"""`Resource`, the immutable vector of amounts, and the parts that it shares with `Limit` and `Tally`.

Here are storage, identity and arithmetic. Caps live in `limit`, counters in `tally`, comparisons in
`comparisons`.
"""

import math
from collections.abc import Callable, ItemsView, KeysView, Mapping
from typing import Final

from core.quantity import INT64_MAX, INT64_MIN, saturated

MEMORY: Final = "memory"
PODS: Final = "pods"
VCORE: Final = "vcore"
_APART: Final = frozenset({MEMORY, PODS, VCORE})


class Amounts:
    """Signed 64-bit amounts by resource name, with no opinion on what an absent name means.

    Units: millicores for ``vcore``, the base unit for every other resource.
    """

    __slots__ = ()

    def by_name(self) -> dict[str, int]:
        """Amounts in the order of names, zero amounts included. Read only."""
        raise NotImplementedError

    def items(self) -> ItemsView[str, int]:
        """Names and amounts, in name order."""
        return self.by_name().items()

    def names(self) -> KeysView[str]:
        """Names that are present, zero amounts included."""
        return self.by_name().keys()

    def __contains__(self, name: object) -> bool:
        return name in self.by_name()

    def __len__(self) -> int:
        return len(self.by_name())

    def __bool__(self) -> bool:
        """True if any name is present, zero amounts included: the negation of IsEmpty."""
        return bool(self.by_name())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.by_name()})"


class Counted(Amounts):
    """Amounts whose absent names are zero: `Resource` and `Tally`."""

    __slots__ = ()

    def get(self, name: str) -> int:
        """Amount of ``name``, or 0 if it is absent."""
        return self.by_name().get(name, 0)

    def split(self) -> "Split":
        """Amounts, with those that nearly every pod has apart from others. Read only."""
        raise NotImplementedError

    def copied(self) -> dict[str, int]:
        """Copy of the amounts by name."""
        return self.by_name().copy()

    def add_to(self, amounts: dict[str, int]) -> None:
        """Add to plain amounts. Names whose amount is 0 are left out."""
        for name, amount in self.by_name().items():
            if amount:
                amounts[name] = amounts.get(name, 0) + amount


class Split:
    """Amounts of ``memory``, ``pods`` and ``vcore``, which nearly every pod has, and of other names.

    They are added many times for each pod, and as attributes without a dictionary.
    """

    __slots__ = ("memory", "others", "pods", "vcore")

    def __init__(self, memory: int, pods: int, vcore: int, others: dict[str, int]) -> None:
        """``others``: amounts of all other names but those that are 0."""
        self.memory = memory
        self.pods = pods
        self.vcore = vcore
        self.others = others

    def copy(self) -> "Split":
        """Copy that changes by itself."""
        return Split(self.memory, self.pods, self.vcore, self.others.copy())


def split_of(amounts: Mapping[str, int]) -> Split:
    """Split amounts by name."""
    others = {name: amount for name, amount in amounts.items() if amount and name not in _APART}
    return Split(amounts.get(MEMORY, 0), amounts.get(PODS, 0), amounts.get(VCORE, 0), others)


def in_name_order(amounts: Mapping[str, int]) -> dict[str, int]:
    """Copy amounts in the order of their names. An amount beyond 64 bits saturates."""
    return {
        name: amount if INT64_MIN <= amount <= INT64_MAX else saturated(amount)
        for name, amount in sorted(amounts.items())
    }


def over_union(left: Amounts, right: Amounts, combine: Callable[[int, int], int]) -> dict[str, int]:
    """Apply ``combine`` to every name of either side, an absent amount being 0. In name order, saturated."""
    mine, others = left.by_name(), right.by_name()
    # Most often both sides have the same names, which are in order on the left already.
    names = mine if mine.keys() == others.keys() else sorted(mine.keys() | others.keys())
    return {name: saturated(combine(mine.get(name, 0), others.get(name, 0))) for name in names}


class Resource(Counted):
    """Immutable vector of amounts in which an absent name is zero. Amounts may be negative.

    ``==`` and hashing compare names as well as amounts (DeepEquals). So an explicit zero (RES-6) differs from
    an absent name, and equal values can be shared. `amounts_equal` is Equals, where an absent name is zero.
    """

    __slots__ = ("_amounts", "_hash", "_split")

    def __init__(self, amounts: Mapping[str, int], *, owned: bool = False) -> None:
        """Copy amounts in the order of names. An amount beyond 64 bits saturates.

        ``owned``: take the dictionary itself, which must be in name order, saturated and never changed again.
        """
        self._amounts: dict[str, int] = (
            amounts if owned and isinstance(amounts, dict) else in_name_order(amounts)
        )
        self._hash: int | None = None
        self._split: Split | None = None

    @staticmethod
    def over(amounts: dict[str, int]) -> "Resource":
        """Make a value that owns ``amounts``; see `__init__`."""
        return Resource(amounts, owned=True)

    def by_name(self) -> dict[str, int]:
        """Amounts in the order of names, zero amounts included. Read only."""
        return self._amounts

    def split(self) -> Split:
        """Amounts, with those that nearly every pod has apart from others. Read only."""
        if self._split is None:
            self._split = split_of(self._amounts)
        return self._split

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Resource):
            return NotImplemented
        return self._amounts == other._amounts

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self._amounts.items()))
        return self._hash

    @classmethod
    def sum_of(cls, *parts: Counted) -> "Resource":
        """Add any number of vectors. Saturates once, at the end."""
        amounts: dict[str, int] = {}
        for part in parts:
            for name, amount in part.by_name().items():
                amounts[name] = amounts.get(name, 0) + amount
        return cls(amounts)

    def __add__(self, other: Counted) -> "Resource":
        """Add: union of names, saturating."""
        return Resource.over(over_union(self, other, lambda mine, theirs: mine + theirs))

    def __sub__(self, other: Counted) -> "Resource":
        """Sub: union of names, saturating. The result may be negative."""
        return Resource.over(over_union(self, other, lambda mine, theirs: mine - theirs))

    def minus_floored(self, other: Counted) -> "Resource":
        """SubEliminateNegative: subtract, and replace every negative amount by 0."""
        return Resource.over(over_union(self, other, lambda mine, theirs: max(0, mine - theirs)))

    def minus_checked(self, other: Counted) -> tuple["Resource", tuple[str, ...]]:
        """SubErrorNegative: `minus_floored`, and the names whose amounts had been negative, in order."""
        exact = self - other
        negative = tuple(name for name, amount in exact.items() if amount < 0)
        return (self.minus_floored(other) if negative else exact), negative

    def largest(self, other: Counted) -> "Resource":
        """CWMAX: the larger amount of every name of either side.

        An absent amount is 0, also beside negatives.
        """
        if self is other:
            return self
        return Resource.over(over_union(self, other, max))

    def pruned(self) -> "Resource":
        """Prune: drop the names whose amount is 0."""
        return Resource.over({name: amount for name, amount in self._amounts.items() if amount})

    def times(self, count: int) -> "Resource":
        """MultiplyBy a whole number, saturating."""
        return Resource.over({name: saturated(amount * count) for name, amount in self._amounts.items()})

    def times_fraction(self, factor: float) -> "Resource":
        """MultiplyBy a float: each product is truncated toward zero and saturates.

        Raises ``ValueError`` if ``factor`` is not finite.
        """
        if not math.isfinite(factor):
            raise ValueError(f"cannot multiply a resource by {factor}")
        return Resource.over({name: _truncated(amount * factor) for name, amount in self._amounts.items()})

    def covers(self, size: Counted) -> bool:
        """FitIn, `fits_strict`: no amount of ``size`` exceeds ours.

        Absent and negative ones of ours count as 0. The test of nodes and of the root queue (QUO-8), which
        cannot give what they do not have.
        """
        mine = self._amounts
        for name, amount in size.by_name().items():  # noqa: SIM110 - asked of every node: a generator costs double
            if amount > 0 and amount > mine.get(name, 0):
                return False
        return True

    def amounts_equal(self, other: Counted) -> bool:
        """Equals: the same amounts, an absent name being 0."""
        mine, others = self._amounts, other.by_name()
        return mine == others or all(mine.get(k, 0) == others.get(k, 0) for k in mine.keys() | others.keys())


def _truncated(product: float) -> int:
    # Not int() first, because a large amount times a large factor is infinite.
    return int(product) if INT64_MIN < product < INT64_MAX else (INT64_MAX if product > 0 else INT64_MIN)


ZERO: Final = Resource({})
"""No resource of any kind."""
