"""Refusals of callers, each with its HTTP status. Their texts never depend on the request."""

from core.errors import PaddockError


class AccessRefused(PaddockError):
    """Refusal of a request. ``status``: HTTP status; ``retry_after``: seconds, or None."""

    status = 403
    retry_after: int | None = None
    message = "the request is refused"

    def __init__(self) -> None:
        super().__init__(self.message)


class NotAuthenticated(AccessRefused):
    """Refusal without credentials, or with credentials that the API server does not accept."""

    status = 401
    message = "credentials are missing or not accepted"


class NotAllowed(AccessRefused):
    """Refusal of an authenticated caller without the right."""

    message = "the caller may not do this"


class TooManyReviews(AccessRefused):
    """Refusal because the limit on reviews is reached."""

    status, retry_after = 429, 1
    message = "too many callers are being reviewed"


class ReviewFailed(AccessRefused):
    """Refusal because the API server gave no verdict."""

    status, retry_after = 503, 1
    message = "the API server gave no verdict on the caller"
