"""DaemonSets, followed so that no pod can pass for one of theirs (F-10). Nothing waits for them.

A role from before may not list them: then no pod counts as a DaemonSet's, and that is reported once.
"""

from extender.kube.connection.api import ApiError, KubeError
from extender.kube.watch.reflector import Reporter

_FORBIDDEN = (401, 403)


class ReportedOnce:
    """A reporter that says once, until there is a list, that the right to list is missing."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._reported = False

    def listed(self, kind: str, items: int, seconds: float) -> None:
        self._reported = False
        self._reporter.listed(kind, items, seconds)

    def undecodable(self, kind: str, name: str, error: str) -> None:
        self._reporter.undecodable(kind, name, error)

    def interrupted(self, kind: str, error: KubeError, pause: float) -> None:
        forbidden = isinstance(error, ApiError) and error.status in _FORBIDDEN
        if not (forbidden and self._reported):
            self._reporter.interrupted(kind, error, pause)
        self._reported = self._reported or forbidden
