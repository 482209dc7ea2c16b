"""Whose a pod is, which application it belongs to, and which queue that application runs in."""

from collections.abc import Iterable

from core.ids import RECOVERY_QUEUE, AppId, QueuePath
from core.instants import has_come
from core.ledger.accounts import settle
from core.ledger.forming import begin, note_seen
from core.ledger.gangs import (
    UNREAD,
    awaits_pods,
    refusal_of_application,
    unplaced_gangs,
    warn_of_labels,
)
from core.ledger.groups import find_groups
from core.ledger.lifecycle import emptied, fire, idle, note_completing
from core.ledger.membership import application_for, forget_guest
from core.ledger.over_max import recount_queue
from core.ledger.record import PodRecord
from core.ledger.rejections import tell
from core.ledger.state import State
from core.ledger.telling import post
from core.queues.rules import Chosen, PlacementRequest, decide_queue, is_user_name, why_passed_over
from core.reasons import Code, Refusal
from core.workload.application import Application
from core.workload.managed import is_managed
from core.workload.states import AppState, Move

FELL_BACK = "FellBack"

LONGEST_LOOKED_AT = 1_000
"""Characters of a queue's name on a pod that is not the first of its application: nothing rests on it."""

_SHOWN = 64


def classify(state: State, record: PodRecord) -> None:
    """Decide once whether a pod is managed (design section 7).

    Only a pod whose namespace has not been shown yet is decided again, when it is.
    """
    if record.classified:
        return
    facts = record.facts
    verdict = is_managed(
        facts, state.namespaces.get(facts.namespace), scheduler_names=state.settings.scheduler_names
    )
    record.managed = bool(verdict)
    record.classified = verdict is not None
    if not record.classified:
        state.unclassified.setdefault(facts.namespace, set()).add(facts.uid)


def reclassify(state: State, namespace: str) -> None:
    """Decide about the pods that came before their namespace."""
    for uid in sorted(state.unclassified.pop(namespace, ())):
        record = state.pods[uid]
        classify(state, record)
        enrol(state, record)
        settle(state, record)


def enrol(state: State, record: PodRecord) -> None:
    """Put a managed ask or allocation into its application, made when it is the first (POD-3 to POD-5).

    A pod behind somebody else's gate is no ask yet and creates nothing (POD-20).
    """
    if record.application is None and record.managed and (record.node or record.is_ask):
        _join(state, record)
    if record.application is not None:
        # Again for a known pod: one that got a node without us must count somewhere, whatever it named.
        application = state.applications[record.application]
        _place(state, application, forced=_is_forced(state, record))
        tell(state, record, application)
        _tell_fallback(state, record, application)


def _is_forced(state: State, record: PodRecord) -> bool:
    """Whether a pod runs already, so that it must count somewhere (PL-12).

    A placeholder has nobody's identity: before all pods were seen another one may tell whose it is.
    """
    return bool(record.node) and (state.pods_listed or not record.facts.placeholder)


def _join(state: State, record: PodRecord) -> None:
    application = application_for(state, record)
    record.application = application.id
    application.pods.add(record.uid)
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
    leaf = state.tree.get(application.queue) if application.queue is not None else None
    if leaf is not None:
        note_completing(leaf, application)


def leave(state: State, record: PodRecord) -> None:
    """Take a pod that is gone out of its application; the last one leaves it completing."""
    waiting_for_namespace = state.unclassified.get(record.facts.namespace)
    if waiting_for_namespace is not None:
        waiting_for_namespace.discard(record.uid)
        if not waiting_for_namespace:
            del state.unclassified[record.facts.namespace]
    if record.application is None:
        return
    application = state.applications[record.application]
    application.pods.discard(record.uid)
    application.holders.discard(record.uid)
    forget_guest(state, application, record.facts.namespace)
    record.application = None
    if not application.pods:
        emptied(state, application)
    else:
        idle(state, application)


def place_all(state: State) -> None:
    """Place every application that has no queue, and charge its pods; after a new document."""
    place_again(state, sorted(state.unplaced))


def place_gangs(state: State) -> None:
    """Place the gangs that waited for the list of pods, which is there now."""
    found = list(unplaced_gangs(state))
    if found:
        place_again(state, found)


def place_again(state: State, app_ids: Iterable[AppId]) -> None:
    """Place applications that have no queue anew, and charge or tell their pods."""
    for app_id in app_ids:
        application = state.applications[app_id]
        _place(state, application, forced=_has_bound_pod(state, application))
        for uid in sorted(application.pods):
            settle(state, state.pods[uid])
            tell(state, state.pods[uid], application)
            _tell_fallback(state, state.pods[uid], application)
    state.freed = True


