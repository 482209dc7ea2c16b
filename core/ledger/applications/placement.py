"""Placement of an application in a queue, with every check for its pending pods (PL-1 to PL-12)."""

from core.ids import RECOVERY_QUEUE, QueuePath
from core.instants import has_come
from core.ledger.admission.requests import request_cycle
from core.ledger.applications.bars import refusal_of_bar
from core.ledger.applications.index import end_namespace_wait, note_placed, note_unplaced
from core.ledger.applications.lifecycle import fire
from core.ledger.applications.moves.orders import order_of
from core.ledger.applications.queues import queue_for, refusal_of_queues
from core.ledger.applications.rejection import forget_rejection, report_later
from core.ledger.applications.timeouts.due import judge_later
from core.ledger.applications.user_groups import find_groups
from core.ledger.gangs.definition import awaits_pods, refusal_of_application, was_taken_in
from core.ledger.gangs.due import disarm
from core.ledger.gangs.index import unfile
from core.ledger.gangs.lifecycle import begin
from core.ledger.gangs.release import disperse
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import touch
from core.ledger.usage.counters import recount_people
from core.queues.placement.moved import decide_moved, may_use
from core.queues.placement.refusals import refusal_of_move, refusal_of_unread, refusal_of_user
from core.queues.placement.rules import Chosen, PlacementRequest, decide_queue
from core.reasons import WAITS, Refusal
from core.workload.application import Application
from core.workload.states import Move


def place(state: State, application: Application) -> None:
    """Place an application for its pending pods, unless it has its queue and has passed every check."""
    if not state.config.generation:
        return
    if application.queue is not None:
        if application.forced:
            check(state, application)
        return
    refusal = _not_yet(state, application)
    chosen = refusal or verdict_for(state, application, forced=False)
    if isinstance(chosen, Refusal):
        refuse(state, application, chosen)
        return
    path = queue_for(state, application, chosen)
    refusal = refusal_of_application(state, application, path)
    if refusal is None:
        application.passed_over = chosen.passed_over
        settle_in(state, application, path)
    else:
        refuse(state, application, refusal)


def check(state: State, application: Application, *, waits: bool = True) -> None:
    """Make the checks that an application skipped because a pod of it ran already (F-1).

    Running pods stay where they are. No pending pod is admitted before the checks are passed. ``waits``: True
    if there is a pending pod. Without one, a failure has no consequence yet.
    """
    before = application.refusal
    refusal = _spared(state, application)
    if refusal is not None and not waits:
        return
    application.refusal, application.forced = refusal, refusal is not None
    if refusal is not None and (before is None or before.text != refusal.text):
        report_later(state, application)
    (note_placed if refusal is None else note_unplaced)(state, application)
    if before is not None and refusal is None:
        request_cycle(state, CycleReason.APPLICATION_CHANGED)
    if (before is None) != (refusal is None):
        for uid in sorted(application.pods):
            touch(state, state.pods.records[uid])


def _spared(state: State, application: Application) -> Refusal | None:
    refusal = _not_yet(state, application)
    if refusal is not None or application.queue is None:
        return refusal
    groups = application.groups
    chosen = verdict_for(state, application, forced=False)
    if application.groups != groups:
        recount_people(state)
    if isinstance(chosen, Refusal):
        return chosen
    moved = refusal_of_move(application.queue, chosen.path)
    if moved is not None or was_taken_in(state, application):
        return moved
    return refusal_of_application(state, application, application.queue)


def refuse(state: State, application: Application, refusal: Refusal) -> None:
    """Note why an application has no queue. Placeholders from before a restart are deleted."""
    before, application.refusal = application.refusal, refusal
    if refusal.code not in WAITS:
        if before is None or before.text != refusal.text:
            report_later(state, application)
        fire(state, application, Move.REJECT)
        disperse(state, application)


def _not_yet(state: State, application: Application) -> Refusal | None:
    applications = state.applications
    barred = refusal_of_bar(state, application) if applications.endings or applications.timeouts else None
    return barred or refusal_of_unread(
        application.namespace,
        awaits_namespace=awaits_namespace(state, application),
        awaits_pods=awaits_pods(state, application),
    )


def awaits_namespace(state: State, application: Application) -> bool:
    """True while an application waits for its namespace, whose annotations affect its queue.

    The API server has a namespace before any pod in it, so an unknown namespace is on its way. After
    `NAMESPACE_AWAITED` seconds the application goes on without it (NS-8).
    """
    until = application.awaits_until
    if until is not None and (
        application.namespace in state.cluster.namespaces or has_come(until, now=state.now)
    ):
        end_namespace_wait(state, application)
    return application.awaits_until is not None


def verdict_for(state: State, application: Application, *, forced: bool) -> Chosen | Refusal:
    """Queue for an application, or the reason why there is none. ``forced``: for running pods (PL-10)."""
    refusal = None if forced else refusal_of_user(application.identity)
    refusal = refusal or find_groups(state, application, forced=forced)
    if refusal is not None:
        return refusal
    moved = place_of_move(state, application, forced=forced)
    if moved is not None:
        return moved
    request = request_for(state, application, application.requested, forced=forced)
    chosen = decide_queue(state.config.tree, state.config.rules, request)
    refusal = refusal_of_queues(state, chosen) if isinstance(chosen, Chosen) else None
    if refusal is None:
        return chosen
    return Chosen(RECOVERY_QUEUE) if forced else refusal


def place_of_move(state: State, application: Application, *, forced: bool) -> Chosen | Refusal | None:
    """Queue that an administrator moved an application to, or why it takes none (ACT-33). None for no order.

    Another user may use the id by now. For one without access to the queue the order does not count.
    """
    order = order_of(state, application)
    if order is None:
        return None
    queue, user = state.config.tree.get(order.queue), application.identity.user
    if user != order.user and (queue is None or not may_use(queue, user, application.groups or ())):
        return None
    return decide_moved(state.config.tree, order.queue, forced=forced)


def request_for(state: State, application: Application, requested: str, *, forced: bool) -> PlacementRequest:
    """Request to the placement rules for a pod of an application. ``requested``: the queue that it names."""
    tags = {"namespace": application.namespace or "default"}
    namespace = state.cluster.namespaces.get(application.namespace)
    if namespace is not None and namespace.parent_queue:
        tags["namespace.parentqueue"] = namespace.parent_queue
    return PlacementRequest(
        requested,
        application.identity.user,
        application.groups or (),
        tags,
        forced,
        restored=not state.pods.listed,
    )


def settle_in(state: State, application: Application, path: QueuePath) -> None:
    """Put an application into its queue."""
    if application.gang_progress is not None:
        _forget_gang_progress(state, application)
    # Pods that were refused before are only checked again if they are woken.
    if application.refusal is not None:
        request_cycle(state, CycleReason.APPLICATION_CHANGED)
    application.queue, application.refusal = path, None
    if application.running_since is not None:
        judge_later(state, application.id)
    note_placed(state, application)
    queue = state.config.tree.get(path)
    if queue is not None:
        queue.applications.add(application.id)
        application.group = state.config.limits.group_for(queue.paths, application.groups or ())
    fire(state, application, Move.RUN)
    if state.pods.listed:
        begin(state, application)
    for uid in sorted(application.pods):
        forget_rejection(state, state.pods.records[uid])
        touch(state, state.pods.records[uid])


def _forget_gang_progress(state: State, application: Application) -> None:
    """Forget the gang progress of an application that was refused, whose placeholders were deleted."""
    for uid in sorted(application.pods):
        unfile(state, state.pods.records[uid])
    application.gang_progress = None
    disarm(state, application.id)
