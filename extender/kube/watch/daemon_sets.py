"""Watch of DaemonSets, so that no pod can pass for a DaemonSet's pod (F-10). Nothing waits for it.

An older ClusterRole may not allow to list DaemonSets. Then no pod counts as a DaemonSet's pod, and the
missing permission is reported once.
"""

from extender.kube.connection.api import ApiError, KubeError
from extender.kube.watch.reporting import Reporter

_FORBIDDEN = (401, 403)


class ReportedOnce:
    """A reporter that reports a missing permission only once until the next complete list."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._reported = False

    def listed(self, kind: str, items: int, seconds: float) -> None:
        """Report a complete list."""
        self._reported = False
        self._reporter.listed(kind, items, seconds)

    def undecodable(self, kind: str, name: str, error: str) -> None:
        """Report an invalid object."""
        self._reporter.undecodable(kind, name, error)

    def interrupted(self, kind: str, error: KubeError, pause: float) -> None:
        """Report a failure, unless it repeats a missing permission."""
        forbidden = isinstance(error, ApiError) and error.status in _FORBIDDEN
        if not (forbidden and self._reported):
            self._reporter.interrupted(kind, error, pause)
        self._reported = self._reported or forbidden
