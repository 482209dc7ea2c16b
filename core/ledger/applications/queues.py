"""Tree of queues: the document in force, and the dynamic queues of applications (PL-11)."""

from heapq import nsmallest

from core.ids import RECOVERY_QUEUE, ROOT, AppId, QueuePath, parent_path
from core.ledger.admission.requests import request_cycle
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due
from core.ledger.state.timers import ONLY_ONE, TimerKind
from core.ledger.usage.over_max import recount_queue
from core.queues.closing import Closures, in_force
from core.queues.placement.refusals import TOO_MANY, refusal_of_creation
from core.queues.placement.rules import Chosen
from core.queues.spec import PartitionSpec
from core.queues.tree import configured_above
from core.reasons import Refusal
from core.workload.application import Application


def configure_queues(state: State, partition: PartitionSpec) -> None:
    """Apply a document to the running tree. Usage is carried over by path."""
    state.config.tree.apply(partition)


def close_queues(state: State, closures: Closures) -> None:
    """Close these queues, and open all others (ACT-10).

    Asks that were refused for a closed queue are checked again once it is open.
    """
    tree, holds = state.config.tree, in_force(closures, now=state.now)
    opened = tree.closures.keys() - holds.keys()
    tree.close_only(holds)
    first = next_opening(state)
    if first is None:
        cancel_timer(state, TimerKind.QUEUE_OPENS, ONLY_ONE)
    else:
        set_timer(state, TimerKind.QUEUE_OPENS, ONLY_ONE, first)
    if opened:
        request_cycle(state, CycleReason.QUEUE_OPENED)


def next_opening(state: State) -> float | None:
    """Time at which the first closed queue opens by itself, or None (ACT-12)."""
    ends = [each.until for each in state.config.tree.closures.values() if each.until is not None]
    return min(ends, default=None)


def open_due_queues(state: State) -> None:
    """Open the queues whose time has come (ACT-12)."""
    if take_due(state, TimerKind.QUEUE_OPENS):
        close_queues(state, state.config.tree.closures)


def queue_for(state: State, application: Application, chosen: Chosen) -> QueuePath:
    """Queue that placement chose, created if missing, with its limits from the namespace (NS-5)."""
    if chosen.path == RECOVERY_QUEUE:
        return recovery_queue(state)
    queue = state.config.tree.create(chosen.create) if chosen.create else state.config.tree.get(chosen.path)
    namespace = state.cluster.namespaces.get(application.namespace)
    if queue is not None and namespace is not None:
        state.config.tree.limit(
            queue,
            max=namespace.max,
            guaranteed=namespace.guaranteed,
            max_applications=namespace.max_applications,
        )
        recount_queue(state, queue)
    return chosen.path


def recovery_queue(state: State) -> QueuePath:
    """Queue of running pods that no queue takes, created if missing (PL-12)."""
    return state.config.tree.recovery_queue().path


def remove_idle_queues(state: State) -> bool:
    """Remove queues that are empty and that no document names (Q-10). True if there were any."""
    if not state.cycle.running:
        state.config.tree.part_removed()
    return bool(state.config.tree.remove_idle())


def refusal_of_queues(state: State, chosen: Chosen) -> Refusal | None:
    """Why the queues that placement chose to make cannot be made (F-21)."""
    if not chosen.create:
        return None
    tree, settings = state.config.tree, state.config.settings
    nearest = tree.get(parent_path(chosen.create[0]) or ROOT) or tree.root
    above = configured_above(nearest)
    return refusal_of_creation(
        above,
        len(chosen.create),
        made_below=tree.made_below(above),
        made=tree.made,
        most_below=settings.max_dynamic,
        most=settings.max_dynamic_total,
    )


def refused_for_number(state: State) -> list[AppId]:
    """Applications that were refused for too many queues and that may have theirs by now, eldest first.

    No more of them than queues may be made: thousands may wait.
    """
    refused: dict[str, list[Application]] = {}
    for app_id in state.applications.unplaced:
        application = state.applications.known[app_id]
        if application.refusal is not None and application.refusal.subject == TOO_MANY:
            refused.setdefault(application.refusal.limit, []).append(application)
    return [
        application.id
        for path in sorted(refused)
        for application in nsmallest(
            _queues_left(state, QueuePath(path)), refused[path], key=lambda each: (each.submitted, each.id)
        )
    ]


def _queues_left(state: State, path: QueuePath) -> int:
    """Below ``path``; of the root all that are left, since its name stands for the sum, too."""
    tree, settings = state.config.tree, state.config.settings
    left = settings.max_dynamic_total - tree.made
    return max(0, left if path == ROOT else min(left, settings.max_dynamic - tree.made_below(path)))
