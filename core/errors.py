"""Errors that Paddock raises itself: the root of the tree, and the errors that belong to no other module.

A refusal is never an error. An error says that an input cannot be read or cannot be true.
"""

from typing import Self

_SHOWN = 40
"""Characters of a quantity that a message repeats."""


class PaddockError(Exception):
    """Root of every error that Paddock raises itself."""


class QuantityError(PaddockError, ValueError):
    """A quantity that cannot be read, or that is not allowed in its place.

    ``text``: the quantity as written, shortened for messages. ``reason``: what is wrong with it, without the
    text. ``where``: the place in which it was found, outermost first (``container 'app', cpu``); empty if
    unknown.
    """

    def __init__(self, text: str, reason: str, *, where: str = "") -> None:
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        super().__init__(f"{where + ': ' if where else ''}quantity {shown!r}: {reason}")
        self.text = shown
        self.reason = reason
        self.where = where

    def inside(self, place: str) -> Self:
        """Return the same error, found inside ``place``."""
        return type(self)(self.text, self.reason, where=f"{place}, {self.where}" if self.where else place)


class IllegalTransition(PaddockError):
    """An event that the table of phases does not list for the current phase: a defect of Paddock."""

    def __init__(self, subject: str, phase: str, event: str) -> None:
        super().__init__(f"{subject} in phase {phase!r} cannot have the event {event!r}")
