"""Audit of applications: their pods, their queues, and the indexes of ids."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from core.ids import AppId, PodUid, QueuePath
from core.ledger.audit.drift import Claims, Step, compare_each, compare_index
from core.ledger.pods.record import Held
from core.ledger.state.state import State
from core.resource import Tally
from core.workload.application import Application
from core.workload.states import AppState


def application_steps(state: State) -> Iterator[Step]:
    """Audit steps for applications."""
    apps = state.applications
    yield from compare_each(state, chain(apps.known, apps.unplaced), _application_claims)
    yield from compare_each(state, _memberships(state), _member_claims)
    ids = [(app_id.name, app_id) for app_id in apps.known]
    yield from compare_index(
        state, "applications by id", lambda state: state.applications.namesakes, ids, _has_id
    )
    yield from compare_each(state, chain(apps.hosts, _foreign_ids(state)), _host_claims)
    yield from compare_each(state, _residences(state), _resident_claims)


def _application_claims(state: State, app_id: AppId) -> Claims:
    application = state.applications.known.get(app_id)
    unplaced = application is not None and (application.queue is None or application.refusal is not None)
    yield "application without a queue", unplaced, app_id in state.applications.unplaced
    if application is None:
        return
    completes, work = application.state is AppState.COMPLETING, application.pods - application.holders
    yield "pods: any", True, completes or bool(application.pods)
    yield "pods that complete", False, completes and bool(work)
    yield from _counter_claims(state, application)
    foreign = Counter(
        state.pods.records[uid].facts.namespace for uid in application.pods if uid in state.pods.records
    )
    del foreign[app_id.namespace]
    yield "pods of other namespaces", dict(foreign), application.foreign_pods


def _counter_claims(state: State, application: Application) -> Claims:
    asked: Counter[int] = Counter()
    used = Tally()
    for uid in application.pods:
        charge = state.usage.charges.get(uid)
        if charge is not None and charge.held is Held.PENDING:
            asked[charge.priority] += 1
        elif charge is not None and charge.queue is not None:
            used.add(charge.size)
    yield "asked", dict(asked), application.asked
    yield "used", used, application.used


# -- pods of applications --------------------------------------------------------------------------------


def _memberships(state: State) -> Iterator[tuple[AppId, PodUid]]:
    for uid, record in state.pods.records.items():
        if record.membership.application is not None:
            yield record.membership.application, uid
    for app_id, application in state.applications.known.items():
        yield from ((app_id, uid) for uid in application.pods)


def _member_claims(state: State, pair: tuple[AppId, PodUid]) -> Claims:
    app_id, uid = pair
    application, record = state.applications.known.get(app_id), state.pods.records.get(uid)
    named = record is not None and record.membership.application == app_id
    yield "pods", named, application is not None and uid in application.pods


# -- applications by id ----------------------------------------------------------------------------------


def _has_id(state: State, name: str, app_id: AppId) -> bool:
    return app_id in state.applications.known and app_id.name == name


def _foreign_ids(state: State) -> Iterator[AppId]:
    for application in state.applications.known.values():
        yield from (AppId(application.id.name, namespace) for namespace in application.foreign_pods)


def _host_claims(state: State, own: AppId) -> Claims:
    """Claims about pods of a namespace that belong to an application of another one."""
    known = state.applications.known
    namesakes = sorted(state.applications.namesakes.get(own.name, ()))
    hosts = [each for each in namesakes if each in known and own.namespace in known[each].foreign_pods]
    yield "host", next(iter(hosts), None), state.applications.hosts.get(own)


# -- applications of queues ------------------------------------------------------------------------------


def _residences(state: State) -> Iterator[tuple[QueuePath, AppId]]:
    for app_id, application in state.applications.known.items():
        if application.queue is not None:
            yield application.queue, app_id
    for queue in state.config.tree:
        yield from ((queue.path, app_id) for app_id in queue.applications)
        yield from ((queue.path, app_id) for app_id in queue.completing)


def _resident_claims(state: State, pair: tuple[QueuePath, AppId]) -> Claims:
    path, app_id = pair
    queue, application = state.config.tree.get(path), state.applications.known.get(app_id)
    resident = application if application is not None and application.queue == path else None
    completes = resident is not None and resident.state is AppState.COMPLETING and not resident.pods
    yield "applications", resident is not None, queue is not None and app_id in queue.applications
    yield "completing", completes, queue is not None and app_id in queue.completing
