"""Pods on nodes without admission: the queue in which they count, and the checks they skip (F-1).

A tenant may write ``spec.nodeName``, and after a restart every running pod comes this way. A running pod is
charged at once, where its application takes it, else in the recovery queue. No waiting pod is admitted by it.
"""

from collections.abc import Iterable, Sequence

from core.ids import RECOVERY_QUEUE, AppId, PodUid, QueuePath
from core.ledger.applications.index import end_namespace_wait
from core.ledger.applications.lifecycle import remove
from core.ledger.applications.membership import add_application, join, take_out
from core.ledger.applications.placement import check, refuse, settle_in, verdict_for
from core.ledger.applications.queues import queue_for, recovery_queue
from core.ledger.applications.user_groups import find_groups
from core.ledger.gangs.definition import gang_of
from core.ledger.gangs.index import unfile
from core.ledger.gangs.lifecycle import begin
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.state import State
from core.queues.users.identity import NO_GROUP
from core.queues.users.limits import Tracked, entry_for
from core.reasons import Refusal
from core.workload.application import Application

FORCED = "PlacedByForce"
"""Reason of the Event on a pod that got a node without Paddock, or that no queue takes."""


def place_forced(state: State, application: Application, running: Sequence[PodRecord]) -> list[PodRecord]:
    """Place an application whose pods run already, or move them to the recovery queue (PL-10, PL-12).

    Returns the pods to be taken in again, because the pod that defined their application was moved.
    """
    if not state.config.generation:
        return []
    chosen = verdict_for(state, application, forced=True)
    if isinstance(chosen, Refusal):
        refuse(state, application, chosen)
        return []
    if chosen.path == RECOVERY_QUEUE:
        return _recover(state, application, running)
    application.forced, application.passed_over = True, chosen.passed_over
    settle_in(state, application, queue_for(state, application, chosen))
    check(state, application, waits=any(state.pods.records[uid].is_ask for uid in application.pods))
    return []


def _recover(state: State, application: Application, running: Sequence[PodRecord]) -> list[PodRecord]:
    for record in sorted(running, key=_seniority):
        unfile(state, record)
        take_out(state, record, application)
        _count_in_recovery(state, record, application.id)
    taken = {record.uid for record in running}
    if application.pods and application.definer not in taken:
        if application.originator is not None and application.originator[2] in taken:
            application.originator = _oldest(state, application)
        return []
    left = sorted((state.pods.records[uid] for uid in application.pods), key=_seniority)
    for record in left:
        unfile(state, record)
        take_out(state, record, application)
    remove(state, application)
    return left


def _seniority(record: PodRecord) -> tuple[bool, int]:
    """Order in which pods define their application. Placeholders come last, because Paddock made them."""
    return record.facts.placeholder, record.seq


def _oldest(state: State, application: Application) -> tuple[float, int, PodUid] | None:
    pods = (state.pods.records[uid] for uid in application.pods - application.holders)
    return min(((each.facts.created, each.seq, each.uid) for each in pods), default=None)


def _count_in_recovery(state: State, record: PodRecord, own: AppId) -> None:
    """Charge a pod that no queue takes, in an application that no other pod ever joins."""
    app_id = AppId(own.name, record.facts.namespace, recovered=True)
    application = state.applications.known.get(app_id)
    if application is None:
        application = add_application(state, record, app_id)
        end_namespace_wait(state, application)
        if find_groups(state, application, forced=True) is not None:
            application.groups = (NO_GROUP,)
    application.gang = application.gang or gang_of(state, record)
    join(state, record, application)
    if application.queue is None:
        settle_in(state, application, recovery_queue(state))
    elif state.pods.listed:
        # A placeholder is to be deleted.
        begin(state, application)
    state.applications.tally.recovered += 1
    post(state, record, FORCED, f"it runs, and no queue takes it: it counts in {RECOVERY_QUEUE}")


def report_forced(state: State, record: PodRecord) -> None:
    """Report that a pod got its node without admission. After a start, all running pods come that way."""
    application = state.application_of(record)
    if state.pods.listed and application is not None and application.queue not in (None, RECOVERY_QUEUE):
        state.applications.tally.forced += 1
        post(state, record, FORCED, f"it has a node and was never let in: it counts in {application.queue}")


# -- limits on the number of applications --------------------------------------------------------------------


def let_in_what_runs(state: State) -> None:
    """Count running applications as admitted, the oldest first, as far as limits allow.

    After a start, or if another instance admitted them, this instance cannot know. An application beyond a
    limit waits with its further pods, like a forced one (F-1).
    """
    counted: dict[QueuePath | Tracked, int] = {}
    running = [each for each in state.applications.known.values() if each.started and each.queue is not None]
    for application in sorted(running, key=lambda each: (each.submitted, each.id)):
        bounds = list(_bounds(state, application))
        if application.let_in or all(not most or counted.get(place, 0) < most for place, most in bounds):
            application.let_in = True
            for place, _ in bounds:
                counted[place] = counted.get(place, 0) + 1


def _bounds(state: State, application: Application) -> Iterable[tuple[QueuePath | Tracked, int]]:
    """Places in which an application counts as running, each with its limit; 0 for no limit."""
    leaf = state.config.tree.get(application.queue or "")
    for queue in leaf.chain if leaf is not None else ():
        yield queue.path, queue.max_applications
        for tracked in application.claimant.tracked(queue.path):
            entry = entry_for(state.config.limits, tracked)
            yield tracked, entry.max_applications if entry is not None else 0
