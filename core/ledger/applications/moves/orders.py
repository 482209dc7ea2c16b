"""Orders to move applications: which of them count, and which are not carried out yet (ACT-30, ACT-33)."""

from core.ids import AppId
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer
from core.ledger.state.timers import TimerKind
from core.workload.application import Application
from core.workload.moving import MoveOrder, Moves

REPEATED = 1.0
"""Seconds until an application that could not be moved is tried again."""


def order_of(state: State, application: Application) -> MoveOrder | None:
    """Order to move an application, or None. The order about an application of this id that ended is over."""
    order = state.applications.moves.get(application.id)
    if order is None or state.applications.moves_over.get(application.id) == order.since:
        return None
    return order


def is_over(state: State, app_id: AppId) -> bool:
    """True if the order about an id is over, because its application has ended."""
    order = state.applications.moves.get(app_id)
    if order is None or state.applications.moves_over.get(app_id) == order.since:
        return True
    return state.pods.listed and not any(each in state.applications.known for each in _parts(app_id))


def set_orders(state: State, moves: Moves) -> list[AppId]:
    """Note all orders, and return the applications of new and changed ones, sorted."""
    before = state.applications.moves
    state.applications.moves = moves
    for app_id in sorted(state.applications.moves_over.keys() - moves.keys()):
        del state.applications.moves_over[app_id]
    for app_id in sorted(state.applications.moves_due.keys() - moves.keys()):
        end_wait(state, app_id)
    return [app_id for app_id in sorted(moves) if moves[app_id] != before.get(app_id)]


def end_order(state: State, app_id: AppId) -> None:
    """Note that an application has ended, and the order to move it with it.

    Not while other pods of it go on, such as those that count in the recovery queue.
    """
    own, known = app_id._replace(recovered=False), state.applications.known
    others = (known[each] for each in _parts(own) if each != app_id and each in known)
    order = state.applications.moves.get(own)
    if order is not None and all(each.ends for each in others):
        state.applications.moves_over[own] = order.since
        end_wait(state, own)


def forget_ends(state: State) -> None:
    """Forget which orders are over.

    A standby may have seen the end of a former application after the order about a later one.
    """
    state.applications.moves_over.clear()


def _parts(app_id: AppId) -> tuple[AppId, AppId]:
    """Keys of an application: its own, and that of its pods in the recovery queue."""
    return app_id, app_id._replace(recovered=True)


def begin_wait(state: State, app_id: AppId, seconds: float = REPEATED) -> None:
    """Have an application moved later."""
    state.applications.moves_due[app_id] = state.now + seconds
    set_timer(state, TimerKind.MOVE, app_id, state.now + seconds)


def end_wait(state: State, app_id: AppId) -> None:
    """Note that an application is not to be moved later."""
    if state.applications.moves_due.pop(app_id, None) is not None:
        cancel_timer(state, TimerKind.MOVE, app_id)
