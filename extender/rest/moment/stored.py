"""Rows that are stored between answers. Events mark the ones that have become stale."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from core.ids import AppId, NodeName, PodUid
from core.ledger import events as on
from core.workload.application import Application
from core.workload.states import AppState
from extender.rest.facts import Facts
from extender.rest.moment.rows import AppRow, PodRow, app_row, pod_row

AT_ONCE = 10
"""Stale rows that are remade in one step."""

MARKED_AT_ONCE = 500
"""Rows that are marked as stale in one step."""

LAST = 40
"""Stale rows that may remain when a moment is taken. These are remade in the same step."""

CHANGING = frozenset({AppState.COMPLETING, AppState.STARTING, AppState.FAILING, AppState.RESUMING})
"""States that may end by time alone."""

K = TypeVar("K", AppId, NodeName)
T = TypeVar("T")


class Groups(Generic[K]):
    """Rows by application or by node. Changed groups are copied before they are handed out."""

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
        """Number of groups that have changed since they were copied."""
        return len(self._changed)

    def copy_changed(self, most: int) -> None:
        """Copy at most ``most`` of the changed groups."""
        for key in [key for key, _ in zip(self._changed, range(most), strict=False)]:
            del self._changed[key]
            members = self._members.get(key)
            if members is None:
                self._copies.pop(key, None)
            else:
                self._copies[key] = tuple(members.values())

    def taken(self) -> Mapping[K, tuple[PodRow, ...]]:
        """Return the copies of all groups. No group may have changed since it was copied."""
        return dict(self._copies)


class StoredRows:
    """Stored rows. ``facing()``: the present facts. No row is stored before the first answer.

    ``version`` grows whenever an answer may have changed.
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
        #: Rows of pods for which a node is nominated or reserved.
        self.awaiting: dict[PodUid, PodRow] = {}

    # -- marking ---------------------------------------------------------------------------------------------

    def settled(self, uids: Iterable[PodUid]) -> None:
        """Mark the rows of pods whose charges may have changed."""
        self.version += 1
        if self._whole:
            for uid in uids:
                self._mark(uid)

    def learned(self, event: on.Event) -> None:
        """Mark the rows of the pods that an event names. A few rare events mark all rows."""
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
        """Mark the row of a pod that a verb has decided on, since the row contains its reasons."""
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

    # -- remaking --------------------------------------------------------------------------------------------

    def freshen(self) -> Iterator[None]:
        """Remake stale rows in steps until few remain. `finish` must follow before any other event."""
        while True:
            if not self._whole:
                yield from self._mark_everything()
            if self._stale_count() <= LAST:
                return
            self._make(AT_ONCE)
            yield

    def finish(self) -> None:
        """Remake the remaining stale rows."""
        self._mark_changing()
        while self._stale_count():
            self._make(AT_ONCE)

    def _stale_count(self) -> int:
        changed = self.by_node.changed + self.by_app.changed
        return len(self._stale_pods) + len(self._stale_apps) + changed

    def _mark_everything(self) -> Iterator[None]:
        """Mark all rows in steps. Rows that change meanwhile are marked by their events."""
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
        """Mark rows that may change without an event: by time, or by a node reservation."""
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
"""Events after which every row may have changed."""


def _named_in(event: on.Event) -> Iterator[PodUid]:
    """UIDs of the pods that an event names."""
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
