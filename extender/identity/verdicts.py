"""Verdicts of reviews, remembered for a while. No I/O, and no token: keys are digests."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from extender.identity.caller import AuthenticatedUser

ACCEPTED_FOR = 60.0
REFUSED_FOR = 10.0
"""Seconds, from the moment in which the review began."""

MOST_VERDICTS = 1_000

Key = tuple[str, bytes]
"""Kind of review, and the SHA-256 of what was reviewed."""


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """The answer of one review. ``user``: who was accepted, None for a refusal; ``until``: clock time."""

    user: AuthenticatedUser | None
    until: float


class Verdicts:
    """The latest verdicts. Beyond ``most`` the oldest one goes, so an outdated one may still be there."""

    def __init__(self, clock: Callable[[], float], *, most: int = MOST_VERDICTS) -> None:
        self._clock = clock
        self._most = most
        self._by_key: OrderedDict[Key, ReviewVerdict] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_key)

    def current(self, key: Key) -> ReviewVerdict | None:
        """The verdict, unless there is none or its time is over."""
        found = self._by_key.get(key)
        return found if found is not None and self._clock() < found.until else None

    def was_accepted(self, key: Key) -> bool:
        """True if the latest verdict accepted, also when its time is over."""
        found = self._by_key.get(key)
        return found is not None and found.user is not None

    def add(self, key: Key, user: AuthenticatedUser | None, *, begun: float) -> ReviewVerdict:
        """Remember a verdict from the moment in which its review began. ``user``: None for a refusal."""
        verdict = ReviewVerdict(user, begun + (REFUSED_FOR if user is None else ACCEPTED_FOR))
        self._by_key.pop(key, None)
        self._by_key[key] = verdict
        if len(self._by_key) > self._most:
            self._by_key.popitem(last=False)
        return verdict
