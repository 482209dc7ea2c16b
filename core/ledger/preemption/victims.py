"""Victims: pods chosen to be evicted, and the ask or queue they are evicted for (PRE-20)."""

from collections.abc import Iterable, Iterator

from core.ids import NO_POD, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.node_reservation.reservation import note_reserved_node, release_node
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import write
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
    """Make a pod a victim, which changes its charge."""
    unmark(state, record)
    record.preemption.preempted_for, record.preemption.preempted_why = preemptor, why
    state.preemption.victims.setdefault(preemptor, {})[record.uid] = stage
    touch(state, record)


def remember_victim(state: State, record: PodRecord) -> None:
    """Believe the annotation of a pod that it is a victim. A pod without a node is evicted already."""
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
    """Note that a victim is annotated with its preemptor."""
    _move_to(state, record, Stage.MARKED)


def note_asked(state: State, record: PodRecord) -> None:
    """Note that the eviction of a victim is requested."""
    _move_to(state, record, Stage.ASKED)


def _move_to(state: State, record: PodRecord, stage: Stage) -> None:
    preemptor = record.preemption.preempted_for
    if preemptor is not None:
        state.preemption.victims[preemptor][record.uid] = stage


def running(state: State, victims: Iterable[on.ChosenVictim]) -> Iterator[tuple[PodRecord, str]]:
    """Victims that still run, each with the reason why it was chosen."""
    for chosen in victims:
        victim = state.pods.records.get(chosen.uid)
        if victim is not None and victim.node:
            yield victim, chosen.why


def unmark(state: State, record: PodRecord) -> None:
    """Note that a pod is no victim any more, or is deleted."""
    preemptor = record.preemption.preempted_for
    if preemptor is None:
        return
    record.preemption.preempted_for = None
    victims = state.preemption.victims[preemptor]
    victims.pop(record.uid, None)
    if not victims:
        del state.preemption.victims[preemptor]


def spare(state: State, record: PodRecord) -> None:
    """Release a victim, which is not evicted after all, and remove its annotation."""
    offered = _stage_of(state, record) is Stage.OFFERED
    unmark(state, record)
    touch(state, record)
    if not offered:
        write(state, record, Purpose.WITHDRAWAL, (PREEMPTED_FOR, None))


def undo(state: State, record: PodRecord) -> None:
    """Undo the plan and the node reservation of an ask, which may then try again."""
    end_plan(record)
    release_node(state, record)
    touch(state, record)
    spare_remaining(state, record.uid)


def spare_remaining(state: State, preemptor: PodUid) -> None:
    """Release the victims of a plan whose eviction is not requested yet."""
    for uid in sorted(state.preemption.victims.get(preemptor, ())):
        victim = state.pods.records[uid]
        if not is_leaving(state, victim):
            spare(state, victim)


def is_leaving(state: State, victim: PodRecord) -> bool:
    """True if the pod is terminating, or if its eviction was requested and not yet answered."""
    asked = _stage_of(state, victim) is Stage.ASKED
    return asked or victim.preemption.eviction is not None or victim.facts.deleting


def _stage_of(state: State, victim: PodRecord) -> Stage | None:
    return state.preemption.victims.get(victim.preemption.preempted_for or NO_POD, {}).get(victim.uid)


def expire_node_reservations(state: State) -> None:
    """Release nodes that did not get enough capacity in time (CYC-2)."""
    for uid in sorted(take_due(state, TimerKind.NODE_RESERVATION)):
        undo(state, state.pods.records[uid])


def write_plan(state: State, record: PodRecord) -> None:
    """Annotate an ask with its reserved node and its plan."""
    note_reserved_node(state, record, record.node_reservation.node)
    write(
        state,
        record,
        Purpose.PLAN,
        (RESERVED_NODE, str(record.node_reservation.node)),
        (TRIGGERED, record.preemption.triggered),
    )


def write_victim(state: State, record: PodRecord) -> None:
    """Annotate a victim with its preemptor and the reason."""
    ask = state.pods.records.get(PodUid(record.preemption.preempted_for or ""))
    plan = f"/{ask.preemption.triggered}" if ask is not None and ask.preemption.triggered else ""
    write(
        state,
        record,
        Purpose.VICTIM,
        (PREEMPTED_FOR, f"{record.preemption.preempted_for}{plan} {record.preemption.preempted_why}"),
    )
