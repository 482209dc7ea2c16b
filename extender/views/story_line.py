"""A line of a pod's story."""

import msgspec


class StoryLine(msgspec.Struct, frozen=True, gc=False):
    """A line of a story. ``at``: seconds since the epoch. ``times``: number of repetitions in a row."""

    at: float
    what: str
    detail: str
    times: int = 1
