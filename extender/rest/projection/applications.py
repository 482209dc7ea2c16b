"""Answers about applications (REST-7, REST-32, REST-33)."""

from collections.abc import Iterable, Iterator

import msgspec

from core.ledger.pods.record import PodRecord
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.gangs.progress import GangProgress
from core.workload.states import ENDED, AppState
from extender.rest.facts import PARTITION, Facts
from extender.rest.model.applications import (
    NEVER_STARTED,
    NO_REQUEST,
    Allocation,
    App,
    Placeholders,
    StateEntry,
)
from extender.rest.projection.counting import Counted, counted_as
from extender.rest.projection.pods import allocation_from, request_from
from extender.rest.projection.units import amounts, limits, milliseconds, moment_text, nanoseconds, total


def active_applications(facts: Facts) -> list[Application]:
    """Return the live applications, sorted by submission and id (REST-25)."""
    return in_order(each for each in facts.view.applications() if each.state not in ENDED)


def applications_of(facts: Facts, queue: Queue) -> list[Application]:
    """Return the live applications of a leaf."""
    return in_order(each for each in facts.view.applications_in(queue) if each.state not in ENDED)


def completed_applications(facts: Facts) -> list[Application]:
    """Return the completed and failed applications that are still shown (REST-42)."""
    return in_order(each for each in facts.view.identities.all_ended() if each.state is not AppState.REJECTED)


def rejected_applications(facts: Facts) -> list[Application]:
    """Return the rejected applications, with or without remaining pods."""
    ended = (each for each in facts.view.identities.all_ended() if each.state is AppState.REJECTED)
    alive = (each for each in facts.view.applications() if each.state is AppState.REJECTED)
    return in_order([*ended, *alive])


def in_order(found: Iterable[Application]) -> list[Application]:
    """Sort by submission, id, and time of the end."""
    return sorted(found, key=lambda each: (each.submitted, each.id, each.since))


def app_from(facts: Facts, application: Application) -> App:
    """Build the answer for an application. An ended one has no pods, but keeps its peak and its sums."""
    requests, allocations = _pods(facts, application)
    own = [each for each in _records(facts, application) if not each.facts.placeholder]
    reserved = _reserved(requests)
    return msgspec.structs.replace(
        head_from(facts, application),
        used_resource=amounts(total(each.facts.size for each in own if _is_allocated(facts, each))),
        pending_resource=amounts(total(each.facts.size for each in requests)),
        requests=tuple(request_from(facts, application, each) for each in requests),
        allocations=allocations,
        has_reserved=bool(reserved),
        reservations=reserved,
        max_request_priority=max((each.facts.priority for each in requests), default=NO_REQUEST),
    )


def head_from(facts: Facts, application: Application) -> App:
    """Build the answer for an application without its pods."""
    return App(
        application_id=application.id.name,
        namespace=application.id.namespace,
        max_used_resource=amounts(facts.past.peak(application)),
        partition=PARTITION,
        queue_name=application.queue or application.requested,
        submission_time=nanoseconds(application.submitted),
        finished_time=nanoseconds(application.since) if application.ended else 0,
        start_time=start_time(application),
        application_state=application.state.value,
        user=application.identity.user,
        groups=tuple(application.groups or ()),
        rejected_message=application.refusal.text if application.refusal is not None else "",
        state_log=state_log(application),
        placeholder_data=placeholders_from(application.gang_progress),
        max_request_priority=NO_REQUEST,
        resource_history=facts.past.history(application),
        backoff_deadline=backoff_deadline(application),
    )


def _records(facts: Facts, application: Application) -> Iterator[PodRecord]:
    for uid in application.pods:
        record = facts.view.pod(uid)
        if record is not None:
            yield record


def _is_allocated(facts: Facts, record: PodRecord) -> bool:
    return counted_as(facts.view.charge_of(record.uid)) is Counted.ALLOCATION


def _pods(facts: Facts, application: Application) -> tuple[list[PodRecord], tuple[Allocation, ...]]:
    """Return requests sorted by creation and key, and allocations sorted by time and key."""
    requests: list[PodRecord] = []
    allocations: list[Allocation] = []
    for record in _records(facts, application):
        charge = facts.view.charge_of(record.uid)
        counted = counted_as(charge)
        if counted is Counted.REQUEST:
            requests.append(record)
        elif counted is Counted.ALLOCATION and charge is not None:
            allocations.append(allocation_from(application, record, charge.node))
    requests.sort(key=lambda each: (each.facts.created, each.uid))
    return requests, in_time(allocations)


def in_time(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Sort allocations by time, then by key (REST-25)."""
    return tuple(sorted(allocations, key=lambda each: (each.allocation_time, each.allocation_key)))


def _reserved(requests: Iterable[PodRecord]) -> tuple[str, ...]:
    """Return the keys of requests for which a node is nominated or reserved."""
    return tuple(sorted(each.uid for each in requests if each.facts.nominated or each.node_reservation.node))


def start_time(application: Application) -> int:
    """Return the time of the last entry into Running, in milliseconds."""
    entered = [since for since, state in application.states if state is AppState.RUNNING]
    return milliseconds(entered[-1]) if entered else NEVER_STARTED


def state_log(application: Application) -> tuple[StateEntry, ...]:
    """Return every entered state. No application enters New."""
    return tuple(
        StateEntry(time=nanoseconds(since), application_state=state.value)
        for since, state in application.states
        if state is not AppState.NEW
    )


def placeholders_from(progress: GangProgress | None) -> tuple[Placeholders, ...]:
    """Return the task groups in the order of their definition (GANG-16)."""
    return tuple(
        Placeholders(
            task_group_name=name,
            count=each.count,
            min_resource=limits(each.group.size),
            replaced=each.replaced,
            timedout=each.timed_out,
        )
        for name, each in (progress.groups.items() if progress is not None else ())
    )


def backoff_deadline(application: Application) -> str:
    """Return the end of the back-off, or an empty text without one."""
    until = application.backs_off_until
    return moment_text(until) if until is not None else ""
