"""Delegated authentication and authorization, by reviews of the API server. Reviews are cached and paced.

The cache contains the SHA-256 of a token, never the token. A failed review is not cached and refuses the
caller.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

import msgspec

from extender.identity.caller import Access, AuthenticatedUser
from extender.identity.pace import Pace
from extender.identity.refusals import NotAllowed, NotAuthenticated, ReviewFailed, TooManyReviews
from extender.identity.reviews import Reviews
from extender.identity.verdicts import Key, ReviewVerdict, Verdicts

AUDIENCE = "paddock"
API_SERVER = ""
"""Audience of tokens for the API server itself."""

Review = Callable[[], Awaitable[AuthenticatedUser | None]]

Judged = Callable[[AuthenticatedUser, Access, bool], None]
"""Called with each verdict on a right that the API server gave, and whether it is granted."""


def _unreported(_user: AuthenticatedUser, _access: Access, _allowed: bool) -> None:
    return


class Delegation:
    """Callers and their rights, as the API server reports them.

    ``clock``: seconds that never go back; ``accepts_api_server``: whether tokens for the API server are
    accepted besides those for `AUDIENCE`, asked at each review. ``judged``: see `Judged`.
    """

    def __init__(
        self,
        reviews: Reviews,
        *,
        clock: Callable[[], float],
        accepts_api_server: Callable[[], bool] = lambda: False,
        judged: Judged = _unreported,
    ) -> None:
        self._reviews = reviews
        self._clock = clock
        self._accepts_api_server = accepts_api_server
        self._judged = judged
        self._verdicts = Verdicts(clock)
        self._pace = Pace(clock)
        self._under_way: dict[Key, asyncio.Task[ReviewVerdict | None]] = {}

    async def authenticate(self, token: str) -> AuthenticatedUser:
        """Return the user of a token.

        Raises `NotAuthenticated`, `TooManyReviews` or `ReviewFailed`.
        """
        audiences = (AUDIENCE, API_SERVER) if self._accepts_api_server() else (AUDIENCE,)
        key = f"token for {len(audiences)}", hashlib.sha256(token.encode()).digest()

        async def review() -> AuthenticatedUser | None:
            for audience in audiences:
                if user := await self._reviews.user_of(token, audience):
                    return user
            return None

        known = self._verdicts.was_accepted(key)
        user = await self._reviewed(key, review, reviews=len(audiences), known=known)
        if user is None:
            raise NotAuthenticated
        return user

    async def authorize(self, user: AuthenticatedUser, access: Access) -> None:
        """Return if the access is allowed. Raises `NotAllowed`, `TooManyReviews` or `ReviewFailed`.

        ``user``: must be authenticated already.
        """
        key = "access", hashlib.sha256(msgspec.json.encode([type(access).__name__, user, access])).digest()

        async def review() -> AuthenticatedUser | None:
            allowed = await self._reviews.allows(user, access)
            self._judged(user, access, allowed)
            return user if allowed else None

        if await self._reviewed(key, review, reviews=1, known=True) is None:
            raise NotAllowed

    async def _reviewed(
        self, key: Key, review: Review, *, reviews: int, known: bool
    ) -> AuthenticatedUser | None:
        verdict = self._verdicts.current(key) or await self._shared(key, review, reviews, known=known)
        if verdict is None:
            raise ReviewFailed
        return verdict.user

    async def _shared(self, key: Key, review: Review, reviews: int, *, known: bool) -> ReviewVerdict | None:
        """Share one review among concurrent callers with the same question. Returns None if it failed."""
        task = self._under_way.get(key)
        if task is None:
            if not self._pace.take(reviews, known=known):
                raise TooManyReviews
            task = self._under_way[key] = asyncio.create_task(self._review(key, review))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        # A caller that disconnects must not end the review for others.
        return await asyncio.shield(task)

    async def _review(self, key: Key, review: Review) -> ReviewVerdict | None:
        begun = self._clock()
        try:
            user = await review()
        except ReviewFailed:
            return None
        return self._verdicts.add(key, user, begun=begun)
