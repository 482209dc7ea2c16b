"""Rows that are stored between answers, and which of them are stale."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from core.ids import AppId, NodeName, PodUid
from core.ledger import events as on
from core.workload.application import Application
from core.workload.states import AppState
from extender.rest.facts import Facts
from extender.rest.moment.rows import AppRow, PodRow, app_row, pod_row

AT_ONCE = 10
"""Stale rows that are made in one step."""

MARKED_AT_ONCE = 500
"""Rows that are marked in one step."""

LAST = 40
"""Stale rows that may be left when a moment is taken; those are made together with it."""

CHANGING = frozenset({AppState.COMPLETING, AppState.STARTING, AppState.FAILING, AppState.RESUMING})
"""States that may end by time alone."""

K = TypeVar("K", AppId, NodeName)
T = TypeVar("T")


class Groups(Generic[K]):
    """Rows by application or by node. A group is copied when it is asked for first after a change."""

    def __init__(self) -> None:
        self._members: dict[K, dict[PodUid, PodRow]] = {}
        self._copies: dict[K, tuple[PodRow, ...]] = {}
        self._changed: dict[K, None] = {}

    def add(self, key: K, row: PodRow) -> None:
        """Put a row into a group."""
        self._members.setdefault(key, {})[row.uid] = row
        self._changed[key] = None

    def remove(self, key: K, uid: PodUid) -> None:
        """Take a row out of its group."""
        members = self._members[key]
        del members[uid]
        if not members:
            del self._members[key]
        self._changed[key] = None

    @property
    def changed(self) -> int:
        """Number of groups to copy."""
        return len(self._changed)

    def copy_changed(self, most: int) -> None:
        """Copy that many of the groups that have changed."""
        for key in [key for key, _ in zip(self._changed, range(most), strict=False)]:
            del self._changed[key]
            members = self._members.get(key)
            if members is None:
                self._copies.pop(key, None)
            else:
                self._copies[key] = tuple(members.values())

    def taken(self) -> Mapping[K, tuple[PodRow, ...]]:
        """All groups, none of which has changed since it was copied."""
        return dict(self._copies)


class StoredRows:
    """``facing``: facts of the moment. Nothing is stored before the first answer asks for it.

    ``version``: changes whenever something that an answer shows may have changed.
    """

    def __init__(self, facing: Callable[[], Facts], *, version: int = 0) -> None:
        self._facing = facing
        self.version = version
        self.by_node: Groups[NodeName] = Groups()
        self.by_app: Groups[AppId] = Groups()
        self.apps: dict[AppId, AppRow] = {}
        self._pods: dict[PodUid, PodRow] = {}
        self._stale_pods: dict[PodUid, None] = {}
        self._stale_apps: dict[AppId, None] = {}
        self._whole = False
        #: Rows of pods that nodes are nominated to or held for.
        self.awaiting: dict[PodUid, PodRow] = {}

    # -- what is stale ---------------------------------------------------------------------------------------

    def settled(self, uids: Iterable[PodUid]) -> None:
        """Mark the rows of pods whose charge may have changed."""
        self.version += 1
        if self._whole:
            for uid in uids:
                self._mark(uid)

    def learned(self, event: on.Event) -> None:
        """Mark the rows that an event may change: of the pods that it names, after a rare one all."""
        self.version += 1
        if not self._whole:
            return
        if isinstance(event, _OF_ALL) or (
            isinstance(event, on.ObjectObserved | on.ObjectDeleted | on.ObjectsListed)
            and event.kind is not on.NODES
            and event.kind is not on.BUDGETS
        ):
            self._whole = False
            return
        for uid in _named_in(event):
            self._mark(uid)

    def decided(self, uid: PodUid) -> None:
        """A verb was answered about a pod, whose reasons are shown."""
        self.version += 1
        if self._whole:
            self._mark(uid)

    def _mark(self, uid: PodUid) -> None:
        self._stale_pods[uid] = None
        row, record = self._pods.get(uid), self._facing().view.pod(uid)
        apps = (row.app if row else None, record.membership.application if record else None)
        for app in apps:
            if app is not None:
                self._stale_apps[app] = None

    # -- making them -----------------------------------------------------------------------------------------

    def freshen(self) -> Iterator[None]:
        """Make stale rows, some at each step, until few are left. Then `finish` and take them, at once."""
        while True:
            if not self._whole:
                yield from self._mark_everything()
            if self._stale_count() <= LAST:
                return
            self._make(AT_ONCE)
            yield

    def finish(self) -> None:
        """Make the last stale ones."""
        self._mark_changing()
        while self._stale_count():
            self._make(AT_ONCE)

    def _stale_count(self) -> int:
        changed = self.by_node.changed + self.by_app.changed
        return len(self._stale_pods) + len(self._stale_apps) + changed

    def _mark_everything(self) -> Iterator[None]:
        """Mark all rows in steps. What comes meanwhile is marked by its event."""
        view = self._facing().view
        self._whole = True
        self._stale_pods.update(dict.fromkeys(self._pods))
        self._stale_apps.update(dict.fromkeys(self.apps))
        yield
        records, applications = list(view.pods()), list(view.applications())
        for start in range(0, len(records), MARKED_AT_ONCE):
            yield
            self._stale_pods.update((each.uid, None) for each in records[start : start + MARKED_AT_ONCE])
        for start in range(0, len(applications), MARKED_AT_ONCE):
            yield
            self._stale_apps.update((each.id, None) for each in applications[start : start + MARKED_AT_ONCE])

    def _mark_changing(self) -> None:
        """States that end by time, and nodes that are held or let go, are told by no event."""
        view = self._facing().view
        for app, row in self.apps.items():
            if row.state in CHANGING:
                self._stale_apps[app] = None
        self._stale_pods.update(dict.fromkeys(self.awaiting))
        for uid in view.reserved_nodes.values():
            self._stale_pods[uid] = None

    def _make(self, most: int) -> None:
        facts = self._facing()
        for uid in _first(self._stale_pods, most):
            del self._stale_pods[uid]
            self._place(uid, pod_row(facts, uid))
        for app in _first(self._stale_apps, most):
            del self._stale_apps[app]
            self._place_app(app, facts.view.application(app), facts)
        self.by_node.copy_changed(most)
        self.by_app.copy_changed(most)

    def _place(self, uid: PodUid, row: PodRow | None) -> None:
        old = self._pods.pop(uid, None)
        self.awaiting.pop(uid, None)
        if old is not None:
            if old.node:
                self.by_node.remove(old.node, uid)
            if old.app is not None:
                self.by_app.remove(old.app, uid)
        if row is not None:
            self._pods[uid] = row
            if row.awaits:
                self.awaiting[uid] = row
            if row.node:
                self.by_node.add(row.node, row)
            if row.app is not None:
                self.by_app.add(row.app, row)

    def _place_app(self, app: AppId, application: Application | None, facts: Facts) -> None:
        if application is None:
            self.apps.pop(app, None)
        else:
            self.apps[app] = app_row(facts, application)


_OF_ALL = (on.Configured, on.SettingsRead, on.GroupsResolved, on.KindUnserved, on.ActingBegan, on.ActingEnded)
"""Events after which anything may be shown otherwise."""


def _named_in(event: on.Event) -> Iterator[PodUid]:
    """Pods that an event names."""
    pod = getattr(event, "pod", None)
    if pod is not None:
        yield pod.uid
    uid = getattr(event, "uid", None)
    if uid:
        yield uid
    for victim in getattr(event, "victims", ()):
        yield victim.uid


def _first(keys: Mapping[T, None], most: int) -> list[T]:
    return [key for key, _ in zip(keys, range(most), strict=False)]
