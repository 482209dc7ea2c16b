"""Shorter pauses of Python's garbage collector.

A full collection visits every living object. With 15,000 new pods that takes 100 ms, in which no call is
answered. Objects that survive a collection, of whatever generation, are therefore excluded from the next
ones. They are still freed as soon as no reference to them is left. Only reference cycles among them would
leak. Whatever comes and goes while the server runs must therefore form none, or drop its references when it
ends (`tests.garbage`).
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# A collection begins after 500 new objects and excludes all survivors, so that it visits each object once.
# With the default of 700, a pause took 0.5 ms while large answers were made, since many objects are lists of
# rows. The older generations stay empty, so their turn, which costs more, comes seldom.
_THRESHOLDS = (500, 1_000, 1_000)
_BEFORE = gc.get_threshold()

EVENTS_APART = 200
"""Events between two collections by `Pace`, at least. Each of them makes about five objects that last."""


class Pace:
    """Collections by the work that was done, beside those of CPython.

    CPython counts new objects less freed ones, frozen ones included. Where as many pods go as come, it
    collects seldom. With 150,000 pods a collection visited 11,000 new objects instead of 2,500.
    """

    def __init__(self) -> None:
        #: Events at the last collection.
        self._seen = 0

    def follow(self, events: int) -> None:
        """Collect if enough events were learned since the last time. Do nothing before `freeze_survivors`.

        ``events``: number of all events until now. Must be called often, so that a pause stays short.
        """
        if events - self._seen >= EVENTS_APART and _freeze in gc.callbacks:
            self._seen = events
            gc.collect()


@contextmanager
def without_collections() -> Iterator[None]:
    """Run imports without any collection, and exclude what they made from all later ones.

    They make 250,000 objects, of which almost none is garbage. Collections among them took a sixth of it.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def freeze_survivors() -> None:
    """Collect, then exclude all survivors of this and each later collection from the next ones."""
    gc.collect()
    gc.freeze()
    # CPython puts a full collection off until a quarter as many objects are new as survived the last one.
    # This one has no survivors. Otherwise the next would visit a quarter of all objects of the start.
    gc.collect()
    gc.set_threshold(*_THRESHOLDS)
    if _freeze not in gc.callbacks:
        gc.callbacks.append(_freeze)


def unfreeze() -> None:
    """Undo `freeze_survivors`."""
    if _freeze in gc.callbacks:
        gc.callbacks.remove(_freeze)
    gc.set_threshold(*_BEFORE)
    gc.unfreeze()


def _freeze(phase: str, _found: dict[str, int]) -> None:
    if phase == "stop":
        gc.freeze()
