"""Objects that only the garbage collector could free.

The server excludes survivors of a full collection from the next ones. Reference cycles among them would never
be freed.
"""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage() -> Iterator[None]:
    """Fail if anything made inside is in a reference cycle and not in use any more."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield
        gc.collect()
        assert Counter(type(each).__name__ for each in gc.garbage) == {}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
