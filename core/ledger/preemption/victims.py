"""Who was chosen as a victim, and for whom: marks on pods that change what they are charged (PRE-20)."""

from collections.abc import Iterable, Iterator

from core.ids import NO_POD, PodUid, QueuePath
from core.instants import has_come
from core.ledger import events as on
from core.ledger.node_reservation.reservation import kept_until, let_go, note_kept
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post, write
from core.ledger.state.preemption import Stage
from core.ledger.state.state import State
from core.ledger.touched import touch
from core.workload.pod import PREEMPTED_FOR, RESERVED_NODE, TRIGGERED

PLANS_AT_MOST = 3
"""Plans that are carried out for one ask (design section 4)."""


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


def trigger(state: State, record: PodRecord, plan: str) -> None:
    """A plan is carried out for an ask: it counts as placed until it is (DIV-14)."""
    record.preemption.triggered = plan
    record.preemption.plans += 1
    touch(state, record)


def undo(state: State, record: PodRecord) -> None:
    """The room that was made for an ask is lost, or was not made: it may try again."""
    record.preemption.triggered = ""
    let_go(state, record)
    touch(state, record)
    spare_who_stay(state, record.uid)


def spare_who_stay(state: State, preemptor: PodUid) -> None:
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


def expire_kept(state: State) -> None:
    """Nodes on which the room has not come together for too long are for everybody again (CYC-2)."""
    for uid in sorted(state.reservations.of.values()):
        record = state.pods.records[uid]
        if has_come(kept_until(record), now=state.now):
            undo(state, record)


def write_plan(state: State, record: PodRecord) -> None:
    """On the ask: which node is kept, and by which plan."""
    note_kept(state, record, record.node_reservation.node)
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


def tell(state: State, record: PodRecord, message: str) -> None:
    """An Event on a pod that goes."""
    post(state, record, "Preempted", message)
