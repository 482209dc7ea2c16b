"""Who was chosen as a victim, and for whom: marks on pods that change what they are charged (PRE-20)."""

from collections.abc import Iterable, Iterator

from core.ids import NO_POD, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.node_reservation.reservation import note_reserved_node, release_node
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post, write
from core.ledger.preemption.plans import end_plan
from core.ledger.state.preemption import Stage
from core.ledger.state.state import State
from core.ledger.state.timer_heap import take_due
from core.ledger.state.timers import TimerKind
from core.ledger.touched import touch
from core.workload.pod import PREEMPTED_FOR, RESERVED_NODE, TRIGGERED

PLANS_AT_MOST = 3
"""Plans that are carried out for one ask (DESIGN-4)."""


def mark(
    state: State,
    record: PodRecord,
    preemptor: PodUid | QueuePath,
    why: str,
    *,
    stage: Stage = Stage.CHOSEN,
) -> None:
    """A pod is a victim from now on."""
    unmark(state, record)
    record.preemption.preempted_for, record.preemption.preempted_why = preemptor, why
    state.preemption.victims.setdefault(preemptor, {})[record.uid] = stage
    touch(state, record)


def remember_victim(state: State, record: PodRecord) -> None:
    """Believe a pod that says of itself for whom it goes; one that is on no node has gone already."""
    facts = record.facts
    if not facts.preempted_for:
        return
    preemptor = PodUid(facts.preempted_for)
    record.preemption.preempted_for, record.preemption.preempted_why = preemptor, facts.preempted_why
    state.preemption.victims.setdefault(preemptor, {})[record.uid] = Stage.MARKED
    if not record.node:
        unmark(state, record)
        write(state, record, Purpose.WITHDRAWAL, (PREEMPTED_FOR, None))


def note_marked(state: State, record: PodRecord) -> None:
    """Note that a victim says on itself for whom it goes."""
    _move_to(state, record, Stage.MARKED)


def note_asked(state: State, record: PodRecord) -> None:
    """Note that the eviction of a victim is requested."""
    _move_to(state, record, Stage.ASKED)


def _move_to(state: State, record: PodRecord, stage: Stage) -> None:
    preemptor = record.preemption.preempted_for
    if preemptor is not None:
        state.preemption.victims[preemptor][record.uid] = stage


def running(state: State, victims: Iterable[on.ChosenVictim]) -> Iterator[tuple[PodRecord, str]]:
    """Those of them that are still there, each with why it was chosen."""
    for chosen in victims:
        victim = state.pods.records.get(chosen.uid)
        if victim is not None and victim.node:
            yield victim, chosen.why


def unmark(state: State, record: PodRecord) -> None:
    """It is none any more, or it is gone."""
    preemptor = record.preemption.preempted_for
    if preemptor is None:
        return
    record.preemption.preempted_for = None
    victims = state.preemption.victims[preemptor]
    victims.pop(record.uid, None)
    if not victims:
        del state.preemption.victims[preemptor]


def spare(state: State, record: PodRecord) -> None:
    """A victim is not evicted after all; what says so on it is taken off."""
    offered = _stage_of(state, record) is Stage.OFFERED
    unmark(state, record)
    touch(state, record)
    if not offered:
        write(state, record, Purpose.WITHDRAWAL, (PREEMPTED_FOR, None))


def undo(state: State, record: PodRecord) -> None:
    """The room that was made for an ask is lost, or was not made: it may try again."""
    end_plan(record)
    release_node(state, record)
    touch(state, record)
    spare_remaining(state, record.uid)


def spare_remaining(state: State, preemptor: PodUid) -> None:
    """Those victims of a plan that nobody has asked to go yet."""
    for uid in sorted(state.preemption.victims.get(preemptor, ())):
        victim = state.pods.records[uid]
        if not is_leaving(state, victim):
            spare(state, victim)


def is_leaving(state: State, victim: PodRecord) -> bool:
    """Whether a victim is on its way out, or may be for all that is known."""
    asked = _stage_of(state, victim) is Stage.ASKED
    return asked or victim.preemption.eviction is not None or victim.facts.deleting


def _stage_of(state: State, victim: PodRecord) -> Stage | None:
    return state.preemption.victims.get(victim.preemption.preempted_for or NO_POD, {}).get(victim.uid)


def expire_node_reservations(state: State) -> None:
    """Nodes on which the room has not come together for too long are for everybody again (CYC-2)."""
    for uid in sorted(take_due(state, TimerKind.NODE_RESERVATION)):
        undo(state, state.pods.records[uid])


def write_plan(state: State, record: PodRecord) -> None:
    """On the ask: which node is kept, and by which plan."""
    note_reserved_node(state, record, record.node_reservation.node)
    write(
        state,
        record,
        Purpose.PLAN,
        (RESERVED_NODE, str(record.node_reservation.node)),
        (TRIGGERED, record.preemption.triggered),
    )


def write_victim(state: State, record: PodRecord) -> None:
    """On a victim: for whom it goes, and why that is right."""
    ask = state.pods.records.get(PodUid(record.preemption.preempted_for or ""))
    plan = f"/{ask.preemption.triggered}" if ask is not None and ask.preemption.triggered else ""
    write(
        state,
        record,
        Purpose.VICTIM,
        (PREEMPTED_FOR, f"{record.preemption.preempted_for}{plan} {record.preemption.preempted_why}"),
    )


def report_victim(state: State, record: PodRecord, message: str) -> None:
    """An Event on a pod that goes."""
    post(state, record, "Preempted", message)
