"""`Limit`, the caps whose absent names are unlimited, and the test of a size against a cap and its usage."""

from collections.abc import Mapping
from typing import Final

from core.quantity import saturated
from core.resource.amounts import Amounts, Counted, Resource, in_name_order


class Limit(Amounts):
    """Immutable caps, or the headroom under them. An absent name is unlimited.

    Amounts may be negative: they say how far usage is above a cap that was lowered. `admits` reads a negative
    cap as 0, `holds` as it is.
    """

    __slots__ = ("_amounts", "_hash")

    def __init__(self, amounts: Mapping[str, int], *, owned: bool = False) -> None:
        """Copy amounts in the order of names. An amount beyond 64 bits saturates.

        ``owned``: take the dictionary itself, which must be in name order, saturated and never changed again.
        """
        self._amounts: dict[str, int] = (
            amounts if owned and isinstance(amounts, dict) else in_name_order(amounts)
        )
        self._hash: int | None = None

    @staticmethod
    def over(amounts: dict[str, int]) -> "Limit":
        """Make a value that owns ``amounts``; see `__init__`."""
        return Limit(amounts, owned=True)

    def by_name(self) -> dict[str, int]:
        """Caps in the order of names, zeros included. Read only."""
        return self._amounts

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Limit):
            return NotImplemented
        return self._amounts == other._amounts

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self._amounts.items()))
        return self._hash

    @classmethod
    def of(cls, amounts: Counted) -> "Limit":
        """Limit that caps exactly the names of ``amounts``."""
        return cls(dict(amounts.items()))

    def get(self, name: str) -> int | None:
        """Cap on ``name``, or None if it is unlimited."""
        return self._amounts.get(name)

    def as_resource(self) -> Resource:
        """Caps read as amounts. A name without a cap becomes zero, which is no longer "unlimited"."""
        return Resource.over(self._amounts)

    def plus(self, *more: Counted) -> "Limit":
        """AddOnlyExisting: every cap raised by the amount that ``more`` has of it. Saturating."""
        caps = self._amounts
        for size in more:
            caps = {name: saturated(cap + size.get(name)) for name, cap in caps.items()}
        return Limit.over(caps)

    def minus(self, *used: Counted) -> "Limit":
        """SubOnlyExisting, `sub_known`: the headroom under every cap. Saturating, may be negative (QUO-3)."""
        caps = self._amounts
        for size in used:
            caps = {name: saturated(cap - size.get(name)) for name, cap in caps.items()}
        return Limit.over(caps)

    def admits(self, size: Counted) -> bool:
        """FitInMaxUndef, `fits_cap`: no amount of ``size`` exceeds its cap. A negative cap counts as 0.

        The test of every quota and headroom below the root (QUO-7, QUO-8).
        """
        caps = self._amounts
        for name, amount in size.by_name().items():
            # An amount that is not positive fits under every cap, even a negative one.
            if amount > 0 and (cap := caps.get(name)) is not None and amount > cap:
                return False
        return True

    def holds(self, size: Counted) -> bool:
        """FitInActual, `fits_raw`: no amount of ``size`` exceeds its cap. A negative cap counts as it is.

        The test of guarantees, where an overdrawn amount must not count as none.
        """
        caps = self._amounts
        return all(amount <= caps.get(name, amount) for name, amount in size.by_name().items())

    def tightest(self, other: "Limit") -> "Limit":
        """CWMIN, `min_union`: the smaller cap of every name. A name capped on one side only has that cap."""
        mine, others = self._amounts, other._amounts
        if self is other or not others:
            return self
        if not mine:
            return other
        return Limit.over(
            {
                name: min(mine.get(name, others.get(name, 0)), others.get(name, mine.get(name, 0)))
                for name in sorted(mine.keys() | others.keys())
            }
        )

    def tightest_of_known(self, other: "Limit") -> "Limit":
        """CWMIN-OnlyExisting, `min_left`: our caps, each at most the other side's, if there is one."""
        others = other._amounts
        return Limit.over({name: min(cap, others.get(name, cap)) for name, cap in self._amounts.items()})

    def filled(self, other: "Limit") -> "Limit":
        """MergeIfNotPresent, `fill`: our caps, and the caps of ``other`` on names that we do not cap."""
        return Limit.over(dict(sorted({**other._amounts, **self._amounts}.items())))


UNLIMITED: Final = Limit({})
"""No cap on anything."""


def first_excess(cap: Limit, size: Counted, *counted: Counted) -> str | None:
    """First name, in order, that ``size`` asks for and whose ``counted`` amounts together exceed ``cap``.

    The commit check of one queue (QUO-8). ``size`` is one of ``counted``, and only its positive amounts
    count. Makes no intermediate value.
    """
    caps = cap.by_name()
    for name, amount in size.by_name().items():
        if amount > 0 and (most := caps.get(name)) is not None:
            # Another variable, since mypyc computes with objects in one that may be None.
            left: int = most
            for each in counted:
                left -= each.get(name)
            if left < 0:
                return name
    return None
