"""Outcomes of the effects of placeholder replacement: annotations, nominations and deletions."""

from core.ledger import events as on
from core.ledger.gangs.index import gang_progress_of
from core.ledger.gangs.open_slots import nominate_member, watch
from core.ledger.gangs.release import release_again
from core.ledger.gangs.replacement import delete_placeholder, unlink
from core.ledger.node_reservation.reservation import note_nominated
from core.ledger.node_reservation.search import note_reservation_written
from core.ledger.pods.parts import Slot
from core.ledger.pods.record import PodRecord
from core.ledger.preemption.execution import note_eviction
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.touched import Rounds
from core.workload.pod import OWN_GATE, REPLACES


def note_member_written(state: State, event: on.RecordWritten) -> Rounds:
    """Note whether a member is annotated with its placeholder, which is deleted then.

    Otherwise the link ends.
    """
    member = state.pods.records.get(event.uid)
    slot = member.gang.slot if member is not None else None
    if member is not None and slot is not None and (REPLACES, slot.placeholder) in event.entries:
        yield from _go_on(state, member, slot, reached=event.reached)
    # The same write names the reserved node.
    note_reservation_written(state, event)


def _go_on(state: State, member: PodRecord, slot: Slot, *, reached: bool) -> Rounds:
    if not reached:
        unlink(state, member, slot)
    elif OWN_GATE in member.facts.gates and (nomination := nominate_member(member, slot)):
        emit(state, *nomination)
    else:
        yield from delete_placeholder(state, member)


def note_member_nominated(state: State, event: on.NodeNominated) -> Rounds:
    """Note the nomination of a gated member, which precedes the deletion of its placeholder.

    Another member may have been tried meanwhile.
    """
    member = state.pods.records.get(event.uid)
    slot = member.gang.slot if member is not None else None
    if member is not None and slot is not None and event.node == slot.node:
        if slot.opened is None:
            yield from delete_placeholder(state, member)
        else:
            watch(state, member)
    note_nominated(state, event)


def note_released(state: State, event: on.PodEvicted) -> None:
    """Note how the deletion of a placeholder ended, which may be a victim too.

    A failed deletion is repeated.
    """
    note_eviction(state, event)
    record = state.pods.records.get(event.uid)
    gang_progress = gang_progress_of(state, record) if record is not None else None
    if record is None or gang_progress is None or not record.facts.placeholder:
        return
    if record.preemption.eviction is None and record.membership.application is not None:
        release_again(state, record.membership.application, gang_progress)
