"""Turns: asks that may be placed now (DESIGN-3). Giving and ending them, and asks not checked yet.

A turn holds capacity on every level for one pending ask. It ends when filter has admitted the ask, or with
its lease. An ask is *fresh* until a cycle has checked it or filter has refused it.
"""

from itertools import islice

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.instants import has_come
from core.ledger.admission.gate_status import begin_opening, report_opened
from core.ledger.admission.leases import cancel_lease, overdue_leases, time_lease
from core.ledger.admission.requests import (
    note_overdue,
    note_time,
    request_cycle,
    request_cycle_at,
    request_cycle_for_node,
)
from core.ledger.effects import OpenGate, WakePod
from core.ledger.node_reservation.reservation import release_node
from core.ledger.podgroups.membership import group_of, retime_group
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleReason, Seat, Turn
from core.ledger.state.state import State
from core.ledger.usage.counters import hold_on_node, release_on_node
from core.ledger.usage.reservations import expect_on
from core.queues.quota_check import Extra
from core.queues.users.limits import Tracked
from core.resource import Tally
from core.workload.nodes.affinity import admits
from core.workload.nodes.free_capacity import LIGHT, Undecided
from core.workload.promises import Promises

WAKES_APART = 1.0
"""Minimum number of seconds between two wake-ups of one ask."""

LONGEST_BACK_OFF = 60.0
"""Longest back-off of an ask that could not be placed with its turn, in seconds."""

FIRST_BACK_OFF = 2.0
_MOST_DOUBLINGS = 5

EXPIRED_AT_ONCE = 50
"""Turns that are taken back in one event, at most."""

FORGIVEN = 1
"""Unused turns, at most, after which an ask still has its rank."""


def give_turn(state: State, record: PodRecord, seat: Seat, node: NodeName) -> tuple[WakePod | OpenGate, ...]:
    """Give a turn to an ask. The effects wake it if a refusal or a gate of Paddock holds it.

    ``node``: node on which it is counted until its Binding names the real one.
    """
    return wake(state, record) if set_turn(state, record, seat, node) else ()


def set_turn(state: State, record: PodRecord, seat: Seat, node: NodeName) -> bool:
    """Give a turn without a wake-up. Return True if the ask has a turn now."""
    if not count_turn(state, record, seat, node):
        return False
    time_lease(state, record)
    _retime_pod_group(state, record.uid)
    return True


def count_turn(state: State, record: PodRecord, seat: Seat, node: NodeName) -> bool:
    """Count a turn that has no lease, as in a trial. Return True if the ask has a turn now."""
    leaf = state.config.tree.get(seat.key.queue)
    application = state.applications.known.get(seat.key.app)
    if leaf is None or application is None:
        return False
    state.turns.of[record.uid] = Turn(seat, state.now, leaf.chain, application.claimant, node)
    hold_on_node(state, node, seat.key.size)
    state.turns.given.add(leaf.chain, application.claimant, seat.key.size)
    key = seat.key
    state.turns.promised.setdefault(key.queue, Promises()).add(key.app, -seat.rank[0], key.size)
    forget_awaiting(state, seat)
    note_moved(state, key.queue, key.app)
    return True


def unshare(given: Extra, place: QueuePath | Tracked) -> None:
    """Copy the counters of a place, which a trial shares with the ledger."""
    given.copy_at(place)


def _retime_pod_group(state: State, uid: PodUid) -> None:
    """Have the timers of an ask's pod group set anew, because a turn of a member came or ended."""
    record = state.pods.records.get(uid)
    if record is not None and record.pod_group is not None:
        retime_group(state, record.pod_group)


def note_moved(state: State, leaf: QueuePath, app: AppId) -> None:
    """Note that something was counted, so that the running cycle updates the order."""
    if state.cycle.running:
        state.turns.moved.setdefault(leaf, {})[app] = None


def wake(state: State, record: PodRecord) -> tuple[WakePod | OpenGate, ...]:
    """Wake an ask that has a turn. Shortly after its last wake-up, the wake-up is postponed."""
    facts, gated = record.facts, record.is_gated
    if not (gated or record.admission.refused):
        state.turns.unwoken.discard(record.uid)
        return ()
    if record.admission.woken_at is not None and not _may_wake(state, record):
        request_cycle_at(state, record.admission.woken_at + WAKES_APART)
        state.turns.unwoken.add(record.uid)
        return ()
    state.turns.unwoken.discard(record.uid)
    record.admission.woken_at, record.admission.waking = state.now, True
    if gated:
        _note_opening(state, record)
        report_opened(state, record)
        return (OpenGate(facts.uid, facts.namespace, facts.name),)
    return (WakePod(facts.uid, facts.namespace, facts.name, token=str(int(state.now * 1000))),)


