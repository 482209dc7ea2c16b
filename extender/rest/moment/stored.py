"""Rows that are stored between answers. Events mark the ones that have become stale."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

from core.ids import AppId, NodeName, PodUid
from core.ledger import events as on
from core.workload.application import Application
from core.workload.states import AppState
from extender.rest.facts import Facts
from extender.rest.moment.counters import Counters
from extender.rest.moment.rows import AppRow, PodRow, app_row, pod_row
from extender.rest.moment.table import KeySet, Table

AT_ONCE = 5
"""Number of stale rows that are remade in one step."""

MARKED_AT_ONCE = 250
"""Number of rows that are marked in one step."""

LAST = 10
"""Number of stale rows that may remain before the last step, which remakes them and takes the moment."""

CHANGING = frozenset({AppState.COMPLETING, AppState.STARTING, AppState.FAILING, AppState.RESUMING})
"""States that may end without an event of a pod."""

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
        """Copy at most ``most`` changed groups."""
        for _ in range(min(most, len(self._changed))):
            key, _none = self._changed.popitem()
            members = self._members.get(key)
            if members is None:
                self._copies.pop(key, None)
            else:
                self._copies[key] = tuple(members.values())

    def dropped(self) -> Iterator[None]:
        """Drop all groups in steps."""
        for groups in (self._copies, self._members):
            while groups:
                groups.popitem()
                yield

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
        self.counters = Counters()
        self._pods: Table[PodUid, PodRow] = Table()
        #: Application of each pod at its last check, unless the row of the pod has it.
        self._app_of: Table[PodUid, AppId] = Table()
        self._stale_pods: KeySet[PodUid] = KeySet()
        self._stale_apps: dict[AppId, None] = {}
        self._whole = False
        #: Rows of pods for which a node is nominated or reserved.
        self.awaiting: dict[PodUid, PodRow] = {}
        #: Rows of pods with reserved quota and no node.
        self.afloat: dict[PodUid, PodRow] = {}
        #: Applications whose state may end without an event of a pod.
        self._changing: dict[AppId, None] = {}
        #: Node reservations at the last check.
        self._held: dict[NodeName, PodUid] = {}

    def dropped(self) -> Iterator[None]:
        """Drop all rows in steps, as freeing all at once takes long. No other method may be called again."""
        yield from self.by_node.dropped()
        yield from self.by_app.dropped()
        yield from self._pods.clear_in_steps()
        while self.apps:
            for app in list(islice(self.apps, AT_ONCE)):
                del self.apps[app]
            yield

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
            isinstance(event, (on.ObjectObserved, on.ObjectDeleted, on.ObjectsListed))
            and event.kind is not on.NODES
            and event.kind is not on.BUDGETS
        ):
            self._whole = False
            return
        if isinstance(event, (on.ObjectObserved, on.ObjectDeleted, on.ObjectsListed)):
            self.counters.mark_root()
        for uid in _named_in(event):
            self._mark(uid)

    def decided(self, uid: PodUid) -> None:
        """Mark the row of a pod that a verb has decided on, since the row contains its reasons."""
        self.version += 1
        if self._whole:
            self._mark(uid)

    def _mark(self, uid: PodUid) -> None:
        self._stale_pods.add(uid)
        row = self._pods.get(uid)
        known = row.app if row is not None else None
        for app in (known, self._app_of.get(uid), _app_now(self._facing(), uid)):
            if app is not None:
                self._stale_apps[app] = None

    # -- remaking --------------------------------------------------------------------------------------------

    def freshen(self) -> Iterator[None]:
        """Remake stale rows in steps until few remain. `finish` must follow before any other event."""
        while True:
            while not self._whole:
                yield from self._mark_everything()
            if self._stale_count() <= LAST:
                self._mark_changed()
            if self._stale_count() <= LAST:
                return
            self._make(AT_ONCE)
            yield

    def finish(self) -> None:
        """Remake the last stale rows."""
        while self._stale_count():
            self._make(AT_ONCE)
            self.counters.mark_changed(self._facing().view)

    def _stale_count(self) -> int:
        changed = self.by_node.changed + self.by_app.changed + self.counters.stale
        return len(self._stale_pods) + len(self._stale_apps) + changed

    def _mark_everything(self) -> Iterator[None]:
        """Mark all rows in steps. Rows that change meanwhile are marked by their events."""
        view = self._facing().view
        self._whole = True
        for rows in self._pods.parts():
            yield
            self._stale_pods.update(rows)
        for apps in _parts(list(self.apps)):
            yield
            self._stale_apps.update(dict.fromkeys(apps))
        # The records are copied in one step. Their names are read in parts.
        for records in _parts(list(view.pods())):
            yield
            self._stale_pods.update(each.uid for each in records)
        for applications in _parts(list(view.applications())):
            yield
            self._stale_apps.update((each.id, None) for each in applications)
        queues, keys = self.counters.known()
        self.counters.mark_queues(queues)
        self.counters.mark_held(keys)
        for parts in _parts(list(view.tree)):
            yield
            self.counters.mark_queues(each.path for each in parts)
        for entries in _parts(list(view.book)):
            yield
            self.counters.mark_held(key for key, _ in entries)

    def _mark_changed(self) -> None:
        """Mark changes that no event names: ended states, node reservations, queues."""
        view = self._facing().view
        for app in self._changing:
            application = view.application(app)
            if application is None or application.states is not self.apps[app].states:
                self._stale_apps[app] = None
        held = view.reserved_nodes
        if held != self._held:
            for uid in {*self._held.values(), *held.values()}:
                self._stale_pods.add(uid)
            self._held = dict(held)
        self.counters.mark_changed(view)

    def _make(self, most: int) -> None:
        """Remake stale rows of one kind. Rows that depend on others come later."""
        facts = self._facing()
        if self._stale_pods:
            for _ in range(min(most, len(self._stale_pods))):
                uid = self._stale_pods.pop()
                self._place(uid, pod_row(facts, uid))
                self._note_app(uid, _app_now(facts, uid))
        elif self._stale_apps:
            for _ in range(min(most, len(self._stale_apps))):
                app, _none = self._stale_apps.popitem()
                self._place_app(app, facts.view.application(app), facts)
        elif self.by_node.changed or self.by_app.changed:
            self.by_node.copy_changed(most)
            self.by_app.copy_changed(most)
        else:
            self.counters.copy(facts.view, most)

    def _place(self, uid: PodUid, row: PodRow | None) -> None:
        old = self._pods.pop(uid)
        self.awaiting.pop(uid, None)
        self.afloat.pop(uid, None)
        if old is not None:
            if old.node:
                self.by_node.remove(old.node, uid)
            if old.app is not None:
                self.by_app.remove(old.app, uid)
        if row is not None:
            self._pods.put(uid, row)
            if row.awaits:
                self.awaiting[uid] = row
            if row.afloat is not None:
                self.afloat[uid] = row
            if row.node:
                self.by_node.add(row.node, row)
            if row.app is not None:
                self.by_app.add(row.app, row)

    def _note_app(self, uid: PodUid, app: AppId | None) -> None:
        row = self._pods.get(uid)
        if app is None or (row is not None and row.app == app):
            self._app_of.pop(uid)
        else:
            self._app_of.put(uid, app)

    def _place_app(self, app: AppId, application: Application | None, facts: Facts) -> None:
        old = self.apps.pop(app, None)
        self._changing.pop(app, None)
        if old is not None:
            self.counters.mark_application(old)
        if application is not None:
            row = self.apps[app] = app_row(facts, application)
            self.counters.mark_application(row)
            if row.state in CHANGING:
                self._changing[app] = None


_OF_ALL = (
    *(on.Configured, on.SettingsRead, on.ActionsRead, on.GroupsResolved),
    *(on.KindUnserved, on.ActingBegan, on.ActingEnded),
)
"""Events after which every row may have changed."""


def _app_now(facts: Facts, uid: PodUid) -> AppId | None:
    record = facts.view.pod(uid)
    return record.membership.application if record is not None else None


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


def _parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[start : start + MARKED_AT_ONCE] for start in range(0, len(values), MARKED_AT_ONCE))
