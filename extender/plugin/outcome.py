"""Exit codes, and the error that ends a command."""

OK = 0
FAILED = 1
"""Wrong use, or not found."""
UNREACHABLE = 2
"""The server cannot be reached, or is not ready."""
WAITS = 3
"""The answer is no: a pod waits, or a document has errors."""
NEVER = 4
"""The answer is no, and waiting does not help."""
INTERRUPTED = 130
OUT_OF_TIME = 124
"""The command `wait` ran out of time."""


class Problem(Exception):
    """Error for the user. ``code``: exit code."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


class NotServed(Exception):
    """The aggregated API is absent or unavailable, so that another way is needed."""
