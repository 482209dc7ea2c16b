"""Rule about an ask that fits: whether it must wait for its turn (DESIGN-3).

The ask must wait if other asks that may rank before it could want the same capacity. If everything pending
fits, no ask is held, because no order matters. Cost: O(depth).
"""

from core.decisions.back_off import may_back_off
from core.ids import QueuePath
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.properties import SortPolicy
from core.queues.queue import Queue
from core.queues.users.limits import Tracked
from core.reasons import Code, Refusal
from core.resource import Limit, Resource, Tally, first_excess
from core.workload.application import Application
from core.workload.states import AppState

_NOTHING = Resource({})


def hold(view: LedgerView, record: PodRecord, application: Application, queue: Queue) -> Refusal | None:
    """Reason why an ask that fits must wait for its turn, or None. The ask has no turn."""
    group = view.unopened(record)
    if group is not None and not group.attempts:
        # A cycle gives all members of a group their turns at once (COS-3).
        return _waits(queue)
    if view.backs_off(application) or may_back_off(view, record, queue):
        return _waits(queue)
    held = state_aware_hold(view, application, queue)
    if held is not None:
        return held
    if view.turns and _turns_leave_no_capacity(view, record, application, queue):
        return _waits(queue)
    if not view.others_may_fit(record.uid):
        return None
    contended = (
        _numbered(view, application, queue)
        or _personal(view, record, application, queue)
        or _demanded(view, record, queue)
        or view.found_no_node(record)
    )
    return _waits(queue) if contended else None


def _turns_leave_no_capacity(
    view: LedgerView, record: PodRecord, application: Application, queue: Queue
) -> bool:
    """True if an ask fits only where asks with turns are expected."""
    claimant, size = application.claimant, record.facts.size
    return view.quota_check.refusal(
        queue.chain, claimant, size, extra=view.given
    ) is not None or view.turns_leave_no_node(record)


def _waits(queue: Queue) -> Refusal:
    return Refusal(Code.WAITING_FOR_TURN, queue.path)


def state_aware_hold(view: LedgerView, application: Application, queue: Queue) -> Refusal | None:
    """Refusal by a ``stateaware`` leaf, which lets in one application after the other (SORT-8), or None."""
    if (
        queue.properties.sort_policy is not SortPolicy.STATE_AWARE
        or application.state is not AppState.ACCEPTED
    ):
        return None
    others = [each for each in view.applications_in(queue) if each is not application]
    if any(each.state is AppState.STARTING for each in others):
        return Refusal(Code.STATE_AWARE_HOLD, queue.path)
    rivals = any(each.state is AppState.ACCEPTED and each.asked for each in others)
    return _waits(queue) if rivals else None


def _numbered(view: LedgerView, application: Application, queue: Queue) -> bool:
    """True if more applications wait than a limit on their number lets start."""
    if application.claimant.started:
        return False
    bounds: list[tuple[QueuePath, int, int, Tracked | None]] = [
        (each.path, each.max_applications, len(each.running), None) for each in queue.chain
    ]
    for tracked, entry in view.limits_of(application, queue):
        usage = view.book.get(tracked)
        running = len(usage.applications) if usage is not None else 0
        bounds.append((tracked.path, entry.max_applications, running, tracked))
    return any(
        most and (view.many_wait or running + _waiting(view, path, tracked) > most)
        for path, most, running, tracked in bounds
    )


def _waiting(view: LedgerView, path: QueuePath, tracked: Tracked | None) -> int:
    """Number of applications in a queue that would start: of one user or group, or of all."""
    return sum(
        not each.claimant.started and (tracked is None or tracked in each.claimant.tracked(path))
        for each, _ in view.waiting_below(path)
    )


def _personal(view: LedgerView, record: PodRecord, application: Application, queue: Queue) -> bool:
    """True if asks of its user or group exceed a limit."""
    for tracked, entry in view.limits_of(application, queue):
        if entry.max is not None and (
            view.many_wait or _wants_more(view, tracked, entry.max, record.facts.size)
        ):
            return True
    return False


def _wants_more(view: LedgerView, tracked: Tracked, cap: Limit, size: Resource) -> bool:
    usage = view.book.get(tracked)
    wanted = Tally(usage.held if usage is not None else None)
    for application, lines in view.waiting_below(tracked.path):
        if tracked in application.claimant.tracked(tracked.path):
            for (asked, _), waiting in lines.items():
                wanted.add(asked.times(len(waiting)))
    caps = ((name, cap.get(name)) for name, amount in size.items() if amount)
    return any(most is not None and wanted.get(name) > most for name, most in caps)


def _demanded(view: LedgerView, record: PodRecord, queue: Queue) -> bool:
    """True if demand and usage together exceed a max on the way to the root, or the capacity of nodes."""
    size = record.facts.size
    own = _NOTHING if view.is_in_demand(record.uid) else size
    for each in queue.chain:
        cap = each.max
        if cap is None:
            continue
        asked, given = view.demand_in(each), view.beside_demand(each)
        if first_excess(cap, size, each.allocated, each.reserved, given, asked, own) is not None:
            return True
    return view.crowds(size, own)
