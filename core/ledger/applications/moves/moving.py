"""Moves of applications to other leaves, by order of an administrator (ACT-30 to ACT-34).

All of an application moves in one event: its usage, its pending asks, its placeholders, and what counts for
its user and group. Pods stay on their nodes.
"""

from core.ids import NO_NODE, AppId, PodUid
from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import end_turn, restore_rank
from core.ledger.applications.classification import place_again
from core.ledger.applications.lifecycle import change_queue
from core.ledger.applications.moves.checking import move_refusal
from core.ledger.applications.moves.orders import begin_wait, end_wait, forget_ends, order_of, set_orders
from core.ledger.node_reservation.reservation import release_node
from core.ledger.podgroups.membership import follow_move
from core.ledger.pods.binding import may_be_bound
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.state.timer_heap import take_due
from core.ledger.state.timers import TimerKind
from core.ledger.touched import Rounds, touch
from core.ledger.usage.over_max import recount_over_max
from core.ledger.usage.reservations import expect_on, give_back
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.moving import Moves


def move_applications(state: State, moves: Moves) -> Rounds:
    """Follow these orders, and no others (ACT-30).

    An application whose order is missing stays where it is.
    """
    for app_id in set_orders(state, moves):
        yield from _follow(state, app_id)


def moves_due(state: State) -> Rounds:
    """Try again to move applications that were busy."""
    for app_id in sorted(take_due(state, TimerKind.MOVE)):
        yield from _follow(state, app_id)


def finish_moves(state: State) -> Rounds:
    """Carry out all orders, because this instance acts from now on and another one decided on them."""
    forget_ends(state)
    for app_id in sorted(state.applications.moves):
        yield from _follow(state, app_id, decided=True)


def _follow(state: State, app_id: AppId, *, decided: bool = False) -> Rounds:
    """Carry out an order. One that cannot be carried out now is tried again.

    ``decided``: True if the order counts whatever has changed since it was given. A standby never decides.
    """
    end_wait(state, app_id)
    application = state.applications.known.get(app_id)
    order = order_of(state, application) if application is not None else None
    if application is None or order is None or application.ends or application.queue == order.queue:
        return
    if application.queue is None:
        yield from place_again(state, [app_id])
        return
    target = state.config.tree.get(order.queue)
    if target is None or not target.is_leaf:
        # A document came between. A later one may have the queue again.
        begin_wait(state, app_id)
    elif state.acts and not decided and move_refusal(state, application, target) is not None:
        begin_wait(state, app_id)
    else:
        yield from _move(state, application, target)


def _move(state: State, application: Application, target: Queue) -> Rounds:
    records = [state.pods.records[uid] for uid in sorted(application.pods)]
    for record in records:
        _give_up(state, record)
        touch(state, record)
    yield
    change_queue(state, application, target)
    for record in records:
        follow_move(state, record)
        touch(state, record)
    yield
    recount_over_max(state)
    request_cycle(state, CycleReason.APPLICATION_CHANGED)


def _give_up(state: State, record: PodRecord) -> None:
    """End what was promised to a pod in its queue, so that it is judged anew."""
    end_turn(state, record.uid)
    restore_rank(record)
    for uid in (record.uid, record.preemption.preempted_for):
        if uid in state.preemption.offers:
            release_node(state, state.pods.records[PodUid(uid)])
    if record.admission.reservation is None or may_be_bound(record):
        return
    give_back(state, record)
    if not record.is_unguarded:
        expect_on(record, NO_NODE)
