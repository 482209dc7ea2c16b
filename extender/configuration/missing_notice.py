"""Events about a configuration in force that is missing from its source (F-4).

The Event is posted at once and repeated while the loss lasts, since the API server deletes Events after an
hour. A ConfigMap that is deleted and created again and again does not cause an Event each time.
"""

from collections.abc import Callable

from extender.configuration.reload import Source

APART = 60.0
"""Seconds between two Events about different losses, at least."""

REPEATED = 600.0
"""Seconds between two Events about a loss that lasts."""


class MissingNotice:
    """Timing of these Events.

    ``clock``: monotonic seconds. ``post(source, message)``: posts the Event.
    """

    def __init__(self, clock: Callable[[], float], post: Callable[[Source, str], None]) -> None:
        self._clock = clock
        self._post = post
        self._source: Source | None = None
        self._message = ""
        self._posted_at = self._due = float("-inf")

    def changed(self, source: Source, message: str) -> None:
        """Note a loss, or its end, for which ``message`` is empty."""
        self._source, self._message = source, message
        self._due = self._posted_at + APART
        self.check()

    def check(self) -> None:
        """Post an Event if one is due. Must be called regularly."""
        now = self._clock()
        if self._source is not None and self._message and now >= self._due:
            self._posted_at, self._due = now, now + REPEATED
            self._post(self._source, self._message)
