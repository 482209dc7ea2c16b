"""Reports of reflectors about lists and failures, since reflectors themselves do not log."""

from typing import Protocol

from extender.kube.connection.api import KubeError


class Reporter(Protocol):
    """Receiver of reports about lists and failures. ``kind``: that of the reflector."""

    def listed(self, kind: str, items: int, seconds: float, /) -> None:
        """Report a complete list and its duration."""

    def undecodable(self, kind: str, name: str, error: str, /) -> None:
        """Report an invalid item. It was skipped, and its last valid state stays in force."""

    def interrupted(self, kind: str, error: KubeError, pause: float, /) -> None:
        """Report that a list or watch failed. It is tried again after ``pause`` seconds."""


class Silence:
    """A reporter that ignores all reports."""

    def listed(self, kind: str, items: int, seconds: float, /) -> None:
        """Ignore a list."""

    def undecodable(self, kind: str, name: str, error: str, /) -> None:
        """Ignore an invalid item."""

    def interrupted(self, kind: str, error: KubeError, pause: float, /) -> None:
        """Ignore a failure."""
