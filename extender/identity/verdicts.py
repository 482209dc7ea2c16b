"""Cache of reviews' verdicts. No I/O. Keys are digests, so no token is stored."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from extender.identity.caller import AuthenticatedUser

ACCEPTED_FOR = 60.0
REFUSED_FOR = 10.0
"""Seconds for which a refusal is stored, from the start of its review."""

MOST_VERDICTS = 1_000

Key = tuple[str, bytes]
"""Kind of review, and the SHA-256 of its subject."""


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """Verdict of one review. ``user``: the accepted user, None for a refusal; ``until``: clock time."""

    user: AuthenticatedUser | None
    until: float


class Verdicts:
    """Cache of at most ``most`` verdicts. The oldest are dropped first. Outdated ones may still be stored."""

    def __init__(self, clock: Callable[[], float], *, most: int = MOST_VERDICTS) -> None:
        self._clock = clock
        self._most = most
        self._by_key: OrderedDict[Key, ReviewVerdict] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_key)

    def current(self, key: Key) -> ReviewVerdict | None:
        """Return the valid verdict for a key, or None."""
        found = self._by_key.get(key)
        return found if found is not None and self._clock() < found.until else None

    def was_accepted(self, key: Key) -> bool:
        """True if the latest stored verdict accepted the caller, even if the verdict is outdated."""
        found = self._by_key.get(key)
        return found is not None and found.user is not None

    def add(self, key: Key, user: AuthenticatedUser | None, *, begun: float) -> ReviewVerdict:
        """Store and return a verdict. ``begun``: start of its review; ``user``: None for a refusal."""
        verdict = ReviewVerdict(user, begun + (REFUSED_FOR if user is None else ACCEPTED_FOR))
        self._by_key.pop(key, None)
        self._by_key[key] = verdict
        if len(self._by_key) > self._most:
            self._by_key.popitem(last=False)
        return verdict
