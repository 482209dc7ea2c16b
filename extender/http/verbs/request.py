"""Request of a connection, and the verb that its path names."""

from dataclasses import dataclass

from extender.http.intake import SMALL, BodyLimits
from extender.http.verbs.answering import Verb
from extender.http.verbs.content import HIGH, Content


@dataclass(frozen=True, slots=True)
class Route:
    """Verb and the limits of its bodies."""

    verb: Verb
    limits: BodyLimits


class Request:
    """Request whose head is being read, or was."""

    __slots__ = ("asks_first", "content", "encoding", "keeps", "length", "method", "url")

    def __init__(self, content: Content) -> None:
        self.content = content
        self.url = b""
        self.method = b""
        self.encoding = ""
        self.length: int | None = None
        #: True if the client waits for leave to send the body.
        self.asks_first = False
        self.keeps = True

    @property
    def path(self) -> bytes:
        """Target without its query."""
        return self.url.partition(b"?")[0]

    @property
    def comes_soon(self) -> bool:
        """True if a short body is still arriving, so that waiting for it costs less than a task."""
        short = self.length is not None and self.length <= HIGH
        return short and not self.asks_first and not self.content.is_complete

    def is_small(self, limits: BodyLimits) -> bool:
        """True if the body is there as a whole, and within all limits."""
        held = self.content.held <= min(SMALL, limits.whole_objects)
        return self.content.is_complete and not self.encoding and held
