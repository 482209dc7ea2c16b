"""Records about limits of users and groups, and about applications that wait for a limit (REST-38)."""

from collections.abc import Callable, Iterator, Mapping

from core.decisions.decision import Admitted, Refused
from core.ids import AppId
from core.ledger.view import LedgerView
from core.queues.spec import LimitSpec
from core.queues.users.limits import Tracked
from core.reasons import Code
from extender.rest.memory.records import of_application, of_person
from extender.rest.model.events import Change, Detail, EventRecord

Put = Callable[[EventRecord], None]

HELD = {
    Code.MAX_APPLICATIONS_REACHED: Detail.APP_HELD_BY_QUEUE,
    Code.USER_MAX_APPLICATIONS_REACHED: Detail.APP_HELD_BY_USER,
    Code.GROUP_MAX_APPLICATIONS_REACHED: Detail.APP_HELD_BY_USER,
}
"""Detail by reason. A limit of a user group counts as one of the user, as in YuniKorn."""

FREE = {
    Detail.APP_HELD_BY_QUEUE: Detail.APP_FREE_IN_QUEUE,
    Detail.APP_HELD_BY_USER: Detail.APP_FREE_OF_USER,
}

MOST_HELD = 10_000
"""Number of stored applications that wait for a limit."""


class LimitRecords:
    """Maker of records for limits that change, and for applications that begin or cease to wait for one."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._held: dict[AppId, Detail] = {}
        self._limits: Mapping[Tracked, LimitSpec] = {}

    def decided(self, app: AppId, verdict: object, *, now: float) -> None:
        """Record that an application began or ceased to wait for a limit."""
        if not isinstance(verdict, (Admitted, Refused)):
            return
        held = HELD.get(verdict.refusal.code) if isinstance(verdict, Refused) else None
        old = self._held.pop(app, None)
        if old is not None and old is not held:
            self._put(of_application(app, Change.NONE, FREE[old], now=now))
        if held is None:
            return
        if old is not held:
            self._put(of_application(app, Change.NONE, held, now=now))
        if len(self._held) >= MOST_HELD:
            self._held.pop(next(iter(self._held)))
        self._held[app] = held

    def forget(self, app: AppId) -> None:
        """Drop an application that has ended."""
        self._held.pop(app, None)

    def configured(self, view: LedgerView, *, now: float) -> None:
        """Record changes of limits. Called after each document."""
        old, self._limits = self._limits, dict(_limits(view))
        for key in sorted({*old, *self._limits}):
            limit = self._limits.get(key)
            detail = Detail.USER_LIMIT if key.kind == "user" else Detail.GROUP_LIMIT
            if limit is None:
                self._put(of_person(key.name, Change.REMOVE, detail, now=now, about=key.path))
            elif limit != old.get(key):
                self._put(of_person(key.name, Change.SET, detail, now=now, about=key.path, size=limit.max))


def _limits(view: LedgerView) -> Iterator[tuple[Tracked, LimitSpec]]:
    """Yield the limits. Of several entries of a queue for one name, the first counts (CFG-13)."""
    for queue in view.tree:
        for entry in reversed(() if queue.draining else queue.spec.limits):
            for kind, names in (("user", entry.users), ("group", entry.groups)):
                for name in names:
                    yield Tracked(kind, name, queue.path), entry
