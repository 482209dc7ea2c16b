"""`Limit`, the caps whose absent names are unlimited, and the test of a size against a cap and its usage."""

from collections.abc import Mapping
from typing import Final

from core.quantity import saturated
from core.resource.amounts import Amounts, Counted, Resource, in_name_order


class Limit(Amounts):
    """Immutable caps, or the room left under them; an absent name is unlimited.

    A negative amount is kept: it says how far usage is over a cap that was lowered. `admits` reads it as 0,
    `holds` as it is.
    """

    __slots__ = ("_hash",)

    def __init__(self, amounts: Mapping[str, int], *, owned: bool = False) -> None:
        """Copy amounts in the order of names; what is beyond 64 bits saturates.

        ``owned``: take the dictionary itself. It is in name order, saturated, and never touched again.
        """
        self._amounts = amounts if owned and isinstance(amounts, dict) else in_name_order(amounts)
        self._hash: int | None = None

    @staticmethod
    def over(amounts: dict[str, int]) -> "Limit":
        """The value that owns amounts; see `__init__`."""
        return Limit(amounts, owned=True)

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
        """The limit that caps exactly the names of ``amounts``."""
        return cls(dict(amounts.items()))

    def get(self, name: str) -> int | None:
        """The cap on ``name``; ``None`` when it is unlimited."""
        return self._amounts.get(name)

    def as_resource(self) -> Resource:
        """The caps read as amounts: a name without a cap becomes zero, which is no longer "unlimited"."""
        return Resource.over(self._amounts)

    def plus(self, *more: Counted) -> "Limit":
        """AddOnlyExisting: every cap raised by what ``more`` holds of it; saturating."""
        caps = self._amounts
        for size in more:
            caps = {name: saturated(cap + size.get(name)) for name, cap in caps.items()}
        return Limit.over(caps)

    def minus(self, *used: Counted) -> "Limit":
        """SubOnlyExisting, `sub_known`: the room under every cap; saturating, may go negative (QUO-3)."""
        caps = self._amounts
        for size in used:
            caps = {name: saturated(cap - size.get(name)) for name, cap in caps.items()}
        return Limit.over(caps)

    def admits(self, size: Counted) -> bool:
        """FitInMaxUndef, `fits_cap`: no amount of ``size`` exceeds its cap; a negative cap is 0.

        The test of every quota and headroom below the root (QUO-7, QUO-8).
        """
        caps = self._amounts
        for name, amount in size._amounts.items():
            # What is not positive fits under every cap, a negative one included.
            if amount > 0 and (cap := caps.get(name)) is not None and amount > cap:
                return False
        return True

    def holds(self, size: Counted) -> bool:
        """FitInActual, `fits_raw`: no amount of ``size`` exceeds its cap; a negative cap is itself.

        The test of guarantees, where room already overdrawn must not pass for none.
        """
        caps = self._amounts
        return all(amount <= caps.get(name, amount) for name, amount in size._amounts.items())

    def tightest(self, other: "Limit") -> "Limit":
        """CWMIN, `min_union`: the smaller cap of every name; one capped on one side only keeps that cap."""
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
        """CWMIN-OnlyExisting, `min_left`: our caps, each held to the other's where that has one."""
        others = other._amounts
        return Limit.over({name: min(cap, others.get(name, cap)) for name, cap in self._amounts.items()})

    def filled(self, other: "Limit") -> "Limit":
        """MergeIfNotPresent, `fill`: our caps, and those of ``other`` on names we do not cap."""
        return Limit.over(dict(sorted({**other._amounts, **self._amounts}.items())))


UNLIMITED: Final = Limit({})
"""No cap on anything."""


def first_excess(cap: Limit, size: Counted, *counted: Counted) -> str | None:
    """The first name, in order, that ``size`` asks for and of which ``counted`` together pass ``cap``.

    The commit check of one queue (QUO-8), for which ``size`` is one of those counted: only names of which it
    asks a positive amount count. Makes no value in between.
    """
    caps = cap._amounts
    for name, amount in size._amounts.items():
        if amount > 0 and (most := caps.get(name)) is not None:
            for each in counted:
                most -= each._amounts.get(name, 0)
            if most < 0:
                return name
    return None
