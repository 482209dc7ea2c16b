"""DaemonSets, followed so that no pod can pass for one of theirs (F-10). Nothing waits for them.

A role from before may not list them: then no pod counts as a DaemonSet's, and that is told once.
"""

from collections.abc import Callable

from core.ledger import events as on
from core.workload.daemon_set import DaemonSetFacts, DaemonSetKey
from extender.kube.connection.api import ApiError, KubeError, namespace_and_name
from extender.kube.connection.client import ApiClient
from extender.kube.watch.reflector import Reflector, Reporter
from extender.wire.translate import DAEMON_SET, daemon_set_from

_FORBIDDEN = (401, 403)


def daemon_set_reflector(
    client: ApiClient, learn: Callable[[on.Event], None], reporter: Reporter
) -> Reflector[DaemonSetFacts]:
    """Tells the ledger of every DaemonSet."""
    return Reflector(
        client,
        path="/apis/apps/v1/daemonsets",
        decode=lambda raw: daemon_set_from(DAEMON_SET.decode(raw)),
        key=lambda meta: meta.full_name,
        sink=_DaemonSetSink(learn),
        reporter=_ReportedOnce(reporter),
    )


class _DaemonSetSink:
    def __init__(self, learn: Callable[[on.Event], None]) -> None:
        self._learn = learn

    def on_changed(self, item: DaemonSetFacts) -> None:
        self._learn(on.DaemonSetObserved(item))

    def on_deleted(self, key: str) -> None:
        self._learn(on.DaemonSetDeleted(_key_of(key)))

    def on_listed(self, keys: frozenset[str]) -> None:
        self._learn(on.DaemonSetsListed(frozenset(map(_key_of, keys))))


def _key_of(full_name: str) -> DaemonSetKey:
    return DaemonSetKey(*namespace_and_name(full_name))


class _ReportedOnce:
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