def _place(state: State, application: Application, *, forced: bool) -> None:
    """``forced``: it has a pod on a node already, which must count somewhere (PL-12)."""
    if application.queue is not None or not state.generation:
        return
    if not forced and _awaits_namespace(state, application):
        application.refusal = Refusal(
            Code.NOT_READY, f"namespace {application.namespace[:_SHOWN]} has not been read yet"
        )
        return
    if not forced and awaits_pods(state, application):
        application.refusal = UNREAD
        return
    verdict = _verdict(state, application, forced=forced)
    if isinstance(verdict, Refusal):
        _refuse(state, application, verdict)
        return
    path = _queue_for(state, application, verdict)
    # What runs must count somewhere, and was taken in before it ran.
    refusal = None if forced else refusal_of_application(state, application, path)
    if refusal is None:
        application.passed_over = verdict.passed_over
        _settle_in(state, application, path)
    else:
        _refuse(state, application, refusal)


def _refuse(state: State, application: Application, refusal: Refusal) -> None:
    application.refusal = refusal
    if refusal.code is not Code.NOT_READY:
        fire(state, application, Move.REJECT)


def _awaits_namespace(state: State, application: Application) -> bool:
    """Whether it waits for its namespace, whose annotations say much of its queue.

    The API server has a namespace before any pod in it, so one that is not known is on its way here. After
    `NAMESPACE_AWAITED` seconds the application goes on without (NS-8).
    """
    until = application.awaits_until
    if until is not None and (application.namespace in state.namespaces or has_come(until, now=state.now)):
        application.awaits_until = until = None
    return until is not None


def place_overdue(state: State) -> None:
    """Place the applications whose namespace did not come."""
    overdue = [
        app_id
        for app_id in sorted(state.unplaced)
        if (until := state.applications[app_id].awaits_until) is not None and has_come(until, now=state.now)
    ]
    if overdue:
        place_again(state, overdue)


def place_of_namespace(state: State, namespace: str) -> None:
    """Place the applications that waited for it."""
    found = [each for each in sorted(state.unplaced) if state.applications[each].namespace == namespace]
    if found:
        place_again(state, found)


def _verdict(state: State, application: Application, *, forced: bool) -> Chosen | Refusal:
    identity = application.identity
    if identity.groups and not is_user_name(identity.user) and not forced:
        return Refusal(Code.PLACEMENT_FAILED, f"invalid user name {identity.user[:_SHOWN]}")
    unresolved = find_groups(state, application, forced=forced)
    if unresolved is not None:
        return unresolved
    request = _request(state, application, application.requested, forced=forced)
    return decide_queue(state.tree, state.rules, request)


def _request(state: State, application: Application, requested: str, *, forced: bool) -> PlacementRequest:
    tags = {"namespace": application.namespace or "default"}
    namespace = state.namespaces.get(application.namespace)
    if namespace is not None and namespace.parent_queue:
        tags["namespace.parentqueue"] = namespace.parent_queue
    return PlacementRequest(
        requested,
        application.identity.user,
        application.groups or (),
        tags,
        forced,
        restored=not state.pods_listed,
    )


def _tell_fallback(state: State, record: PodRecord, application: Application) -> None:
    """Say once of a pod that names a queue which does not take it where it counts instead (F-6).

    The first pod of an application decides; what others name is looked at here alone.
    """
    facts = record.facts
    if record.fell_back is not None or application.queue is None or facts.placeholder:
        return
    why = application.passed_over
    if facts.queue != application.requested:
        request = _request(state, application, facts.queue[:LONGEST_LOOKED_AT], forced=False)
        why = why_passed_over(state.tree, state.rules, request) if facts.queue else ""
    record.fell_back = f"fell back to {application.queue}: {why}" if why else ""
    if why and not record.node:
        post(state, record, FELL_BACK, record.fell_back)


def _queue_for(state: State, application: Application, chosen: Chosen) -> QueuePath:
    """The queue that placement chose, made when it is missing, with what the namespace says of it (NS-5)."""
    if chosen.path == RECOVERY_QUEUE:
        return state.tree.recovery_queue().path
    queue = state.tree.create(chosen.create) if chosen.create else state.tree.get(chosen.path)
    namespace = state.namespaces.get(application.namespace)
    if queue is not None and namespace is not None:
        state.tree.limit(
            queue,
            max=namespace.max,
            guaranteed=namespace.guaranteed,
            max_applications=namespace.max_applications,
        )
        recount_queue(state, queue)
    return chosen.path


def _settle_in(state: State, application: Application, path: QueuePath) -> None:
    application.queue, application.refusal = path, None
    state.unplaced.discard(application.id)
    queue = state.tree.get(path)
    if queue is not None:
        queue.applications.add(application.id)
        paths = [each.path for each in queue.chain]
        application.group = state.limits.group_for(paths, application.groups or ())
    fire(state, application, Move.RUN)
    if state.pods_listed:
        begin(state, application)
    for uid in sorted(application.pods):
        settle(state, state.pods[uid])


def _has_bound_pod(state: State, application: Application) -> bool:
    return any(state.pods[uid].node for uid in application.pods)
