"""Refusals of callers, each with its HTTP status. No text of one depends on what the caller sent."""

from core.errors import PaddockError


class AccessRefused(PaddockError):
    """A request that is not answered. ``status``: of the HTTP answer; ``retry_after``: seconds, or None."""

    status = 403
    retry_after: int | None = None
    message = "the request is refused"

    def __init__(self) -> None:
        super().__init__(self.message)


class NotAuthenticated(AccessRefused):
    """No credentials, or some that the API server does not accept."""

    status = 401
    message = "credentials are missing or not accepted"


class NotAllowed(AccessRefused):
    """A known caller without the right."""

    message = "the caller may not do this"


class TooManyReviews(AccessRefused):
    """More reviews are wanted than are sent."""

    status, retry_after = 429, 1
    message = "too many callers are being reviewed"


class ReviewFailed(AccessRefused):
    """The API server gave no verdict, which never lets a caller in."""

    status, retry_after = 503, 1
    message = "the API server gave no verdict on the caller"
