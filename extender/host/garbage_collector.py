"""Keeping the garbage collector from stopping everything.

A full collection walks every object that lives: 100 ms for 15,000 pods that came after the start, in which no
call is answered. What has lived through one is therefore taken out of the next ones. It is still freed when
nothing refers to it; only what dies later as a cycle is lost, and neither records nor connections do.
"""

import gc

# A full collection after every second one of the middle generation, instead of every tenth: it has no more to
# walk than what came since the last.
_THRESHOLDS = (700, 10, 1)
_BEFORE = gc.get_threshold()


def spare_what_lives() -> None:
    """Walk all that lives now once more, and never again; and so on, whenever all has been walked."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    if _spare not in gc.callbacks:
        gc.callbacks.append(_spare)


def spare_no_more() -> None:
    """Undo it."""
    if _spare in gc.callbacks:
        gc.callbacks.remove(_spare)
    gc.set_threshold(*_BEFORE)
    gc.unfreeze()


def _spare(phase: str, found: dict[str, int]) -> None:
    if phase == "stop" and found["generation"] == 2:
        gc.freeze()
