"""Acts of Paddock on a pod that a complete list does not show (F-8).

Most often the list is older, and the watch that continues from it shows them. After a restore of etcd, it
never does. So an accepted Binding, an eviction and an opened gate stay believed for a limited time. That time
lasts until the watch has caught up, and at least `DOUBTED` seconds.
"""

from core.ids import NO_POD, PodUid
from core.ledger import events as on
from core.ledger.admission.gate_status import end_opening
from core.ledger.gangs.outcomes import note_released
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.ledger.pods.belief import begin_doubt, end_doubt, end_doubt_if_shown, is_not_shown, note_not_shown
from core.ledger.pods.binding import disbelieve_bound
from core.ledger.pods.record import PodRecord
from core.ledger.pods.registry import forget, refresh
from core.ledger.state.state import State
from core.ledger.state.timer_heap import take_due
from core.ledger.state.timers import TimerKind
from core.ledger.touched import Rounds


def doubt_what_is_not_shown(state: State, uids: frozenset[PodUid]) -> None:
    """Doubt what a complete list does not show. ``uids``: pods in the list."""
    for record in state.pods.records.values():
        if record.uid not in uids:
            note_not_shown(record)
        if is_not_shown(record):
            begin_doubt(state, record)
        else:
            end_doubt_if_shown(state, record)


def expire_doubts(state: State) -> Rounds:
    """Undo acts that no watch has shown in time. An open bind call or an opening gate gets more time."""
    for uid in sorted(take_due(state, TimerKind.DOUBT)) if state.pods.caught_up else ():
        record = state.pods.records.get(uid)
        if record is None or record.seen.doubted_until is None:
            continue
        if record.placement.binding or (
            record.admission.opening and (record.admission.waking or record.uid in state.turns.unwoken)
        ):
            begin_doubt(state, record)
        elif record.seen.shown is None:
            yield from forget(state, record)
        else:
            end_doubt(state, record)
            yield from _undo(state, record)
            yield


def _undo(state: State, record: PodRecord) -> Rounds:
    if not record.facts.node:
        disbelieve_bound(record)
    if record.is_gated:
        end_opening(record)
    if record.preemption.eviction is not None and not record.facts.deleting:
        # For a placeholder it is unknown which owner asked. `note_released` serves both.
        preemptor = PodUid(record.preemption.preempted_for or NO_POD)
        note_released(
            state, on.PodEvicted(record.uid, EvictionOutcome.FAILED, Purpose.REPLACEMENT, preemptor)
        )
    yield from refresh(state, record)
