"""A line of a pod's story."""

import sys

import msgspec

# Bytes of a line without texts, including references to it.
_LINE = 120


class StoryLine(msgspec.Struct, frozen=True, gc=False):
    """A line of a story. ``at``: seconds since the epoch. ``times``: number of repetitions in a row."""

    at: float
    what: str
    detail: str
    times: int = 1

    @property
    def bytes(self) -> int:
        """Memory of a line, at most."""
        return _LINE + sys.getsizeof(self.what) + sys.getsizeof(self.detail)
