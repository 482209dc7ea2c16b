"""Event records about pods and applications, made by comparing them with their last known state (REST-38).

The ledger reports after each event which pods it has settled. Some states of applications end by time alone.
`pass_time` checks these.
"""

from collections.abc import Callable, Sequence
from typing import Final

from core.ids import AppId, NodeName, PodUid
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.view import LedgerView
from core.workload.application import Application
from core.workload.states import AppState
from extender.rest.memory.known import KnownApp, KnownPod
from extender.rest.memory.records import STATES, of_application, of_node, of_person, of_queue
from extender.rest.model.events import Change, Detail, EventRecord
from extender.rest.projection.counting import Counted, counted_as

Put = Callable[[EventRecord], None]

# Each record names some of these, and mypyc would look them up by name.
_ADD: Final = Change.ADD
_REMOVE: Final = Change.REMOVE
_REQUEST: Final = Counted.REQUEST
_ALLOCATION: Final = Counted.ALLOCATION
_FOREIGN: Final = Counted.FOREIGN
_APP_REQUEST: Final = Detail.APP_REQUEST
_APP_ALLOCATION: Final = Detail.APP_ALLOCATION
_NODE_ALLOCATION: Final = Detail.NODE_ALLOCATION
_USER_USAGE: Final = Detail.USER_USAGE
_GROUP_USAGE: Final = Detail.GROUP_USAGE

RESTLESS: Final = frozenset({AppState.COMPLETING, AppState.STARTING, AppState.FAILING, AppState.RESUMING})
"""States that may end without an event of a pod."""


def _ignore(_app: AppId) -> None:
    return


class Recording:
    """Maker of records, for which it calls ``put``. ``on_forgotten``: called for each ended application."""

    def __init__(self, put: Put, *, on_forgotten: Callable[[AppId], None] = _ignore) -> None:
        self._put = put
        self._on_forgotten = on_forgotten
        self._pods: dict[PodUid, KnownPod] = {}
        self._apps: dict[AppId, KnownApp] = {}
        self._restless: set[AppId] = set()

    def settled(self, view: LedgerView, uids: Sequence[PodUid], *, now: float) -> None:
        """Record the changes of settled pods and of their applications."""
        if len(uids) == 1 and self._settled_one(view, uids[0], now):
            return
        # A new application is recorded before its pods, and an ended one after them.
        touched: set[AppId] = set()
        for uid in uids:
            self._add_apps_of(view, uid, touched)
        left = [app for app in touched if view.application(app) is None]
        for app in sorted(touched.difference(left)):
            self._compare_app(view, app, now)
        for uid in dict.fromkeys(uids):
            self._compare_pod(view, uid, now)
        for app in sorted(left):
            self._compare_app(view, app, now)

    def _settled_one(self, view: LedgerView, uid: PodUid, now: float) -> bool:
        """Record a pod that stays in its live application, as in nearly all events. False for any other."""
        record, known = view.pod(uid), self._pods.get(uid)
        if record is None or record.membership.application is None:
            return False
        app = record.membership.application
        application = view.application(app)
        if application is None or (known is not None and known.app != app):
            return False
        old = self._apps.get(app)
        if old is None or not _has_not_changed(application, old):
            self._compare_app(view, app, now)
        if known is None or not _is_as_known(record, view.charge_of(uid), known):
            self._compare_pod(view, uid, now)
        return True

    def pass_time(self, view: LedgerView, *, now: float) -> None:
        """Record the states of applications that ended without an event of a pod."""
        for app in sorted(self._restless):
            self._compare_app(view, app, now)

    # -- pods ------------------------------------------------------------------------------------------------

    def _add_apps_of(self, view: LedgerView, uid: PodUid, found: set[AppId]) -> None:
        record, known = view.pod(uid), self._pods.get(uid)
        if record is not None and record.membership.application is not None:
            found.add(record.membership.application)
        if known is not None and known.app is not None:
            found.add(known.app)

    def _compare_pod(self, view: LedgerView, uid: PodUid, now: float) -> None:
        old, record, charge = self._pods.get(uid), view.pod(uid), view.charge_of(uid)
        if old is not None and record is not None and _is_as_known(record, charge, old):
            return
        new = known_pod(record, charge)
        if new is None:
            self._pods.pop(uid, None)
        else:
            self._pods[uid] = new
        if old is not None and _left(old, new):
            self._tell_ended(view, uid, old, now)
            self._tell_usage(old, _REMOVE, now)
        if new is not None and _came(old, new):
            self._tell_begun(uid, new, now)
            self._tell_usage(new, _ADD, now)

    def _tell_ended(self, view: LedgerView, uid: PodUid, old: KnownPod, now: float) -> None:
        size = old.size
        if old.counted is _FOREIGN:
            self._put(of_node(old.node, Change.SET, Detail.NODE_OCCUPIED, now=now, pod=uid, size=size))
            return
        allocated = old.counted is _ALLOCATION
        if allocated:
            self._put(of_node(old.node, _REMOVE, _NODE_ALLOCATION, now=now, pod=uid, size=size))
        if old.app is not None:
            detail = _why_ended(view, old) if allocated else _why_cancelled(old)
            self._put(of_application(old.app, _REMOVE, detail, now=now, pod=uid, size=size))

    def _tell_begun(self, uid: PodUid, new: KnownPod, now: float) -> None:
        app, node, size = new.app, new.node, new.size
        if new.counted is _FOREIGN:
            self._put(of_node(node, Change.SET, Detail.NODE_OCCUPIED, now=now, pod=uid, size=size))
        elif app is not None and new.counted is _REQUEST:
            self._put(of_application(app, _ADD, _APP_REQUEST, now=now, pod=uid, size=size))
        elif app is not None:
            self._put(of_application(app, _ADD, _APP_ALLOCATION, now=now, pod=uid, size=size))
            self._put(of_node(node, _ADD, _NODE_ALLOCATION, now=now, pod=uid, size=size))

    def _tell_usage(self, pod: KnownPod, change: Change, now: float) -> None:
        """Record the usage of the user and the user group of an allocation's application."""
        known = self._apps.get(pod.app) if pod.app is not None else None
        if known is None or known.queue is None or pod.counted is not _ALLOCATION:
            return
        for name, detail in ((known.user, _USER_USAGE), (known.group, _GROUP_USAGE)):
            if name:
                self._put(of_person(name, change, detail, now=now, about=known.queue, size=pod.size))

    # -- applications ----------------------------------------------------------------------------------------

    def _compare_app(self, view: LedgerView, app: AppId, now: float) -> None:
        application, old = view.application(app), self._apps.get(app)
        if application is not None and old is not None and _has_not_changed(application, old):
            return
        if application is None:
            application = _ended_application(view, app, old)
        if application is not None:
            self._tell_application(application, old, now)
        if view.application(app) is None:
            self._forget_app(app, old, now)
        elif application is not None:
            self._apps[app] = KnownApp(
                application.states, application.queue, application.identity.user, application.group
            )
            (self._restless.add if application.state in RESTLESS else self._restless.discard)(app)

    def _tell_application(self, application: Application, old: KnownApp | None, now: float) -> None:
        app = application.id
        if old is None:
            self._put(of_application(app, _ADD, Detail.APP_NEW, now=now))
        if application.queue is not None and (old is None or old.queue != application.queue):
            if old is not None and old.queue is not None:
                self._put(of_queue(old.queue, _REMOVE, Detail.QUEUE_APP, now=now, app=app.name))
            self._put(of_queue(application.queue, _ADD, Detail.QUEUE_APP, now=now, app=app.name))
        if application.group and (old is None or old.group != application.group):
            self._put(of_person(application.group, Change.SET, Detail.APP_OF_GROUP, now=now, about=app.name))
        why = application.refusal.text if application.refusal is not None else ""
        for _, state in _entered(old, application):
            detail = STATES.get(state)
            if detail is not None:
                text = why if state is AppState.REJECTED else ""
                self._put(of_application(app, Change.SET, detail, now=now, message=text))

    def _forget_app(self, app: AppId, old: KnownApp | None, now: float) -> None:
        self._restless.discard(app)
        if old is None:
            return
        del self._apps[app]
        self._on_forgotten(app)
        if old.queue is not None:
            self._put(of_queue(old.queue, _REMOVE, Detail.QUEUE_APP, now=now, app=app.name))
        self._put(of_application(app, _REMOVE, Detail.PLAIN, now=now))


