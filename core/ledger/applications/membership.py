"""Membership of a pod: the application of its namespace and id, created by the first pod (F-15, POD-3)."""

from collections.abc import Iterable
from dataclasses import replace

from core.ids import AppId, PodUid
from core.ledger.applications.index import NAMESPACE_AWAITED, file_application
from core.ledger.applications.lifecycle import fire, note_completing
from core.ledger.gangs.creation import note_seen
from core.ledger.gangs.definition import gang_of, gang_that_counts
from core.ledger.podgroups.membership import warn_of_labels
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer
from core.ledger.state.timers import TimerKind
from core.queues.users.identity import UNKNOWN_IDENTITY
from core.workload.application import Application, application_id
from core.workload.pod import PodFacts
from core.workload.states import AppState, Move

OF_ANOTHER = "ApplicationOfAnother"
"""Reason of the Event on a pod whose id belongs to an application of another namespace (F-15)."""

_SHOWN = 64


def application_for(state: State, record: PodRecord) -> Application:
    """Application of a pod, created for the first one.

    An id belongs to no namespace. A pod of another namespace creates its own application. So no tenant can
    run in a foreign queue, or block an id for others.
    """
    own = application_id(taken_facts(record), unique=unique_ids(state, record.facts.namespace))
    app_id = host_of(state, record.facts, own)
    application = state.applications.known.get(app_id)
    if application is None:
        application = add_application(state, record, own)
        if len(state.applications.namesakes[own.name]) > 1:
            _warn_of_namesake(state, record, own)
    elif application.originator is None and application.queue is None and not record.facts.placeholder:
        # Only placeholders have shown it, and Paddock created those.
        _redefine(application, record)
    if app_id != own:
        state.applications.hosts[own] = app_id
        application.foreign_pods[own.namespace] = application.foreign_pods.get(own.namespace, 0) + 1
    return application


def application_of_bodies(state: State, facts: PodFacts) -> Application | None:
    """Application that a pod would join, if bodies alone have shown it and differ from the pod. Else None.

    Not if one of its pods is bound or may be, because the API server knows that pod.
    """
    own = application_id(facts, unique=unique_ids(state, facts.namespace))
    application = state.applications.known.get(state.applications.hosts.get(own, own))
    if application is None or application.was_shown or any(_is_bound(state, uid) for uid in application.pods):
        return None
    defined = application.requested, application.identity, application.gang
    shown = facts.queue, facts.identity, gang_that_counts(state, facts)
    return application if defined != shown else None


def _is_bound(state: State, uid: PodUid) -> bool:
    return bool(state.pods.records[uid].placement.binding or state.pods.records[uid].placement.bound_to)


def add_application(state: State, record: PodRecord, app_id: AppId) -> Application:
    """Create an application as its first pod defines it (POD-5, ID-3)."""
    facts = taken_facts(record)
    application = Application(
        app_id,
        facts.queue,
        facts.namespace,
        facts.identity,
        submitted=facts.created,
        starts_at_once=facts.starts_at_once,
        awaits_until=None if facts.namespace in state.cluster.namespaces else state.now + NAMESPACE_AWAITED,
        gang=gang_of(state, record),
        definer=facts.uid,
    )
    file_application(state, application)
    return application


def taken_facts(record: PodRecord) -> PodFacts:
    """Facts of a pod, with its labels from when it was taken in before a restart (F-23)."""
    taken = record.membership.taken_as
    if taken is None or (taken.app_id, taken.queue) == (record.facts.app_id, record.facts.queue):
        return record.facts
    return replace(record.facts, app_id=taken.app_id, queue=taken.queue)


def _redefine(application: Application, record: PodRecord) -> None:
    facts = taken_facts(record)
    application.definer = facts.uid
    application.requested, application.namespace = facts.queue, facts.namespace
    application.identity, application.starts_at_once = facts.identity, facts.starts_at_once


def unique_ids(state: State, name: str) -> bool:
    """True if ids are unique per pod. The namespace overrides the setting (NS-7)."""
    namespace = state.cluster.namespaces.get(name)
    own = namespace.generate_app_id if namespace is not None else ""
    return own == "true" if own in ("true", "false") else state.config.settings.unique_app_ids


def join(state: State, record: PodRecord, application: Application) -> None:
    """Take a pod into an application."""
    record.membership.application = application.id
    application.pods.add(record.uid)
    application.was_shown = application.was_shown or record.seen.shown is not None
    application.submitted = min(application.submitted, record.facts.created)
    if record.facts.placeholder:
        application.holders.add(record.uid)
        note_seen(state, record)
    else:
        age = record.facts.created, record.seq, record.uid
        application.originator = min(application.originator or age, age)
        if application.state is AppState.COMPLETING:
            fire(state, application, Move.RUN)
    warn_of_labels(state, record)
    leaf = state.config.tree.get(application.queue) if application.queue is not None else None
    if leaf is not None:
        note_completing(leaf, application)


def take_out(state: State, record: PodRecord, application: Application) -> None:
    """Take a pod out of its application. Callers handle an application without pods."""
    application.pods.discard(record.uid)
    application.holders.discard(record.uid)
    cancel_timer(state, TimerKind.ENDING, record.uid)
    _forget_foreign_pod(state, application, record.facts.namespace)
    record.membership.application = None


# -- across namespaces -------------------------------------------------------------------------------------


def host_of(state: State, facts: PodFacts, own: AppId) -> AppId:
    """Key of the application that a pod's own key leads to.

    One user may share an application across namespaces. The first pod of an id in a namespace decides. Later
    pods follow it, just as the first pod's user counts within a namespace (ID-3). So a restart finds the
    same.
    """
    user = facts.identity.user
    if own in state.applications.known or not state.config.settings.shares_applications:
        return own
    host = state.applications.hosts.get(own)
    if host is not None or user in ("", UNKNOWN_IDENTITY.user):
        return host or own
    same = [each for each in _others(state, own) if state.applications.known[each].identity.user == user]
    return min(same, default=own)


def _others(state: State, own: AppId) -> Iterable[AppId]:
    known = state.applications.namesakes.get(own.name, ())
    return (each for each in known if each.namespace != own.namespace and not each.recovered)


def _warn_of_namesake(state: State, record: PodRecord, own: AppId) -> None:
    """Report that this is another application, without naming the owner of the first one."""
    if any(True for _ in _others(state, own)):
        text = (
            f"another namespace has an application {own.name[:_SHOWN]}; this pod belongs to the one of "
            f"namespace {own.namespace[:_SHOWN]}, which is placed by its own labels"
        )
        post(state, record, OF_ANOTHER, text)
        state.applications.tally.of_another += 1


def _forget_foreign_pod(state: State, application: Application, namespace: str) -> None:
    """Note that a pod has left. With the last one of its namespace, the next pod there decides anew."""
    left = application.foreign_pods.get(namespace, 0) - 1
    if left > 0:
        application.foreign_pods[namespace] = left
    elif left == 0:
        del application.foreign_pods[namespace]
        state.applications.hosts.pop(AppId(application.id.name, namespace), None)