def wake_anew(state: State, record: PodRecord) -> tuple[WakePod | OpenGate, ...]:
    """Wake an ask for a new reason, however recent its last wake-up is."""
    record.admission.woken_at = None
    return wake(state, record)


def _may_wake(state: State, record: PodRecord) -> bool:
    """True if the last wake-up is long enough ago."""
    return record.admission.woken_at is None or has_come(
        record.admission.woken_at + WAKES_APART, now=state.now
    )


def _note_opening(state: State, record: PodRecord) -> None:
    """Note that the gate may be open from now on. Without filter calls the pod is charged (F-2)."""
    turn = state.turns.of.get(record.uid)
    if not record.facts.asks_filter:
        begin_opening(record)
        if turn is not None:
            expect_on(record, turn.node)


def wake_postponed(state: State) -> list[WakePod | OpenGate]:
    """Wake asks whose wake-up was postponed, if their turn stands.

    No ask is woken and no gate opened on an old turn: a max may be lower by now, or capacity taken by force.
    Such a pod gets a new turn if it still fits (F-2). Members of a group are judged together instead.
    """
    found: list[WakePod | OpenGate] = []
    old = set(old_turns(state))
    for uid in sorted(state.turns.unwoken):
        if uid in old:
            end_turn(state, uid)
            continue
        found += wake(state, state.pods.records[uid])
        if uid not in state.turns.unwoken and uid in state.turns.of:
            begin_lease(state, uid)
    return found


def old_turns(state: State) -> list[PodUid]:
    """Asks whose turns end in the next cycle, and are given anew if they still fit; see `wake_postponed`."""
    known = ((uid, state.pods.records[uid]) for uid in sorted(state.turns.unwoken) if uid in state.turns.of)
    return [uid for uid, record in known if _may_wake(state, record) and group_of(state, record) is None]


def begin_lease(state: State, uid: PodUid) -> None:
    """Begin the lease of a turn when the pod can know of it. Many other wake-ups may delay that."""
    turn = state.turns.of.get(uid)
    if turn is not None:
        state.turns.of[uid] = turn._replace(at=state.now)
        record = state.pods.records[uid]
        time_lease(state, record)
        group = group_of(state, record)
        if group is not None:
            group.leased = state.now
            retime_group(state, group.key)


def end_turn(state: State, uid: PodUid, *, used: bool = False) -> bool:
    """Take a turn away, and request a cycle for what that frees. Return True if there was one.

    ``used``: its capacity is held otherwise and not free.
    """
    turn = take_back_turn(state, uid)
    if turn is None:
        return False
    if used:
        request_cycle_for_node(state, turn.node)
    else:
        request_cycle(state, CycleReason.CAPACITY_FREED)
    return True


def take_back_turn(state: State, uid: PodUid) -> Turn | None:
    """Take away a turn that the running cycle tried out, and return it. None if there is none.

    No cycle is requested. Asks that this cycle checks before or after the try see the capacity as free, so
    the next cycle would only repeat the try.
    """
    turn = state.turns.of.pop(uid, None)
    if turn is None:
        return None
    cancel_lease(state, uid)
    state.turns.unwoken.discard(uid)
    state.turns.given.take_back(turn.chain, turn.claimant, turn.seat.key.size)
    release_on_node(state, turn.node, turn.seat.key.size)
    _withdraw(state, turn.seat)
    note_awaiting(state, turn.seat)
    _retime_pod_group(state, uid)
    return turn


def note_awaiting(state: State, seat: Seat) -> None:
    """Note a pending ask that has no turn."""
    state.turns.awaiting.setdefault(seat.key.queue, {})[seat.rank[-1]] = seat


def forget_awaiting(state: State, seat: Seat) -> None:
    """Note that an ask has a turn, or is not pending any more."""
    awaiting, path = state.turns.awaiting, seat.key.queue
    asks = awaiting.get(path)
    if asks is not None and asks.pop(seat.rank[-1], None) is not None and not asks:
        del awaiting[path]


def forget_wake_up(state: State, uid: PodUid) -> None:
    """Drop the postponed wake-up of a deleted pod."""
    state.turns.unwoken.discard(uid)


def _withdraw(state: State, seat: Seat) -> None:
    key = seat.key
    promises = state.turns.promised[key.queue]
    promises.take_back(key.app, -seat.rank[0], key.size)
    if not promises:
        del state.turns.promised[key.queue]
    note_moved(state, key.queue, key.app)


