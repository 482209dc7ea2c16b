"""Classification of a pod: whether it is managed, and which application it joins."""

from collections.abc import Iterable

from core.ids import AppId
from core.ledger.admission.requests import request_cycle
from core.ledger.applications.forced import place_forced, report_forced
from core.ledger.applications.index import take_overdue
from core.ledger.applications.lifecycle import complete, emptied, idle
from core.ledger.applications.membership import application_for, join, take_out
from core.ledger.applications.placement import place, request_for
from core.ledger.applications.queues import refused_for_number
from core.ledger.applications.rejection import report_rejection
from core.ledger.gangs.definition import unplaced_gangs
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.queues.placement.rules import why_passed_over
from core.workload.application import Application
from core.workload.managed import is_managed

FELL_BACK = "FellBack"

LONGEST_CHECKED = 1_000
"""Characters that are read of a queue's name on a pod that is not the first of its application."""


def classify(state: State, record: PodRecord) -> None:
    """Decide once whether a pod is managed (DESIGN-7).

    A pod whose namespace has not been shown yet is decided again when it is.
    """
    if record.membership.classified:
        return
    _forget_unclassified(state, record)
    facts = record.facts
    verdict = is_managed(
        facts,
        state.cluster.namespaces.get(facts.namespace),
        scheduler_names=state.config.settings.scheduler_names,
    )
    record.membership.managed = bool(verdict)
    record.membership.classified = verdict is not None
    if not record.membership.classified:
        state.pods.unclassified.setdefault(facts.namespace, set()).add(facts.uid)


def _forget_unclassified(state: State, record: PodRecord) -> None:
    waiting_for_namespace = state.pods.unclassified.get(record.facts.namespace)
    if waiting_for_namespace is not None:
        waiting_for_namespace.discard(record.uid)
        if not waiting_for_namespace:
            del state.pods.unclassified[record.facts.namespace]


def reclassify(state: State, namespace: str) -> Rounds:
    """Decide about the pods that came before their namespace."""
    for uid in sorted(state.pods.unclassified.pop(namespace, ())):
        record = state.pods.records[uid]
        classify(state, record)
        yield from take_in(state, record)
        touch(state, record)
        yield


def take_in(state: State, record: PodRecord) -> Rounds:
    """Put a managed ask or allocation into its application, which the first pod creates (POD-3 to POD-5).

    A pod behind a foreign gate is no ask yet and creates nothing (POD-20).
    """
    node = record.node
    comes = (
        record.membership.application is None and record.membership.managed and bool(node or record.is_ask)
    )
    if comes:
        join(state, record, application_for(state, record))
    application = state.application_of(record)
    if application is not None:
        if not _is_forced(state, record):
            place(state, application)
        elif application.queue is None:
            # Also for a known pod: with a node it must count somewhere, whatever queue it named.
            yield from _place_forced(state, application, [record])
            application = state.application_of(record) or application
        if state.pods.touched:
            # Reports about usage precede the reports below.
            yield
        if application.refusal is not None:
            report_rejection(state, record, application)
        _report_fallback(state, record, application)
        if comes and node:
            report_forced(state, record)


def _place_forced(state: State, application: Application, running: list[PodRecord]) -> Rounds:
    for record in place_forced(state, application, running):
        yield from take_in(state, record)
        touch(state, record)
        yield


def _is_forced(state: State, record: PodRecord) -> bool:
    """True if a pod runs already, so that it must count somewhere (PL-12).

    A placeholder carries no identity. Before all pods were seen, another pod may tell its owner.
    """
    return bool(record.node) and (state.pods.listed or not record.facts.placeholder)


def leave(state: State, record: PodRecord) -> None:
    """Take a deleted pod out of its application. The last one leaves it completing."""
    _forget_unclassified(state, record)
    if record.membership.application is None:
        return
    application = state.applications.known[record.membership.application]
    take_out(state, record, application)
    if application.pods:
        idle(state, application)
        return
    emptied(state, application)
    if not application.was_shown and state.applications.known.get(application.id) is application:
        # Only bodies have shown it, so it waits for no further pods.
        complete(state, application)


def place_all(state: State) -> Rounds:
    """Place every application without a queue after a new document, and charge its pods."""
    yield from place_again(state, sorted(state.applications.unplaced))


def place_gangs(state: State) -> Rounds:
    """Place the gangs that waited for the list of pods, which is complete now."""
    found = list(unplaced_gangs(state))
    if found:
        yield from place_again(state, found)


def place_again(state: State, app_ids: Iterable[AppId]) -> Rounds:
    """Place applications without a queue again, and charge their pods or report the rejection."""
    for app_id in app_ids:
        application = state.applications.known.get(app_id)
        if application is None:
            continue
        pods = [state.pods.records[uid] for uid in sorted(application.pods)]
        running = [each for each in pods if _is_forced(state, each)]
        if application.queue is None and running:
            yield from _place_forced(state, application, running)
        if any(not state.pods.records[uid].node for uid in application.pods):
            place(state, application)
        for record in pods:
            touch(state, record)
            yield
            own = state.application_of(record) or application
            report_rejection(state, record, own)
            _report_fallback(state, record, own)
    request_cycle(state, CycleReason.APPLICATION_CHANGED)


def _report_fallback(state: State, record: PodRecord, application: Application) -> None:
    """Report once on a pod that its queue does not take it, and where it counts instead (F-6).

    The first pod of an application decides. The queues of its other pods are read here only.
    """
    facts = record.facts
    if record.membership.fell_back is not None or application.queue is None or facts.placeholder:
        return
    why = application.passed_over
    if facts.queue != application.requested:
        request = request_for(state, application, facts.queue[:LONGEST_CHECKED], forced=False)
        why = why_passed_over(state.config.tree, state.config.rules, request) if facts.queue else ""
    record.membership.fell_back = f"fell back to {application.queue}: {why}" if why else ""
    if why and not record.node:
        post(state, record, FELL_BACK, record.membership.fell_back)


def place_overdue(state: State) -> Rounds:
    """Place the applications whose namespace did not come in time."""
    overdue = take_overdue(state)
    if overdue:
        yield from place_again(state, overdue)


def place_refused_for_number(state: State) -> Rounds:
    """Place applications that were refused for too many queues, where fewer are there by now (F-21)."""
    found = refused_for_number(state)
    if found:
        yield from place_again(state, found)


def place_of_namespace(state: State, namespace: str) -> Rounds:
    """Place the applications that waited for a namespace."""
    found = [
        each
        for each in sorted(state.applications.unplaced)
        if state.applications.known[each].namespace == namespace
    ]
    if found:
        yield from place_again(state, found)
