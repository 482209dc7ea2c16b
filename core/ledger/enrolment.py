"""Whose a pod is, which application it belongs to, and which queue that application runs in."""

from core.ids import QueuePath
from core.ledger.accounts import settle
from core.ledger.record import PodRecord
from core.ledger.state import State
from core.queues.placement import decide_placement
from core.workload.application import Application, application_id
from core.workload.managed import is_managed


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
        _place(state, state.applications[record.application], forced=bool(record.node))


def _join(state: State, record: PodRecord) -> None:
    app_id = application_id(record.facts, unique=state.settings.unique_app_ids)
    application = state.applications.get(app_id)
    if application is None:
        application = Application(app_id, record.facts.queue)
        state.applications[app_id] = application
    application.pods.add(record.uid)
    record.application = app_id


def leave(state: State, record: PodRecord) -> None:
    """Take a pod that is gone out of its application; the last one takes the application with it."""
    waiting_for_namespace = state.unclassified.get(record.facts.namespace)
    if waiting_for_namespace is not None:
        waiting_for_namespace.discard(record.uid)
        if not waiting_for_namespace:
            del state.unclassified[record.facts.namespace]
    if record.application is None:
        return
    application = state.applications[record.application]
    application.pods.discard(record.uid)
    record.application = None
    if not application.pods:
        _remove(state, application)


def place_all(state: State) -> None:
    """Place every application that has no queue, and charge its pods; after a new document."""
    for application in list(state.applications.values()):
        if application.queue is None:
            _place(state, application, forced=_has_bound_pod(state, application))
            for uid in sorted(application.pods):
                settle(state, state.pods[uid])


def _place(state: State, application: Application, *, forced: bool) -> None:
    """``forced``: it has a pod on a node already, which must count somewhere (PL-12)."""
    if application.queue is not None or not state.generation:
        return
    verdict = decide_placement(state.tree, application.requested)
    if isinstance(verdict, str):
        _settle_in(state, application, verdict)
    elif forced:
        _settle_in(state, application, state.tree.recovery_queue().path)
    else:
        application.refusal = verdict


def _settle_in(state: State, application: Application, path: QueuePath) -> None:
    application.queue, application.refusal = path, None
    queue = state.tree.get(path)
    if queue is not None:
        queue.applications.add(application.id)
    for uid in sorted(application.pods):
        settle(state, state.pods[uid])


def _has_bound_pod(state: State, application: Application) -> bool:
    return any(state.pods[uid].node for uid in application.pods)


def _remove(state: State, application: Application) -> None:
    del state.applications[application.id]
    queue = state.tree.get(application.queue) if application.queue else None
    if queue is not None:
        queue.applications.discard(application.id)
