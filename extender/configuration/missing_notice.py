"""Telling that the configuration in force is missing from its source (F-4): at once, then every so often.

An Event outlives neither the API server's hour nor the next one who looks, so it is repeated while it lasts;
a ConfigMap that comes and goes must not make one each time.
"""

from collections.abc import Callable

from extender.configuration.reload import Source

APART = 60.0
"""Seconds between two Events, at least."""

REPEATED = 600.0
"""Seconds between two Events about one loss that lasts."""


class MissingNotice:
    """``post(source, message)``: write the Event. ``clock``: seconds that never go back."""

    def __init__(self, clock: Callable[[], float], post: Callable[[Source, str], None]) -> None:
        self._clock = clock
        self._post = post
        self._source: Source | None = None
        self._message = ""
        self._posted_at = self._due = float("-inf")

    def changed(self, source: Source, message: str) -> None:
        """Something is missing, or nothing any more: then ``message`` is empty."""
        self._source, self._message = source, message
        self._due = self._posted_at + APART
        self.check()

    def check(self) -> None:
        """Post what is due; to be called every now and then."""
        now = self._clock()
        if self._source is not None and self._message and now >= self._due:
            self._posted_at, self._due = now, now + REPEATED
            self._post(self._source, self._message)