def _is_as_known(record: PodRecord, charge: Charge | None, old: KnownPod) -> bool:
    """True if nothing has changed that is known of a pod."""
    return (
        charge is old.charge
        and record.membership.application == old.app
        and record.preempting == old.preempted
        and bool(record.gang.yields_to) == old.replaced
        and _is_released(record) == old.released
    )


def _has_not_changed(application: Application, old: KnownApp) -> bool:
    """True if nothing has changed that is known of an application. A change of state replaces its states."""
    return (
        application.states is old.states
        and application.queue == old.queue
        and application.group == old.group
        and application.identity.user == old.user
    )


def known_pod(record: PodRecord | None, charge: Charge | None) -> KnownPod | None:
    """Return the present state of a pod, or None if it counts as nothing."""
    counted = counted_as(charge)
    if record is None or charge is None or counted is None:
        return None
    return KnownPod(
        charge,
        counted,
        record.membership.application,
        charge.node if counted is not _REQUEST else NodeName(""),
        charge.size,
        preempted=record.preempting,
        replaced=bool(record.gang.yields_to),
        released=_is_released(record),
    )


def _is_released(record: PodRecord) -> bool:
    return record.gang.released and not record.gang.yields_to


def _left(old: KnownPod, new: KnownPod | None) -> bool:
    """True if the old request or allocation has ended. A request that became an allocation has not."""
    if new is None:
        return True
    if old.counted is _REQUEST:
        return new.counted is _FOREIGN
    return _differ(old, new)


def _came(old: KnownPod | None, new: KnownPod) -> bool:
    return old is None or _differ(old, new)


def _differ(old: KnownPod, new: KnownPod) -> bool:
    """True if a pod counts otherwise, or elsewhere."""
    return old.counted is not new.counted or old.node != new.node or old.app != new.app


def _why_cancelled(old: KnownPod) -> Detail:
    return Detail.REQUEST_TIMEOUT if old.released else Detail.REQUEST_CANCEL


def _why_ended(view: LedgerView, old: KnownPod) -> Detail:
    if old.replaced:
        return Detail.ALLOCATION_REPLACED
    if old.released:
        return Detail.ALLOCATION_TIMEOUT
    if old.preempted:
        return Detail.ALLOCATION_PREEMPTED
    return Detail.ALLOCATION_CANCEL if old.node in view.nodes else Detail.ALLOCATION_NODE_REMOVED


def _entered(old: KnownApp | None, application: Application) -> tuple[tuple[float, AppState], ...]:
    """Return the states entered since ``old``. The ledger stores only the most recent ones."""
    if old is None:
        return application.states
    if old.states and old.states[-1] in application.states:
        return application.states[len(application.states) - application.states[::-1].index(old.states[-1]) :]
    return application.states


def _ended_application(view: LedgerView, app: AppId, old: KnownApp | None) -> Application | None:
    """Return a known application that has ended since, or None."""
    if old is None:
        return None
    return next((each for each in reversed(view.identities.all_ended()) if each.id == app), None)