def return_turn(state: State, record: PodRecord, *, found_no_place: bool) -> None:
    """Handle a turn that came to nothing: free its capacity, and move the ask behind its rank.

    ``found_no_place``: True if kube-scheduler found no node. An ask that merely did not come goes behind the
    others once, and then has its rank again.
    """
    if not end_turn(state, record.uid):
        return
    if record.facts.placeholder and not found_no_place:
        # kube-scheduler backs off for up to 10 s. Another gang would take the capacity, and neither would
        # start.
        return
    record.admission.overlooked = max(record.admission.overlooked + 1, FORGIVEN + 1 if found_no_place else 0)
    record.admission.passed_over = True
    if record.admission.overlooked > FORGIVEN:
        if record.uid not in state.preemption.offers:
            release_node(state, record)
        doublings = min(record.admission.overlooked - FORGIVEN - 1, _MOST_DOUBLINGS)
        record.admission.backs_off_until = state.now + min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2.0**doublings)
        request_cycle_at(state, record.admission.backs_off_until)


def restore_rank(record: PodRecord) -> None:
    """Forget the turns of an ask that came to nothing, so that it goes by its rank again."""
    record.admission.overlooked, record.admission.passed_over, record.admission.backs_off_until = (
        0,
        False,
        None,
    )


def end_passing_over(record: PodRecord) -> None:
    """Note that all other asks were checked before this one, whose last turn came to nothing."""
    record.admission.passed_over = False


def end_waking(record: PodRecord) -> None:
    """Note that the wake-up of an ask was written, or that the ask has come."""
    record.admission.waking = False


def wake_again(state: State, uid: PodUid) -> None:
    """Have the next cycle repeat a wake-up, or the opening of a gate, that came to nothing."""
    state.turns.unwoken.add(uid)


def take_moved(state: State) -> tuple[QueuePath, dict[AppId, None]]:
    """Remove one leaf in which anything was counted, and return it. Raises KeyError if there is none."""
    return state.turns.moved.popitem()


def turns_leave_no_node(state: State, record: PodRecord) -> bool:
    """True if nodes have no capacity for an ask beside what turns hold on them."""
    size, constraints = record.facts.size, record.facts.constraints
    if not state.turns.of or record.node_reservation.node:
        return False
    try:
        if (
            state.usage.free_capacity.tightest(
                size, constraints, state.cluster.nodes, besides=state.reservations.of
            )
            is not None
        ):
            return False
    except Undecided:
        # A cycle will tell, if none has yet. Otherwise kube-scheduler decides.
        return _is_unchecked(state, record)
    if constraints.weight > LIGHT:
        return True
    # A loop, since mypyc reads a generator expression to its end first, of all turns.
    for turn in state.turns.of.values():
        node = state.cluster.nodes.get(turn.node)
        if node is not None and admits(node, constraints):
            return True
    return False


def _is_unchecked(state: State, record: PodRecord) -> bool:
    """True for an ask that no cycle has checked as it is now, or that the running one will check again."""
    is_back = record.admission.passed_over or record.admission.backs_off_until is not None
    again = record.admission.reservation is not None or (state.cycle.running and is_back)
    return record.uid in state.turns.fresh or again


def expire_turns(state: State) -> list[PodRecord]:
    """Take back turns whose lease is over, a bounded number at a time, and return their asks.

    Also request a cycle that waited for this moment.
    """
    records = list(islice(overdue_leases(state), EXPIRED_AT_ONCE))
    note_overdue(state, left=len(records) == EXPIRED_AT_ONCE)
    for record in records:
        return_turn(state, record, found_no_place=False)
    note_time(state)
    return records


# -- fresh asks ----------------------------------------------------------------------------------------------


def note_fresh(state: State, seat: Seat) -> None:
    """Note an ask that no cycle has checked."""
    leaf = state.config.tree.get(seat.key.queue)
    state.turns.fresh[seat.rank[-1]] = seat
    for queue in leaf.chain if leaf is not None else ():
        queue.fresh.add(seat.key.size)
        state.turns.fresh_in[queue.path] = None


def check_again(state: State, uid: PodUid) -> None:
    """Have an ask that a cycle has checked be checked again, like a new one."""
    seat = state.pending.waits_at.get(uid)
    if seat is not None and uid not in state.turns.fresh:
        note_fresh(state, seat)


def clear_fresh(state: State) -> None:
    """Note that a cycle begins, which checks every ask in the order of the current counters."""
    state.turns.moved.clear()
    state.turns.fresh.clear()
    for path in state.turns.fresh_in:
        queue = state.config.tree.get(path)
        if queue is not None and queue.fresh:
            queue.fresh = Tally()
    state.turns.fresh_in.clear()


def note_checked(state: State, uid: PodUid) -> None:
    """Note that an ask was checked, or that it does not wait any more."""
    seat = state.turns.fresh.pop(uid, None)
    leaf = state.config.tree.get(seat.key.queue) if seat is not None else None
    if seat is not None and leaf is not None:
        for queue in leaf.chain:
            queue.fresh.subtract(seat.key.size)
