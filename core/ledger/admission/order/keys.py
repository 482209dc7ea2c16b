"""Sort keys of queues and applications, as they are while turns are out (SORT-1, SORT-3, SORT-5)."""

from core.ledger.admission.order.state_aware import state_in_turn
from core.ledger.state.state import State
from core.queues.headroom import fair_max
from core.queues.ordering import Contender, order_key
from core.queues.priority import exported
from core.queues.properties import SortPolicy
from core.queues.queue import NO_PRIORITY, Queue
from core.resource import Resource
from core.resource.shares import fair_share
from core.workload.application import Application
from core.workload.ordering import Applicant, OrderKey
from core.workload.ordering import order_key as application_key
from core.workload.promises import NO_PROMISES, unpromised

_NONE = Resource({})


def applicant_of(state: State, application: Application, leaf: Queue) -> Applicant:
    """Application of a leaf as it is compared. Its turns count as placed."""
    promised = state.turns.promised.get(leaf.path, NO_PROMISES).applications.get(application.id)
    fair = leaf.properties.sort_policy is SortPolicy.FAIR
    used = application.used.as_resource() if fair else _NONE
    return Applicant(
        application.id,
        max(unpromised(application.asked, promised.asked if promised else {}), default=NO_PRIORITY),
        application.submitted,
        state_in_turn(state, application, leaf),
        used + promised.used.as_resource() if fair and promised else used,
    )


def application_order(state: State, application: Application, leaf: Queue) -> OrderKey:
    """Sort key of an application in its leaf."""
    properties = leaf.properties
    return application_key(
        applicant_of(state, application, leaf),
        properties.sort_policy,
        by_priority=properties.sort_by_priority,
        guaranteed=leaf.guaranteed,
    )


def priority_in_turn(state: State, queue: Queue) -> int:
    """Priority that a queue exports, without the asks that have a turn (PRI-2). Cost: O(queues with them)."""
    if queue.path not in state.turns.given.queues:
        return queue.priority
    own = unpromised(queue.asked, state.turns.promised.get(queue.path, NO_PROMISES).asked)
    below = (priority_in_turn(state, each) for each in queue.children.values())
    return exported(max((*own, *below), default=NO_PRIORITY), queue.properties, is_root=queue.is_root)


def contender_of(state: State, queue: Queue) -> Contender:
    """Queue as its siblings are compared with it. Asks with a turn count for its priority."""
    given = state.turns.given.of(queue)
    held = Resource.sum_of(queue.allocated, queue.reserved, given)
    share = fair_share(held, queue.guaranteed, fair_max(queue.chain))
    by_priority = queue.parent is None or queue.parent.properties.sort_by_priority
    pending = queue.pending.as_resource() - given
    return Contender(queue.path, order_key(queue.priority, share, by_priority=by_priority), pending)
